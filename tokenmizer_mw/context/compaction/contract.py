"""A compaction that a client asks for by contract: what it stands for, from where on a request goes on word for word,
and what of the user is still open; and compactions that a provider made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialect import ChatRequest

OPEN: Final = "The user's newest message, not answered until then:"
"""What stands before the user's own words behind a block."""

_LEFT_OUT: Final = "\n[...]\n"
_CHARACTERS: Final = 2
"""Characters of the user's open words for each token of the budget: about half as much as the block may take."""


@dataclass(frozen=True, slots=True)
class CompactionWish:
    """A compaction that is asked for: at once, or where the request takes more than ``above`` tokens, with ``held``,
    the text of the compaction before it, and ``open``, the user's words in that. ``query``: what the client wants to
    have kept, "" for nothing special. ``beside``: a summary of somebody else's stands for the history, and what is made
    stands beside it."""

    above: int | None = None
    held: str = ""
    open: str = ""
    query: str = ""
    beside: bool = False


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """A compaction that was made. ``text`` is all that later calls are given of it: the ``block``, and ``open``, the
    words of the user that are not answered yet; this call is given ``now``, and its messages from ``keep_from`` on word
    for word. ``tokens``: what it stands for."""

    checkpoint: str
    block: str
    text: str
    open: str
    now: str
    keep_from: int
    tokens: int


def keep_from(request: ChatRequest, counts: Sequence[int], room: float) -> int | None:
    """The first message that goes on: where the newest turn begins, or where that does not fit into ``room`` tokens,
    the newest step of it. ``None`` where nothing would go, or where it would not be enough."""
    places = range(request.prefix + 1, len(counts))
    opener = next((place for place in reversed(places) if request.messages[place].opens_turn), None)
    step, first = _newest_step(request), max(request.prefix + 1, request.bound)
    for place in (opener, step):
        if place is not None and place >= first and sum(counts[place:]) <= room:
            return place
    return None


def _newest_step(request: ChatRequest) -> int | None:
    """Where the model called the tools whose results end the request."""
    roles = request.messages.roles
    if not roles or not request.messages[len(roles) - 1].tool_results:
        return None
    return next((place for place in reversed(range(len(roles))) if roles[place] is Role.ASSISTANT), None)


def open_words(request: ChatRequest, budget: int, before: str) -> str:
    """What the user wrote last, where the model is not done with it; "" where it is. Of a long text the beginning and
    the end. ``before``: what was open when the request began."""
    spoken = request.messages.without_system()
    if not spoken or (spoken.roles[-1] is Role.ASSISTANT and not spoken[len(spoken) - 1].tool_calls):
        return ""
    newest = next((spoken[place] for place in reversed(range(len(spoken))) if spoken[place].opens_turn), None)
    return _shorten(before if newest is None else newest.text.strip(), budget * _CHARACTERS)


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - len(_LEFT_OUT)) // 2
    return text[:half] + _LEFT_OUT + text[-half:]


def format_compaction(block: str, words: str) -> str:
    """The text of a compaction: the block, and the user's open words behind it."""
    return "\n\n".join(filter(None, (block, f"{OPEN}\n{words}" if words else "")))


_DIGITS: Final = 9
"""Decimal digits of a name: as many as the id of a checkpoint may have."""


@dataclass(frozen=True, slots=True)
class Native:
    """The newest compaction of a history, which a provider made. ``place`` is the index of the message or the item that
    holds it, ``checkpoint`` what the session's checkpoint for it is called: the same wherever it is sent again."""

    place: int
    checkpoint: str


def native_at(place: int, *content: object) -> Native:
    """The compaction at ``place`` with this content."""
    text = json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % 10**_DIGITS
    return Native(place, f"native-{number:0{_DIGITS}d}")
