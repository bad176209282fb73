"""Select the facts of a graph that an export shows (all of them, or the most important ones of a large graph) with the
relations between them, and group replacements into chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.export.layout import in_order
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import importances
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Transition

NODES_MAX: Final = 2_000
"""An export shows at most this many facts unless the caller passes another number."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a graph that is exported.

    - ``nodes``: in reading order (by type, then by time); ``edges`` and ``steps``: the relations and the replacements
      between these nodes.
    - ``weights``: importance of each node by id, above 0 and at most 1; the most important node has 1.
    - ``left_out``: number of facts of the graph that are not among ``nodes`` because of the limit.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    steps: tuple[Transition, ...]
    weights: dict[str, float]
    left_out: int = 0

    def by_type(self) -> dict[NodeType, list[Node]]:
        """Return the nodes of each type, in reading order; types without nodes are left out."""
        lanes: dict[NodeType, list[Node]] = {}
        for node in self.nodes:
            lanes.setdefault(node.type, []).append(node)
        return lanes


def select_facts(graph: SessionGraph, most: int = NODES_MAX, *, undone: bool = False) -> Selection:
    """Select the ``most`` most important facts of ``graph`` and the relations between them.

    A replaced fact counts as much as the fact that replaced it, so that a chain of replacements tends to be shown as a
    whole. ``undone``: whether to include facts whose addition by hand was undone, and replacements that no longer count
    (``SessionGraph.standing_transitions``).
    """
    weights = importances(graph)
    nodes: Sequence[Node] = [node for node in graph.nodes() if undone or not graph.is_undone(node)]
    steps = graph.transitions() if undone else graph.standing_transitions()
    pairs = {(step.new, step.old) for step in steps}
    left_out = max(0, len(nodes) - most)
    if left_out:
        ranks = dict(weights)
        for step in reversed(steps):
            if step.old in ranks and step.new in ranks:
                ranks[step.old] = max(ranks[step.old], ranks[step.new])
        nodes = sorted(nodes, key=lambda node: -ranks[node.id])[:most]
        kept = {node.id for node in nodes}
        nodes = [node for node in graph.nodes() if node.id in kept]
    ordered = [node for lane in in_order(nodes, steps).values() for node in lane]
    here = {node.id for node in ordered}
    highest = max((weights[id] for id in here), default=1.0)
    return Selection(
        tuple(ordered),
        tuple(
            edge
            for edge in graph.edges()
            if edge.source in here
            and edge.target in here
            and (edge.type is not EdgeType.SUPERSEDES or (edge.source, edge.target) in pairs)
        ),
        tuple(step for step in steps if step.old in here and step.new in here),
        {node.id: round(weights[node.id] / highest, 3) for node in ordered},
        left_out,
    )


def chain_replacements(steps: Sequence[Transition]) -> list[list[Transition]]:
    """Group replacements into chains: "SQLite" by "MySQL" and "MySQL" by "PostgreSQL" are one chain. Replacements that
    share a fact are in the same chain, in the order of their message numbers. Chains are sorted by their first
    replacement."""
    chains: list[list[Transition]] = []
    chain_of: dict[str, list[Transition]] = {}
    for step in sorted(steps, key=lambda step: step.trigger):
        before, after = chain_of.get(step.old), chain_of.get(step.new)
        chain = before if before is not None else after
        if chain is None:
            chain = []
            chains.append(chain)
        elif before is not None and after is not None and before is not after:
            chain = _join_chains(before, after, chains, chain_of)
        chain.append(step)
        chain_of[step.old] = chain_of[step.new] = chain
    return chains


def _join_chains(
    one: list[Transition],
    other: list[Transition],
    chains: list[list[Transition]],
    chain_of: dict[str, list[Transition]],
) -> list[Transition]:
    """Join two chains that a replacement connects, in the place of the earlier one, and return the joined chain."""
    first, second = (one, other) if chains.index(one) < chains.index(other) else (other, one)
    first.extend(second)
    first.sort(key=lambda step: step.trigger)
    chains.remove(second)
    for step in second:
        chain_of[step.old] = chain_of[step.new] = first
    return first
