"""Removes polite phrases at the edges of complete replies, in every dialect; all other bytes stay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tokenmizer_mw.wire.passages import Spot, Steps, spot_edits, spots
from tokenmizer_mw.wire.spans import splice

from .filler import without_filler


def trim_reply(body: bytes) -> bytes:
    """Return the body of a complete reply without polite sentences at the beginning and end of its texts.

    Returns the same object if nothing is removed or if the body is not a reply. A reply with token probabilities, or
    with positions in its text, stays unchanged.
    """
    try:
        text = body.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):
        return body
    new = {
        place: shorter
        for place, spot in _find_reply_texts(value)
        if (shorter := without_filler(spot.text)) is not spot.text and shorter != spot.text
    }
    if not new:
        return body
    start = len(text) - len(text.lstrip())
    edits = spot_edits(text, (start, len(text.rstrip())), new)
    return splice(text, edits).encode() if edits else body


def _find_reply_texts(value: object) -> Iterator[tuple[Steps, Spot]]:
    """The texts that an assistant says in a reply, and where they stand in it."""
    for steps, message in _messages(value):
        for spot in spots(message):
            if not spot.result:
                yield (0, *steps, *spot.steps[1:]), spot


def _messages(value: object) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """The messages in a reply: itself, its one message, or those of its choices, candidates or items."""
    if not isinstance(value, Mapping):
        return
    yield (), value
    if isinstance(value.get("message"), Mapping):
        yield ("message",), value["message"]
    for number, choice in enumerate(_list(value, "choices")):
        if isinstance(choice.get("message"), Mapping) and not choice.get("logprobs"):
            yield ("choices", number, "message"), choice["message"]
    for number, candidate in enumerate(_list(value, "candidates")):
        if isinstance(candidate.get("content"), Mapping) and not candidate.get("citationMetadata"):
            yield ("candidates", number, "content"), candidate["content"]
    for number, item in enumerate(_list(value, "output")):
        if item.get("type") == "message":
            yield ("output", number), item


def _list(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = value.get(name)
    return found if isinstance(found, list) and all(isinstance(one, Mapping) for one in found) else []
