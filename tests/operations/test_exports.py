from __future__ import annotations

import json

import pytest

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.event import Checkpointed, Derived, Event, MessageRecorded, NodeAdded, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.exports import Export, export_lines, restore
from tokenmizer_mw.operations.transcripts import read_transcript
from tokenmizer_mw.store.memory import MemoryLog

KEY = SessionKey("local", "s")
NODE = Node(
    id="decision-1",
    type=NodeType.DECISION,
    label="PostgreSQL — déjà",
    status=Status.ACTIVE,
    source=Source(1, "user", "we use PostgreSQL", span=(0, 5)),
    kind=DecisionKind.CHOICE,
)
EVENTS: list[Event] = [
    MessageRecorded(
        1, "aa", Message(Role.USER, "we use\nPostgreSQL \x1b[31m\u2028", tool_calls=(ToolCall("1", "f", "{"),))
    ),
    NodeAdded(NODE),
    Derived(1),
    TurnClosed(1, Outcome.COMPLETE, "stop", {"prompt_tokens": 3}),
    Checkpointed("checkpoint-1", 1, 120, "block", "aa", 1, 2, ("decision-1",)),
]


def filled() -> MemoryLog:
    times = iter((1_700_000_000.25, 1_700_000_060.375))
    log = MemoryLog(lambda: next(times))
    log.append(KEY, EVENTS[:2], expected_seq=0)
    log.append(KEY, EVENTS[2:], expected_seq=2)
    return log


def exported() -> Export:
    raw = "\n".join(export_lines("s", filled().read(KEY))).encode()
    found = read_transcript(raw, "s.jsonl")
    assert isinstance(found, Export)
    return found


def test_an_export_is_one_json_object_a_line() -> None:
    lines = list(export_lines("s", filled().read(KEY)))
    assert len(lines) == 1 + len(EVENTS)
    assert all(isinstance(json.loads(line), dict) and line.isascii() and "\n" not in line for line in lines)


def test_import_of_an_export_is_exact() -> None:
    log = MemoryLog()
    assert restore(log, KEY, exported().events) == len(EVENTS)
    assert log.read(KEY) == filled().read(KEY)


def test_a_second_import_adds_nothing_and_a_longer_one_the_rest() -> None:
    log = MemoryLog()
    events = exported().events
    assert restore(log, KEY, events[:3]) == 3
    assert restore(log, KEY, events) == 2
    assert restore(log, KEY, events) == 0
    assert log.read(KEY) == filled().read(KEY)


def test_what_is_added_is_not_older_than_what_is_there() -> None:
    log = MemoryLog(lambda: 1_800_000_000.0)
    log.append(KEY, EVENTS[:2], expected_seq=0)
    assert restore(log, KEY, exported().events) == len(EVENTS) - 2
    assert [one.event for one in log.read(KEY)] == EVENTS
    assert [one.recorded_at for one in log.read(KEY)] == [1_800_000_000.0] * len(EVENTS)


def test_a_session_that_differs_is_left_alone() -> None:
    log = MemoryLog()
    log.append(KEY, [Derived(9)], expected_seq=0)
    with pytest.raises(CallerError, match="exists and differs"):
        restore(log, KEY, exported().events)
    assert len(log.read(KEY)) == 1
