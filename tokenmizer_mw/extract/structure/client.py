"""Recognise messages in which a client application only says that the user interrupted the assistant."""

from __future__ import annotations

from typing import Final

import re2

_INTERRUPTED: Final = re2.compile(
    r"(?i)\s*\[(?:request|response|tool use|operation) interrupted by (?:the )?user[^\n]*\]\s*"
)


def is_interruption(text: str) -> bool:
    """Whether a message only says that the user interrupted the assistant, such as "[Request interrupted by user]".
    Such a message is not read: what the assistant had announced is neither done nor dropped."""
    return text.lstrip().startswith("[") and _INTERRUPTED.fullmatch(text) is not None
