"""A session is erased from a large SQLite file while chats go on: none waits for it, and no turn is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.resilience.sick import chat, said
from tests.waiting import PATIENCE
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog

SECRET = "the-word-that-nobody-may-find"
MESSAGES = 1_200
MESSAGE_CHARACTERS = 60_000
"""Together some 70 MB, of which the erased session has a twentieth."""


def filled(path: Path) -> None:
    with closing(SqliteLog(path)) as log:
        ends = dict.fromkeys(range(20), 0)
        for number in range(MESSAGES):
            session = number % 20
            text = f"{SECRET if session == 0 else 'anything'} {number} ".ljust(MESSAGE_CHARACTERS, ".")
            event = MessageRecorded(ends[session] + 1, "", Message(Role.USER, text))
            key = SessionKey(LOCAL_TENANT, f"old-{session}")
            ends[session] = log.append(key, [event], expected_seq=ends[session])[-1].seq


def holds_secret(folder: Path) -> bool:
    return any(SECRET.encode() in file.read_bytes() for file in folder.iterdir())


@contextmanager
def repeated(work: Callable[[int], None], seconds: float) -> Iterator[list[float]]:
    """``work(1)``, ``work(2)`` and so on in a thread, with a rest of ``seconds``; yields what each took."""
    over, times = threading.Event(), list[float]()
    failures: list[BaseException] = []

    def run() -> None:
        while not over.is_set():
            start = time.monotonic()
            try:
                work(len(times) + 1)
            except BaseException as error:
                failures.append(error)
                return
            times.append(time.monotonic() - start)
            over.wait(seconds)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()
    assert not failures


@pytest.mark.nightly
@pytest.mark.anyio
async def test_chats_go_on_while_a_session_is_erased(tmp_path: Path) -> None:
    filled(tmp_path / "log.db")
    assert (tmp_path / "log.db").stat().st_size > 60_000_000
    with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'log.db'}")) as memory:
        await chat(memory, "chat-0")
        chats, erased = 1, anyio.Event()
        async with anyio.create_task_group() as group:

            async def erase() -> None:
                assert await memory.aforget("old-0") == MESSAGES // 20
                erased.set()

            group.start_soon(erase)
            while not erased.is_set():
                await chat(memory, f"chat-{chats}")
                chats += 1
                await anyio.sleep(0.02)
        assert chats > 4
        assert memory.flush(PATIENCE)
        assert {len(said(memory, f"chat-{number}")) for number in range(chats)} == {len(said(memory, "chat-0"))}
        assert not holds_secret(tmp_path)
        assert memory.counters().get("turn_lost", 0) == 0
    assert not holds_secret(tmp_path)


def test_appends_and_reads_of_two_processes_worth_of_threads_go_on(tmp_path: Path) -> None:
    """Two memories on one file know of each other what two processes do: nothing."""
    path = tmp_path / "log.db"
    filled(path)
    with closing(SessionMemory.open(f"sqlite:///{path}")) as one, closing(SqliteLog(path, busy_seconds=0.2)) as other:

        def append(number: int) -> None:
            event = MessageRecorded(number, "", Message(Role.USER, f"note {number}"))
            other.append(SessionKey(LOCAL_TENANT, "busy"), [event], expected_seq=number - 1)

        def read(_: int) -> None:
            other.read(SessionKey(LOCAL_TENANT, "old-1"))

        record = partial(_record, one)
        with repeated(append, 0.002) as appended, repeated(read, 0.005) as reads, repeated(record, 0.002) as recorded:
            assert one.forget("old-0") == MESSAGES // 20
            assert not holds_secret(tmp_path)
        assert min(len(appended), len(reads), len(recorded)) > 0
        assert len(said(one, "busy")) == len(appended)
        assert len(said(one, "recorded")) == len(recorded)


def _record(memory: SessionMemory, number: int) -> None:
    memory.record("recorded", [{"role": "user", "content": f"note {number}"}], later=True)
