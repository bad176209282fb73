"""The result of adding a fact by hand: the fact, what it replaced, and the facts in force that it may contradict."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import singular, words
from tokenmizer_mw.model.node import Node, NodeType
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.manual_edits import KINDS, find_addition

_SIMILAR_MAX: Final = 3
"""Similar facts that are returned."""

_COMPARED: Final = frozenset({type_ for type_, _, _ in KINDS.values()} | {NodeType.CONCEPT})
"""Types of what a person may have said in other words: a message may have stated a goal what is a choice by hand."""

_SHARED_MIN: Final = 2
"""Words that similar facts share at least."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AddedFact(Node):
    """The fact that ``remember`` added; it equals the ``Node`` in the graph.

    - ``number``: of the manual edit that added it, for ``undo``; 0: the fact was known from the messages.
    - ``replaced``: the facts whose place it took.
    - ``similar``: statements in force that share most of their words with it, the most similar first. If it
      contradicts one, invalidate or archive that one.
    """

    number: int = 0
    replaced: tuple[Node, ...] = ()
    similar: tuple[Node, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(Node))

    __hash__ = Node.__hash__

    @classmethod
    def of(cls, state: SessionState, node: Node) -> Self:
        """Return ``node`` of a session with what its addition did."""
        graph = state.graph
        steps = [step.old for step in graph.transitions() if step.new == node.id]
        return cls(
            **{field.name: getattr(node, field.name) for field in fields(Node)},
            number=find_addition(state.edits.values(), node.id),
            replaced=tuple(old for id in steps if (old := graph.get(id)) is not None),
            similar=tuple(_find_similar(graph, node)),
        )

    @property
    def effects(self) -> list[str]:
        """What the addition did to other facts, and what it left, a line each; [] for nothing."""
        lines = [f"replaced {old.id}: {old.label}" for old in self.replaced]
        return lines + [f"similar and still in force: {one.id}: {one.label}" for one in self.similar]


def _find_similar(graph: SessionGraph, node: Node) -> list[Node]:
    own = _label_words(node)
    near: list[tuple[int, Node]] = []
    for one in graph.nodes():
        said = _label_words(one) if one.type in _COMPARED else frozenset[str]()
        shared = len(own & said)
        if one.current and one.id != node.id and shared >= _SHARED_MIN and 2 * shared > min(len(own), len(said)):
            near.append((shared, one))
    return [one for _, one in sorted(near, key=lambda found: -found[0])[:_SIMILAR_MAX]]


def _label_words(node: Node) -> frozenset[str]:
    return frozenset(map(singular, words(node.label)))
