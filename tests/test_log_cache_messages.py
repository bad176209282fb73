"""Messages of sessions are cached in process: read once, refreshed from the log's tail, gone when they are removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.recall import PassageIndex, message_text, recall
from tokenmizer_mw.model.event import Event, HistoryRevised, MessageRecorded, ReadDetail, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.session.log_cache import CachedMessages
from tokenmizer_mw.session.transcript_edits import HistoryMessages, read_standing
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog

QUESTIONS = ("which database?", "port of the API", "tabs", "nothing of the kind", "数据库")


class Measured(MemoryLog):
    """A store that counts how many events are read from it."""

    events = 0

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        found = super().read(session, after=after, upto=upto, detail=detail)
        self.events += len(found)
        return found


def chat(turns: int) -> list[dict[str, str]]:
    said = []
    for number in range(turns):
        said.append(
            {"role": "user", "content": f"Use port {8000 + number} for the API of part {number}. 数据库 {number}"}
        )
        said.append(
            {"role": "assistant", "content": f"Part {number} is done; its database is SQLite, its tabs are spaces."}
        )
    return said


@pytest.fixture
def log() -> Measured:
    return Measured()


@pytest.fixture
def memory(log: Measured) -> Iterator[SessionMemory]:
    with closing(SessionMemory(log)) as memory:
        memory.record("s", chat(30))
        yield memory


@pytest.mark.parametrize("question", QUESTIONS)
def test_recall_answers_what_the_whole_log_says(question: str, memory: SessionMemory) -> None:
    counter = memory.service.access.counters.of("").counter
    for more in range(3):
        memory.record("s", chat(30 + more))
        told = read_standing(memory.log.read(SessionKey(LOCAL_TENANT, "s")))
        index = PassageIndex()
        for one in told:
            index.add(one.number, one.message.role.value, message_text(one.message))
        expected = recall(memory.graph("s"), question, budget=200, counter=counter, passages=index)
        found = memory.recall("s", question)
        assert (found.text, found.turns, found.ids) == (expected.text, expected.turns, expected.ids)


def test_a_second_question_reads_only_what_is_new(log: Measured, memory: SessionMemory) -> None:
    memory.recall("s", "which database?")
    log.events = 0
    memory.recall("s", "which port?")
    assert memory.restore("s", [1])[0].text.startswith("Use port 8000")
    assert len(memory.messages("s")) == 60
    assert log.events <= 5, "the last event is read again, each time"
    with closing(SessionMemory(log)) as other:
        other.record("s", [*chat(30), {"role": "user", "content": "The database moves to Oslo."}])
        log.events = 0
        assert "Oslo" in memory.recall("s", "where does the database move?").text
        assert log.events < 20


def test_the_first_look_reads_no_facts_and_a_later_one_only_what_is_new(tmp_path: Path) -> None:
    key = SessionKey(LOCAL_TENANT, "s")
    with closing(SessionMemory(SqliteLog(tmp_path / "log.db"))) as writer:
        writer.record("s", chat(30))
        facts = writer.graph("s").nodes()
        read = writer.log.read(key, detail="messages")
        whole = writer.log.read(key)
        assert len(facts) > 30
        assert len(read) <= 61 < len(whole), "the messages, and the last event"
        assert read[-1] == whole[-1]
        with closing(SessionMemory(SqliteLog(tmp_path / "log.db"))) as memory:
            assert memory.messages("s") == read_standing(whole)
            writer.record("s", [*chat(30), {"role": "user", "content": "The database moves to Oslo."}])
            writer.graph("s")
            assert memory.messages("s") == read_standing(writer.log.read(key))
            assert memory.service.access.read_messages_until(key)[1][0] == len(writer.log.read(key))


def test_what_another_process_takes_out_is_not_told(tmp_path: Path) -> None:
    here, there = (SessionMemory(SqliteLog(tmp_path / "log.db")) for _ in range(2))
    key = SessionKey(LOCAL_TENANT, "s")
    here.record("s", chat(3))
    assert "8001" in here.recall("s", "port of part 1").text
    there.log.rewrite(key, without_numbers)
    assert "8001" not in repr(here.messages("s")) + repr(here.recall("s", "port of part 1"))
    there.forget("s")
    assert here.messages("s") == []
    there.record("s", [{"role": "user", "content": "Something else."}])
    assert [one.message.text for one in here.messages("s")] == ["Something else."]
    here.close()
    there.close()


def without_numbers(old: Recorded) -> Event | None:
    if isinstance(old.event, MessageRecorded):
        return MessageRecorded(old.event.turn, old.event.digest, Message(Role.USER, "-"), old.event.after)
    return None


def test_nothing_of_what_is_forgotten_stays_in_the_process(memory: SessionMemory) -> None:
    memory.recall("s", "which database?")
    assert "SQLite" in repr(texts(memory))
    memory.forget("s")
    assert "SQLite" not in repr(texts(memory))
    memory.messages("nobody")
    assert texts(memory) == []


def texts(memory: SessionMemory) -> list[HistoryMessages | None]:
    return [kept.state for kept in memory.service.access.messages._sessions.values()]


def test_no_more_characters_are_kept_than_may_be(log: Measured) -> None:
    keys = [SessionKey("t", str(number)) for number in range(6)]
    for key in keys:
        log.append(key, [MessageRecorded(1, "", Message(Role.USER, "x" * 9_500))], expected_seq=0)
    kept = CachedMessages(log, capacity=100, most=30_000)

    def known(key: SessionKey) -> bool:
        return kept.read(key, lambda told: told.seq) == 1 and key in kept._sessions

    assert all(map(known, keys))
    assert list(kept._sessions) == keys[3:]
    assert kept._total == 30_000
    log.append(
        keys[5], [MessageRecorded(2, "", Message(Role.USER, "x" * 40_000)), HistoryRevised((1,))], expected_seq=1
    )
    assert len(kept.read(keys[5], lambda told: told.messages)) == 1
    assert list(kept._sessions) == keys[5:], "the one in use stays, however long"
    kept.drop(keys[5])
    assert kept._total == 0


def test_a_memory_that_keeps_no_texts_reads_them_each_time(log: Measured) -> None:
    with closing(SessionMemory(log, Settings(messages_cached=0))) as memory:
        for name in ("a", "b"):
            memory.record(name, chat(5))
        for _ in range(2):
            log.events = 0
            assert len(memory.messages("a")) == len(memory.messages("b")) == 10
            assert log.events >= 20
