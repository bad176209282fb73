"""Refinement: a model reads a session and lists its facts, which are checked and merged with the known ones. This
package builds the prompt, parses the reply and derives the facts.
"""

from __future__ import annotations

from typing import Final

SPOKEN_MAX: Final = 8_000
TOOL_MAX: Final = 1_500
"""Characters of a speaker's text, and of a tool call or its result; of longer ones the middle goes."""

_HEAD: Final = 2 / 3


def select_shown_parts(text: str, limit: int) -> list[tuple[int, str]]:
    """Return the parts of ``text`` to show, with their offsets: the whole, or beginning and end if it exceeds
    ``limit``."""
    if len(text) <= limit:
        return [(0, text)]
    head = int(limit * _HEAD)
    tail = len(text) - (limit - head)
    return [(0, text[:head]), (tail, text[tail:])]
