"""A fact that is told again with another value takes the place of the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tokenmizer_mw.graph.values import equal, same_sort, values_in
from tokenmizer_mw.model.node import Node, NodeType, Status

from .facts import note_fact, supersede
from .finding import Finding
from .ledger import Ledger
from .similar import content

REACH: Final = 48
"""Facts, the newest, among which the earlier one is looked for."""

_SHARED: Final = 0.75
_SHARED_LEAST: Final = 0.4
"""Shares of the content of the shorter and of the longer label that two facts about the same thing have in common."""
_SHARED_WORDS: Final = 2


def note_concept(ledger: Ledger, finding: Finding) -> Node | None:
    """A fact of the matter in hand: news, or a new value of one that is known."""
    before = _before(ledger, finding) if finding.value else None
    return supersede(ledger, before, finding) if before is not None else note_fact(ledger, finding)


def _before(ledger: Ledger, finding: Finding) -> Node | None:
    """What the same words said with another value of the same sort, the likest first."""
    new = next(iter(values_in(finding.value)), None)
    if new is None:
        return None
    mine = _matter(finding.label, finding.value)
    best, most = None, _SHARED
    for node in _restatable_nodes(ledger):
        old = next(iter(values_in(node.value)), None)
        shared = _share(mine, _matter(node.label, node.value))
        if old is not None and same_sort(old, new) and not equal(old.text, new.text) and shared >= most:
            best, most = node, shared + 1e-6
    return best


def _restatable_nodes(ledger: Ledger) -> Iterator[Node]:
    graph = ledger.graph
    for number in islice(range(graph.count_added(NodeType.CONCEPT), 0, -1), REACH):
        node = graph.get(f"{NodeType.CONCEPT.value}-{number}")
        if node is not None and node.status is Status.ACTIVE and node.value and node.source.turn < ledger.turn:
            yield node


def _matter(label: str, value: str) -> frozenset[str]:
    return frozenset(content(label.casefold().replace(value, " ")))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    near = both >= _SHARED_WORDS and both >= _SHARED_LEAST * max(len(one), len(other))
    return both / min(len(one), len(other)) if near else 0.0
