"""Messages in which a client only says that the user stopped the assistant."""

from __future__ import annotations

from typing import Final

import re2

_INTERRUPTED: Final = re2.compile(
    r"(?i)\s*\[(?:request|response|tool use|operation) interrupted by (?:the )?user[^\n]*\]\s*"
)


def is_interruption(text: str) -> bool:
    """Whether a message only says that the user stopped the assistant: what was announced is neither done nor past."""
    return text.lstrip().startswith("[") and _INTERRUPTED.fullmatch(text) is not None
