"""The types of the session graph: node types, edge types, statuses, and the allowed status changes.

Follows the graph of the TokenMizer paper (v0.3.1): 14 node types in three groups, 7 edge types, 8 statuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tokenmizer_mw.model.message import short_repr

GOAL_CHANGED: Final = " (now: "
"""Separates a goal's label from what replaced a part of that goal, as in "deploy the API with REST (now: GraphQL)"."""

NOT_FOUND: Final = "a model did not find it in the session"
"""Reason stored with a fact that is archived because the model of a refinement did not find it in the session."""

HAND: Final = "hand"
"""The ``role`` of a fact's ``Source`` if somebody added the fact, or corrected its wording, by hand."""

NOTE_CONFIDENCE: Final = 0.5
"""Highest confidence with which a concept is a note (``Node.is_note``): something that was only mentioned. Search finds
notes, but resume blocks do not state them."""

SURE: Final = 0.6
"""Least confidence of a decision with which texts say that it replaced another one. With less they say
"perhaps replaced"."""

LABEL_MAX: Final = 200
"""Longest label of a node, in characters."""


class NodeType(StrEnum):
    """The type of a fact.

    - Actions: ``task``; ``file`` (read, changed or named); ``error``; ``test`` (a test run); ``schema``.
    - Decisions: ``decision`` (a choice, rule, preference or option); ``dependency`` (a library or service in use);
      ``api``; ``endpoint`` (a URL or a route such as "GET /users").
    - Context: ``goal``; ``environment`` (a version or setting of a platform); ``project``; ``concept`` (any other
      statement, such as a note); ``agent``.

    Nothing in this package makes facts of the types ``schema``, ``api``, ``project`` and ``agent``.
    """

    TASK = "task"
    FILE = "file"
    ERROR = "error"
    TEST = "test"
    SCHEMA = "schema"
    DECISION = "decision"
    DEPENDENCY = "dependency"
    API = "api"
    ENDPOINT = "endpoint"
    GOAL = "goal"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    CONCEPT = "concept"
    AGENT = "agent"


NEVER_PRUNED: Final = frozenset({NodeType.DECISION, NodeType.GOAL, NodeType.ENVIRONMENT, NodeType.SCHEMA})

REJECTABLE: Final = frozenset({NodeType.DECISION, NodeType.TASK})
"""Types of facts that can be rejected: what was decided, and what was to be done."""


class EdgeType(StrEnum):
    """The type of a relation between two nodes. Source, type and target read as a sentence:
    "task-3 depends_on dependency-1".

    - ``depends_on``: a task and a dependency that the same sentence names.
    - ``implements``: a task and a choice that it names.
    - ``fixes``: a task and the error that it fixed. ``blocks``: an error and the task at hand when it occurred.
    - ``part_of``: a decision or dependency and the goal, if the same sentence states both.
    - ``supersedes``: a fact and the one that it replaced.
    - ``related_to``: a weaker relation, such as of a file and the task for which it was changed.
    """

    DEPENDS_ON = "depends_on"
    RELATED_TO = "related_to"
    IMPLEMENTS = "implements"
    FIXES = "fixes"
    BLOCKS = "blocks"
    PART_OF = "part_of"
    SUPERSEDES = "supersedes"


class Status(StrEnum):
    """The status of a fact.

    - Tasks and tests go from ``pending`` over ``in_progress`` to ``completed`` or ``failed``.
    - A fact that simply holds (a decision in force, a file, an error that is not fixed) is ``active``.
    - A fixed error is ``completed``. A proposal is ``pending`` until it is adopted.
    - ``superseded``: replaced by another fact; ``invalidated``: declared wrong or rejected; ``archived``: put away
      because it no longer matters.

    Texts for people say "replaced" for ``superseded`` and "rejected" for ``invalidated`` (see ``word``).
    ``Status("replaced")``, ``Status("rejected")`` and, for the TokenMizer paper's word, ``Status("modified")``
    (``superseded``) work as well.
    """

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"

    @classmethod
    def _missing_(cls, value: object) -> Status | None:
        if value == "modified":
            return cls.SUPERSEDED
        return next((one for one in cls if one.word == value), None)

    @property
    def word(self) -> str:
        """The status in texts for people: "replaced" for ``superseded``, "rejected" for ``invalidated``, else its value
        with spaces in place of underscores."""
        return _WORDS.get(self, self.value.replace("_", " "))


_WORDS: Final = {Status.SUPERSEDED: "replaced", Status.INVALIDATED: "rejected"}

_OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})
_REVISED = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.ARCHIVED})

LIFECYCLE: Final[dict[Status, frozenset[Status]]] = {
    Status.PENDING: frozenset({Status.IN_PROGRESS, Status.COMPLETED, Status.FAILED, Status.ACTIVE}) | _REVISED,
    Status.IN_PROGRESS: frozenset({Status.COMPLETED, Status.FAILED}) | _REVISED,
    Status.COMPLETED: _REVISED,
    Status.FAILED: frozenset({Status.COMPLETED}) | _REVISED,
    Status.ACTIVE: frozenset({Status.COMPLETED, Status.FAILED}) | _REVISED,
    Status.SUPERSEDED: frozenset({Status.INVALIDATED, Status.ARCHIVED}),
    Status.INVALIDATED: frozenset({Status.ARCHIVED}),
    Status.ARCHIVED: frozenset(),
}
"""For each status, those that may follow it without a quote as evidence. Changes that need a quote are in
``REOPENINGS``; all others are not allowed."""

REOPENINGS: Final[dict[Status, frozenset[Status]]] = {
    Status.IN_PROGRESS: frozenset({Status.PENDING}),
    Status.COMPLETED: frozenset({Status.ACTIVE, Status.PENDING, Status.IN_PROGRESS, Status.FAILED}),
    Status.FAILED: frozenset({Status.PENDING, Status.IN_PROGRESS}),
    Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.PENDING}),
    Status.INVALIDATED: frozenset({Status.ACTIVE, Status.PENDING}),
    Status.ARCHIVED: frozenset({Status.ACTIVE, Status.PENDING, Status.COMPLETED}),
}
"""For each status, those that may follow it only if a quote states the change, such as "it still fails" or
"back to REST", or if an edit by hand is undone."""


def may_move(old: Status, new: Status, *, evidence: bool) -> bool:
    """Whether the status of a fact may change from ``old`` to ``new``; false if both are the same. ``evidence``:
    whether a quote states the change explicitly, so that the changes of ``REOPENINGS`` are allowed, too."""
    return new in LIFECYCLE[old] or (evidence and new in REOPENINGS.get(old, frozenset()))


def is_current(status: Status) -> bool:
    """Whether facts of this status still hold: false for ``superseded``, ``invalidated`` and ``archived``."""
    return status not in _REVISED


class DecisionKind(StrEnum):
    """The kind of a decision.

    - ``choice``: one of several possibilities was chosen. ``rule``: a standing rule for the work.
    - ``preference``: what the user likes better. ``option``: a possibility that was considered but not chosen yet.
    """

    CHOICE = "choice"
    RULE = "rule"
    PREFERENCE = "preference"
    OPTION = "option"


class Trust(StrEnum):
    """How reliable the source of a fact is, from certain to doubtful.

    - ``structure``: read from tool calls and results, such as an edit of a file or a test run.
    - ``stated``: the user said so.
    - ``adopted``: a proposal of the assistant that the user accepted or that was carried out.
    - ``claimed``: the assistant says so.
    - ``proposed``: the assistant suggests it.
    - ``quoted``: text of a tool, a file or a third party.
    """

    STRUCTURE = "structure"
    STATED = "stated"
    ADOPTED = "adopted"
    CLAIMED = "claimed"
    PROPOSED = "proposed"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact comes from.

    - ``turn``: number of the message that states the fact, from 1. For a fact added by hand: number of the session's
      newest message then, 0 for none.
    - ``role``: the message's speaker ("user", "assistant", "tool"), or "hand" if somebody added or reworded the fact.
    - ``quote``: the words that state it, shortened to one line; "" for a fact added by hand.
    - ``trust``: how reliable the source is.
    - ``span``: start and end of the quoted words in the message's text, in characters; ``None`` when the fact does not
      come from prose.
    """

    turn: int
    role: str
    quote: str = ""
    trust: Trust = Trust.STATED
    span: tuple[int, int] | None = None

    @property
    def is_by_hand(self) -> bool:
        """Whether the fact was added by hand, so that no message states it."""
        return self.role == HAND and not self.quote

    @property
    def place(self) -> str:
        """Where the fact was stated: "message 12", or "by hand" if it was added by hand."""
        return "by hand" if self.is_by_hand else f"message {self.turn}"

    @property
    def mark(self) -> str:
        """Where the fact was stated, in few characters: "#12" for message 12, or "by hand" if it was added by hand."""
        return "by hand" if self.is_by_hand else f"#{self.turn}"


WITHDRAWN: Final = "withdrawn"
"""The word, in texts for people, for the status of a fact that was declared never to have been true."""


@dataclass(frozen=True, slots=True)
class Node:
    """One fact of the session, such as a decision, a task or an error.

    - ``id``: constant for the life of the session. ``label``: the fact in one line of at most ``LABEL_MAX`` characters.
    - ``detail``: more about it, such as the reason of a decision; "" for none. ``kind``: set for decisions, ``None``
      for other types.
    - ``slot``: what the fact is a value of, such as "database" or "python.version", or "database@ord" for the database
      of the orders (see ``spell_slot``); "" for none. Two current nodes never have the same slot. ``value``: the value
      itself, such as "postgresql"; "" for none.
    - ``confidence``: 0 to 1; 0 for a fact that was withdrawn by hand as never true.
    - ``order``: the position of a task in its plan, from 0; ``None`` if it is in none.
    - ``valid_from``, ``valid_until``: when the fact begins and ceases to hold, in seconds since the epoch. ``None``:
      the fact holds from when it was recorded, or until it is replaced, declared wrong or archived.
    - ``pinned``: whether somebody marked the fact as important: resume blocks then list it early, and it is never
      pruned (removed because the graph is too large).
    """

    id: str
    type: NodeType
    label: str
    status: Status
    source: Source
    confidence: float = 1.0
    detail: str = ""
    kind: DecisionKind | None = None
    slot: str = ""
    value: str = ""
    order: int | None = None
    valid_from: float | None = None
    valid_until: float | None = None
    pinned: bool = False

    def __repr__(self) -> str:
        kind = f" {self.kind.value}" if self.kind is not None else ""
        return short_repr(self, f"{self.id}{kind} {self.status.word}: {self.label!r}")

    @property
    def current(self) -> bool:
        """Whether the fact still holds: false if it was replaced, declared wrong or archived."""
        return self.status not in _REVISED

    @property
    def is_worded_by_hand(self) -> bool:
        """Whether the fact still holds, and somebody added it or changed its wording by hand. No message states it in
        these words then."""
        return self.current and self.source.role == HAND

    @property
    def is_withdrawn(self) -> bool:
        """Whether the fact was withdrawn: somebody declared by hand that it never was true. Models are not shown such a
        fact."""
        return self.status is Status.INVALIDATED and self.confidence == 0

    @property
    def is_rejected(self) -> bool:
        """Whether the fact is shown to models as rejected: true for a decision or a task that was declared wrong,
        unless it was withdrawn as never true."""
        return self.status is Status.INVALIDATED and self.confidence != 0 and self.type in REJECTABLE

    @property
    def is_dropped(self) -> bool:
        """Whether the fact was declared wrong and is not shown to models at all: one that was withdrawn as never true,
        or that is neither a decision nor a task."""
        return self.status is Status.INVALIDATED and not self.is_rejected

    @property
    def status_word(self) -> str:
        """The status in texts for people: ``status.word``, or "withdrawn" for a fact that was declared never to have
        been true."""
        return WITHDRAWN if self.is_withdrawn else self.status.word

    @property
    def is_note(self) -> bool:
        """Whether the fact is a note: a concept that was only mentioned in passing, and that nobody pinned. Search
        finds it, but resume blocks do not state it."""
        return self.type is NodeType.CONCEPT and self.confidence <= NOTE_CONFIDENCE and not self.pinned

    @property
    def replaces_perhaps(self) -> bool:
        """Whether, if this fact replaced another one, that is uncertain, so that texts say "perhaps replaced".

        True for a decision that is not pinned and has a confidence between ``NOTE_CONFIDENCE`` and ``SURE``, which only
        a statistical classifier gives to a replacement. Whether the fact did replace another one is not checked.
        """
        return NOTE_CONFIDENCE < self.confidence < SURE and self.type is NodeType.DECISION and not self.pinned

    @property
    def word(self) -> str:
        """What people call the fact: "rule", "preference" or "option" for a decision of that kind, "note" for a note
        (``is_note``), else its type, such as "task" or "decision"."""
        if self.kind not in (None, DecisionKind.CHOICE):
            return str(self.kind)
        return "note" if self.is_note else self.type.value

    @property
    def open(self) -> bool:
        """Whether the status of the fact is pending or in progress."""
        return self.status in _OPEN


def spell_slot(slot: str, text: str) -> str:
    """Return a slot (see ``Node.slot``) in words for people: "database for timetable" for the slot "database@timetabl".
    "" for no slot.

    A slot may have stems of words behind an "@". Each stem is spelled as the first word of ``text`` (the texts of the
    fact that has the slot) that begins with it, and left out if there is none.
    """
    name, _, about = slot.partition("@")
    words: dict[str, str] = {}
    for word in re.findall(r"\w+", text):
        for stem in about.split():
            if word.casefold().startswith(stem):
                words.setdefault(stem, word)
    return f"{name} for {' '.join(words.values())}" if words else name


def describe_move(before: Node, after: Node) -> str:
    """Return a clause for people that says how an edit changed the slot of a fact, such as "it now holds the place of
    the database, and a later one replaces it", or, if it has no slot any more,
    "it no longer holds the place of the database". ``before``, ``after``: the fact with its old and its new slot; at
    least one of them has one."""
    old, new = (spell_slot(node.slot, f"{node.label} {node.source.quote}") for node in (before, after))
    if not new:
        return f"it no longer holds the place of the {old}"
    held = f"it now holds the place of the {new}, and a later one replaces it"
    return held + (f"; it no longer holds that of the {old}" if old else "")


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed relation between two facts, recorded because of message ``turn``. ``source``, ``target``: their ids."""

    source: str
    type: EdgeType
    target: str
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Transition:
    """The replacement of one fact by another: of a decision, or of a goal, an environment value and so on. Transitions
    can be queried and are never pruned.

    - ``old``, ``new``: ids of the two facts; ``trigger``: number of the message that made the change.
    - ``reason``: why, "" if nobody said; ``evidence``: the words that state the change, "" for none;
      ``confidence_delta``: the new fact's confidence minus the old one's.
    - ``labels``: the labels of the old and the new fact at that time, in transitions that a graph returns; ()
      elsewhere, and if one of the facts was unknown.
    """

    old: str
    new: str
    trigger: int
    reason: str = ""
    evidence: str = ""
    confidence_delta: float = 0.0
    labels: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return short_repr(self, f"{' -> '.join(self.labels or (self.old, self.new))}, message {self.trigger}{reason}")
