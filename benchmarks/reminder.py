"""Reminders: CPU time per request, prefix that the next call reuses, tokens sent.

The session is generated. About once in ten messages the user asks for a decision of long ago, by its subject and in
other words.

- ``cpu``: requests with a cut in force and another question as newest message each, in sessions of 300 and 5,000
  messages. ``added_ms``: median over pairs of the CPU time of ``prepare`` with reminders minus that without;
  ``with_ms``, ``without_ms``: medians of either. The search index is cached with the session and grows in the
  background; ``index_ms`` is what another turn costs there.
- ``calls``: 300 turns, each call with all messages so far, in a window of 6,000 tokens. ``reused``: share of the
  bytes of a call, up to its newest message, with which the next call begins, over 375 calls, those with a new cut
  included; ``reused_with_newest`` includes the newest message and its reminder, which the next turn sends without.
  ``reminded``: share of calls with a reminder. ``answered``: share of the questions, all about seven subjects ago or
  earlier, whose answer is in a line of the request. ``tokens``: sum over all calls; a token is four characters.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.wire.dialect import Reply

from .measure import at_least, at_most
from .sessions import long_session
from .windows import common, dialects

SIZES: Final = {300: 3.0, 5_000: 8.0}
"""For each number of messages of a session, the CPU milliseconds that a reminder may add."""
TRIALS: Final = 61
CALLS: Final = 375
TURNS: Final = 300
WINDOW: Final = 6_000
BLOCK_TOKENS: Final = 300
REUSED_LEAST: Final = 0.95
TOKENS_MOST: Final = 1.06
BLOCK: Final = 10
"""How many messages of the generated session have the same subject."""
_REMOVED: Final = 6
"""A question is about a subject more than this many subjects before the newest one."""
_DIALECT: Final = dialects()["openai_chat"]
_KEY: Final = SessionKey(LOCAL_TENANT, "long")

Chat = list[dict[str, Any]]


def run() -> dict[str, Any]:
    cpu = {str(size): added_cpu(size) for size in SIZES}
    with_reminders, without = sent(400), sent(0)
    ratio = with_reminders["tokens"] / without["tokens"]
    bars = [
        at_most(f"CPU added at {size} messages, median", cpu[str(size)]["added_ms"], bar, "ms", 2)
        for size, bar in SIZES.items()
    ]
    bars += [
        at_least(f"prefix that the next of {CALLS} calls reuses", with_reminders["reused"], REUSED_LEAST),
        at_most(f"tokens sent over {TURNS} turns / without reminders", ratio, TOKENS_MOST),
    ]
    figures = {"cpu": cpu, "calls": {"with": with_reminders, "without": without}, "tokens_ratio": round(ratio, 4)}
    return {"figures": figures, "bars": bars, "notes": __doc__}


# -- the session -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a subject of the session, and the words that a line with its answer contains: what was chosen
    (``choice``), and the ``subject``."""

    text: str
    choice: str
    subject: str

    def is_answered(self, body: bytes) -> bool:
        """Whether a line of the request ``body`` contains the answer."""
        texts = (str(message.get("content")) for message in json.loads(body)["messages"])
        return any(self.choice in line and self.subject in line for text in texts for line in text.split("\n"))


def question(chat: Chat, subject: int) -> Asked:
    """Return a question about what was chosen for a subject (its number, from 0) of a generated session."""
    chosen = chat[subject * BLOCK + BLOCK - 2]["content"].split("\n")[0]
    tool, _, of = chosen.removeprefix("Use ").partition(" for the ")
    what = of.partition(" because ")[0]
    asked = f"Remind me, please: what did we settle on for the {what}, and for which reason?"
    return Asked(asked, tool, what)


def conversation(messages: int, *, seed: int = 7) -> Iterator[tuple[Chat, Asked | None]]:
    """Iterate over the history that each call sends, with the question that is its newest message, or ``None`` if that
    is none. ``messages``: length of the generated session, without the questions."""
    rng, made, chat = random.Random(seed), long_session(messages).messages, []
    for at, message in enumerate(made):
        chat.append(message)
        if message["role"] != "assistant":
            yield list(chat), None
        if (at + 1) % BLOCK == 0 and at // BLOCK > _REMOVED:
            asked = question(made, rng.randrange(at // BLOCK - _REMOVED))
            chat.append({"role": "user", "content": asked.text})
            yield list(chat), asked
            chat.append({"role": "assistant", "content": "As we said before: it stays as it is."})


def body_of(chat: Chat) -> bytes:
    """Return the body of a request with these messages."""
    return json.dumps({"model": "gpt-4o", "messages": chat}).encode()


def _memory(reminder_tokens: int) -> SessionMemory:
    settings = Settings(context_window=WINDOW, block_tokens=BLOCK_TOKENS, reminder_tokens=reminder_tokens)
    return SessionMemory(MemoryLog(), settings)


# -- CPU -------------------------------------------------------------------------------------------------------


def added_cpu(size: int) -> dict[str, float]:
    """Return the CPU milliseconds of ``prepare`` with and without reminders, and of indexing a turn, for a session of
    ``size`` messages."""
    chat = long_session(size).messages[:size]
    with_reminders, without = _recorded(chat, 400), _recorded(chat, 0)
    pairs, reminders = [], 0
    for trial in range(TRIALS):
        asked = question(chat, trial % (size // BLOCK - 2 * _REMOVED))
        body = body_of([*chat, {"role": "user", "content": f"{asked.text} ({trial})"}])
        made, rewrite = _prepare(with_reminders, body)
        pairs.append((made, _prepare(without, body)[0]))
        reminders += rewrite is not None and rewrite.reminder is not None
    index_ms = _index_ms(with_reminders, chat)
    for memory in (with_reminders, without):
        memory.close()
    return {
        "added_ms": round(statistics.median(made - none for made, none in pairs), 3),
        "with_ms": round(statistics.median(made for made, _ in pairs), 3),
        "without_ms": round(statistics.median(none for _, none in pairs), 3),
        "index_ms": round(index_ms, 3),
        "reminders": reminders,
        "requests": TRIALS,
    }


def _recorded(chat: Chat, reminder_tokens: int) -> SessionMemory:
    """A memory that has recorded the chat and made a cut in it."""
    memory = _memory(reminder_tokens)
    memory.record(_KEY.id, chat)
    request = _DIALECT.read(body_of([*chat, {"role": "user", "content": "Go on."}]))
    memory.service.turns.commit_turn(_KEY, request.messages, None, cut=memory.service.cuts.prepare(_KEY, request).held)
    memory.service.extraction.extract(_KEY)
    memory.flush()
    return memory


def _prepare(memory: SessionMemory, body: bytes) -> tuple[float, Rewrite | None]:
    """Prepare a request. Returns the CPU milliseconds of that, and how the request is rewritten."""
    opened = open_exchange(_DIALECT, (), body, memory.settings, session_id=_KEY.id, known=memory.service.known)
    request = opened.request
    start = time.process_time()
    rewrite = memory.service.cuts.prepare(_KEY, request).rewrite
    return (time.process_time() - start) * 1_000, rewrite


def _index_ms(memory: SessionMemory, chat: Chat) -> float:
    """Median CPU milliseconds of indexing one more turn."""
    found = []
    for turn in range(9):
        chat = [*chat, {"role": "user", "content": f"Part {turn}."}, {"role": "assistant", "content": "Well. " * 60}]
        memory.record(_KEY.id, chat, later=True)
        memory.flush()
        memory.record(_KEY.id, [*chat, {"role": "user", "content": "Next."}], later=True)
        start = time.process_time()
        memory.service.extraction.extract(_KEY)
        found.append((time.process_time() - start) * 1_000)
        chat = [*chat, {"role": "user", "content": "Next."}]
    return statistics.median(found)


# -- calls -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """Sums over the calls of a session; sizes are in bytes.

    - ``sent``: up to the newest message, of which the next call begins with ``reused``; ``whole`` and ``whole_reused``:
      the same including the newest message.
    - ``before``: the last call; ``newest``: where its newest message begins.
    - ``asked``: for each question, whether its request contains the answer.
    """

    sent: int = 0
    reused: int = 0
    whole: int = 0
    whole_reused: int = 0
    before: bytes = b""
    newest: int = 0
    tokens: int = 0
    calls: int = 0
    turns: int = 0
    reminded: int = 0
    asked: list[bool] = field(default_factory=list)

    def add(self, body: bytes, chat: Chat) -> None:
        """Add the next call."""
        same = common(self.before, body) if self.before else 0
        if self.calls < CALLS:
            self.sent += self.newest
            self.reused += min(same, self.newest)
            self.whole += len(self.before)
            self.whole_reused += same
        self.calls += 1
        self.before = body.removesuffix(b"]}")
        self.newest = _newest_at(self.before)
        self.turns += chat[-1]["role"] == "user"
        self.tokens += len(body) // 4


def _newest_at(body: bytes) -> int:
    """The position where the newest message of a request begins. ``body``: without its last two bytes."""
    messages = json.loads(body + b"]}")["messages"]
    return len(json.dumps({"model": "gpt-4o", "messages": messages[:-1]}).encode()) - len(b"]}")


def sent(reminder_tokens: int, *, turns: int = TURNS) -> dict[str, float]:
    """Return the figures of the calls of so many turns. ``reminder_tokens``: 0 for no reminders."""
    memory, tally = _memory(reminder_tokens), Tally()
    for chat, asked in _calls(turns):
        opened = open_exchange(
            _DIALECT, (), body_of(chat), memory.settings, session_id=_KEY.id, known=memory.service.known
        )
        rewrite, cut = memory.service.cuts.prepare(_KEY, opened.request)
        forwarding = opened.forward(rewrite)
        tally.add(forwarding.forwarded or b"", chat)
        tally.reminded += opened.reminder is not None
        tally.asked += [asked.is_answered(forwarding.forwarded)] if asked is not None else []
        memory.service.turns.commit_turn(_KEY, opened.request.messages, Reply(None, Outcome.COMPLETE), cut=cut)
        memory.service.extraction.schedule(_KEY)
        memory.flush()
    cuts = _cuts(memory)
    memory.close()
    return {
        "cuts": cuts,
        "calls": tally.calls,
        "reminded": round(tally.reminded / tally.calls, 3),
        "answered": round(statistics.mean(tally.asked), 3),
        "reused": round(tally.reused / tally.sent, 4),
        "reused_with_newest": round(tally.whole_reused / tally.whole, 4),
        "turns": tally.turns,
        "tokens": tally.tokens,
    }


def _calls(turns: int) -> Iterator[tuple[Chat, Asked | None]]:
    for chat, asked in conversation(2_000):
        turns -= chat[-1]["role"] == "user"
        if turns < 0:
            return
        yield chat, asked


def _cuts(memory: SessionMemory) -> int:
    events = (recorded.event for recorded in memory.log.read(_KEY))
    return sum(isinstance(event, Checkpointed) and bool(event.anchor) for event in events)
