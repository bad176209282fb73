"""The data types of the rule tables: the speaker, the act (what a sentence does), what an act means for the graph, and
the rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.extract.finding import Move
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status


class Speaker(StrEnum):
    """The speaker of a message; for a rule, whose sentences it applies to."""

    USER = "user"
    ASSISTANT = "assistant"
    BOTH = "both"


class Act(StrEnum):
    """What a sentence does.

    - Work: ``request`` orders it, ``later`` postpones it, ``handover`` leaves it to the user (said by an assistant),
      ``progress`` says that it has begun, ``claim`` that it is done, ``retract`` takes an order back, ``tested`` says
      that tests pass, ``files`` names files.
    - Errors: ``complaint`` says that something fails, ``fix`` what was done about it, ``confirm`` that it works now,
      ``still`` that something reported as done is not.
    - Decisions: ``choice`` decides for something, ``rule`` says what holds
      from now on, ``preference`` what the user prefers ("I prefer short answers"), ``wish`` how something should be
      ("the button should be on the right"), ``return`` goes back to an earlier choice ("back to REST"), ``reject``
      turns something down, ``proposal`` suggests something.
    - Replacements: ``replace`` decides for one thing instead of another; ``change`` says that one thing is or was
      replaced by another (an order of the user, or a report of the assistant).
    - ``goal`` names the goal of the session.
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
    """What the findings that an act makes are, unless speaker or context change it: their type, status, move (what the
    finding does to the graph) and kind (of a decision; ``None`` for other types)."""

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
    """A phrasing, and what a clause with this phrasing does.

    - ``name``: such as "user.use". Rules of the same kind and language other than English share a name.
    - ``speaker``: whose sentences the rule applies to; ``act``: what they do.
    - ``pattern``: RE2, matched at the start of a clause without introductory words and final full stop, case ignored.
      Groups: ``label`` (the stated fact), ``target`` (what it replaces), ``reason``.
    - ``confidence``: confidence of the findings that the rule makes, 0 to 1.
    - ``unless``: RE2 for similar clauses with another meaning; "" for none. The rule does not apply to a clause that it
      matches at the start.
    - ``whole``: the pattern is matched with the whole sentence instead of its clauses.
    - ``explicit``: the words are unmistakable, as in "Decided: ...". They may count from an assistant as well, and the
      classifier never drops such a hit.
    - ``example``: a sentence that the rule applies to; ``counter``: a similar one that it must not apply to. A test
      checks both. "" for rules that are made from the table of a language.
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
    """Return a rule for users' sentences. "user." is put before ``name``; the other arguments are the fields of
    ``Rule``."""
    return Rule(f"user.{name}", Speaker.USER, act, pattern, confidence, example, counter, unless, whole)
