"""What a fact replaced, and what replaced it: chosen here for every text and page that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.node import DecisionKind, Node, Status, Transition


class Predecessors:
    """The facts that the facts of a graph replaced.

    A standing rule of the user is not replaced by a single choice: ``standing`` has the ids of such rules, which still
    hold.
    """

    def __init__(self, graph: SessionGraph) -> None:
        self._graph = graph
        self._into: dict[str, list[Transition]] = {}
        self.standing: set[str] = set()
        for step in graph.transitions():
            if _outlasts(graph.get(step.old), graph.get(step.new)):
                self.standing.add(step.old)
            else:
                self._into.setdefault(step.new, []).append(step)

    def of(self, node: Node) -> Iterator[tuple[Transition, Node]]:
        """Iterate over the facts that ``node`` replaced directly or through others, the newest first, each with the
        transition that replaced it.

        If one fact replaced several, only the one replaced last is followed. Left out are facts that were withdrawn as
        never true, and facts about something else than ``node``.
        """
        seen, id = {node.id}, node.id
        while id in self._into:
            found = [(self._find_old(node, step), step) for step in self._into[id]]
            place = max(range(len(found)), key=lambda at: (found[at][0] is not None, found[at][1].trigger, at))
            old, step = found[place]
            if step.old in seen:
                return
            seen.add(step.old)
            if old is not None:
                yield step, old
            id = step.old

    def _find_old(self, node: Node, step: Transition) -> Node | None:
        """What ``step`` replaced, where it is shown as a predecessor of ``node``."""
        old = self._graph.get(step.old)
        return old if old is not None and not old.is_withdrawn and _is_of(node, step, old) else None


def _is_of(node: Node, step: Transition, old: Node) -> bool:
    """Whether both are of one thing, or the words of the change name ``old``."""
    if not step.evidence or (old.slot and old.slot == node.slot):
        return True
    return bool(set(words(old.label)) & {*words(node.label), *words(step.evidence)})


def _outlasts(old: Node | None, new: Node | None) -> bool:
    """Whether ``old`` is a standing rule of the user and ``new`` is none: a single choice ends no rule."""
    return (
        old is not None
        and new is not None
        and old.kind is DecisionKind.RULE
        and old.status is Status.SUPERSEDED
        and old.source.role == "user"
        and new.kind is not DecisionKind.RULE
    )


Replacement = tuple[Node, Transition, Node]
"""A fact, the step that replaced it, and what replaced it."""


def drop_withdrawn(chain: Iterable[Replacement], *, besides: Node) -> tuple[Replacement, ...]:
    """Return the replacements between facts of which none was withdrawn as never true, other than ``besides``."""
    return tuple(one for one in chain if not any(end.is_withdrawn and end.id != besides.id for end in (one[0], one[2])))


def find_predecessors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """Return the transitions that led to ``node``, oldest first."""
    into: dict[str, list[Transition]] = {}
    for step in graph.transitions():
        into.setdefault(step.new, []).append(step)
    found: dict[Transition, None] = {}
    waiting = [node.id]
    while waiting:
        for step in into.get(waiting.pop(), ()):
            if step not in found:
                found[step] = None
                waiting.append(step.old)
    return _between(graph, [step for step in graph.transitions() if step in found])


def find_successors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """Return the transitions from ``node`` to what stands in its place now, oldest first; () while the fact holds."""
    if node.status is not Status.SUPERSEDED:
        return ()
    latest = {step.old: step for step in graph.transitions()}  # a fact that came back may have been replaced twice
    found: dict[Transition, None] = {}
    place: Node | None = node
    while place is not None and place.status is Status.SUPERSEDED and (step := latest.get(place.id)) is not None:
        if step in found:
            break
        found[step] = None
        place = graph.get(step.new)
    return _between(graph, found)


def _between(graph: SessionGraph, steps: Iterable[Transition]) -> tuple[Replacement, ...]:
    """The transitions with their two facts, as far as both are still in the graph."""
    pairs = [(graph.get(step.old), step, graph.get(step.new)) for step in steps]
    return tuple((old, step, new) for old, step, new in pairs if old is not None and new is not None)
