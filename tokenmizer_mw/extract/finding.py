"""The data types of extraction: segments of a message, and findings in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust


class SegmentKind(StrEnum):
    """What a piece of a message is. Only prose, list items, checkboxes and headings can state facts in words."""

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
"""Pieces that can state facts in words."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, list item or block of a message, at ``[start, end)`` of its text.

    ``text`` is without list markers and Markdown emphasis. ``info`` is a fence's info string, a heading's level or
    a list marker. ``checked`` is set for checkboxes. ``heading`` is the nearest heading or list lead-in above
    ("Next steps:"), "" for none.
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

    - ``note``: the fact exists, with the finding's status.
    - ``close`` / ``reopen``: a task or error that ``label`` describes was finished (an error: fixed), or was not
      finished after all.
    - ``replace``: ``label`` supersedes what ``target`` describes ("": what holds the slot).
    - ``reject``: ``label`` was considered and turned down, or turned out wrong.
    - ``adopt``: the open proposal that ``label`` describes is accepted ("": all proposals of the message before).
    - ``archive``: no longer relevant.
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
    """One statement about the session, found in a message. What it changes is for ``derive`` to decide.

    ``label`` is one line. ``quote`` is the sentence or line it was found in, ``span`` its place in the message's
    text (``None`` for tool traffic). ``certain`` marks facts read from structure, which need no floor.

    What a command showed: an error has ``detail`` "$ pytest tests/api", the command line without its flags. A command
    that succeeds closes what it showed, without knowing the labels: move ``close``, ``label`` "", ``target`` the same
    "$ ..." or the start of it ("$ pytest" covers "$ pytest tests/api"; see ``structure.covers``). A test node's label
    is the command line itself, its ``detail`` the counts; each run is a ``note`` with status completed or failed, and
    the newest run holds.

    A value that a user gives: ``about`` says what ``value`` is a value of, ``near`` what is said around it, where a
    value that it replaces may be named, and ``why`` the reason there, which counts only where something is replaced.
    All are "" for other findings, but ``about`` of finished work says what was advised before it. ``single``: there is
    one value at a time, or the words say that something changes.
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
        """Whether it was read from structure rather than from words."""
        return self.trust is Trust.STRUCTURE
