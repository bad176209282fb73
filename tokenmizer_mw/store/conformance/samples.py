"""Events and ids to store."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    HistoryRevised,
    MessageRecorded,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    Refined,
    Reminded,
    Rewritten,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust
from tokenmizer_mw.model.session import SESSION_ID_MAX

_SOURCE: Final = Source(3, "user", "use tabs, 日本 \U0001f600", Trust.STATED, (4, 12))
_NODE: Final = Node("d1", NodeType.DECISION, "indent: tabs", Status.ACTIVE, _SOURCE, 0.75, kind=DecisionKind.RULE)
_CALL: Final = Message(Role.ASSISTANT, "", (ToolCall("c1", "run", '{"cmd":"ls\\n"}'),), thinking="hm")
_RESULT: Final = Message(Role.TOOL, "", (), (ToolResult("c1", 'a\x00b\r\n"\u2028', True),))

EVERY_KIND: Final[tuple[Event, ...]] = (
    MessageRecorded(1, "0123456789abcdef", Message(Role.USER, "héllo", attachments=("image_url",))),
    MessageRecorded(2, "", _CALL),
    MessageRecorded(3, "", _RESULT),
    MessageRecorded(4, "", Message(Role.USER, "é"), 3, '{"text": "\u00e9\\u0000"}'),
    HistoryRevised((3,), (1, 2)),
    HistoryRevised((4,), redrawn=True),
    Rewritten(2),
    TurnClosed(2, Outcome.COMPLETE, "stop", {"prompt_tokens": 12}),
    TurnClosed(2, Outcome.ABORTED),
    Derived(2),
    Refined(2, 1, 300),
    Refined(2, 1, 300, ("It is about \u00e9.", "x\x00y"), 1),
    NodeAdded(_NODE),
    NodeAdded(Node("t1", NodeType.TASK, "x", Status.PENDING, Source(1, "user"), order=0, valid_from=0.5)),
    NodeRevised("d1", {"label": "indent: spaces", "source": _SOURCE, "kind": DecisionKind.CHOICE}, 3),
    StatusChanged("t1", Status.COMPLETED, 3, "done", "it works"),
    NodeEdited(
        1, "d1", {"label": "x\u00e9", "status": Status.ARCHIVED}, {"label": "x", "status": Status.ACTIVE}, 3, "hm"
    ),
    NodeEdited(2, "d1", {"pinned": True}, {"pinned": False}, undoes=1),
    NodeEdited(
        3, "d1", {"status": Status.ACTIVE}, {"status": Status.SUPERSEDED}, separated=Transition("d1", "d2", 4, "why")
    ),
    EdgeAdded(Edge("t1", EdgeType.IMPLEMENTS, "d1", 3)),
    DecisionReplaced(Transition("d1", "d2", 4, "why", "quote", -0.25)),
    NodesPruned(("f1", "f2")),
    Checkpointed("k1", 4, 180, "block\n", "anchor", 3, 9, ("n1", "n2")),
    Reminded(4, "k1", 90, ("d1",), (1, 3)),
    Reminded(4, "k1", 60),
)
"""At least one event of each kind, with texts that are hard to store, such as a NUL in a message."""

HOSTILE_IDS: Final = (
    "'; DROP TABLE events; --", "../../etc/passwd", "a/b\\c", "%00", "?", "*", "A", "a", "é", "e\u0301", "日本語",
    "\U0001f600", " ", "x" * SESSION_ID_MAX, "x" * (SESSION_ID_MAX - 1),
)  # fmt: skip
"""Valid ids that are easily confused or misused, such as "a" and "A". A store must keep them apart, exactly as
given."""

REFUSED_IDS: Final = ("", "a\0b", "\0", "line\nbreak", "\x1b[2J", "\ud800", "x" * (SESSION_ID_MAX + 1))
"""Ids that a store must refuse."""
