"""Figures of labelled sessions: the facts found in each, compared with its labels and summed up."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .labelled import TRAITS, Corpus, Labelled
from .measure import percentile
from .scoring import FREE, RESEARCH, Matcher, Row, count_open, free_covers, score, states, summary

LEAST_IN_GROUP: Final = 3
"""Fewest sessions with the same value of a trait that get figures of their own."""
GROUP_SAMPLES: Final = 300
PARTS: Final[Mapping[str, Callable[[Labelled], bool]]] = {
    "not English": lambda session: session.traits["language"] not in ("", "en"),
    "with tools": lambda session: any(turn.get("tool_calls") for turn in session.turns),
    "agentic": lambda session: session.traced,
}
"""Parts of a set that have figures of their own, with the test whether a session belongs to them."""
MATCHES: Final = ("lenient", "strict")


@dataclass(frozen=True, slots=True)
class Scored:
    """One session with what was found in it.

    - ``labels``: the found labels by category; ``lenient`` and ``strict``: tallies by category.
    - ``costs``: CPU of each of its messages in milliseconds, () if not measured.
    """

    session: Labelled
    labels: Mapping[str, Sequence[str]]
    lenient: Row
    strict: Row
    costs: Sequence[float] = ()


def matcher_for(corpus: Corpus) -> Matcher:
    """Return the published matcher for sets without evidence, else the one that also compares quotes."""
    return FREE if corpus.evidence else RESEARCH


def scored(
    session: Labelled, labels: Mapping[str, Sequence[str]], matcher: Matcher, costs: Sequence[float] = ()
) -> Scored:
    """Compare the labels found in a session with its given labels. ``costs``: as in ``Scored``."""
    lenient, strict = (score(labels, session.gold, matcher, strict=strict) for strict in (False, True))
    return Scored(session, labels, lenient, strict, costs)


def figures(corpus: Corpus, rows: Sequence[Scored], *, samples: int = 1000) -> dict[str, Any]:
    """Return the JSON-ready figures of a set: by both matchers, by groups of a trait, states of errors, negatives, CPU.
    ``samples``: of the bootstrap for intervals, 0 for no intervals."""
    right, wrong = (
        sum(pair)
        for pair in zip(*(states(row.labels.get("errors", ()), row.session.open_errors) for row in rows), strict=True)
    )
    return {
        "matcher": matcher_for(corpus).name,
        "turns": sum(len(row.session.turns) for row in rows),
        "lenient": summary([row.lenient for row in rows], samples=samples),
        "strict": summary([row.strict for row in rows], samples=samples),
        "parts": _parts(rows),
        "by": {trait: groups(rows, trait) for trait in TRAITS if groups(rows, trait)},
        "error_states": {"right": right, "wrong": wrong},
        "open_errors": _open_errors(rows, matcher_for(corpus)),
        "negatives": {
            "taken": sum(len(taken(row)) for row in rows),
            "of": sum(len(row.session.negatives) for row in rows),
        },
        "cpu_ms": costs_of(rows),
    }


def _open_errors(rows: Sequence[Scored], matcher: Matcher) -> dict[str, int]:
    """How many errors are told as open ("told"), and how many of them are open at the end ("right")."""
    covers = matcher.relation("errors", strict=False)
    counts = [
        count_open(row.labels.get("errors", ()), row.session.gold.get("errors", ()), row.session.open_errors, covers)
        for row in rows
    ]
    return {"right": sum(right for right, _ in counts), "told": sum(told for _, told in counts)}


def taken(row: Scored) -> list[tuple[str, str]]:
    """Return category and text of each negative (something that is no fact) that was taken for one: a spurious label
    covers it."""
    found = []
    for category, text, quote in row.session.negatives:
        tally = row.lenient.get(category)
        if tally is not None and any(free_covers(label, text, quote) for label in tally.spurious):
            found.append((category, text))
    return found


def _parts(rows: Sequence[Scored]) -> dict[str, Any]:
    found = {}
    for name, belongs in PARTS.items():
        some = [row for row in rows if belongs(row.session)]
        if some:
            found[name] = {match: summary([getattr(row, match) for row in some], samples=0) for match in MATCHES}
    return found


def groups(rows: Sequence[Scored], trait: str, least: int = LEAST_IN_GROUP) -> dict[str, Any]:
    """Return the macro F1 of the sessions that share a value of a trait, by value. Values that fewer than ``least``
    sessions have, and "", are left out."""
    members: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        members[row.session.traits[trait]].append(row)
    found = {}
    for value, some in sorted(members.items()):
        if value and len(some) >= least:
            both = [summary([getattr(row, name) for row in some], samples=GROUP_SAMPLES) for name in MATCHES]
            found[value] = {"sessions": len(some)} | {
                name: {key: part[key] for key in ("macro_f1", "by_session", "interval")}
                for name, part in zip(MATCHES, both, strict=True)
            }
    return found


def costs_of(rows: Sequence[Scored]) -> dict[str, float]:
    """Return the CPU of a message in milliseconds: median, p99 and maximum; {} if nothing was measured."""
    costs = [cost for row in rows for cost in row.costs]
    if not costs:
        return {}
    found = {"median": statistics.median(costs), "p99": percentile(costs, 0.99), "most": max(costs)}
    return {name: round(value, 3) for name, value in found.items()}
