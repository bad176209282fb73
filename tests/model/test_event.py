"""Events come back as they were stored; what this release cannot read is refused by name."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    Event,
    HistoryRevised,
    MessageRecorded,
    NewerEvent,
    NodeAdded,
    NodeEdited,
    NodeRevised,
    NodesPruned,
    Refined,
    Reminded,
    Rewritten,
    StatusChanged,
    TurnClosed,
    UnreadableEvent,
    decode,
    encode,
)
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition, Trust

TEXT = st.text(max_size=30)
TURN = st.integers(0, 10**6)
SHARE = st.floats(-1, 1).map(lambda number: round(number, 4) + 0.0)
TIME = st.none() | st.floats(0, 4e9)
SPAN = st.none() | st.tuples(TURN, TURN)

CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=3).map(tuple)
RESULTS = st.lists(st.builds(ToolResult, TEXT, TEXT, st.booleans()), max_size=3).map(tuple)
ATTACHMENTS = st.lists(TEXT, max_size=3).map(tuple)
MESSAGES = st.builds(Message, st.sampled_from(Role), TEXT, CALLS, RESULTS, TEXT, TEXT, ATTACHMENTS)

SOURCES = st.builds(Source, TURN, TEXT, TEXT, st.sampled_from(Trust), SPAN)
KINDS = st.none() | st.sampled_from(DecisionKind)
NODES = st.builds(
    Node,
    TEXT,
    st.sampled_from(NodeType),
    TEXT,
    st.sampled_from(Status),
    SOURCES,
    confidence=SHARE,
    detail=TEXT,
    kind=KINDS,
    slot=TEXT,
    value=TEXT,
    order=st.none() | TURN,
    valid_from=TIME,
    valid_until=TIME,
    pinned=st.booleans(),
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "label": TEXT,
        "detail": TEXT,
        "confidence": SHARE,
        "source": SOURCES,
        "kind": KINDS,
        "slot": TEXT,
        "value": TEXT,
        "order": st.none() | TURN,
        "valid_from": TIME,
        "valid_until": TIME,
    },
)

BY_HAND = st.fixed_dictionaries(
    {}, optional={"status": st.sampled_from(Status), "label": TEXT, "source": SOURCES, "pinned": st.booleans()}
)

NUMBERS = st.lists(TURN, max_size=4).map(tuple)

EVENTS: dict[type, st.SearchStrategy[Event]] = {
    MessageRecorded: st.builds(MessageRecorded, TURN, TEXT, MESSAGES, TURN, TEXT),
    HistoryRevised: st.builds(HistoryRevised, NUMBERS, NUMBERS, st.booleans()),
    Rewritten: st.builds(Rewritten, TURN),
    TurnClosed: st.builds(TurnClosed, TURN, st.sampled_from(Outcome), TEXT, st.dictionaries(TEXT, TURN, max_size=3)),
    Derived: st.builds(Derived, TURN),
    Refined: st.builds(Refined, TURN, TURN, TURN, st.lists(TEXT, max_size=3).map(tuple), TURN),
    NodeAdded: st.builds(NodeAdded, NODES),
    NodeRevised: st.builds(NodeRevised, TEXT, CHANGES, TURN),
    StatusChanged: st.builds(StatusChanged, TEXT, st.sampled_from(Status), TURN, TEXT, TEXT),
    NodeEdited: st.builds(NodeEdited, TURN, TEXT, BY_HAND, BY_HAND, TURN, TEXT, TURN),
    EdgeAdded: st.builds(EdgeAdded, st.builds(Edge, TEXT, st.sampled_from(EdgeType), TEXT, TURN)),
    DecisionReplaced: st.builds(DecisionReplaced, st.builds(Transition, TEXT, TEXT, TURN, TEXT, TEXT, SHARE)),
    NodesPruned: st.builds(NodesPruned, st.lists(TEXT, max_size=4).map(tuple)),
    Checkpointed: st.builds(
        Checkpointed, TEXT, TURN, TURN, TEXT, TEXT, TURN, TURN, st.lists(TEXT, max_size=4).map(tuple)
    ),
    Reminded: st.builds(Reminded, TURN, TEXT, TURN, st.lists(TEXT, max_size=4).map(tuple), NUMBERS),
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_every_event_kind_has_a_strategy() -> None:
    assert set(EVENTS) == set(Event.__args__)


@given(st.one_of(*EVENTS.values()))
@example(MessageRecorded(1, "", Message(Role.TOOL, "a\0b \u2028 \ud83d", (), (ToolResult("", "\udfff"),))))
def test_events_come_back_equal(event: Event) -> None:
    kind, version, payload = encode(event)
    payload.encode("utf-8")
    assert "\0" not in payload
    assert decode(kind, version, payload) == event


@pytest.mark.parametrize(("kind", "version"), [("telepathy", 1), ("message", 2), ("derived", 99), ("", 1)])
def test_what_a_newer_release_wrote_is_called_newer(kind: str, version: int) -> None:
    with pytest.raises(NewerEvent, match="newer release"):
        decode(kind, version, "{}")


DAMAGE = ("", "not json", "{", "null", "[]", "5", '"text"', "{}", "[" * 100_000, '{"turn":')


@pytest.mark.parametrize("payload", DAMAGE, ids=range(len(DAMAGE)))
@pytest.mark.parametrize(
    "kind", [encode(next_)[0] for next_ in (Derived(1), NodesPruned(()), TurnClosed(1, Outcome.ERROR))]
)
def test_damage_is_unreadable_and_not_newer(kind: str, payload: str) -> None:
    with pytest.raises(UnreadableEvent) as caught:
        decode(kind, 1, payload)
    assert not isinstance(caught.value, NewerEvent)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("version", [None, "1", b"1", 1.0])
def test_a_version_that_is_no_number_is_unreadable(version: object) -> None:
    with pytest.raises(UnreadableEvent):
        decode("derived", version, '{"turn":1}')  # type: ignore[arg-type]


@given(
    st.sampled_from(sorted({"message", "node_added", "node_revised", "checkpointed", "decision_replaced"})), JSON, JSON
)
def test_any_json_gives_an_event_or_the_documented_error(kind: str, body: object, inner: object) -> None:
    shapes = [body, {"turn": 1, "digest": "", "message": inner}, {"id": "a", "changes": {"source": inner}, "turn": 1}]
    node = {"id": "a", "type": "task", "label": "", "status": "pending", "confidence": 1}
    shapes += [node | {"source": inner}, node | {"source": {"turn": 1, "trust": "stated", "span": inner}}]
    for shape in shapes:
        try:
            decode(kind, 1, json.dumps(shape))
        except UnreadableEvent:
            continue


def test_old_payloads_are_lifted_step_by_step() -> None:
    upcasts = {("derived", -1): lambda old: {"upto": old["n"]}, ("derived", 0): lambda old: {"turn": old["upto"]}}
    assert decode("derived", -1, '{"n":7}', upcasts) == Derived(7)
    assert decode("derived", 0, '{"upto":8}', upcasts) == Derived(8)
    assert decode("derived", 1, '{"turn":9}', upcasts) == Derived(9)
    with pytest.raises(UnreadableEvent):
        decode("derived", -2, '{"n":7}', upcasts)
    with pytest.raises(UnreadableEvent):
        decode("derived", -1, '{"m":7}', upcasts)
