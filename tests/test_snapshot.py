"""A session in bytes and back: the same state, or none."""

from __future__ import annotations

import hashlib
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.folding import logs
from tests.sampling import examples
from tokenmizer_mw.model.event import (
    Checkpointed,
    DecisionReplaced,
    Derived,
    EdgeAdded,
    HistoryRevised,
    MessageRecorded,
    NodeAdded,
    NodeRevised,
    Recorded,
    Refined,
    Reminded,
    StatusChanged,
    TurnClosed,
    decode,
    encode,
)
from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Source, Status, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import SessionState, fold
from tokenmizer_mw.session.snapshot import (
    RULES,
    SnapshotTooLarge,
    UnreadableSnapshot,
    fold_version,
    seal,
    state_of,
    write_snapshot,
)
from tokenmizer_mw.store.conformance import EVERY_KIND

KEY = SessionKey("tenant", "session")
MOST = 10_000_000


def stored(log: list[Recorded]) -> list[Recorded]:
    """``log`` as a store gives it back."""
    return [Recorded(one.seq, one.recorded_at, decode(*encode(one.event))) for one in log]


def again(state: SessionState) -> SessionState:
    return state_of(KEY, write_snapshot(KEY, state, most=MOST), most=MOST)


@examples(200)
@given(logs(), st.data())
def test_a_graph_is_the_same_that_was_asked_for_words_on_the_way(log: list[Recorded], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(log)), label="cut")
    state = fold(log[:cut])
    state.graph.sharing_words("use redis")
    state.graph = state.graph.fork() if data.draw(st.booleans(), label="fork") else state.graph.copy()
    graph, whole = fold(log[cut:], state).graph, fold(log).graph
    assert graph == whole
    assert dict(graph.index_words()) == dict(whole.index_words())


@examples(200)
@given(logs(), st.data())
def test_a_snapshot_and_what_follows_is_the_whole_log(log: list[Recorded], data: st.DataObject) -> None:
    log = stored(log)
    cut = data.draw(st.integers(0, len(log)), label="cut")
    state = again(fold(log[:cut]))
    for recorded in log[cut:]:
        state.apply(recorded)
    whole = fold(log)
    assert state == whole
    # An enumeration's text equals it, and the orders of mappings matter.
    assert repr(state) == repr(whole)
    assert state.recent.maxlen == whole.recent.maxlen


def test_every_kind_of_event() -> None:
    log = stored([Recorded(seq, float(seq), event) for seq, event in enumerate(EVERY_KIND, 1)])
    assert repr(again(fold(log))) == repr(fold(log))


@given(logs(most=15))
def test_a_copy_is_independent(log: list[Recorded]) -> None:
    state = fold(log)
    copy = state.copy()
    told = repr(state)
    assert repr(copy) == told
    for seq, event in enumerate(EVERY_KIND, state.seq + 1):
        copy.apply(Recorded(seq, 1e9, event))
    assert repr(state) == told


def filled() -> SessionState:
    state = SessionState()
    said = Message(Role.USER, "Use PostgreSQL for the storage of orders.")
    node = Node("decision-1", NodeType.DECISION, "PostgreSQL for storage", Status.ACTIVE, Source(1, "user"))
    events = [MessageRecorded(1, "mark", said), NodeAdded(node), Derived(1), Checkpointed("checkpoint-1", 1, 20)]
    for seq, event in enumerate(events, 1):
        state.apply(Recorded(seq, 10.0, event))
    return state


def test_not_one_bit_may_be_another() -> None:
    payload = write_snapshot(KEY, filled(), most=MOST)
    for place in range(len(payload)):
        damaged = bytearray(payload)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(UnreadableSnapshot):
            state_of(KEY, bytes(damaged), most=MOST)


@pytest.mark.parametrize("cut", [0, 1, 15, 16, 17, -1])
def test_cut_short(cut: int) -> None:
    with pytest.raises(UnreadableSnapshot):
        state_of(KEY, write_snapshot(KEY, filled(), most=MOST)[:cut], most=MOST)


@pytest.mark.parametrize("other", [SessionKey("tenant", "other"), SessionKey("other", "session")])
def test_of_another_session(other: SessionKey) -> None:
    with pytest.raises(UnreadableSnapshot, match="another session's"):
        state_of(other, write_snapshot(KEY, filled(), most=MOST), most=MOST)


NONSENSE = [
    b"",
    b"not json\n",
    b"[]\n",
    b'["graph._nodes",{}]\n',
    b'["seq",1]\n',
    b"[" * 100_000 + b"\n",
    b'["\xff",1]\n',
    json.dumps([["a"], 1]).encode() + b"\n",
]


@pytest.mark.parametrize("lines", NONSENSE, ids=range(len(NONSENSE)))
def test_well_sealed_nonsense(lines: bytes) -> None:
    body = zlib.compress(lines)
    with pytest.raises(UnreadableSnapshot):
        state_of(KEY, seal(KEY, body) + body, most=MOST)


def parts(state: SessionState) -> dict[str, object]:
    lines = zlib.decompress(write_snapshot(KEY, state, most=MOST)[16:]).decode().split("\n")[:-1]
    return dict(map(json.loads, lines))


def test_a_part_that_is_missing_or_of_another_kind() -> None:
    whole = parts(filled())
    for name in whole:
        for other in ("gone", None, 7, [], {}, [1], "text", {"a": []}):
            told = {key: part for key, part in whole.items() if key != name}
            told |= {} if other == "gone" else {name: other}
            if told == whole:
                continue
            body = zlib.compress("".join(json.dumps([*one]) + "\n" for one in told.items()).encode())
            try:
                state_of(KEY, seal(KEY, body) + body, most=MOST)
            except UnreadableSnapshot:
                continue
            assert other != "gone", f"{name} is not missed"


def test_no_more_than_it_may_take() -> None:
    state = filled()
    size = len(zlib.decompress(write_snapshot(KEY, state, most=MOST)[16:]))
    payload = write_snapshot(KEY, state, most=size)
    with pytest.raises(SnapshotTooLarge):
        write_snapshot(KEY, state, most=size - 1)
    assert state_of(KEY, payload, most=size) == state
    with pytest.raises(UnreadableSnapshot):
        state_of(KEY, payload, most=size - 1)


def test_a_bomb_is_not_unpacked() -> None:
    body = zlib.compress(b"0" * 50_000_000)
    with pytest.raises(UnreadableSnapshot):
        state_of(KEY, seal(KEY, body) + body, most=1_000)


TASK = Node("task-1", NodeType.TASK, "write the tests", Status.PENDING, Source(2, "user", "write the tests"))
TABS = Node("decision-1", NodeType.DECISION, "indent: tabs", Status.ACTIVE, Source(1, "user"), slot="indent")
SPACES = Node("decision-2", NodeType.DECISION, "indent: spaces", Status.ACTIVE, Source(3, "user"), slot="indent")
FIXED = [
    MessageRecorded(1, "a", Message(Role.USER, "Use tabs.")),
    MessageRecorded(2, "b", Message(Role.ASSISTANT, "Noted."), 1),
    NodeAdded(TABS),
    NodeAdded(TASK),
    Derived(2, {1: ("override",)}),
    TurnClosed(2, Outcome.COMPLETE),
    MessageRecorded(3, "a", Message(Role.USER, "Use spaces."), 2),
    NodeAdded(SPACES),
    DecisionReplaced(Transition("decision-1", "decision-2", 3, "the linter")),
    NodeRevised("task-1", {"label": "write all tests"}, 3),
    EdgeAdded(Edge("task-1", EdgeType.IMPLEMENTS, "decision-2", 3)),
    StatusChanged("task-1", Status.COMPLETED, 3, "done"),
    Checkpointed("checkpoint-1", 3, 20, "block", "b", 2, 1, ("decision-2",)),
    Refined(3, 1, 100),
    Reminded(3, "checkpoint-1", 40, ("decision-2",), (1,)),
    MessageRecorded(4, "c", Message(Role.SYSTEM, "Be brief."), 0),
    HistoryRevised((2,), (1,)),
]
KNOWN_FOLDS = {(1, 353894556): "cfefb42761ecb9ee", (1, 4292931258): "20b8513130d57ece"}
"""(``RULES``, ``fold_version()``) -> what ``FIXED`` folds into."""


def test_whoever_changes_what_the_fold_does_says_so() -> None:
    """Snapshots outlive releases: where events fold into something else than before, ``snapshot.RULES`` is raised.

    A new kind of event needs nothing, and a new field of a state is noticed by itself; then its row is added.
    """
    log = stored([Recorded(seq, float(seq), event) for seq, event in enumerate(FIXED, 1)])
    told = parts(fold(log))
    told["graph._by_word"] = sorted(fold(log).graph.index_words().items())  # its order is that of a set
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
    assert KNOWN_FOLDS.get((RULES, fold_version()), digest) == digest, (RULES, fold_version(), digest)
