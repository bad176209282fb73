"""Select the part of a graph that an export shows: all of it, or the most important facts of a large one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.importance import importances
from tokenmizer_mw.model.node import Edge, Node, NodeType, Transition

from .layout import in_order

NODES_MAX: Final = 2_000
"""Facts that an export shows unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a graph that is exported.

    - ``nodes``: in reading order (by type, then by time); ``edges`` and ``steps``: those between these nodes.
    - ``weights``: importance of each node by id, above 0 and at most 1.
    - ``left_out``: number of facts that did not fit.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    steps: tuple[Transition, ...]
    weights: dict[str, float]
    left_out: int = 0

    def by_type(self) -> dict[NodeType, list[Node]]:
        """The nodes of each type that has any."""
        lanes: dict[NodeType, list[Node]] = {}
        for node in self.nodes:
            lanes.setdefault(node.type, []).append(node)
        return lanes


def select_facts(graph: SessionGraph, most: int = NODES_MAX) -> Selection:
    """The ``most`` important facts of ``graph`` and what is between them. What a fact replaced counts as much as the
    fact, so that a story is told whole or not at all."""
    weights = importances(graph)
    nodes: Sequence[Node] = graph.nodes()
    left_out = max(0, len(nodes) - most)
    if left_out:
        ranks = dict(weights)
        for step in reversed(graph.transitions()):
            if step.old in ranks and step.new in ranks:
                ranks[step.old] = max(ranks[step.old], ranks[step.new])
        nodes = sorted(nodes, key=lambda node: -ranks[node.id])[:most]
        kept = {node.id for node in nodes}
        nodes = [node for node in graph.nodes() if node.id in kept]
    ordered = [node for lane in in_order(nodes, graph.transitions()).values() for node in lane]
    here = {node.id for node in ordered}
    highest = max((weights[id] for id in here), default=1.0)
    return Selection(
        tuple(ordered),
        tuple(edge for edge in graph.edges() if edge.source in here and edge.target in here),
        tuple(step for step in graph.transitions() if step.old in here and step.new in here),
        {node.id: round(weights[node.id] / highest, 3) for node in ordered},
        left_out,
    )
