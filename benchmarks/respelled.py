"""Clients that change the form of their history when they resend it: how often is it cut, how often recorded?

One conversation of 375 calls is sent in every dialect through the memory, in a window that a client which resends its
history unchanged fills a dozen times. The model's replies are recorded as they came; the next call contains them as
the client changes them.

- ``cuts``: number of cuts; ``recorded``: messages in the log; ``said``: messages of the conversation.
- ``reused_percent``: share of the bytes of a call, up to its last message, with which the next call begins, calls
  with a new cut included. ``own_percent``: the same for what the client sends; a client that changes what it has sent
  loses its provider's cache by itself. The bar is on their ratio.
- ``edited``: the client changes its newest message every 25 calls and sends it again; that counts as another message.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.model.event import Checkpointed, MessageRecorded
from tokenmizer_mw.model.message import Message, Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.request import Dialect

from .conversations import CLOSE, WRITERS, Answered, Asked, Client, Item, Returned, Writer
from .measure import at_least, at_most
from .windows import common, dialects

CALLS: Final = 375
WINDOW: Final = 6_000
BLOCK_TOKENS: Final = 120
CUTS_MOST: Final = 20
REUSED_LEAST: Final = 95.0
EDITED_EVERY: Final = 25

_ANYTHING: Final = Asked("What is next?")

Items = tuple[Item, ...]
Change = Callable[[Item], Sequence[Item]]


@dataclass(frozen=True, slots=True)
class Habit:
    """How a client writes items into its history.

    - ``made``: what an item is when it is sent for the first time; ``again``: what it is when it is sent again.
    - ``late``: an item is changed only when a newer turn of the user follows it.
    - ``edits``: the client sometimes sends another newest message first and takes it back.
    """

    made: Change = lambda item: (item,)
    again: Change = lambda item: (item,)
    late: bool = False
    edits: bool = False


def run() -> dict[str, Any]:
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name, dialect in dialects().items():
        calls = list(Client(random.Random(name), plain=True).calls(CALLS))[:CALLS]
        figures[name] = {habit: sent(dialect, WRITERS[name], calls, HABITS[habit]) for habit in HABITS}
    return {"figures": figures, "bars": bars(figures), "notes": __doc__}


def bars(figures: dict[str, dict[str, dict[str, float]]]) -> list[dict[str, Any]]:
    found = []
    for habit in HABITS:
        rows = [by_habit[habit] for by_habit in figures.values()]
        found += [
            at_most(
                f"{habit}: cuts in {CALLS} calls, the worst dialect",
                max(row["cuts"] for row in rows),
                CUTS_MOST,
                digits=0,
            ),
            at_least(
                f"{habit}: prefix reused / the client's own, worst dialect",
                min(100 * row["reused_percent"] / row["own_percent"] for row in rows),
                REUSED_LEAST,
                "%",
                1,
            ),
            at_most(
                f"{habit}: messages recorded beyond those said, the worst dialect",
                max(row["recorded"] - row["said"] for row in rows),
                0,
                digits=0,
            ),
        ]
    return found


# -- habits ----------------------------------------------------------------------------------------------------


def _thinking_aloud(item: Item) -> Items:
    if isinstance(item, Answered):
        return (replace(item, text=f"<think>\nThe user wants this: {item.text[:40]}\n</think>\n\n{item.text}"),)
    return (item,)


def _spaced(item: Item) -> Items:
    if isinstance(item, Asked | Answered) and item.text:
        lines = item.text.replace(". ", ".  \n")
        return (replace(item, text=f" {lines} \n\n"),)
    return (item,)


def _trimmed(item: Item) -> Items:
    return (replace(item, text=" ".join(item.text.split())),) if isinstance(item, Asked | Answered) else (item,)


def _reordered(item: Item) -> Items:
    if not isinstance(item, Answered):
        return (item,)
    calls = tuple(replace(call, arguments=dict(reversed(call.arguments.items()))) for call in item.calls)
    return (replace(item, calls=calls),)


def _renumbered(item: Item) -> Items:
    if isinstance(item, Answered):
        return (replace(item, calls=tuple(replace(call, id=f"new_{call.id}") for call in item.calls)),)
    if isinstance(item, Returned):
        return (Returned(tuple((replace(call, id=f"new_{call.id}"), text) for call, text in item.results)),)
    return (item,)


def _halves(text: str) -> tuple[str, ...]:
    first, space, second = text.partition(". ")
    return (f"{first}{space}", second) if second.strip() else (text,)


def _split_asked(item: Item) -> Items:
    if isinstance(item, Asked) and not (item.joined or item.image):
        return tuple(Asked(half) for half in _halves(item.text))
    return (item,)


def _split(item: Item) -> Items:
    if isinstance(item, Answered) and item.text and not (item.calls or item.thinking):
        return tuple(Answered(half) for half in _halves(item.text))
    return _split_asked(item)


def _pictured(item: Item) -> Items:
    return (replace(item, image=True),) if isinstance(item, Asked) and len(item.text) % 24 == 0 else (item,)


def _without_picture(item: Item) -> Items:
    return (replace(item, image=False),) if isinstance(item, Asked) else (item,)


def _without_thinking(item: Item) -> Items:
    return (replace(item, thinking=""),) if isinstance(item, Answered) else (item,)


def _cleared(item: Item) -> Items:
    return (
        (Returned(tuple((call, "[cleared]") for call, _ in item.results)),) if isinstance(item, Returned) else (item,)
    )


HABITS: Final[dict[str, Habit]] = {
    "verbatim": Habit(),
    "<think> dropped": Habit(made=_thinking_aloud),
    "space trimmed": Habit(made=_spaced, again=_trimmed),
    "keys reordered": Habit(again=_reordered),
    "calls renumbered": Habit(again=_renumbered),
    "merged": Habit(made=_split_asked, late=True),
    "split": Habit(again=_split, late=True),
    "images dropped": Habit(made=_pictured, again=_without_picture, late=True),
    "thinking dropped": Habit(again=_without_thinking),
    "results cleared": Habit(again=_cleared, late=True),
    "edited": Habit(edits=True),
}
"""Habits by name. ``made`` and ``again`` leave an item as it is if nothing else is said."""


# -- sending ---------------------------------------------------------------------------------------------------


def sent(
    dialect: Dialect, writer: Writer, calls: Sequence[Items], habit: Habit, *, window: int = WINDOW
) -> dict[str, float]:
    """Return the figures of one client's calls, with a context window of ``window`` tokens."""
    log = MemoryLog()
    memory = SessionMemory(log, Settings(context_window=window, block_tokens=BLOCK_TOKENS))
    key = SessionKey(LOCAL_TENANT, "long")
    ours, own = Reuse(), Reuse()
    edits = 0
    for items, reply, edited in requests(calls, habit):
        body = writer.write(items).body
        opened = open_exchange(
            dialect, (), body, memory.settings, path=writer.path, session_id=key.id, known=memory.service.known
        )
        rewrite, cut = memory.service.cuts.prepare(key, opened.request)
        forwarding = opened.forward(rewrite)
        answer = _messages(dialect, writer, (_ANYTHING, reply))[-1] if reply is not None else None
        memory.service.turns.commit_turn(key, opened.request.messages, Reply(answer, Outcome.COMPLETE), cut=cut)
        edits += edited
        ours.add(forwarding.forwarded)
        own.add(body)
    events = [recorded.event for recorded in log.read(key)]
    memory.close()
    said = _messages(dialect, writer, [each for item in calls[-1] for each in habit.made(item)])
    return {
        "calls": len(calls),
        "cuts": sum(isinstance(event, Checkpointed) and bool(event.anchor) for event in events),
        "recorded": sum(isinstance(event, MessageRecorded) for event in events),
        "said": len(said) + 2 * edits,
        "reused_percent": ours.percent,
        "own_percent": own.percent,
    }


def requests(calls: Sequence[Items], habit: Habit) -> Iterator[tuple[Items, Item | None, bool]]:
    """Iterate over the items that each call sends, the reply to it (``None`` if there is none), and whether the user
    takes the call back."""
    for number, items in enumerate(calls):
        following = calls[number + 1] if number + 1 < len(calls) else ()
        reply = following[len(items)] if len(following) > len(items) else None
        newest = items[-1]
        if habit.edits and number % EDITED_EVERY == EDITED_EVERY - 1 and isinstance(newest, Asked):
            yield (*items[:-1], replace(newest, text=f"Wait, {newest.text}")), Answered("What do you mean?"), True
        yield _spelled(items, habit), (habit.made(reply)[0] if isinstance(reply, Answered) else None), False


def _spelled(items: Items, habit: Habit) -> Items:
    """A history as the client sends it: old items as ``again`` gives them, new ones as ``made`` does."""
    asked = max(place for place, item in enumerate(items) if isinstance(item, Asked))
    answered = max((place for place, item in enumerate(items) if isinstance(item, Answered)), default=-1)
    old = asked if habit.late else answered + 1
    return tuple(each for at, item in enumerate(items) for each in (habit.again if at < old else habit.made)(item))


def _messages(dialect: Dialect, writer: Writer, items: Sequence[Item]) -> Sequence[Message]:
    return dialect.read(writer.write(items).body, path=writer.path).messages.without_system()


@dataclass(slots=True)
class Reuse:
    """Bytes of a call, up to its last message (``sent``), and those of them with which the next call begins
    (``reused``)."""

    before: bytes = b""
    sent: int = 0
    reused: int = 0

    def add(self, body: bytes) -> None:
        """Add the next call."""
        self.sent += len(self.before)
        self.reused += common(self.before, body)
        self.before = body[: -len(CLOSE)]

    @property
    def percent(self) -> float:
        return 100 * self.reused / self.sent
