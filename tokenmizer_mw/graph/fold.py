"""The session graph, computed by applying the session's events in order (a fold).

``SessionGraph.apply`` does what an event says and decides nothing. Decisions, such as whether a new fact replaces an
old one, are made once, in ``tokenmizer_mw.extract``, and recorded as events. Therefore a new release with other rules
does not change the past.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.layer import Layer
from tokenmizer_mw.graph.text import label_key, words
from tokenmizer_mw.model.event import (
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    StatusChanged,
    edge_to_dict,
    node_to_dict,
    transition_to_dict,
)
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import NEVER_PRUNED, DecisionKind, Edge, EdgeType, Node, NodeType, Status, Transition

_Kind = TypeVar("_Kind", bound=StrEnum)

_UNDONE: Final = re.compile(r"change \d+ undone")
"""The reason of the edit that undoes another one (``manual_edits.undo_edit``)."""

_INTERNAL: Final = re.compile(r"change \d+ undone|[a-z_]+-\d+ was invalidated")
"""Reasons that this package wrote and that tell a reader nothing, because they name an edit or a fact by its number:
"change 3 undone", and in older logs "decision-2 was invalidated"."""

POSTINGS_MAX: Final = 64
"""The word index lists at most this many nodes per type and word, the newest ones, so that a look-up of similar labels
stays fast."""


SMALL: Final = 100
"""A fork of a graph with at most this many nodes is a plain copy, which is cheaper than reading through two layers."""

Order = dict[str, None] | Layer[str, None]
"""Ids of nodes in an order that can be read from both ends, as the keys of a mapping whose values are all ``None``."""


DISPLAYS: Final[dict[str, Callable[[SessionGraph], Any]]] = {}
"""Functions that display a graph: "notebook" returns HTML for a notebook, "tree" a tree of the library ``rich``.
``graph/__init__.py`` sets both, because they import this module."""


@dataclass(frozen=True, slots=True)
class Life:
    """The history of a node.

    - ``added``: when it was recorded; ``closed``: when it was replaced, declared wrong or archived, ``None`` while it
      is current; both in seconds since the epoch.
    - ``touched``: number of the last message that mentioned it or changed its status; ``mentions``: how many times it
      was mentioned, its first statement included.
    - ``reason``: why its status changed last; "" if no reason was given, or its status never changed.
    - ``moves``: every status it has had, oldest first, as pairs (seconds since the epoch, status) of when the status
      began.
    """

    added: float
    closed: float | None = None
    touched: int = 0
    mentions: int = 1
    reason: str = ""
    moves: tuple[tuple[float, Status], ...] = ()

    @property
    def reason_in_words(self) -> str:
        """The reason as it is shown to a model: ``reason``, or "" if that only names a manual edit or a fact by its
        number ("change 3 undone"), which tells a model nothing."""
        return "" if _INTERNAL.fullmatch(self.reason) else self.reason


@dataclass(slots=True)
class SessionGraph:
    """The facts of a session as a graph: nodes (facts), edges (relations between facts) and transitions (replacements
    of one fact by another).

    Nodes are never changed in place, so one that was returned stays as it was. ``fork`` returns a graph that starts as
    this one and changes independently.
    """

    _nodes: MutableMapping[str, Node] = field(default_factory=dict)
    _life: MutableMapping[str, Life] = field(default_factory=dict)
    _edges: MutableMapping[tuple[str, EdgeType, str], Edge] = field(default_factory=dict)
    _by_key: MutableMapping[str, str] = field(default_factory=dict)
    _by_slot: MutableMapping[str, str] = field(default_factory=dict)
    _by_word: MutableMapping[str, tuple[str, ...]] = field(default_factory=dict)
    _unfinished: Order = field(default_factory=dict)
    _settled: Order = field(default_factory=dict)
    _heirs: MutableMapping[str, str] = field(default_factory=dict)
    _replaced: MutableMapping[str, Transition] = field(default_factory=dict)
    _counts: MutableMapping[NodeType, int] = field(default_factory=dict)
    _flagged: MutableMapping[int, tuple[str, ...]] = field(default_factory=dict)
    _derived: int = 0
    _stated: int = 0
    _unindexed: list[Node] = field(default_factory=list)
    """Nodes whose words ``_by_word`` lacks, as they were when their label was set. They are indexed at the first
    look-up, because indexing takes half the time of a fold and views of the past look nothing up."""

    __hash__ = None  # type: ignore[assignment]  # a graph changes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SessionGraph):
            return NotImplemented
        self.index_words()
        other.index_words()
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    # -- reading ---------------------------------------------------------------------------------------------

    def nodes(
        self, type: NodeType | DecisionKind | str | None = None, status: Status | str | None = None
    ) -> list[Node]:
        """Return the nodes of a type and with a status, oldest first.

        - ``type``: a type, such as "decision", or a kind of decisions, such as "rule"; ``None``: all.
        - ``status``: a status, also by the word for people ("replaced"); ``None``: all.

        Raises ``CallerError`` for unknown names.
        """
        wanted_status = _member(Status, status)
        found = [node for node in self._nodes.values() if wanted_status is None or node.status is wanted_status]
        if type is None:
            return found
        if type in _KINDS:
            return [node for node in found if node.kind == type]
        wanted_type = _member(NodeType, type, also=_KINDS)
        return [node for node in found if node.type is wanted_type]

    def edges(self, type: EdgeType | str | None = None) -> list[Edge]:
        """Return the edges of a type, oldest first; all edges if ``type`` is ``None``. Raises ``CallerError`` for an
        unknown name."""
        wanted = _member(EdgeType, type)
        return [edge for edge in self._edges.values() if wanted is None or edge.type is wanted]

    def transitions(self) -> list[Transition]:
        """Return all replacements of one fact by another, oldest first. Those that no longer count are among them (see
        ``standing_transitions``)."""
        return list(self._replaced.values())

    def standing_transitions(self) -> list[Transition]:
        """Return the transitions that still count, oldest first. A transition no longer counts if its new fact was
        archived or declared wrong and one of these holds:

        - the old fact is current again;
        - the new fact was added by hand, and that addition was undone;
        - the new fact was added by hand, and another fact has replaced the old one since.
        """
        return [step for step in self._replaced.values() if not self._is_taken_back(step)]

    def _is_taken_back(self, step: Transition) -> bool:
        old, new = self.get(step.old), self.get(step.new)
        if old is None or new is None or new.status not in (Status.ARCHIVED, Status.INVALIDATED):
            return False
        return old.current or self.is_undone(new) or (new.source.is_by_hand and self._heirs.get(old.id) != new.id)

    def is_undone(self, node: Node) -> bool:
        """Whether a node was added by hand and its addition was undone since."""
        return (
            node.status is Status.ARCHIVED
            and node.source.is_by_hand
            and _UNDONE.fullmatch(self._life[node.id].reason) is not None
        )

    def get(self, id: str) -> Node | None:
        """Return the node with this id; ``None`` when it is unknown or was pruned (removed because the graph was too
        large)."""
        return self._nodes.get(id)

    def life(self, id: str) -> Life:
        """Return the history of a node. Raises ``KeyError`` for an id that is unknown or was pruned."""
        return self._life[id]

    def find(self, type: NodeType, label: str) -> Node | None:
        """Return the newest node of a type whose label has the same ``label_key`` as ``label``; ``None`` if there is
        none. The node may be replaced or archived."""
        id = self._by_key.get(label_key(type, label))
        return self._nodes.get(id) if id is not None else None

    def in_slot(self, slot: str) -> Node | None:
        """Return the current node with this slot (what a fact is a value of, such as "database"); ``None`` if there is
        none, and for ""."""
        id = self._by_slot.get(slot) if slot else None
        node = self._nodes.get(id) if id is not None else None
        return node if node is not None and node.current else None

    def sharing_words(self, text: str, type: NodeType | None = None, limit: int = 64) -> list[tuple[Node, int]]:
        """Return at most ``limit`` nodes whose label shares words with ``text``, each with the number of shared words;
        most shared words first, then those with the highest number in their id.

        ``type``: only nodes of this type; ``None``: of all types. For each word and type only the newest
        ``POSTINGS_MAX`` nodes with that word are considered.
        """
        hits: dict[str, int] = {}
        by_word = self.index_words()
        for kind in NodeType if type is None else (type,):
            prefix = kind.value
            for word in words(text):
                for id in by_word.get(f"{prefix}:{word}", ()):
                    hits[id] = hits.get(id, 0) + 1
        best = sorted(hits, key=lambda id: (-hits[id], -_number(id))) if len(hits) > 1 else hits
        found = ((self._nodes.get(id), hits[id]) for id in best)
        return list(islice(((node, count) for node, count in found if node is not None), limit))

    def unfinished_nodes(self) -> list[Node]:
        """Return the unfinished work: pending tasks and tests and those in progress, errors that are not fixed, and
        other facts that are pending or in progress, except decisions, goals, environments and schemas. What became
        unfinished first comes first."""
        return [self._nodes[id] for id in self._unfinished if id in self._nodes]

    def newest_unfinished(self) -> Iterator[Node]:
        """Iterate over the nodes of ``unfinished_nodes``, the ones that became unfinished last first."""
        return (self._nodes[id] for id in reversed(self._unfinished) if id in self._nodes)

    def newest_settled(self) -> Iterator[Node]:
        """Iterate over the nodes that may be pruned (removed when the graph is too large), without unfinished work
        (``unfinished_nodes``). The ones that were mentioned or changed last come first."""
        return (self._nodes[id] for id in reversed(self._settled) if id in self._nodes)

    def oldest_settled(self) -> Iterator[Node]:
        """Iterate over the nodes of ``newest_settled`` in reverse order, which is the order in which they are
        pruned."""
        return (self._nodes[id] for id in self._settled if id in self._nodes)

    @property
    def prunable(self) -> int:
        """Number of nodes of types that may be pruned (removed when the graph is too large), unfinished work
        included."""
        return len(self._settled) + len(self._unfinished)

    def heir(self, id: str) -> Node | None:
        """Return the node that directly replaced the node ``id``, the newest if several did; ``None`` if none did."""
        heir = self._heirs.get(id)
        return self._nodes.get(heir) if heir is not None else None

    def has_edge(self, source: str, type: EdgeType, target: str) -> bool:
        """Whether the graph has an edge of this type from ``source`` to ``target``."""
        return (source, type, target) in self._edges

    def count_added(self, type: NodeType) -> int:
        """Return how many nodes of this type the session ever had, pruned ones included."""
        return self._counts.get(type, 0)

    @property
    def derived(self) -> int:
        """Number of the last message that facts were extracted from; 0 for none."""
        return self._derived

    def flags(self, node: Node) -> tuple[str, ...]:
        """Return the names of the patterns of prompt injection that the guard found in the message that states
        ``node``; () for none. The pattern may be in another part of that message."""
        return self._flagged.get(node.source.turn, ())

    @property
    def flagged(self) -> frozenset[int]:
        """Numbers of the messages that read like an attempt to take over the model (prompt injection)."""
        return frozenset(self._flagged)

    def next_id(self, type: NodeType) -> str:
        """Return the id that the next node of this type gets, such as "task-3"."""
        return f"{type.value}-{self._counts.get(type, 0) + 1}"

    @property
    def stated(self) -> int:
        """Number of the last message in which the user stated a new fact; 0 for none."""
        return self._stated

    def __repr__(self) -> str:
        types = Counter(node.type.value for node in self._nodes.values())
        kinds = ", ".join(f"{type_} {count}" for type_, count in types.most_common())
        return short_repr(self, f"{len(self)} facts, {len(self._edges)} relations: {kinds or 'empty'}")

    def __len__(self) -> int:
        return len(self._nodes)

    def to_dict(self) -> dict[str, Any]:
        """Return the graph as JSON values, ``{"nodes": [...], "edges": [...], "transitions": [...]}``, each oldest
        first. Empty fields are left out. A node also has "flags" if its message reads like a prompt injection."""
        return {
            "nodes": [self._to_dict(node) for node in self._nodes.values()],
            "edges": [edge_to_dict(edge) for edge in self._edges.values()],
            "transitions": [transition_to_dict(step) for step in self._replaced.values()],
        }

    def _repr_html_(self) -> str:
        """The graph as a picture, for notebooks."""
        picture: str = DISPLAYS["notebook"](self)
        return picture

    def __rich__(self) -> Any:
        """The graph as a tree, for the library ``rich``."""
        return DISPLAYS["tree"](self)

    def _to_dict(self, node: Node) -> dict[str, Any]:
        flags = self.flags(node)
        return node_to_dict(node) | ({"flags": list(flags)} if flags else {})

    # -- folding ---------------------------------------------------------------------------------------------

    def apply(self, event: Event, at: float = 0.0) -> None:
        """Apply an event that was recorded at ``at`` (seconds since the epoch). Events that do not concern the graph
        are ignored."""
        step = _STEPS.get(type(event))
        if step is not None:
            step(self, event, at)

    def _flag(self, event: Derived) -> None:
        self._derived = max(event.turn, self._derived)
        self._flagged.update(event.flagged)

    def _connect(self, edge: Edge) -> None:
        self._edges[(edge.source, edge.type, edge.target)] = edge

    def _apply_edit(self, event: NodeEdited, at: float) -> None:
        if event.separated is not None and event.changes.get("status") is not Status.SUPERSEDED:
            self._separate(event.separated)
        self._edit(event.id, dict(event.changes), at, event.reason)

    def remember(self, transitions: Iterable[Transition]) -> None:
        """Add transitions without changing nodes or edges. It is for graphs that show a part of another graph."""
        for step in transitions:
            self._replaced[_step_key(step)] = step

    def rewrite_reasons(self, rewrite: Callable[[str], str]) -> None:
        """Replace the details of all facts, and the reasons of their status changes and replacements, by what
        ``rewrite`` returns for them. It is for graphs that hide some of the log's words. Empty texts are left alone."""
        for id, node in list(self._nodes.items()):
            if node.detail and (detail := rewrite(node.detail)) != node.detail:
                self._nodes[id] = replace(node, detail=detail)
        for id, life in list(self._life.items()):
            if life.reason and (reason := rewrite(life.reason)) != life.reason:
                self._life[id] = replace(life, reason=reason)
        for key, step in list(self._replaced.items()):
            if step.reason and (reason := rewrite(step.reason)) != step.reason:
                self._replaced[key] = replace(step, reason=reason)

    def fork(self) -> SessionGraph:
        """Return a graph that starts with the same content; changes to it do not affect this one. This graph must not
        change as long as the fork is in use. The cost does not grow with the graph: one of more than ``SMALL`` nodes is
        not copied but read through."""
        self.index_words()
        if len(self._nodes) <= SMALL:
            return self.copy()
        parts: list[Any] = [*map(Layer, _MAPPINGS(self)), self._derived, self._stated]
        return SessionGraph(*parts)

    def copy(self) -> SessionGraph:
        """Return an independent copy: later events on either graph do not affect the other."""
        parts: list[Any] = [*map(dict, _MAPPINGS(self)), self._derived, self._stated, list(self._unindexed)]
        return SessionGraph(*parts)

    def index_words(self) -> MutableMapping[str, tuple[str, ...]]:
        """Bring the word index up to date and return it: it maps "type:word" ("decision:sqlite") to the ids of the
        newest nodes of that type with the word in their label."""
        by_word = self._by_word
        for node in self._unindexed:
            prefix = node.type.value
            for word in words(node.label):
                posting = f"{prefix}:{word}"
                ids = by_word.get(posting, ())
                if node.id not in ids:
                    by_word[posting] = (*ids[1 - POSTINGS_MAX :], node.id)
        self._unindexed = []
        return by_word

    def _add(self, node: Node, at: float) -> None:
        self._nodes[node.id] = node
        self._life[node.id] = Life(at, None if node.current else at, node.source.turn, moves=((at, node.status),))
        self._counts[node.type] = self._counts.get(node.type, 0) + 1
        if node.source.role == "user":
            self._stated = max(node.source.turn, self._stated)
        self._index(node)

    def _index(self, node: Node) -> None:
        self._by_key[label_key(node.type, node.label)] = node.id
        if node.slot and node.current:
            self._by_slot[node.slot] = node.id
        self._unindexed.append(node)
        self._track(node)

    def _track(self, node: Node) -> None:
        """Put ``node`` into the order of unfinished or into that of settled nodes. A settled node moves to the end of
        its order, an unfinished one keeps its place."""
        if node.type in NEVER_PRUNED:
            return
        if node.id in self._settled:
            del self._settled[node.id]
        if node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE):
            self._unfinished.setdefault(node.id, None)
            return
        if node.id in self._unfinished:
            del self._unfinished[node.id]
        self._settled[node.id] = None

    def _revise(self, id: str, changes: dict[str, Any], message: int) -> None:
        node = self._nodes.get(id)
        if node is None:
            return
        if changes:
            self._nodes[id] = replace(node, **changes)
        life = self._life[id]
        self._life[id] = Life(
            life.added, life.closed, max(message, life.touched), life.mentions + 1, life.reason, life.moves
        )
        if changes.keys() & {"label", "slot"}:
            self._index(self._nodes[id])
        else:
            self._track(self._nodes[id])

    def _edit(self, id: str, changes: dict[str, Any], at: float, reason: str) -> None:
        """Change a node by hand. That is no mention of it: ``Life.touched`` and ``Life.mentions`` stay."""
        node = self._nodes.get(id)
        if node is None:
            return
        status = changes.pop("status", None)
        if changes:
            if changes.get("slot", node.slot) != node.slot and self._by_slot.get(node.slot) == id:
                del self._by_slot[node.slot]
            self._nodes[id] = replace(node, **changes)
            self._index(self._nodes[id])
        if status not in (None, node.status):
            self._move(id, status, 0, at, reason)

    def _move(self, id: str, status: Status, message: int, at: float, reason: str) -> None:
        node = self._nodes.get(id)
        if node is None:
            return
        moved = self._nodes[id] = _with_status(node, status)
        life = self._life[id]
        closed = None if moved.current else (life.closed if not node.current else at)
        why = reason or ("" if moved.current else life.reason)
        self._life[id] = Life(
            life.added, closed, max(message, life.touched), life.mentions, why, (*life.moves, (at, status))
        )
        if moved.slot and moved.current:
            self._by_slot[moved.slot] = id
        self._track(moved)

    def _replace(self, step: Transition, at: float) -> None:
        old, new = self._nodes.get(step.old), self._nodes.get(step.new)
        labels = (old.label, new.label) if old is not None and new is not None else ()
        self._replaced[_step_key(step)] = replace(step, labels=labels)
        self._edges[(step.new, EdgeType.SUPERSEDES, step.old)] = Edge(
            step.new, EdgeType.SUPERSEDES, step.old, step.trigger
        )
        self._heirs[step.old] = step.new
        self._move(step.old, Status.SUPERSEDED, step.trigger, at, step.reason)

    def _separate(self, step: Transition) -> None:
        """Remove all transitions and edges which say that one of the two facts replaced the other."""
        pair = {step.old, step.new}
        for key in [key for key, one in self._replaced.items() if {one.old, one.new} == pair]:
            del self._replaced[key]
        for old, new in ((step.old, step.new), (step.new, step.old)):
            self._edges.pop((new, EdgeType.SUPERSEDES, old), None)
            if self._heirs.get(old) == new:
                del self._heirs[old]

    def _prune(self, ids: Iterable[str]) -> None:
        gone = set(ids)
        for id in gone:
            node = self._nodes.pop(id, None)
            if node is None:
                continue
            del self._life[id]
            self._unfinished.pop(id, None)
            self._settled.pop(id, None)
            if self._by_key.get(label_key(node.type, node.label)) == id:
                del self._by_key[label_key(node.type, node.label)]
        for key in [key for key in self._edges if key[0] in gone or key[2] in gone]:
            del self._edges[key]


_STEPS: Final[Mapping[type, Callable[[SessionGraph, Any, float], None]]] = {
    NodeAdded: lambda graph, event, at: graph._add(event.node, at),
    NodeRevised: lambda graph, event, at: graph._revise(event.id, dict(event.changes), event.turn),
    StatusChanged: lambda graph, event, at: graph._move(event.id, event.status, event.turn, at, event.reason),
    NodeEdited: lambda graph, event, at: graph._apply_edit(event, at),
    EdgeAdded: lambda graph, event, at: graph._connect(event.edge),
    DecisionReplaced: lambda graph, event, at: graph._replace(event.transition, at),
    NodesPruned: lambda graph, event, at: graph._prune(event.ids),
    Derived: lambda graph, event, at: graph._flag(event),
}
"""What each kind of event does to a graph. Logs of thousands of events are folded: a table is faster than patterns."""

_MAPPINGS: Final[Callable[[SessionGraph], tuple[Any, ...]]] = attrgetter(
    *(each.name for each in fields(SessionGraph) if each.name not in ("_derived", "_stated", "_unindexed"))
)
_NAMES: Final = tuple(each.name for each in fields(Node))
_VALUES: Final[Callable[[Node], tuple[Any, ...]]] = attrgetter(*_NAMES)
_STATUS: Final = _NAMES.index("status")


def _with_status(node: Node, status: Status) -> Node:
    """Return a copy of ``node`` with another status, in less than half of the time of ``dataclasses.replace``."""
    values: list[Any] = list(_VALUES(node))
    values[_STATUS] = status
    return Node(*values)


_KINDS: Final = tuple(kind.value for kind in DecisionKind)


@lru_cache(maxsize=8192)
def _member(kind: type[_Kind], name: str | None, also: tuple[str, ...] = ()) -> _Kind | None:
    """Return the member of an enumeration that ``name`` means; ``None`` for ``None``. Raises ``CallerError`` for an
    unknown name. ``also``: further valid names, for the error message."""
    try:
        return kind(name) if name is not None else None
    except ValueError:
        known = (*(getattr(one, "word", one) for one in kind), *also)
        raise CallerError(f"{name!r:.40} is none of {', '.join(known)}") from None


def _number(id: str) -> int:
    digits = id.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _step_key(step: Transition) -> str:
    return f"{step.old}>{step.new}@{step.trigger}"
