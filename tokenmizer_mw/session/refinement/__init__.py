"""Refinement: a model reads a session and lists its facts, which are checked and merged with the known ones. This
package builds the prompt, asks the model, parses its reply and derives the facts."""

from __future__ import annotations

from typing import Final

SPOKEN_MAX: Final = 8_000
TOOL_MAX: Final = 1_500
"""``SPOKEN_MAX``: most characters of a message's text that the model is shown. ``TOOL_MAX``: the same for a tool call
or its result. The middle of longer texts is left out."""

_HEAD: Final = 2 / 3


def select_shown_parts(text: str, limit: int) -> list[tuple[int, str]]:
    """Return the parts of ``text`` that the model is shown, each with its offset: all of it, or its beginning and its
    end, of ``limit`` characters together, if it is longer."""
    if len(text) <= limit:
        return [(0, text)]
    head = int(limit * _HEAD)
    tail = len(text) - (limit - head)
    return [(0, text[:head]), (tail, text[tail:])]
