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

    - ``text``: without list markers and Markdown emphasis.
    - ``info``: a fence's info string, a heading's level or a list marker.
    - ``checked``: state of a checkbox; ``None`` for other segments.
    - ``heading``: the nearest heading or list lead-in above ("Next steps:"); "" for none.
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
    """One statement about the session, found in a message. ``derive`` decides what it changes.

    - ``label``: one line; ``quote``: the sentence or line it was found in; ``span``: its position in the message's
      text, ``None`` for tool traffic.
    - ``certain``: it was read from structure; such findings need no minimum confidence.

    Commands: an error has ``detail`` "$ pytest tests/api", the command line without its flags. A command that succeeds
    closes its earlier errors without knowing their labels: move ``close``, ``label`` "", ``target`` the same "$ ..." or
    its beginning ("$ pytest" includes "$ pytest tests/api"; see ``structure.is_covering``). A test node's label is the
    command line, its ``detail`` the counts; each run is a ``note`` with status completed or failed, and the newest run
    holds.

    Values: ``about`` is what ``value`` is a value of, ``near`` the sentences around, which may name the replaced value,
    and ``why`` a reason there, used only if something is replaced. They are "" for other findings, except that
    ``about`` of finished work is what was advised before it. ``single``: there is one value at a time, or the words say
    that something changes.
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
