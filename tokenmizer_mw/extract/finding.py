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

BETWEEN_SENTENCES: Final = " . "
"""Stands between sentences that are read together, as in ``Finding.near``."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, list item or block of a message, at characters ``[start, end)`` of the message's text.

    - ``text``: its text without list markers and Markdown emphasis.
    - ``info``: of a code fence, its info string ("python"); of a heading, its level ("2"); of a list item, its marker
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

    - ``label``: the fact on one line; ``type``, ``status``, ``kind``, ``slot`` and others: as in ``Node``.
    - ``quote``: the sentence or line that states it; ``span``: its character range in the message's text, ``None`` if
      it comes from tool calls or their results.
    - ``trust``: how reliable its source is; ``confidence``: 0 to 1. ``reason``: why, ``detail``: more about it; "" for
      none.
    - ``move``: what the finding does to the graph; ``target``: describes the fact that a move replaces or closes, ""
      for none.
    - ``order``: position of a task in its plan, from 0; ``None`` if it is in none.

    Commands: an error has ``detail`` "$ pytest tests/api", the command line without its flags. A command that succeeds
    closes its earlier errors without knowing their labels: move ``close``, ``label`` "", ``target`` the same "$ ..." or
    its beginning ("$ pytest" includes "$ pytest tests/api"; see ``structure.is_covering``). A test node's label is the
    command line, its ``detail`` the counts; each run is a ``note`` with status completed or failed, and the newest run
    holds.

    Values: ``about`` is what ``value`` is a value of ("the port" of "8080"), ``near`` the sentences around, which may
    name the value that is replaced, and ``why`` a reason in them, used only if something is replaced. They are "" for
    other findings, except that a finding of finished work has in ``about`` what was advised before it. ``single``:
    whether what ``about`` names has one value at a time, or the words say that something changes.
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
        """Whether the finding was read from structure, such as tool calls, rather than from words. No minimum
        confidence applies to it then."""
        return self.trust is Trust.STRUCTURE
