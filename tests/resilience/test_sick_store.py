"""Chats go on while the store is locked, does not answer, or is full, and nothing is lost that fits into the spool."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.asgi.driving import REPLY
from tests.store.postgres_database import Database, Holding
from tests.waiting import eventually
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.server.api.health import Health
from tokenmizer_mw.store.sqlite import SqliteLog
from tokenmizer_mw.store.sqlite_file import examine

from .sick import chat, locked, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@contextmanager
def opened(path: Path, **changes: Any) -> Iterator[SessionMemory]:
    changes = {"store_rest_seconds": 0.2, **changes}
    memory = SessionMemory.open(f"sqlite:///{path}", Settings(**changes))
    try:
        yield memory
    finally:
        memory.close()


def spoken(texts: list[str], **more: object) -> bytes:
    roles = ("user", "assistant")
    messages = [{"role": roles[index % 2], "content": text} for index, text in enumerate(texts)]
    return json.dumps({"model": "gpt-4o", "stream": True, "messages": messages, **more}).encode()


# -- locked by another process -------------------------------------------------------------------------------


def test_chats_end_while_another_process_holds_the_store_and_are_recorded_after_it(path: Path) -> None:
    async def chats() -> tuple[float, list[float], list[float]]:
        _, first = await chat(memory, "first")
        together = await asyncio.gather(*(chat(memory, f"many-{number}") for number in range(40)))
        after = [await chat(memory, f"after-{number}") for number in range(5)]
        return first, [seconds for _, seconds in together], [seconds for _, seconds in after]

    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            first, together, after = asyncio.run(chats())
            assert first < 1.5
            assert max(together) < 2.5
            assert sorted(after)[2] < 0.25  # nobody waits any more
            assert memory.service.turns.spool.waiting == 46
            assert memory.counters()["turn_spooled"] == 46
        assert eventually(lambda: not memory.service.turns.spool.waiting, 10)
        for session in ("first", "many-0", "many-39", "after-4"):
            assert said(memory, session)[1:] == [REPLY]
        assert eventually(lambda: not memory.service.store_monitor.is_open)
        asyncio.run(chat(memory, "well"))
        assert memory.counters()["turn_spooled"] == 46  # acknowledged means kept again


def test_turns_of_a_session_keep_their_order_over_an_outage(path: Path) -> None:
    async def talk() -> None:
        texts: list[str] = []
        for number in range(6):
            texts.append(f"question {number}")
            await chat(memory, "talk", spoken(texts))
            texts.append(REPLY)

    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(talk())
        assert memory.flush(20)
        assert said(memory, "talk") == [text for number in range(6) for text in (f"question {number}", REPLY)]
        assert len(memory.graph("talk")) >= 0
        assert memory.counters()["turn_complete"] == 7


def test_what_waits_of_a_session_is_not_written_once_the_session_is_forgotten(path: Path) -> None:
    with opened(path) as memory:
        asyncio.run(chat(memory, "kept"))
        asyncio.run(chat(memory, "erased"))
        with locked(path):
            asyncio.run(chat(memory, "erased", spoken(["one", REPLY, "two"])))
            asyncio.run(chat(memory, "kept", spoken(["one", REPLY, "two"])))
            assert memory.service.turns.spool.waiting == 2
            forgetting = threading.Thread(target=memory.forget, args=("erased",))
            forgetting.start()
            assert eventually(lambda: memory.service.turns.spool.waiting == 1)
        forgetting.join(30)
        assert memory.flush(20)
        assert said(memory, "erased") == []
        assert said(memory, "kept")[-1] == REPLY
        assert "turn_lost" not in memory.counters()


def test_a_request_is_cut_while_the_store_cannot_be_written(path: Path) -> None:
    """The cut is recorded with its turn, once the store takes that, and stands for the next request."""
    texts = [
        f"Let's use library-{number} for part {number}. " + f"{number} words of no weight. " * 9 for number in range(41)
    ]
    with opened(path, context_window=2_000) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, "long", spoken(texts)))
            assert memory.counters()["cut_made"] == memory.counters()["turn_spooled"] == 1
        assert memory.flush(20)
        asyncio.run(chat(memory, "long", spoken([*texts, REPLY, "and now?"])))
        assert (memory.counters()["request_rewritten"], memory.counters()["cut_made"]) == (2, 1)
        assert said(memory, "long") == [*texts, REPLY, "and now?", REPLY]


def test_a_new_request_does_not_wait_behind_those_that_wait_for_the_store(path: Path) -> None:
    async def together() -> float:
        waiting = [asyncio.ensure_future(chat(memory, f"many-{number}")) for number in range(40)]
        await asyncio.sleep(0.1)
        _, seconds = await chat(memory, "large", spoken(["some words " * 9_000]))
        await asyncio.gather(*waiting)
        return seconds

    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            assert asyncio.run(together()) < 2.5


def test_a_chat_without_a_session_never_touches_the_store(path: Path) -> None:
    with opened(path, store_wait_seconds=5.0) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, ""))
        assert memory.service.store_monitor.trouble is None
        assert memory.service.turns.spool.waiting == 0


def test_what_does_not_fit_is_counted_and_logged(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def chats() -> None:
        for number in range(8):
            await chat(memory, f"s{number}")

    with opened(path, spool_turns=5) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chats())
            assert (memory.service.turns.spool.waiting, memory.counters()["turn_lost"]) == (5, 3)
        assert memory.flush(20)
        assert said(memory, "s4")
        assert not said(memory, "s5")
    assert any("lost" in record.getMessage() for record in caplog.records)


def test_what_is_left_at_the_end_is_counted(path: Path) -> None:
    with opened(path, drain_seconds=0.3) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, "s"))
            memory.close()
        assert memory.counters()["turn_lost"] == 1


def test_closing_writes_what_the_store_takes_by_then(path: Path) -> None:
    with opened(path, drain_seconds=20) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, "s"))
        memory.close()
    with closing(SqliteLog(path)) as log:
        assert [info.key.id for info in log.sessions("local")] == ["s", "before"]


def test_secrets_are_taken_out_before_a_turn_waits(path: Path) -> None:
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"
    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, "s", spoken([f"my token is {key}"])))
        assert memory.flush(20)
        assert key not in "".join(said(memory, "s"))
        assert "my token is" in said(memory, "s")[0]


def test_a_forked_child_leaves_the_turns_to_its_parent(path: Path) -> None:
    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
        with locked(path):
            asyncio.run(chat(memory, "s"))
            assert memory.service.turns.spool.waiting == 1
            child = os.fork()
            if child == 0:
                os._exit(memory.service.turns.spool.waiting)
            assert os.waitpid(child, 0)[1] == 0
        assert memory.flush(20)
        assert len(said(memory, "s")) == 2


# -- a database that does not answer -------------------------------------------------------------------------


def test_a_postgresql_that_holds_its_tables_locked(caplog: pytest.LogCaptureFixture) -> None:
    database = Database(services.postgres())
    memory = SessionMemory(database.log(), Settings(store_rest_seconds=0.2))
    try:
        asyncio.run(chat(memory, "before"))
        with Holding(database, "LOCK TABLE {schema}.sessions IN ACCESS EXCLUSIVE MODE"):
            seconds = [asyncio.run(chat(memory, f"s{number}"))[1] for number in range(6)]
            assert min(seconds[3:]) < max(seconds[:3])
        assert eventually(lambda: not memory.service.turns.spool.waiting, 20)
        assert [len(said(memory, f"s{number}")) for number in range(6)] == [2] * 6
    finally:
        memory.close()
        database.drop()
    assert all("postgres@" not in record.getMessage() for record in caplog.records)


def test_a_server_that_takes_connections_and_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://nobody:{secrets.token_hex(4)}@127.0.0.1:{silent.getsockname()[1]}/none?timeout=2"
        from tokenmizer_mw.store.open import open_log

        settings = Settings(redact=False, store_rest_seconds=0.2, drain_seconds=0.2)
        memory = SessionMemory(open_log(address), settings)
        seconds = [asyncio.run(chat(memory, f"s{number}"))[1] for number in range(6)]
        assert min(seconds[3:]) < max(seconds[:3])
        assert memory.service.turns.spool.waiting == 6
        trouble = memory.service.store_monitor.trouble
        assert trouble is not None
        assert trouble.place == f"127.0.0.1:{silent.getsockname()[1]}/none"
        memory.close()
        assert memory.counters()["turn_lost"] == 6


# -- full, read-only, damaged --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("a file system can be mounted by root alone")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_named_and_the_turns_are_written_once_there_is_room(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = small_disk / "memory.db"
    with opened(path) as memory, caplog.at_level(logging.WARNING, "tokenmizer_mw"):
        asyncio.run(chat(memory, "before"))
        ballast = small_disk / "ballast"
        _fill(ballast)
        for number in range(5):
            asyncio.run(chat(memory, f"s{number}", spoken(["a long question " * 3_000 + str(number)])))
        assert memory.service.turns.spool.waiting >= 1
        trouble = memory.service.store_monitor.trouble
        assert trouble is not None
        assert (trouble.cause, trouble.place) == ("disk_full", str(path))
        assert "store_disk_full" in Health(memory, (), time.time).look()["reasons"]
        ballast.unlink()
        assert memory.flush(20)
        assert [len(said(memory, f"s{number}")) for number in range(5)] == [2] * 5
    lines = [record.getMessage() for record in caplog.records if "disk_full" in record.getMessage()]
    assert len(lines) == 1
    assert str(path) in lines[0]


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4_096))
        except OSError:
            return


def test_a_read_only_file_system_is_named(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    log = SqliteLog(path)
    memory = SessionMemory(log, Settings(redact=False, drain_seconds=0.2))
    asyncio.run(chat(memory, "s"))
    trouble = memory.service.store_monitor.trouble
    assert trouble is not None
    assert (trouble.cause, trouble.place) == ("read_only", str(path))
    memory.close()
    with pytest.raises(StoreUnavailable, match="read-only"):
        examine(str(path), "local")


def test_a_damaged_file_is_named_and_the_chat_goes_on(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(path) as memory:
        asyncio.run(chat(memory, "before"))
    path.write_bytes(path.read_bytes()[:4_096] + secrets.token_bytes(3 * 4_096))
    memory = SessionMemory(SqliteLog(path), Settings(redact=False, drain_seconds=0.2))
    asyncio.run(chat(memory, "s"))
    assert memory.counters()["turn_lost"] == 1
    memory.close()
    assert any("damaged" in record.getMessage() and str(path) in record.getMessage() for record in caplog.records)


def test_the_library_says_why(path: Path) -> None:
    with opened(path) as memory:
        memory.record("s", [{"role": "user", "content": "Use Redis for the queue."}])
        memory.close()
        with pytest.raises(StoreUnavailable) as caught:
            memory.record("s", [{"role": "user", "content": "Use Postgres."}])
    assert (caught.value.cause, caught.value.place) == ("closed", str(path))
