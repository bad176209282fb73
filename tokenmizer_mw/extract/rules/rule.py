"""The data types of the rule tables: speakers, acts (what a sentence does), what an act means for the graph, and
rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.extract.finding import Move
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status


class Speaker(StrEnum):
    """The speaker of a message. For a rule: whose sentences it reads."""

    USER = "user"
    ASSISTANT = "assistant"
    BOTH = "both"


class Act(StrEnum):
    """What a sentence does.

    - About work: ``request``; ``later`` (postpones it), ``handover`` (an assistant leaves it to the user), ``progress``
      (it has begun), ``claim`` (it is done), ``retract`` (takes an order back), ``tested`` (tests pass), ``files``
      (names files).
    - About errors: ``complaint`` (something fails), ``fix`` (what was done about it), ``confirm`` (it works now),
      ``still`` (it was called done and is not).
    - About decisions: ``choice``, ``assign`` (a value for something named), ``rule`` (it holds from now on),
      ``preference`` ("I prefer short answers"), ``wish`` ("the button should be on the right"), ``return``
      ("back to REST"), ``reject``, ``proposal``.
    - About replacements: ``replace`` (the user decides for one thing instead of another), ``change`` (the user orders
      that one thing is replaced by another, or the assistant says that it did this).
    - ``goal``: names the goal of the session.
    """

    GOAL = "goal"
    REQUEST = "request"
    LATER = "later"
    HANDOVER = "handover"
    PROGRESS = "progress"
    CLAIM = "claim"
    FIX = "fix"
    COMPLAINT = "complaint"
    STILL = "still"
    CONFIRM = "confirm"
    CHOICE = "choice"
    ASSIGN = "assign"
    RULE = "rule"
    PREFERENCE = "preference"
    WISH = "wish"
    REPLACE = "replace"
    CHANGE = "change"
    RETURN = "return"
    REJECT = "reject"
    RETRACT = "retract"
    PROPOSAL = "proposal"
    FILES = "files"
    TESTED = "tested"


@dataclass(frozen=True, slots=True)
class Meaning:
    """Type, status and move of the findings that an act makes, if speaker and context do not change them. ``kind``: the
    kind of a decision, ``None`` for other types."""

    type: NodeType
    status: Status
    move: Move = Move.NOTE
    kind: DecisionKind | None = None


MEANINGS: Final[dict[Act, Meaning]] = {
    Act.GOAL: Meaning(NodeType.GOAL, Status.ACTIVE),
    Act.REQUEST: Meaning(NodeType.TASK, Status.PENDING),
    Act.LATER: Meaning(NodeType.TASK, Status.PENDING),
    Act.HANDOVER: Meaning(NodeType.TASK, Status.PENDING),
    Act.PROGRESS: Meaning(NodeType.TASK, Status.IN_PROGRESS),
    Act.CLAIM: Meaning(NodeType.TASK, Status.COMPLETED, Move.CLOSE),
    Act.FIX: Meaning(NodeType.ERROR, Status.COMPLETED, Move.CLOSE),
    Act.COMPLAINT: Meaning(NodeType.ERROR, Status.ACTIVE),
    Act.STILL: Meaning(NodeType.ERROR, Status.ACTIVE, Move.REOPEN),
    Act.CONFIRM: Meaning(NodeType.ERROR, Status.COMPLETED, Move.CLOSE),
    Act.CHOICE: Meaning(NodeType.DECISION, Status.ACTIVE, kind=DecisionKind.CHOICE),
    Act.ASSIGN: Meaning(NodeType.DECISION, Status.ACTIVE, kind=DecisionKind.CHOICE),
    Act.RULE: Meaning(NodeType.DECISION, Status.ACTIVE, kind=DecisionKind.RULE),
    Act.PREFERENCE: Meaning(NodeType.DECISION, Status.ACTIVE, kind=DecisionKind.PREFERENCE),
    Act.WISH: Meaning(NodeType.DECISION, Status.ACTIVE, kind=DecisionKind.CHOICE),
    Act.REPLACE: Meaning(NodeType.DECISION, Status.ACTIVE, Move.REPLACE, DecisionKind.CHOICE),
    Act.CHANGE: Meaning(NodeType.DECISION, Status.ACTIVE, Move.REPLACE, DecisionKind.CHOICE),
    Act.RETURN: Meaning(NodeType.DECISION, Status.ACTIVE, Move.REPLACE, DecisionKind.CHOICE),
    Act.REJECT: Meaning(NodeType.DECISION, Status.INVALIDATED, Move.REJECT, DecisionKind.OPTION),
    Act.RETRACT: Meaning(NodeType.TASK, Status.INVALIDATED, Move.REJECT),
    Act.PROPOSAL: Meaning(NodeType.DECISION, Status.PENDING, kind=DecisionKind.OPTION),
    Act.FILES: Meaning(NodeType.FILE, Status.ACTIVE),
    Act.TESTED: Meaning(NodeType.TEST, Status.COMPLETED),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A phrasing, as one row of a table.

    - ``name``: such as "user.use"; several rules of another language than English may share a name. ``speaker``: whose
      sentences it reads.
    - ``pattern``: RE2, matched at the start of a clause without introductory words and final full stop, case ignored.
      Groups: ``label`` (the stated fact), ``target`` (what it replaces), ``reason``.
    - ``confidence``: that of the findings which the rule makes, 0 to 1.
    - ``unless``: a pattern for similar clauses with another meaning ("" for none): the rule does not read a clause at
      whose start it matches.
    - ``whole``: the rule reads the sentence before it is split into clauses.
    - ``explicit``: the words are unmistakable, as in "Decided: ...", so that they may count from an assistant as well
      and the classifier never drops such a hit.
    - ``example``: a sentence that the rule reads; ``counter``: a similar one that it must not read. A test runs both.
      "" for rules that are made from the table of a language.
    """

    name: str
    speaker: Speaker
    act: Act
    pattern: str
    confidence: float
    example: str
    counter: str
    unless: str = ""
    whole: bool = False
    explicit: bool = False


def user_rule(
    name: str,
    act: Act,
    pattern: str,
    confidence: float,
    example: str,
    counter: str,
    *,
    unless: str = "",
    whole: bool = False,
) -> Rule:
    """Make a rule for users' sentences; "user." is put before its ``name``. Arguments: as the fields of ``Rule``."""
    return Rule(f"user.{name}", Speaker.USER, act, pattern, confidence, example, counter, unless, whole)
