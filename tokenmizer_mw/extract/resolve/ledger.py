"""Collects the events that extraction derives from messages, and applies each event to a copy of the graph at once, so
that later findings see its effect.

Every event is made here, so each is legal: a status changes only as ``may_move`` allows, a step back (such as from
completed to active) carries the sentence that states it, and nothing is recorded twice.
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
"""An increase of a node's confidence by this much or less is not recorded."""


@dataclass(slots=True)
class Ledger:
    """The events derived so far, and the message whose findings are being applied to the graph.

    - ``graph``: a copy of the session's graph, to which each event is applied at once; ``events``: all events so far.
    - ``turn``: number of the message in the session; ``role``: its speaker, "user" or "assistant"; ``first``: index in
      ``events`` of its first event.
    - ``asked``: number of the user's last message before it. If extraction was not given that message: number of the
      last one in which the user stated a fact. 0 for none.
    - ``told``: number of the assistant's last message before it, among those that extraction was given; 0 for none.
    - ``claims``: number of reports in the message of finished work that nobody had asked for. Above a limit they are
      not added to the graph.
    - ``wanted``: function that returns the content stems of the user's last message.
    - ``put_up``: function that returns number and text of each of the assistant's earlier messages, oldest first.
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
        """Continue with the next message: set the fields of the same names, and set ``claims`` to 0."""
        self.turn, self.role, self.asked, self.told, self.claims = turn, role, asked, told, 0
        self.first = len(self.events)
        self.wanted, self.put_up = wanted, put_up

    def emit(self, event: Event) -> None:
        """Add an event to ``events`` and apply it to ``graph``."""
        self.events.append(event)
        self.graph.apply(event)

    def find_replacements(self) -> list[Transition]:
        """Return the transitions of all replacements that the current message has made so far, oldest first."""
        events = islice(self.events, self.first, None)
        return [event.transition for event in events if isinstance(event, DecisionReplaced)]

    def make_source(self, finding: Finding) -> Source:
        """Return the ``Source`` of a fact that ``finding`` states: number and speaker of the current message, with the
        finding's quote, trust and span."""
        return Source(self.turn, self.role, finding.quote, finding.trust, finding.span)

    def add(self, finding: Finding, **changes: Any) -> Node:
        """Add a node with the fields of ``finding``, and return it. ``changes``: fields of ``Node`` that get other
        values. If the finding has no detail, its reason becomes the detail, unless the label contains it."""
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
        """Return the node if the graph has its id. Otherwise add it with a new id and return the added node; that
        happens with nodes from ``find_set_by_assistant``, which belong to no graph yet."""
        if self.graph.get(node.id) is not None:
            return node
        known = replace(node, id=self.graph.next_id(node.type))
        self.emit(NodeAdded(known))
        return known

    def move(self, node: Node, status: Status, finding: Finding, reason: str = "") -> bool:
        """Change the status of ``node`` to ``status``, and return whether that was done.

        ``False`` if the node has that status already, was removed, or may not change to it. A step back, such as from
        completed to active, is only made if the finding has a quote. ``reason``: recorded instead of the finding's
        reason; "" for the finding's.
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
        """Record that the current message mentions ``node``; at most once for a message."""
        if self.graph.life(node.id).touched < self.turn:
            self.emit(NodeRevised(node.id, {}, self.turn))

    def merge(self, node: Node, finding: Finding) -> None:
        """Update the node with what the finding adds: higher confidence, a more reliable source, a detail or a slot if
        the node has none, another position in its plan. If it adds nothing, only record the mention."""
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
        """Record that ``new`` replaces ``old``, and supersede the open task that has the label of ``old``.

        Does nothing if ``old`` no longer holds, if both are the same node, or if they hold for different scopes (see
        ``is_exception``).
        """
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
        """Add an edge from ``source`` to ``target``. Does nothing if a node was removed, if both are the same node, or
        if the graph has the edge."""
        known = self.graph.get(source.id) is not None and self.graph.get(target.id) is not None
        if known and source.id != target.id and not self.graph.has_edge(source.id, type_, target.id):
            self.emit(EdgeAdded(Edge(source.id, type_, target.id, self.turn)))

    def last_touched(self, node: Node) -> int:
        """Return the number of the last message that mentioned the node."""
        return self.graph.life(node.id).touched

    def prune(self, limit: int) -> None:
        """If the graph has more than ``limit`` nodes of types that may be pruned, remove those that were not mentioned
        for longest: the surplus and a sixteenth of ``limit`` more, so that this is rarely needed.

        Unfinished work, errors that are not fixed, pinned nodes and those of the current message stay, so that fewer
        may be removed.
        """
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
    """Return the first node; ``None`` for no nodes."""
    return next(iter(nodes), None)


def is_open(node: Node) -> bool:
    """Whether a node is pending or in progress, or an error that is not fixed."""
    return node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE)
