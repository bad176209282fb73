"""No call waits for another thread's extraction, and callbacks may call the memory."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.state import FactDerivation
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog

WAIT = 20.0


class Held:
    """The barrier of the first extraction after ``start``: ``reached`` is set when a thread is there, and it goes on
    with ``go``.

    Extraction waits for nobody and reads no file, so no store can hold it up. The interpreter's profile hook does, in
    the thread that enters ``FactDerivation.facts``. ``calls``: how often threads entered it;
    ``is_waiting``: whether the first still stands there, and nobody has waited until it gave up.
    """

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        self.calls = 0
        self.is_waiting = False
        self._is_on = False

    def start(self) -> None:
        """Count extractions from now on, and stop the first."""
        self._is_on = True

    def watch(self, frame: FrameType, event: str, argument: object) -> None:
        """Called by the interpreter at each call of a function."""
        if not self._is_on or event != "call" or frame.f_code is not FactDerivation.facts.__code__:
            return
        self.calls += 1
        if not self.reached.is_set():
            self.is_waiting = True
            self.reached.set()
            has_come = self.go.wait(WAIT)
            self.is_waiting = False
            assert has_come


@pytest.fixture
def held() -> Iterator[Held]:
    """In this thread, and in all that are started until the end of the test."""
    held, before, others_before = Held(), sys.getprofile(), threading.getprofile()
    sys.setprofile(held.watch)
    threading.setprofile(held.watch)
    yield held
    sys.setprofile(before)
    threading.setprofile(others_before)  # type: ignore[arg-type]


@pytest.fixture
def memory(tmp_path: Path, held: Held) -> Iterator[SessionMemory]:
    with closing(SessionMemory(SqliteLog(tmp_path / "memory.db"))) as memory:
        yield memory


def say(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_a_record_does_not_wait_for_an_extraction(memory: SessionMemory, held: Held) -> None:
    held.start()
    history = [say(f"Use PostgreSQL for part {number}.") for number in range(40)]
    memory.record("s", history, later=True)
    try:
        assert held.reached.wait(WAIT)
        assert memory.record("s", [*history, say("Use Redis for the queue.")]) == 1
        assert memory.record("s", [*history, say("Use Redis for the queue."), say("Port 6379.")], later=True) == 1
        memory.add("s", [Written(Message(Role.USER, "Deploy on Friday."))])
        assert len(memory.messages("s")) == 43
        assert held.is_waiting
    finally:
        held.go.set()
    assert any("Redis" in node.label for node in memory.graph("s").nodes())
    events = [recorded.event for recorded in memory.log.read(memory.service.access.key_of("s", "local"))]
    assert max(event.turn for event in events if isinstance(event, Derived)) == 43
    assert held.calls <= 4


def test_facts_come_once_whoever_asks_meanwhile(memory: SessionMemory, held: Held) -> None:
    held.start()
    memory.record("s", [say("Use PostgreSQL for storage.")], later=True)
    assert held.reached.wait(WAIT)
    sizes: list[int] = []
    lookers = [threading.Thread(target=lambda: sizes.append(len(memory.graph("s")))) for _ in range(4)]
    for looker in lookers:
        looker.start()
    held.go.set()
    for looker in lookers:
        looker.join(WAIT)
    assert len(set(sizes)) == 1 and len(sizes) == 4 and sizes[0] > 0
    assert held.calls == 1


def test_facts_derived_while_the_session_was_erased_are_dropped(memory: SessionMemory, held: Held) -> None:
    held.start()
    memory.record("s", [say("Use PostgreSQL for storage.")], later=True)
    assert held.reached.wait(WAIT)
    memory.forget("s")
    memory.record("s", [say("We deploy on Friday.")], later=True)
    held.go.set()
    assert memory.flush(WAIT)
    assert not any("PostgreSQL" in node.label for node in memory.graph("s").nodes())
    assert len(memory.messages("s")) == 1


def test_facts_derived_while_a_fact_was_added_by_hand_are_derived_again(memory: SessionMemory, held: Held) -> None:
    memory.record("s", [say("Hello there.")])
    held.start()
    memory.record("s", [say("Hello there."), say("Use PostgreSQL for the database.")], later=True)
    assert held.reached.wait(WAIT)
    node = memory.remember("s", "database: SQLite", "choice")
    held.go.set()
    assert memory.flush(WAIT)
    graph = memory.graph("s")
    assert graph.get(node.id) is not None
    assert len({each.id for each in graph.nodes()}) == len(graph.nodes())
    assert held.calls >= 2


def _side_by_side(*tasks: object) -> None:
    threads = [threading.Thread(target=task, daemon=True) for task in tasks]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive(), "dead-locked"


def test_two_threads_look_at_each_others_sessions_from_callbacks(memory: SessionMemory) -> None:
    for name in "ab":
        memory.record(name, [say(f"Use PostgreSQL for {name}.")])
    both = threading.Barrier(2, timeout=WAIT)
    seen: list[int] = []

    def look(mine: str, other: str) -> None:
        def inside(state: SessionState) -> int:
            both.wait()
            memory.record(other, [say(f"Use PostgreSQL for {other}."), say(f"{mine} was here.")])
            return memory.view(other, lambda them: len(them.transcript)) + len(state.graph)

        seen.append(memory.view(mine, inside))

    _side_by_side(lambda: look("a", "b"), lambda: look("b", "a"))
    assert len(seen) == 2 and min(seen) > 2


def test_two_threads_revise_each_others_sessions_from_callbacks(memory: SessionMemory) -> None:
    for name in "ab":
        memory.add(name, [Written(Message(Role.USER, f"Use PostgreSQL for {name}."))])
    both = threading.Barrier(2, timeout=WAIT)

    def change(mine: str, other: str) -> None:
        met = False

        def inside(history: Sequence[Written]) -> Sequence[Written]:
            nonlocal met
            if not met:
                met = True
                both.wait()
                memory.add(other, [Written(Message(Role.USER, f"{mine} was here."))])
                both.wait()
            return [one for one in history if "PostgreSQL" not in one.message.text]

        memory.revise(mine, inside)

    _side_by_side(lambda: change("a", "b"), lambda: change("b", "a"))
    assert [one.message.text for one in memory.messages("a")] == ["b was here."]
    assert [one.message.text for one in memory.messages("b")] == ["a was here."]


def test_what_is_remembered_while_another_thread_forgets() -> None:
    memory = SessionMemory(MemoryLog())  # whose ``forget`` is quick
    over = threading.Event()
    errors: list[BaseException] = []

    def forget() -> None:
        while not over.is_set():
            memory.forget("s")

    def remember() -> None:
        try:
            for number in range(300):
                try:
                    assert f"rule {number}" in memory.remember("s", f"Keep rule {number}", create=True).label
                except UnknownSession:
                    continue
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    _side_by_side(forget, remember)
    assert errors == []
