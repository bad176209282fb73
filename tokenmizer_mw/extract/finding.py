"""The data types of extraction: segments (pieces of a message's text), and findings (facts as a message states
them)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust


class SegmentKind(StrEnum):
    """The kind of a segment (a piece of a message). Only prose, list items, checkboxes and headings can state facts in
    words."""

    PROSE = "prose"
    LIST_ITEM = "list_item"
    CHECKBOX = "checkbox"
    HEADING = "heading"
    CODE = "code"
    DIFF = "diff"
    LOG = "log"
    QUOTE = "quote"
    TABLE = "table"


SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM, SegmentKind.CHECKBOX, SegmentKind.HEADING})
"""The kinds of segments that can state facts in words."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, list item or block of a message, at characters ``[start, end)`` of the message's text.

    - ``text``: without list markers and Markdown emphasis.
    - ``info``: the info string of a code fence ("python"), the level of a heading ("2") or the marker of a list item
      ("1.", "- [x]"); else "".
    - ``checked``: whether a checkbox is ticked; ``None`` for other segments.
    - ``heading``: the nearest heading above, or the line that introduces the list ("Next steps"); "" for none.
    """

    kind: SegmentKind
    text: str
    start: int
    end: int
    info: str = ""
    checked: bool | None = None
    heading: str = ""


class Move(StrEnum):
    """What a finding does to the graph.

    - ``note``: add the fact with the finding's status, or confirm it.
    - ``close`` / ``reopen``: the task or error that ``label`` describes was finished (an error: fixed), or was not
      finished after all.
    - ``replace``: ``label`` replaces the fact that ``target`` describes ("": the fact that has the same slot).
    - ``reject``: ``label`` was considered and turned down, or turned out wrong.
    - ``adopt``: the user accepts the open proposal that ``label`` describes ("": all proposals of the message before).
    - ``archive``: the fact is no longer relevant.
    - ``set``: ``value`` replaces the value that ``about`` has; no effect if none is known.
    """

    NOTE = "note"
    CLOSE = "close"
    REOPEN = "reopen"
    REPLACE = "replace"
    REJECT = "reject"
    ADOPT = "adopt"
    ARCHIVE = "archive"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact as a message states it. ``resolve`` compares it with the graph and decides what it changes.

    - ``label``: the fact on one line; ``quote``: the sentence or line that states it; ``span``: its character range in
      the message's text, ``None`` if it comes from tool traffic.
    - ``move``: what the finding does to the graph; ``target``: describes the fact that a move replaces or closes.
    - ``order``: position of a task in its plan; ``certain``: read from structure, so that no minimum confidence
      applies.

    Commands: an error has ``detail`` "$ pytest tests/api", the command line without its flags. A command that succeeds
    closes its earlier errors without knowing their labels: move ``close``, ``label`` "", ``target`` the same "$ ..." or
    its beginning ("$ pytest" includes "$ pytest tests/api"; see ``structure.is_covering``). A test node's label is the
    command line, its ``detail`` the counts; each run is a ``note`` with status completed or failed, and the newest run
    holds.

    Values: ``about`` is what ``value`` is a value of ("the port" of "8080"), ``near`` the sentences around, which may
    name the value that is replaced, and ``why`` a reason in them, used only if something is replaced. They are "" for
    other findings, except that a finding of finished work has in ``about`` what was advised before it. ``single``: what
    ``about`` names has one value at a time, or the words say that something changes.
    """

    type: NodeType
    label: str
    status: Status
    trust: Trust
    confidence: float
    move: Move = Move.NOTE
    target: str = ""
    reason: str = ""
    detail: str = ""
    kind: DecisionKind | None = None
    slot: str = ""
    value: str = ""
    order: int | None = None
    quote: str = ""
    span: tuple[int, int] | None = None
    about: str = ""
    near: str = ""
    single: bool = False
    why: str = ""

    @property
    def certain(self) -> bool:
        """Whether it was read from structure (such as tool calls) rather than from words."""
        return self.trust is Trust.STRUCTURE
