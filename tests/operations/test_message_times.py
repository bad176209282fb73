"""Imported messages have the times that their file states, and so have their facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dashboard.visiting import TOKEN, Visitor
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.cli import main
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.agent_transcripts import read_time
from tokenmizer_mw.operations.imports import import_into
from tokenmizer_mw.operations.transcripts import ImportedTranscript, read_transcript, record_at
from tokenmizer_mw.server.dashboard import dashboard

SAID = (
    ("user", "Use SQLite for the orders.", "2025-03-01T09:00:00Z"),
    ("assistant", "SQLite it is.", "2025-03-01T09:00:07.250Z"),
    ("user", "Switch from SQLite to PostgreSQL because of concurrent writes.", "2025-03-09T18:30:00Z"),
    ("assistant", "Done.", "2025-03-09T18:30:11Z"),
)
TIMES = [datetime.fromisoformat(time).timestamp() for _, _, time in SAID]
BETWEEN = "2025-03-05T00:00:00Z"
NOW = datetime.fromisoformat("2026-01-01T00:00:00Z").timestamp()
KEY = SessionKey("local", "shop")


def chatgpt() -> bytes:
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None, "children": ["0"]}}
    for place, ((role, text, _), time) in enumerate(zip(SAID, TIMES, strict=True)):
        content = {"content_type": "text", "parts": [text]}
        message = {"id": str(place), "author": {"role": role}, "create_time": time, "content": content}
        nodes[str(place)] = {"id": str(place), "parent": str(place - 1) if place else "root", "message": message}
    return json.dumps(
        [{"title": "", "create_time": TIMES[0], "conversation_id": "shop", "mapping": nodes, "current_node": "3"}]
    ).encode()


def claude() -> bytes:
    senders = {"user": "human", "assistant": "assistant"}
    messages = [
        {
            "uuid": str(place),
            "sender": senders[role],
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": time.replace("Z", ".000000Z") if "." not in time else time,
            "updated_at": "2025-12-01T00:00:00Z",
        }
        for place, (role, text, time) in enumerate(SAID)
    ]
    return json.dumps([{"uuid": "shop", "name": "", "created_at": SAID[0][2], "chat_messages": messages}]).encode()


def claude_code() -> bytes:
    about = {"sessionId": "shop", "cwd": "/home/x/app", "version": "2.0.1"}
    values = [
        {**about, "type": role, "uuid": str(place), "timestamp": time, "message": {"role": role, "content": text}}
        for place, (role, text, time) in enumerate(SAID)
    ]
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def codex() -> bytes:
    kinds = {"user": "input_text", "assistant": "output_text"}
    values: list[dict[str, Any]] = [{"timestamp": SAID[0][2], "type": "session_meta", "payload": {"id": "shop"}}]
    for role, text, time in SAID:
        payload = {"type": "message", "role": role, "content": [{"type": kinds[role], "text": text}]}
        values.append({"timestamp": time, "type": "response_item", "payload": payload})
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


SOURCES = {"chatgpt": chatgpt, "claude": claude, "claude code": claude_code, "codex": codex}


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    with SessionMemory.open("memory://") as found:
        yield found


def read(raw: bytes) -> ImportedTranscript:
    found = read_transcript(raw, "f")
    assert isinstance(found, ImportedTranscript)
    return found


def message_times(memory: SessionMemory) -> list[float]:
    return [one.recorded_at for one in memory.log.read(KEY) if isinstance(one.event, MessageRecorded)]


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_messages_and_facts_have_the_times_of_their_source(source: Any, memory: SessionMemory) -> None:
    transcript = read(source())
    assert list(transcript.times) == pytest.approx(TIMES)
    assert import_into(memory, KEY, transcript, now=NOW).new == len(SAID)
    assert message_times(memory) == pytest.approx(TIMES)
    [info] = memory.sessions()
    assert (info.created_at, info.updated_at) == pytest.approx((TIMES[0], TIMES[-1]))

    def choices(**when: Any) -> set[str]:
        return {node.value for node in memory.graph("shop", **when).nodes("decision") if node.current}

    assert choices() == {"postgresql"}
    assert choices(recorded_at=BETWEEN) == {"sqlite"}
    assert choices(valid_at=BETWEEN) == {"sqlite"}
    assert not memory.graph("shop", recorded_at="2025-02-01T00:00:00Z").nodes()


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_longer_file_adds_what_is_new_at_its_time(source: Any, memory: SessionMemory) -> None:
    whole = read(source())
    part = ImportedTranscript(whole.id, whole.messages[:2], whole.times[:2])
    assert [import_into(memory, KEY, one, now=NOW).new for one in (part, whole, whole)] == [2, 2, 0]
    assert message_times(memory) == pytest.approx(TIMES)
    assert memory.record("shop", whole.messages) == 0


def test_the_facts_are_those_of_an_import_without_times(memory: SessionMemory) -> None:
    timed = read(chatgpt())
    import_into(memory, KEY, timed, now=NOW)
    for end in range(2, len(SAID) + 1, 2):
        memory.record("plain", timed.messages[:end])
    facts = [[(one.label, one.status, one.source) for one in memory.graph(id_).nodes()] for id_ in ("shop", "plain")]
    assert facts[0] and facts[0] == facts[1]


def said(*texts: str) -> list[Message]:
    """Messages of the user and the assistant in turn; a text with "system: " is a system message."""
    roles = cycle((Role.USER, Role.ASSISTANT))
    return [Message(Role.SYSTEM, text) if text.startswith("system: ") else Message(next(roles), text) for text in texts]


def test_a_system_message_takes_its_time_with_it(memory: SessionMemory) -> None:
    messages = said("Use SQLite.", "It is in use.", "system: Be brief.", "Now the invoices.", "They are done.")
    assert record_at(memory, KEY, messages, [10.0, 20.0, 30.0, 40.0, 50.0], NOW) == 4
    assert message_times(memory) == [10.0, 20.0, 40.0, 50.0]


def test_messages_preserved_by_a_compaction_take_their_times_with_them(memory: SessionMemory) -> None:
    before = said("Use SQLite.", "It is in use.", "Now the invoices.", "They are done.")
    assert record_at(memory, KEY, before, [10.0, 20.0, 30.0, 40.0], NOW) == 4
    summary = Message(Role.USER, f"This session is being continued from a previous conversation. Summary: {'x' * 900}")
    again = [summary, before[3], *said("Now the refunds.", "They are done, too.")]
    assert record_at(memory, KEY, again, [50.0, 60.0, 70.0, 80.0], NOW) == 3
    assert message_times(memory) == [10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 80.0]


def test_every_message_needs_a_time_or_none(memory: SessionMemory) -> None:
    with pytest.raises(ValueError):
        record_at(memory, KEY, said("Use SQLite.", "It is in use."), [10.0], NOW)
    assert message_times(memory) == []


times = st.one_of(st.none(), st.floats(-1e9, 1e10))


@given(st.lists(times, min_size=len(SAID), max_size=len(SAID)).map(tuple))
def test_whatever_a_file_states_times_never_go_back_or_ahead(stated: tuple[float | None, ...]) -> None:
    transcript = read(chatgpt())
    odd = ImportedTranscript("", transcript.messages, tuple(map(read_time, stated)))
    with SessionMemory.open("memory://") as memory:
        import_into(memory, KEY, odd, now=NOW)
        if odd.times and any(time is not None for time in odd.times):
            found = [one.recorded_at for one in memory.log.read(KEY)]
            assert found == sorted(found)
            assert found[0] > 0 and found[-1] <= NOW


def test_secrets_are_redacted(memory: SessionMemory) -> None:
    secret = "AKIA" + "Q3EGRC7LZ5PX2MNB"
    raw = chatgpt().replace(b"Use SQLite for the orders.", f"The key is {secret}.".encode())
    import_into(memory, KEY, read(raw), now=NOW)
    assert secret not in " ".join(one.message.text for one in memory.messages("shop"))


def test_the_command_keeps_the_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, store = tmp_path / "conversations.json", f"sqlite:///{tmp_path / 'memory.db'}"
    file.write_bytes(claude())
    assert main(["import", str(file), "--store", store]) == 0
    assert "4 new" in capsys.readouterr().out
    with SessionMemory.open(store) as memory:
        assert message_times(memory) == pytest.approx(TIMES)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_740_819_600.5, 1_740_819_600.5),
        (1_740_819_600_500, 1_740_819_600.5),
        ("2025-03-01T09:00:00.5Z", 1_740_819_600.5),
        ("2025-03-01T10:00:00+01:00", 1_740_819_600.0),
        ("2025-03-01T09:00:00", 1_740_819_600.0),
        *((wrong, None) for wrong in (None, True, 0, -5, float("nan"), float("inf"), "soon", "", [], {})),
    ],
)
def test_times_as_files_state_them(value: object, expected: float | None) -> None:
    assert read_time(value) == expected


def test_the_transcript_shows_when_messages_were_written(memory: SessionMemory) -> None:
    import_into(memory, KEY, read(claude()), now=NOW)
    assert [one.recorded_at for one in memory.messages("shop")] == pytest.approx(TIMES)
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    page = visitor.get("transcript?id=shop").body
    assert [page.count(f'datetime="{day}') for day in ("2025-03-01T09:00:0", "2025-03-09T18:30:")] == [2, 2]
