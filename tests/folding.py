"""Random logs of sessions in which events meet: few ids, few labels, few messages."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

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
    Recorded,
    Refined,
    Reminded,
    Rewritten,
    StatusChanged,
    TurnClosed,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust

_IDS: Final = st.sampled_from(["decision-1", "decision-2", "task-1", "task-2", "file-1", "ünïcode-9"])
_TEXT: Final = st.sampled_from(
    ["", "use redis", "a\nb\u2028c \x85", "日本語 \U0001f600", "cut \ud83d here", "api/auth.py"]
)
_LABELS: Final = st.sampled_from(["use redis", "use sqlite", "add tests", "api/auth.py", "日本語", "port 8080"])
_TURN: Final = st.integers(0, 40)
_TIMES: Final = st.none() | st.sampled_from([0.0, 1.5, 1e9])
_SPANS: Final = st.none() | st.tuples(_TURN, _TURN)
_SOURCES: Final = st.builds(Source, _TURN, st.sampled_from(["user", "tool"]), _TEXT, st.sampled_from(Trust), _SPANS)
_SLOTS: Final = st.sampled_from(["", "database", "port"])
_NODES: Final = st.builds(
    Node,
    _IDS,
    st.sampled_from(NodeType),
    _LABELS,
    st.sampled_from(Status),
    _SOURCES,
    st.sampled_from([0.5, 0.75, 1.0]),
    _TEXT,
    st.none() | st.sampled_from(DecisionKind),
    _SLOTS,
    _TEXT,
    st.none() | st.integers(0, 3),
    _TIMES,
    _TIMES,
    st.booleans(),
)
_MESSAGES: Final = st.builds(
    Message,
    st.sampled_from(Role),
    _TEXT,
    st.lists(st.builds(ToolCall, _TEXT, _TEXT, _TEXT), max_size=1).map(tuple),
    st.lists(st.builds(ToolResult, _TEXT, _TEXT, st.booleans()), max_size=1).map(tuple),
)
_CHANGES: Final = st.fixed_dictionaries(
    {}, optional={"label": _LABELS, "slot": _SLOTS, "detail": _TEXT, "source": _SOURCES, "valid_from": _TIMES}
)
_ONE: Final = st.one_of(
    st.builds(NodeAdded, _NODES),
    st.builds(NodeAdded, _NODES),
    st.builds(NodeRevised, _IDS, _CHANGES, _TURN),
    st.builds(StatusChanged, _IDS, st.sampled_from(Status), _TURN, _TEXT, _TEXT),
    st.builds(NodeEdited, st.integers(1, 4), _IDS, _CHANGES, _CHANGES, _TURN, _TEXT, st.integers(0, 2)),
    st.builds(EdgeAdded, st.builds(Edge, _IDS, st.sampled_from(EdgeType), _IDS, _TURN)),
    st.builds(DecisionReplaced, st.builds(Transition, _IDS, _IDS, _TURN, _TEXT, _TEXT, st.sampled_from([-0.25, 0.0]))),
    st.builds(NodesPruned, st.lists(_IDS, max_size=2).map(tuple)),
    st.builds(Derived, _TURN, st.dictionaries(_TURN, st.just(("override", "exfiltrate")), max_size=1)),
    st.builds(Refined, _TURN, st.integers(0, 3), st.integers(0, 99), st.lists(_TEXT, max_size=2).map(tuple), _TURN),
    st.builds(HistoryRevised, st.lists(_TURN, max_size=2).map(tuple), st.just(()), st.booleans()),
    st.builds(TurnClosed, _TURN, st.sampled_from(Outcome)),
    st.builds(Checkpointed, _TEXT, _TURN, _TURN, _TEXT, st.sampled_from(["", "anchor"]), _TURN, _TURN),
    st.builds(Reminded, _TURN, _TEXT, _TURN, st.lists(_IDS, max_size=2).map(tuple)),
    st.builds(Rewritten, st.just(1)),
    _MESSAGES,
    _MESSAGES,
    _MESSAGES,
)


@st.composite
def logs(draw: st.DrawFn, *, most: int = 40) -> list[Recorded]:
    """The log of a session: its messages are numbered and each follows one before it, its times never go back."""
    recorded: list[Recorded] = []
    turn, at = 0, 1_600_000_000.0
    for seq, one in enumerate(draw(st.lists(_ONE, max_size=most)), 1):
        event: Event
        if isinstance(one, Message):
            turn += 1
            event = MessageRecorded(turn, draw(st.sampled_from("abcdef")), one, draw(st.integers(0, turn - 1)))
        else:
            event = one
        at += draw(st.sampled_from([0.0, 0.125]))
        recorded.append(Recorded(seq, at, event))
    return recorded
