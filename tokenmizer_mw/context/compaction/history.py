"""A request behind the newest compaction that its history holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .seal import SealedContent

CONTINUE: Final = "Continue."
"""What stands for the user where a compaction ends a history, and nothing of the user was open."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A request reduced to what follows its newest compaction.

    ``body``: the request body without the messages that the compaction replaces, and without the fields that ask for
    compaction. ``kept``: the unsealed compaction; ``None`` if the request holds none that this server made.
    ``emptied``: true if ``kept`` is ``None`` and items were removed: compaction blocks without content (Anthropic), or
    compaction triggers (OpenAI Responses). ``bare``: true if no message followed the compaction; the transcript then
    ends with the user's unanswered message, repeated, or with ``CONTINUE`` if there is none.
    """

    body: Mapping[str, Any]
    kept: SealedContent | None = None
    emptied: bool = False
    bare: bool = False
