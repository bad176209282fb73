"""Collects the events of a derivation, and applies each to a copy of the graph, so that later findings see it.

Every event is made here, so that each is legal: a status changes only as ``may_move`` allows, a step back carries the
quote that states it, and nothing is recorded twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.scope import is_exception
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import (
    DecisionReplaced,
    EdgeAdded,
    Event,
    NodeAdded,
    NodeRevised,
    NodesPruned,
    StatusChanged,
)
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust, may_move
from tokenmizer_mw.safety.redact.strict import mask_opaque

_RANKS: Final = {
    Trust.QUOTED: 0,
    Trust.PROPOSED: 1,
    Trust.CLAIMED: 2,
    Trust.ADOPTED: 3,
    Trust.STATED: 4,
    Trust.STRUCTURE: 5,
}
_SURER: Final = 0.02
"""Smallest gain in confidence that is recorded."""


@dataclass(slots=True)
class Ledger:
    """The events of a derivation so far, and the message whose findings are being applied to the graph.

    - ``graph``: a copy of the session's graph, to which each event is applied at once.
    - ``turn``, ``role``: number of the message in the session, and its speaker; ``first``: index of its first event in
      ``events``.
    - ``asked``: number of the user's last message before it; if that is not among the messages looked at, of the last
      one in which the user stated a fact; ``told``: number of the assistant's last message before it among those
      looked at. 0 for none.
    - ``claims``: how many pieces of finished work that nobody had asked for the message has reported so far. Above a
      limit no more of them are added.
    - ``wanted``: function that returns the stems of the content words of the user's last message; ``put_up``: function
      that returns the texts of the assistant's messages looked at, each with its message's number.
    """

    graph: SessionGraph
    events: list[Event] = field(default_factory=list)
    turn: int = 0
    role: str = ""
    asked: int = 0
    told: int = 0
    claims: int = 0
    first: int = 0
    wanted: Callable[[], frozenset[str]] = frozenset
    put_up: Callable[[], Sequence[tuple[int, str]]] = tuple

    def begin_message(
        self,
        turn: int,
        role: str,
        asked: int,
        told: int,
        wanted: Callable[[], frozenset[str]] = frozenset,
        put_up: Callable[[], Sequence[tuple[int, str]]] = tuple,
    ) -> None:
        """Start with the next message. Arguments: as the fields of the class."""
        self.turn, self.role, self.asked, self.told, self.claims = turn, role, asked, told, 0
        self.first = len(self.events)
        self.wanted, self.put_up = wanted, put_up

    def emit(self, event: Event) -> None:
        """Record an event and apply it to the graph."""
        self.events.append(event)
        self.graph.apply(event)

    def find_replacements(self) -> list[Transition]:
        """Return the replacements of decisions that the current message has made so far, oldest first."""
        events = islice(self.events, self.first, None)
        return [event.transition for event in events if isinstance(event, DecisionReplaced)]

    def make_source(self, finding: Finding) -> Source:
        """Return the ``Source`` of a fact that this finding of the current message states."""
        return Source(self.turn, self.role, finding.quote, finding.trust, finding.span)

    def add(self, finding: Finding, **changes: Any) -> Node:
        """Add a node for the finding and return it. ``changes`` override its fields."""
        said: dict[str, Any] = {
            "type": finding.type,
            "label": finding.label,
            "status": finding.status,
            "confidence": finding.confidence,
            "detail": finding.detail or ("" if finding.reason in finding.label else finding.reason),
            "kind": finding.kind,
            "slot": finding.slot,
            "value": finding.value,
            "order": finding.order,
        }
        said |= changes
        said["value"] = mask_opaque(said["value"])
        node = Node(id=self.graph.next_id(said["type"]), source=self.make_source(finding), **said)
        self.emit(NodeAdded(node))
        return node

    def ensure_node(self, node: Node) -> Node:
        """Return the node if the graph has it. Else, as for a node from ``find_set_by_assistant``, add it with a new id
        and return that."""
        if self.graph.get(node.id) is not None:
            return node
        known = replace(node, id=self.graph.next_id(node.type))
        self.emit(NodeAdded(known))
        return known

    def move(self, node: Node, status: Status, finding: Finding, reason: str = "") -> bool:
        """Change the status of ``node``, and return whether that was done.

        ``False`` if the node has the status already, was removed, or may not have it next. A step back, such as from
        completed to active, needs a finding with a quote. ``reason``: recorded in place of the finding's; "": the
        finding's.
        """
        now = self.graph.get(node.id)
        if now is None or now.status is status:
            return False
        if not may_move(now.status, status, evidence=bool(finding.quote)):
            return False
        needs_quote = not may_move(now.status, status, evidence=False)
        why = reason or finding.reason
        self.emit(StatusChanged(node.id, status, self.turn, why, finding.quote if needs_quote or why else ""))
        return True

    def touch(self, node: Node) -> None:
        """Record that the current message mentions ``node``, once."""
        if self.graph.life(node.id).touched < self.turn:
            self.emit(NodeRevised(node.id, {}, self.turn))

    def merge(self, node: Node, finding: Finding) -> None:
        """Update the node where the finding knows more (confidence, source, detail, slot, position); else only record
        the mention."""
        changes: dict[str, Any] = {}
        if finding.confidence > node.confidence + _SURER:
            changes["confidence"] = finding.confidence
        if _RANKS[finding.trust] > _RANKS[node.source.trust]:
            changes["source"] = self.make_source(finding)
        if not node.detail and (detail := finding.detail or finding.reason) and detail != node.label:
            changes["detail"] = detail
        if finding.slot and not node.slot and node.current and self.graph.in_slot(finding.slot) is None:
            changes |= {"slot": finding.slot, "value": mask_opaque(finding.value)}
        if finding.order is not None and finding.order != node.order:
            changes["order"] = finding.order
        if changes:
            self.emit(NodeRevised(node.id, changes, self.turn))
        else:
            self.touch(node)

    def replace(self, old: Node, new: Node, finding: Finding) -> None:
        """Mark ``old`` as superseded by ``new``, unless it is no longer in force or the two hold for different scopes.
        An open task with the label of ``old`` is superseded, too."""
        now = self.graph.get(old.id)
        if now is None or now.id == new.id or not may_move(now.status, Status.SUPERSEDED, evidence=False):
            return
        if is_exception(now.label, new.label):
            return
        step = Transition(
            now.id, new.id, self.turn, finding.reason, finding.quote, round(new.confidence - now.confidence, 4)
        )
        self.emit(DecisionReplaced(step))
        order = self.graph.find(NodeType.TASK, now.label)
        if order is not None and order.open:
            self.move(order, Status.SUPERSEDED, finding)

    def link(self, source: Node, type_: EdgeType, target: Node) -> None:
        """Add an edge between two nodes that still exist, unless the graph has it."""
        known = self.graph.get(source.id) is not None and self.graph.get(target.id) is not None
        if known and source.id != target.id and not self.graph.has_edge(source.id, type_, target.id):
            self.emit(EdgeAdded(Edge(source.id, type_, target.id, self.turn)))

    def last_touched(self, node: Node) -> int:
        """Return the number of the last message that mentioned the node."""
        return self.graph.life(node.id).touched

    def prune(self, limit: int) -> None:
        """If the graph has more than ``limit`` nodes of prunable types, remove those settled ones that were not
        mentioned for longest. Open work and pinned nodes stay. A sixteenth of ``limit`` more is removed, so that this
        is rarely needed."""
        surplus = self.graph.prunable - limit
        if surplus > 0:
            self._prune(surplus + limit // 16)

    def _prune(self, count: int) -> None:
        ids: list[str] = []
        for node in self.graph.oldest_settled():
            if len(ids) == count or self.last_touched(node) == self.turn:
                break
            if not node.pinned:
                ids.append(node.id)
        if ids:
            self.emit(NodesPruned(tuple(ids)))


def first(nodes: Iterable[Node]) -> Node | None:
    """Return the first of some nodes; ``None`` if there is none."""
    return next(iter(nodes), None)


def is_open(node: Node) -> bool:
    """Whether a node is unfinished work, or an error that is not fixed."""
    return node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE)
