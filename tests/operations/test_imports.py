"""What comes in from outside: the same graph elsewhere, or a clear refusal, and never a session that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.redaction_corpus import cases
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.event import Derived, Event, MessageRecorded, NodeAdded, NodeRevised, Recorded, StatusChanged
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.exports import SessionDiffers, export_lines
from tokenmizer_mw.operations.imports import TEXT_MAX, import_into, require_valid_events
from tokenmizer_mw.operations.transcripts import read_transcript

KEY = SessionKey("local", "hall")
CHAT = [
    {"role": "user", "content": "Let's build a booking service for the village hall. We use SQLite, it is one file."},
    {"role": "assistant", "content": "SQLite it is. Shall I write the schema first?"},
    {"role": "user", "content": "Yes. Never delete a booking without asking me first."},
    {"role": "assistant", "content": "The schema is in hall/schema.sql."},
    {"role": "user", "content": "SQLite locks under load. We switch to PostgreSQL instead of SQLite."},
]
NOW = 2_000_000_000.0


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    found = SessionMemory.open()
    yield found
    found.close()


@pytest.fixture
def other() -> Iterator[SessionMemory]:
    found = SessionMemory.open()
    yield found
    found.close()


def exported(memory: SessionMemory) -> bytes:
    return "\n".join(export_lines("hall", memory.log.read(KEY))).encode()


def test_an_export_gives_the_same_graph_and_times_elsewhere(memory: SessionMemory, other: SessionMemory) -> None:
    memory.record("hall", CHAT)
    memory.checkpoint("hall")
    done = import_into(other, KEY, read_transcript(exported(memory), "x"), now=NOW)
    assert (done.what, done.count, done.new) == ("events", len(memory.log.read(KEY)), done.count)
    assert other.log.read(KEY) == memory.log.read(KEY)
    assert other.graph("hall").to_dict() == memory.graph("hall").to_dict()
    assert other.record("hall", CHAT) == 0
    assert import_into(other, KEY, read_transcript(exported(memory), "x"), now=NOW).new == 0


def test_what_differs_is_left_alone(memory: SessionMemory, other: SessionMemory) -> None:
    memory.record("hall", CHAT)
    other.record("hall", CHAT[1:])
    before = other.log.read(KEY)
    with pytest.raises(SessionDiffers):
        import_into(other, KEY, read_transcript(exported(memory), "x"), now=NOW)
    assert other.log.read(KEY) == before


def test_messages_come_in_once_and_are_drawn_from(memory: SessionMemory) -> None:
    raw = "\n".join(map(json.dumps, CHAT)).encode()
    assert import_into(memory, KEY, read_transcript(raw, "x"), now=NOW).new == len(CHAT)
    assert import_into(memory, KEY, read_transcript(raw, "x"), now=NOW).new == 0
    assert any(node.value == "postgresql" for node in memory.graph("hall").nodes())


def test_secrets_do_not_come_in(memory: SessionMemory) -> None:
    case = next(case for case in cases() if case.secret)
    open_ = SessionMemory.open(settings=Settings(redact=False))
    open_.record("hall", [{"role": "user", "content": f"We use {case.secret} as the key. Use Redis for the queue."}])
    raw = exported(open_)
    open_.close()
    assert case.secret.encode() in raw
    import_into(memory, KEY, read_transcript(raw, "x"), now=NOW)
    assert case.secret not in repr(memory.log.read(KEY))


def said(turn: int, after: int | None = None, **fields: Any) -> MessageRecorded:
    return replace(MessageRecorded(turn, "aa", Message(Role.USER, "x"), turn - 1 if after is None else after), **fields)


TASK = Node("task-1", NodeType.TASK, "write it", Status.PENDING, Source(1, "user"))
WRONG: list[tuple[str, list[Event]]] = [
    ("a message out of its place", [said(2)]),
    ("a message behind one that is not there", [said(1, after=1)]),
    ("a digest that is none", [said(1, digest="sk-live")]),
    ("a message that is none", [said(1, message="x")]),
    ("a turn that is not there", [said(1), Derived(7)]),
    ("a turn that is no number", [said(1), Derived("1")]),  # type: ignore[arg-type]
    ("a turn that is true", [said(1), Derived(True)]),
    ("an id that is none", [said(1), NodeAdded(replace(TASK, id="../../etc"))]),
    ("a label of two lines", [said(1), NodeAdded(replace(TASK, label="a\nb"))]),
    ("a label that is too long", [said(1), NodeAdded(replace(TASK, label="x" * 201))]),
    ("a label that is no text", [said(1), NodeAdded(replace(TASK, label=7))]),  # type: ignore[arg-type]
    ("a detail that is too long", [said(1), NodeAdded(replace(TASK, detail="x" * (TEXT_MAX + 1)))]),
    ("a confidence beyond numbers", [said(1), NodeAdded(replace(TASK, confidence=float("inf")))]),
    ("a place that is no place", [said(1), NodeAdded(replace(TASK, source=Source(1, "user", span=(1,))))]),  # type: ignore[arg-type]
    ("another id", [said(1), NodeAdded(TASK), NodeRevised("task-1", {"id": "task-2"})]),
    ("a field that nodes have not", [said(1), NodeAdded(TASK), NodeRevised("task-1", {"colour": "red"})]),
    ("a revised label that is no text", [said(1), NodeAdded(TASK), NodeRevised("task-1", {"label": ["x"]})]),
    ("a status that is none", [said(1), NodeAdded(TASK), StatusChanged("task-1", "gone")]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("events", [events for _, events in WRONG], ids=[name for name, _ in WRONG])
def test_what_could_not_have_been_recorded_is_refused(events: list[Event]) -> None:
    recorded = [Recorded(seq, 1.0, event) for seq, event in enumerate(events, 1)]
    with pytest.raises(CallerError):
        require_valid_events(recorded, NOW)


def test_what_could_have_been_is_not() -> None:
    events = [said(1), NodeAdded(TASK), NodeRevised("task-1", {"label": "do it"}, 1), Derived(1)]
    require_valid_events([Recorded(seq, 1.0, event) for seq, event in enumerate(events, 1)], NOW)


def test_events_from_the_future_are_refused() -> None:
    with pytest.raises(CallerError, match="future"):
        require_valid_events([Recorded(1, NOW * 2, said(1))], NOW)


def test_events_from_before_1970_are_refused_with_their_line() -> None:
    with pytest.raises(CallerError, match="event 1: recorded before 1970"):
        require_valid_events([Recorded(1, -1.0, said(1))], NOW)
    lines = list(export_lines("s", [Recorded(1, 5.0, said(1)), Recorded(2, -5.0, said(2))]))
    with pytest.raises(CallerError, match="line 3: recorded before 1970"):
        read_transcript("\n".join(lines).encode(), "f")
