"""Cuts in every dialect: what must never be split, and the prefix that must stay the same between two cuts.

Each conversation is sent call by call through the memory, with a small window. Every shortened request is compared
byte for byte with the client's request: it must consist of the client's own beginning, the block, the system messages
of the removed part, and the client's own end, and lack nothing that the end needs. Then one conversation of 300 turns
is sent in each dialect: unless a new cut was made, a request must begin with the bytes of the previous request, up to
its last message.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.request import Dialect

from .conversations import CLOSE, WRITERS, Answered, Asked, Client, Item, Returned, Told, Writer, Written
from .measure import at_least, at_most

CONVERSATIONS: Final = 10_000
TURNS: Final = 300
WINDOWS: Final = (700, 1_200, 2_500)
SMALL_WINDOW: Final = 1_500
FAULTS: Final = (
    "orphaned tool results",
    "outputs larger than inputs",
    "lost newest user messages",
    "split thinking turns",
    "leading tool results",
    "bytes that are not the client's",
)


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {"conversations": {}, "prefix": {}}
    seen: Counter[str] = Counter()
    spoken = dialects()
    each = -(-CONVERSATIONS // len(spoken))
    for name, dialect in spoken.items():
        counts = conversations(dialect, WRITERS[name], range(each))
        seen += counts
        figures["conversations"][name] = {"conversations": each, **counts}
        figures["prefix"][name] = prefix_reuse(dialect, WRITERS[name], TURNS)
    return {"figures": figures, "bars": bars(figures, seen), "notes": __doc__}


def bars(figures: Mapping[str, Any], seen: Counter[str]) -> list[dict[str, Any]]:
    total = sum(row["conversations"] for row in figures["conversations"].values())
    faults = [at_most(f"{name} over {total} conversations", seen[name], 0, digits=0) for name in FAULTS]
    reuse = [
        at_least(f"{name}: prefix reused between two cuts over {TURNS} turns", row["reused_percent"], 100, "%", 1)
        for name, row in figures["prefix"].items()
    ]
    return faults + reuse


def dialects() -> dict[str, Dialect]:
    """Return every dialect that has a route, by name."""
    return {dialect.name: dialect for dialect in ROUTES.values()}


# -- one call --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """What is forwarded. ``block``: the block that was put in, "" if the request passed unchanged; ``cut``: whether a
    new cut was made for it."""

    body: bytes
    block: str = ""
    cut: bool = False


@dataclass(slots=True)
class Link:
    """Handles the calls of one session as the middleware does: reads, prepares, rewrites and commits."""

    memory: SessionMemory
    dialect: Dialect
    path: str
    key: SessionKey

    def send(self, body: bytes) -> Sent:
        memory, cuts = self.memory, self._cuts()
        opened = open_exchange(
            self.dialect, (), body, memory.settings, path=self.path, session_id=self.key.id, known=memory.service.known
        )
        rewrite, cut = memory.service.cuts.prepare(self.key, opened.request)
        forwarding = opened.forward(rewrite)
        memory.service.turns.commit_turn(self.key, opened.request.messages, None, cut=cut)
        if rewrite is None or not forwarding.is_changed:
            return Sent(body)
        return Sent(forwarding.forwarded, rewrite.block, self._cuts() > cuts)

    def _cuts(self) -> int:
        return self.memory.counters().get("cut_made", 0)


def conversations(dialect: Dialect, writer: Writer, seeds: range) -> Counter[str]:
    """Return counts over the conversations of these seeds: calls, shortened requests, cuts, and faults by name."""
    found: Counter[str] = Counter()
    memories = [_memory(window) for window in WINDOWS]
    for seed in seeds:
        rng = random.Random(f"{dialect.name} {seed}")
        memory = rng.choice(memories)
        link = Link(memory, dialect, writer.path, SessionKey(LOCAL_TENANT, f"session-{seed}"))
        for items in Client(rng).calls(rng.randrange(3, 12)):
            written = writer.write(items)
            sent = link.send(written.body)
            found.update(calls=1, shortened=bool(sent.block), cuts=sent.cut)
            if sent.block:
                found.update(faults(writer, written, items, sent))
        memory.forget(link.key.id)
    for memory in memories:
        memory.close()
    return found


def prefix_reuse(dialect: Dialect, writer: Writer, turns: int) -> dict[str, Any]:
    """Return, for one long conversation, the percentage of the bytes of a call, up to its last message, with which the
    next call begins; and how many calls, cuts and shortened requests there were. Calls for which a cut was made are
    left out of the percentage."""
    memory = _memory(SMALL_WINDOW)
    link = Link(memory, dialect, writer.path, SessionKey(LOCAL_TENANT, "long"))
    found: Counter[str] = Counter()
    before = b""
    for items in Client(random.Random(dialect.name), plain=True).calls(turns):
        sent = link.send(writer.write(items).body)
        if not sent.cut:
            found.update(bytes=len(before), reused=common(before, sent.body))
        found.update(calls=1, cuts=sent.cut, shortened=bool(sent.block))
        before = sent.body[: -len(CLOSE)]
    memory.close()
    percent = 100 * found["reused"] / found["bytes"]
    return {"reused_percent": percent, **{name: found[name] for name in ("calls", "cuts", "shortened")}}


def common(before: bytes, after: bytes) -> int:
    """Return how many bytes both begin with."""
    if after.startswith(before):
        return len(before)
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(after))


def _memory(window: int) -> SessionMemory:
    settings = Settings(context_window=window, block_tokens=120, sessions_cached=8, reminder_tokens=0)  # cuts alone
    return SessionMemory.open("memory://", settings)


# -- what must hold --------------------------------------------------------------------------------------------


def faults(writer: Writer, written: Written, items: Sequence[Item], sent: Sent) -> Counter[str]:
    """Return what is wrong with a shortened request, counted by the names in ``FAULTS``."""
    found: Counter[str] = Counter({"outputs larger than inputs": len(sent.body) > len(written.body)})
    kept = _kept_from(written, items, sent.body)
    if kept is None or not _is_a_cut(writer, written, items, sent, kept):
        found["bytes that are not the client's"] += 1
        return found
    first = written.owners[kept]
    leads = isinstance(items[first], Returned)
    found["leading tool results"] += leads
    found["orphaned tool results"] += leads
    found["lost newest user messages"] += _newest_of_user(items) < first
    found["split thinking turns"] += _splits_thinking(writer, items, first) or written.owners[kept - 1] == first
    return found


def _kept_from(written: Written, items: Sequence[Item], sent: bytes) -> int | None:
    """Index of the first element from which on the request ends as the client sent it, not counting system messages at
    that place; ``None`` if not even the last element is there."""
    kept, tail = None, CLOSE
    for place in range(len(written.elements) - 1, -1, -1):
        tail = written.elements[place].encode() + tail
        if not sent.endswith(tail):
            break
        kept = kept if isinstance(items[written.owners[place]], Told) else place
        tail = b", " + tail
    return kept


def _is_a_cut(writer: Writer, written: Written, items: Sequence[Item], sent: Sent, kept: int) -> bool:
    """Whether the elements before the kept ones are exactly the system messages among the removed ones and our block,
    and all other members are unchanged."""
    before, after = json.loads(written.body), json.loads(sent.body)
    elements = after.pop(writer.list_name)
    head = elements[: len(elements) - (len(before.pop(writer.list_name)) - kept)]
    told = [json.loads(written.elements[at]) for at in range(kept) if isinstance(items[written.owners[at]], Told)]
    if writer.system:
        texts = [block["text"] for block in after.pop(writer.system, ())]
        expected = [block["text"] for block in before.pop(writer.system, ())] + [element["content"] for element in told]
        said = [*texts, *(part["text"] for element in head for part in element["content"])]
        leads = isinstance(items[written.owners[kept]], Answered)  # a conversation begins with a user message
        own = [element["role"] for element in head] == ["user"] * leads
        return before == after and own and said == [*expected, sent.block]
    blocks = [element for element in head if _holds(element, sent.block)]
    return before == after and len(blocks) == 1 and [element for element in head if element not in blocks] == told


def _holds(element: Any, block: str) -> bool:
    return json.dumps(block)[1:-1] in json.dumps(element)


def _newest_of_user(items: Sequence[Item]) -> int:
    return max(place for place, item in enumerate(items) if isinstance(item, Asked))


def _splits_thinking(writer: Writer, items: Sequence[Item], first: int) -> bool:
    """Whether the first kept item is inside a turn in which the assistant thinks."""
    start = max((place for place in range(first + 1) if _opens(writer, items[place])), default=0)
    end = next((place for place in range(first + 1, len(items)) if _opens(writer, items[place])), len(items))
    thinks = any(isinstance(item, Answered) and item.thinking for item in items[start:end])
    return thinks and start < first


def _opens(writer: Writer, item: Item) -> bool:
    """Whether a turn begins with the item, in an element of its own."""
    return isinstance(item, Asked) and not (item.joined and writer.joins)
