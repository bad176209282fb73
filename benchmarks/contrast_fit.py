"""How the weights of ``extract/contrast.py`` are fitted: pairs of a sentence and a fact from the cases of ``beliefs``.

A pair counts as a change where the case says that the sentence gives the new value and the fact states the old one.
Each author is judged by weights that the other authors give; the weights that are shipped come from all of them.

    python -m benchmarks.contrast_fit       figures by author held out, then the weights as a table
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.changing import changeable, read_claims
from tokenmizer_mw.extract.contrast import evidence
from tokenmizer_mw.extract.guessing import settling_of
from tokenmizer_mw.extract.learned import load_shipped_model
from tokenmizer_mw.extract.ledger import Ledger
from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.situation import situation_of
from tokenmizer_mw.model.message import Message, Role

from .beliefs import Case, graph_of, load_cases, load_talks, states

STEPS: Final = 400
RATE: Final = 0.5
SHRINK: Final = 1.7
"""How strongly large weights are held back."""
KEPT: Final = 5.0
"""How much a pair of an ordinary message counts."""
LIKELY: Final = 0.30


@dataclass(frozen=True, slots=True)
class Pair:
    """``changes``: whether the sentence changes the fact; ``place`` tells its sentence."""

    author: str
    place: tuple[object, ...]
    ordinary: bool
    changes: bool
    found: Mapping[str, float]


def read_pairs() -> list[Pair]:
    """The pairs of all cases that have anything to do with each other; those that only half fit a case are left out."""
    cases = [*load_cases(), *load_talks()]
    wanted = defaultdict(set)
    for case in cases:
        if case.group == "change":
            wanted[case.turns, case.message].add(case.expected)
    whole = {(case.turns, case.message): case for case in cases}
    return [pair for key, case in whole.items() for pair in _pairs_of(case, wanted[key])]


def _pairs_of(case: Case, wanted: set[tuple[str, ...]]) -> Iterator[Pair]:
    *before, last = [
        (at, Message(Role(role), text)) for at, (role, text) in enumerate((*case.turns, ("user", case.message)), 1)
    ]
    ledger = Ledger(graph_of(Case(case.group, case.turns[:-1], case.turns[-1][1], (), "", "")).fork())
    ledger.turn = case.number
    segments = segment(case.message)
    settling = settling_of(segments, situation_of(last, before, has_goal=True), load_shipped_model())
    author = case.kind if case.kind in ("a", "b") else "short"
    for said, claim, _ in read_claims(segments, [], settling):
        for node in changeable(ledger):
            if found := evidence(node, claim):
                fits = {_holds(said.text, new) for old, new in wanted if states(node, old) and not states(node, new)}
                if True in fits or not fits:
                    place = (case.turns, case.message, said.start)
                    yield Pair(author, place, not wanted, True in fits, found)


def _holds(text: str, value: str) -> bool:
    return any(spelling.strip().casefold() in text.casefold() for spelling in value.split("|"))


def fit(pairs: Sequence[Pair]) -> dict[str, float]:
    """Weights by the name of the evidence, "" for what is there without any."""
    names = ["", *pairs[0].found]
    weights = dict.fromkeys(names, 0.0)
    total = sum(KEPT if pair.ordinary else 1.0 for pair in pairs)
    for _ in range(STEPS):
        slope = {name: SHRINK * weight / total if name else 0.0 for name, weight in weights.items()}
        for pair in pairs:
            wrong = (chance(weights, pair) - pair.changes) * (KEPT if pair.ordinary else 1.0) / total
            slope[""] += wrong
            for name, value in pair.found.items():
                slope[name] += wrong * value
        weights = {name: weight - RATE * len(names) ** 0.5 * slope[name] for name, weight in weights.items()}
    return weights


def chance(weights: Mapping[str, float], pair: Pair) -> float:
    """How likely the sentence of a pair changes its fact."""
    total = weights[""] + sum(weights[name] * value for name, value in pair.found.items())
    return 1 / (1 + math.exp(-total))


def figures(pairs: Sequence[Pair], weights: Mapping[str, float]) -> tuple[int, int, int, int]:
    """Changes found, changes in all, wrong facts named, and ordinary sentences that were taken for a change."""
    by_place = defaultdict(list)
    for pair in pairs:
        by_place[pair.place].append(pair)
    best = [max(some, key=lambda pair: chance(weights, pair)) for some in by_place.values()]
    taken = [pair for pair in best if chance(weights, pair) >= LIKELY]
    found = sum(pair.changes for pair in taken)
    ordinary = sum(pair.ordinary for pair in taken)
    return found, sum(any(pair.changes for pair in some) for some in by_place.values()), len(taken) - found, ordinary


def main() -> None:
    """Print the figures by author and the weights."""
    pairs = read_pairs()
    for author in sorted({pair.author for pair in pairs}):
        weights = fit([pair for pair in pairs if pair.author != author])
        held = [pair for pair in pairs if pair.author == author]
        found, there, wrong, ordinary = figures(held, weights)
        print(f"{author:8} held out: {found} of {there} changes, wrong {wrong}, of them ordinary sentences {ordinary}")
    for name, weight in fit(pairs).items():
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
