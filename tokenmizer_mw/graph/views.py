"""Queries on a graph: what was true at a time, what changed between two points, why a fact holds, and how much it
matters now. Importance is computed at a turn and never stored.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded, NodeEdited, node_to_dict, transition_to_dict
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Status, Transition, is_current
from tokenmizer_mw.safety.labels import flatten

_TYPE_WEIGHT: Final[dict[NodeType, float]] = {
    NodeType.GOAL: 1.0, NodeType.DECISION: 0.9, NodeType.ERROR: 0.8, NodeType.TASK: 0.7, NodeType.SCHEMA: 0.6,
    NodeType.ENDPOINT: 0.6, NodeType.API: 0.6, NodeType.FILE: 0.5, NodeType.DEPENDENCY: 0.5, NodeType.ENVIRONMENT: 0.5,
    NodeType.TEST: 0.5, NodeType.PROJECT: 0.4, NodeType.CONCEPT: 0.3, NodeType.AGENT: 0.3,
}  # fmt: skip

HALF_LIFE: Final = 40
"""Turns after which the part of a fact's importance that is due to recency has halved."""


def importances(graph: SessionGraph, turn: int = 0) -> dict[str, float]:
    """Return the importance of each node at message ``turn`` (0: the last one that mentioned a node), by id. Positive
    numbers.

    It grows with the weight of the type, with references (edges and repeated mentions) and recency, and shrinks with
    doubt. Standing rules do not age.
    """
    lives = {node.id: graph.life(node.id) for node in graph.nodes()}
    now = turn or max((life.touched for life in lives.values()), default=0)
    degree: defaultdict[str, int] = defaultdict(int)
    for edge in graph.edges():
        degree[edge.source] += 1
        degree[edge.target] += 1
    return {node.id: _importance(node, lives[node.id], degree[node.id], now) for node in graph.nodes()}


def _importance(node: Node, life: Life, edges: int, now: int) -> float:
    references = 1.0 + math.log1p(edges + life.mentions - 1)
    age = 0 if node.kind is DecisionKind.RULE or now <= life.touched else now - life.touched
    recency = 0.5 + 0.5 * math.exp2(-age / HALF_LIFE)
    return _TYPE_WEIGHT[node.type] * references * recency * (0.5 + 0.5 * node.confidence)


_TEXT_MAX: Final = 1_000
"""Characters of a reason or a quotation that an explanation shows."""


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


Replacement = tuple[Node, Transition, Node]
"""A fact, the step that replaced it, and what replaced it."""


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a fact.

    - ``chain``: the transitions (replacements) that led to ``node``, oldest first, each with the nodes before and
      after.
    - ``relations``: the other edges of the node, each with the node at the other end.
    - ``successors``: the transitions from ``node`` to the current fact, oldest first; () if it was not replaced.
    - ``edits``: the manual edits of ``node`` that are in force, oldest first.
    - ``times``: when the messages that it names were recorded, in seconds since the epoch, by their numbers; empty if
      unknown.
    - ``added``: when the facts in it that were added by hand were added, in seconds since the epoch, by id.
    - ``others``: other facts that the text fits about equally well, best first.
    """

    node: Node
    chain: tuple[Replacement, ...]
    relations: tuple[tuple[Edge, Node], ...]
    successors: tuple[Replacement, ...] = ()
    edits: tuple[NodeEdited, ...] = ()
    times: Mapping[int, float] = field(default_factory=dict, compare=False)
    added: Mapping[str, float] = field(default_factory=dict, compare=False)
    others: tuple[Node, ...] = ()

    @property
    def numbers(self) -> list[int]:
        """The numbers of the messages that the text names."""
        steps = (step.trigger for _, step, new in (*self.chain, *self.successors) if not new.source.is_by_hand)
        said = () if self.node.source.is_by_hand else (self.node.source.turn,)
        return sorted({*said, *steps})

    @property
    def text(self) -> str:
        """Return the explanation in a few harmless lines: the fact, its reason and source, and what it replaced. Times
        are local ones."""
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        because = f", because {self.node.detail}" if self.node.detail else ""
        return short_repr(self, f"{self.node.label!r} {self.node.status.word}{because}")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation of the fact as JSON values."""
        return {
            "node": node_to_dict(self.node),
            "chain": [_replacement_to_dict(one) for one in self.chain],
            "successors": [_replacement_to_dict(one) for one in self.successors],
            "relations": [
                {"type": edge.type.value, "outgoing": edge.source == self.node.id, "node": node_to_dict(far)}
                for edge, far in self.relations
            ],
            "edits": [_edit_to_dict(edit) for edit in self.edits],
            "times": {str(number): time for number, time in self.times.items()},
            "added": dict(self.added),
            "others": [node_to_dict(node) for node in self.others],
        }

    def _lines(self) -> Iterator[str]:
        node = self.node
        reason = flatten(node.detail, _TEXT_MAX)
        yield f"{flatten(node.label)} ({node.type.value}, {node.status.word})"
        if reason:
            yield f"  because: {reason}"
        if node.source.is_by_hand:
            addition = next((f" (change {edit.number})" for edit in self.edits if edit.adds), "")
            yield f"  added by hand{self._addition_time(node)}{addition}"
        else:
            yield f"  said by: {self.speaker} in {self._message(node.source.turn)}"
        yield from (f"  {line}" for edit in self.edits for line in _describe_edit(edit))
        if quote := _shorten_quote(node, reason):
            yield f'  {"said before:" if self._is_reworded() else "quote:  "} "{quote}"'
        yield from (f"  {self._describe_step(*one, reason)}" for one in (*self.chain, *self.successors))
        for edge, far in self.relations:
            arrow = "->" if edge.source == node.id else "<-"
            yield f"  {arrow} {edge.type.value.replace('_', ' ')} {flatten(far.label)}"
        if self.others:
            yield "  also: " + "; ".join(f"{other.id} {flatten(other.label, _OTHER_MAX)}" for other in self.others)

    def _describe_step(self, old: Node, step: Transition, new: Node, reason: str) -> str:
        """What was replaced by what, when and why."""
        where = f"by hand{self._addition_time(new)}" if new.source.is_by_hand else self._message(step.trigger)
        status = "" if new.current or new.status is Status.SUPERSEDED else f" ({new.status.word})"
        return f"{where}: {flatten(old.label)} -> {flatten(new.label)}{status}{_because(step, reason)}"

    @property
    def speaker(self) -> str:
        """Who said the fact, before it was corrected by hand: "user", "assistant" or "tool"; "hand" for one that was
        added by hand."""
        sources = [edit.before["source"] for edit in self.edits if "source" in edit.before]
        return flatten((sources or [self.node.source])[0].role)

    def _is_reworded(self) -> bool:
        """Whether the fact has other words than the message that states it, by a manual edit."""
        return any("label" in edit.changes for edit in self.edits)

    def _addition_time(self, node: Node) -> str:
        """The time at which a fact was added by hand, behind a comma; "" if unknown."""
        time = self.added.get(node.id)
        return f", {_spell_time(time)}" if time else ""

    def _message(self, number: int) -> str:
        """A message by its number, with the time at which it was recorded."""
        time = self.times.get(number)
        return f"message {number}" + (f", {_spell_time(time)}" if time else "")


def _spell_time(time: float) -> str:
    return f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M}"


_OTHER_MAX: Final = 80
"""Characters of the label of another fact that a text fits."""

_REASON_MIN: Final = 8
"""Characters of a reason that is left out of a quote: a shorter one may be part of a word."""


def _shorten_quote(node: Node, reason: str) -> str:
    """Return the words that state ``node``, without the reason that stands above them; "" where they are its label and
    a reason says more."""
    quote = flatten(node.source.quote, _TEXT_MAX)
    if reason and quote.rstrip(".!").casefold() == flatten(node.label).casefold():
        return ""
    return quote.replace(reason, "[...]") if len(reason) >= _REASON_MIN else quote


def _because(step: Transition, said: str) -> str:
    """The reason of a replacement; "" if there is none, or if it is the reason ``said`` above."""
    reason = flatten(step.reason, _TEXT_MAX)
    return f": {reason}" if reason and reason != said else ""


def _describe_edit(edit: NodeEdited) -> Iterator[str]:
    """What was changed by hand, from what, and why; nothing for an addition and a pin."""
    hand = f"by hand (change {edit.number})"
    because = f": {flatten(edit.reason, _TEXT_MAX)}" if edit.reason else ""
    if edit.separated is not None:
        yield f"kept beside {edit.separated.new} {hand}{because}"
    elif "status" in edit.changes and not edit.adds:
        withdrawn = edit.changes["status"] is Status.INVALIDATED and edit.changes.get("confidence") == 0
        yield f"{'withdrawn as never true' if withdrawn else edit.changes['status'].value} {hand}{because}"
    if "label" in edit.changes:
        yield f"corrected {hand} from {flatten(edit.before['label'])}{because}"
    elif "detail" in edit.changes:
        yield f"reason corrected {hand} from {flatten(edit.before['detail'], _TEXT_MAX) or 'none'}{because}"


def _edit_to_dict(edit: NodeEdited) -> dict[str, Any]:
    """The number and the reason of an edit, and what the words and the status of the fact were before it."""
    before = {name: edit.before[name] for name in ("label", "detail", "status", "pinned") if name in edit.before}
    return {"number": edit.number, "reason": edit.reason, "before": before}


def edits_in_force(edits: Sequence[NodeEdited]) -> tuple[NodeEdited, ...]:
    """Return the manual edits that were not undone, without the undo edits themselves, in the given order."""
    undone = undone_numbers(edits)
    return tuple(edit for edit in edits if not edit.undoes and edit.number not in undone)


def undone_numbers(edits: Sequence[NodeEdited]) -> set[int]:
    """Return the numbers of the manual edits that are undone. An undo can itself be undone."""
    undone: set[int] = set()
    for edit in reversed(edits):
        if edit.undoes and edit.number not in undone:
            undone.add(edit.undoes)
    return undone


def _replacement_to_dict(replacement: Replacement) -> dict[str, Any]:
    old, step, new = replacement
    return {"from": node_to_dict(old), "transition": transition_to_dict(step), "to": node_to_dict(new)}


def why(graph: SessionGraph, node: Node, edits: Iterable[NodeEdited] = (), others: Iterable[Node] = ()) -> Why:
    """Return the explanation of a node.

    - ``edits``: the session's manual edits that are in force.
    - ``others``: other facts that may be meant; those that the explanation names anyway are left out.

    Other facts that were withdrawn as never true are left out: they neither led to the fact nor replaced it.
    """
    relations = []
    for edge in graph.edges():
        if edge.type is EdgeType.SUPERSEDES or node.id not in (edge.source, edge.target):
            continue
        far = graph.get(edge.target if edge.source == node.id else edge.source)
        if far is not None and not far.is_withdrawn:
            relations.append((edge, far))
    of_node = tuple(edit for edit in edits if edit.id == node.id)
    steps = _predecessors(graph, node), _successors(graph, node)
    before, after = (_drop_withdrawn(chain, besides=node) for chain in steps)
    named = {node.id: node} | {end.id: end for old, _, new in (*before, *after) for end in (old, new)}
    added = {id: graph.life(id).added for id, one in named.items() if one.source.is_by_hand}
    unnamed = tuple(one for one in others if one.id not in named and not one.is_withdrawn)
    return Why(node, before, tuple(relations), after, of_node, added=added, others=unnamed)


def _drop_withdrawn(chain: Iterable[Replacement], *, besides: Node) -> tuple[Replacement, ...]:
    """The replacements between facts of which none was withdrawn as never true, other than ``besides``."""
    return tuple(one for one in chain if not any(end.is_withdrawn and end.id != besides.id for end in (one[0], one[2])))


def _predecessors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """The transitions that led to ``node``, oldest first."""
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


def _successors(graph: SessionGraph, node: Node) -> tuple[Replacement, ...]:
    """The transitions from ``node`` to what stands in its place now, oldest first; () while the fact holds."""
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
