"""What of a labelled session's facts survives in a small text at its end, beside what people use instead.

Facts are the labels of goal, work done and open, decisions, errors and files, and the newer side of what was replaced;
a fact survives when a line of the text covers it (see ``probes.covers``; files by their name). A replaced choice is
stale when a line covers its older side, and neither that line nor any other says that it was replaced. Efficiency is
the number of facts that survive for 100 tokens. Sets: this repository's sessions, and those below TOKENMIZER_CORPUS.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.fence import nonce_for
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.resume import build_resume

from .blocks import RESUMES
from .labelled import Corpus, Labelled, corpora
from .measure import at_least, at_most
from .probes import QUARTERS, content, covers, tokens

BUDGETS: Final = (100, 300, 600, 2_000)
JUDGED: Final = ("goal", "tasks_done", "tasks_pending", "decisions", "files", "errors")
SETS: Final = frozenset({"sessions", "authored_dev", "real_dev"})
_NONCE: Final = nonce_for(b"benchmark", SessionKey("local", "resume"), "checkpoint-1")
_REPLACED: Final = ("was ", "not ", "instead", "ruled out", "replaced", "->", "no longer", "before that")

Way = Callable[[int], str]


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for corpus in corpora():
        if corpus.name in SETS:
            figures[corpus.name] = _of(corpus)
    return {"figures": figures, "bars": list(_bars(figures)), "notes": __doc__}


def _bars(figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, ways in figures.items():
        best = max(rows[300]["survives"] for way, rows in ways.items() if way != "tokenmizer-mw")
        ours = ways["tokenmizer-mw"][300]
        yield at_least(f"{name}: facts in 300 tokens beside the best simpler way", ours["survives"] / best, 1.0)
        yield at_most(f"{name}: stale share of replaced choices in 300 tokens", ours["stale"], 0.05)


def _of(corpus: Corpus) -> dict[str, Any]:
    rows: dict[str, dict[int, list[tuple[float, float | None, float]]]] = {}
    for session in corpus.sessions:
        for name, way in _ways(session):
            for budget in BUDGETS:
                rows.setdefault(name, {}).setdefault(budget, []).append(judged(session, way(budget)))
    return {name: {budget: _mean(found) for budget, found in by.items()} for name, by in rows.items()}


def _ways(session: Labelled) -> Iterator[tuple[str, Way]]:
    memory = SessionMemory.open("memory://")
    memory.record(session.id, session.turns)
    graph = memory.graph(session.id)
    memory.close()
    count = len(session.turns)
    yield (
        "tokenmizer-mw",
        lambda budget: build_resume(graph, budget=budget, counter=QUARTERS, nonce=_NONCE, turn=count).text,
    )
    for name, way in RESUMES.items():
        yield name, _bound(way, session.turns)


def _bound(way: Callable[[Any, int], str], turns: Sequence[Mapping[str, Any]]) -> Way:
    return lambda budget: way(turns, budget)


def judged(session: Labelled, text: str) -> tuple[float, float | None, float]:
    """The share of facts that survive in ``text``, the share of replaced choices that are stale (``None`` without
    any), and facts for 100 tokens."""
    facts = [label for name in JUDGED for label, _ in session.gold.get(name, ())]
    replaced = [tuple(label.split(" -> ", 1)) for label, _ in session.gold.get("superseded", ())]
    kept = sum(_survives(text, fact) for fact in facts)
    stale = [_stale(text, *pair) for pair in replaced if len(pair) == 2]
    share = kept / len(facts) if facts else 1.0
    return share, (sum(stale) / len(stale) if stale else None), 100 * kept / max(1, tokens(text))


def _survives(text: str, fact: str) -> bool:
    if "/" in fact or ("." in fact and " " not in fact):
        return fact.rsplit("/", 1)[-1].casefold() in text.casefold()
    return covers(text, fact)


def _stale(text: str, old: str, new: str) -> bool:
    """Whether a text tells the old choice, and nowhere that it is gone."""
    mine = set(content(old)) - set(content(new))
    if not mine:
        return False
    telling = [line for line in text.splitlines() if mine <= set(content(line))]
    return bool(telling) and not any(mark in line.casefold() for line in telling for mark in _REPLACED)


def _mean(found: Sequence[tuple[float, float | None, float]]) -> dict[str, float]:
    stale = [one for _, one, _ in found if one is not None]
    return {
        "survives": statistics.fmean(share for share, _, _ in found),
        "stale": statistics.fmean(stale) if stale else 0.0,
        "facts_per_100_tokens": statistics.fmean(rate for _, _, rate in found),
    }
