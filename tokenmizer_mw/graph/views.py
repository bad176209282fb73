"""A graph as valid at a time, and the difference between two graphs of one session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded, node_to_dict, transition_to_dict
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import Node, Status, Transition, is_current


def as_valid(graph: SessionGraph, at: float) -> SessionGraph:
    """Return the facts of ``graph`` that were true at ``at`` (seconds since the epoch), with the status that they had
    then, the relations between them, and the transitions until then.

    A fact holds from ``valid_from`` (else from when it was recorded) until ``valid_until`` (else until it was replaced,
    declared wrong or archived).
    """
    then = SessionGraph()
    for node in graph.nodes():
        status = status_at(graph.life(node.id), node, at)
        if status is not None:
            then.apply(NodeAdded(replace(node, status=status)), graph.life(node.id).added)
    for edge in graph.edges():
        if then.get(edge.source) and then.get(edge.target):
            then.apply(EdgeAdded(edge))
    then.remember(_until(graph, at))
    return then


def status_at(life: Life, node: Node, at: float) -> Status | None:
    """Return the status that a fact had at ``at`` (seconds since the epoch); ``None`` when it was not valid then."""
    start = life.added if node.valid_from is None else node.valid_from
    if at < start or (node.valid_until is not None and at >= node.valid_until):
        return None
    known = [status for since, status in life.moves if since <= at] or [life.moves[0][1]]
    if node.valid_until is None:
        return known[-1] if is_current(known[-1]) else None
    return next((status for status in reversed(known) if is_current(status)), None)


def _until(graph: SessionGraph, at: float) -> Iterator[Transition]:
    """The transitions that had been recorded by ``at``: of each fact as many as it had been replaced then."""
    seen: Counter[str] = Counter()
    for step in graph.transitions():
        seen[step.old] += 1
        life = graph.life(step.old) if graph.get(step.old) else None
        moves = life.moves if life is not None else ()
        if seen[step.old] <= sum(since <= at and status is Status.SUPERSEDED for since, status in moves):
            yield step


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed from one graph to a later one of the same session."""

    added: tuple[Node, ...] = ()
    changed: tuple[tuple[Node, Node], ...] = ()
    removed: tuple[Node, ...] = ()
    transitions: tuple[Transition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.transitions)

    def __repr__(self) -> str:
        counts = (f"{len(getattr(self, name))} {name}" for name in ("added", "changed", "removed", "transitions"))
        return short_repr(self, ", ".join(counts))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; ``changed`` holds pairs of before and after."""
        return {
            "added": [node_to_dict(node) for node in self.added],
            "changed": [[node_to_dict(old), node_to_dict(new)] for old, new in self.changed],
            "removed": [node_to_dict(node) for node in self.removed],
            "transitions": [transition_to_dict(step) for step in self.transitions],
        }


def diff(before: SessionGraph, after: SessionGraph) -> Diff:
    """Return what was added, changed or removed from graph ``before`` to graph ``after``."""
    pairs = [(before.get(node.id), node) for node in after.nodes()]
    known = set(before.transitions())
    return Diff(
        added=tuple(new for old, new in pairs if old is None),
        changed=tuple((old, new) for old, new in pairs if old is not None and old != new),
        removed=tuple(node for node in before.nodes() if after.get(node.id) is None),
        transitions=tuple(step for step in after.transitions() if step not in known),
    )
