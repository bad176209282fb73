"""Finding facts by words: BM25 over what nodes say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.node import Node

from .fold import SessionGraph
from .text import words

_SATURATION: Final = 1.2
_LENGTH: Final = 0.5
_CURRENT: Final = 1.1


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that was found. ``score`` is positive; it compares hits of one search only."""

    node: Node
    score: float


def rank(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Indices of the texts that share words with ``query``, best first, with BM25 scores (Robertson & Zaragoza,
    2009, with a word counted once per text)."""
    wanted = words(query)
    bags = [words(text) for text in texts]
    frequency = Counter(word for bag in bags for word in bag & wanted)
    mean = sum(map(len, bags)) / len(bags) if bags else 0.0
    found = []
    for index, bag in enumerate(bags):
        if shared := bag & wanted:
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(bag) / mean)
            weight = sum(math.log1p((len(bags) - frequency[w] + 0.5) / (frequency[w] + 0.5)) for w in shared)
            found.append((index, weight * (_SATURATION + 1) / (1 + norm)))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def search(graph: SessionGraph, text: str, *, k: int = 5) -> list[Hit]:
    """The ``k`` nodes that share most with ``text``; what still holds before what does not, among near equals."""
    nodes = graph.nodes()
    hits = [
        Hit(nodes[index], score * (_CURRENT if nodes[index].current else 1.0))
        for index, score in rank(text, [f"{n.label} {n.detail} {n.value} {n.source.quote}" for n in nodes])
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.node.id))[:k]
