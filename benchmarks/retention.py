"""Could an agent go on after a cut? Which names of its next tool calls a small text still contains.

- Sessions with tool calls are cut at half and at three quarters of their messages, if the part before has at least
  6,000 tokens. The text must stand in for that part.
- Names are paths, file names, identifiers and ports. The needed names are those in the arguments of the 12 tool calls
  after the cut that occurred before the cut; sessions with fewer than three are left out.
- The figure is the share of the needed names that the text contains, in the mean of the sessions (8 at half, 9 at
  three quarters).
- Our text is a resume block in half of the budget, and the newest messages in the rest, as at a real cut. ``block
  alone`` is a block with the whole budget.
- The simpler methods (``benchmarks/blocks.py``) are ``last`` (the newest messages), ``ends`` (half from the
  beginning, half from the end) and ``extract`` (the users' sentences that are nearest to the whole). The bar is our
  share divided by that of the best of them.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for

from .blocks import RESUMES, last
from .labelled import Labelled, corpora
from .measure import at_least
from .probes import QUARTERS, tokens

BUDGETS: Final = (300, 600, 2_000)
CUTS: Final = (0.5, 0.75)
CALLS_AFTER: Final = 12
"""How many tool calls after the cut are searched for needed names."""
SEEN_MIN: Final = 3
"""Fewest needed names with which a session counts."""
LONG: Final = 6_000
"""Fewest tokens before a cut; with fewer, no cut would be made."""
_NONCE: Final = nonce_for(b"benchmark", SessionKey("local", "retention"), "checkpoint-1")
_NAME: Final = re.compile(r"(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.[a-z]{1,5}\b|\b[a-z]+(?:[A-Z]\w+)+\b|\b\w+_\w+\b|:\d{4,5}\b")


def run() -> dict[str, Any]:
    sessions = [
        one for corpus in corpora() for one in corpus.sessions if any(turn.get("tool_calls") for turn in one.turns)
    ]
    figures = {str(cut): rows for cut in CUTS if (rows := _at(sessions, cut))}
    bars = [
        at_least(
            f"cut at {cut}: needed names in 600 tokens / those of the best simpler method",
            rows["tokenmizer-mw"][600] / max(by[600] for way, by in rows.items() if way in RESUMES),
            1.0,
        )
        for cut, rows in figures.items()
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _at(sessions: Sequence[Labelled], cut: float) -> dict[str, dict[int, float]]:
    shares: dict[str, dict[int, list[float]]] = {}
    for session in sessions:
        place = int(len(session.turns) * cut)
        wanted = needed(session.turns, place)
        long = sum(tokens(_text(turn)) for turn in session.turns[:place]) >= LONG
        if long and len(wanted) >= SEEN_MIN:
            for name, budget, text in _texts(session, place):
                told = sum(one in text for one in wanted) / len(wanted)
                shares.setdefault(name, {}).setdefault(budget, []).append(told)
    means = {name: {budget: statistics.fmean(found) for budget, found in by.items()} for name, by in shares.items()}
    count = len(next(iter(shares.values()), {}).get(BUDGETS[0], []))
    return {**means, "sessions": {0: float(count)}} if count else {}


def needed(turns: Sequence[Mapping[str, Any]], place: int) -> set[str]:
    """Return the names in the arguments of the next ``CALLS_AFTER`` tool calls from message ``place`` on that also
    occur before it."""
    before = "\n".join(_text(turn) for turn in turns[:place])
    calls = [call for turn in turns[place:] for call in turn.get("tool_calls") or ()]
    after = "\n".join(_arguments(call) for call in calls[:CALLS_AFTER])
    return {name for name in _NAME.findall(after) if name in before}


def _text(turn: Mapping[str, Any]) -> str:
    return "\n".join((str(turn.get("content") or ""), *(_arguments(call) for call in turn.get("tool_calls") or ())))


def _arguments(call: Mapping[str, Any]) -> str:
    given = call.get("arguments")
    return "\n".join(_strings(given)) if isinstance(given, Mapping) else json.dumps(given)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _texts(session: Labelled, place: int) -> Iterator[tuple[str, int, str]]:
    turns = session.turns[:place]
    memory = SessionMemory.open("memory://")
    memory.record(session.id, turns)
    graph = memory.graph(session.id)
    memory.close()
    shown = [{**turn, "content": _text(turn)} for turn in turns]
    for budget in BUDGETS:
        block = _block(graph, budget // 2, place)
        yield "tokenmizer-mw", budget, f"{block}\n{last(shown, budget - tokens(block))}"
        yield "block alone", budget, _block(graph, budget, place)
        for name, way in RESUMES.items():
            yield name, budget, way(shown, budget)


def _block(graph: SessionGraph, budget: int, turn: int) -> str:
    return build_resume(graph, budget=budget, counter=QUARTERS, nonce=_NONCE, turn=turn).text
