"""Several processes on one PostgreSQL store: they lose nothing, and each sees the others at its next call."""

from __future__ import annotations

from tests.store.postgres_database import Database
from tests.store.processes import StartWorker, assert_nothing_lost, hear, run_race, tell
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey

KEY = SessionKey("tenant", "session")


def test_processes_on_one_session_lose_nothing(database: Database, start_worker: StartWorker) -> None:
    count = 40
    run_race(lambda name: start_worker("race", database.url(timeout=60), name, count))
    log = database.log(timeout=60)
    assert_nothing_lost(log.read(KEY), count)
    log.close()


def test_processes_that_make_the_tables_at_once_agree(database: Database, start_worker: StartWorker) -> None:
    workers = [start_worker("open_first", database.url(timeout=60)) for _ in range(8)]
    assert [hear(worker) for worker in workers] == ["ready"] * 8
    for worker in workers:
        tell(worker)
    secrets = {hear(worker) for worker in workers}
    assert [worker.wait(60) for worker in workers] == [0] * 8
    log = database.log()
    assert secrets == {f"{log.secret().hex()} 0"}
    log.close()


def test_what_a_killed_process_acknowledged_is_there(database: Database, start_worker: StartWorker) -> None:
    for _ in range(3):
        log = database.log(timeout=60)
        log.forget(KEY)
        worker = start_worker("write", database.url(timeout=60))
        said = [hear(worker) for _ in range(20)]
        worker.kill()
        assert worker.stdout is not None
        said += [line.strip() for line in worker.stdout.readlines() if line.endswith("\n")]
        events = [each.event for each in log.read(KEY)]
        assert len(events) >= int(said[-1])
        assert events == [Derived(turn) for turn in range(len(events))]
        assert len(events) % 2 == 0
        log.close()


def test_a_log_can_be_used_on_both_sides_of_a_fork(database: Database, start_worker: StartWorker) -> None:
    worker = start_worker("fork", database.url(timeout=60))
    assert hear(worker) == "[0, 0, 0] [1, 2, 3, 4, 5, 6, 7]"
    assert worker.wait(60) == 0


def test_a_chat_goes_on_in_whichever_process_is_asked(database: Database, start_worker: StartWorker) -> None:
    memory = SessionMemory.open(database.url(timeout=60))
    worker = start_worker("chat", database.url(timeout=60))
    said: list[str] = []
    for number in range(4):
        said.append(f"Use Redis for the queue of part {number}.")
        memory.record("chat", [{"role": "user", "content": said[-1]}])
        said.append(f"TODO: document part {number}")
        tell(worker, said[-1])
        assert hear(worker) == "|".join(said)
        assert [message.text for message in memory.restore("chat", range(1000))] == said
    labels = [node.label for node in memory.graph("chat").nodes(type="decision")]
    assert any("Redis" in label for label in labels)
    assert "Redis" in memory.resume("chat", level="full").text
    memory.close()
    again = SessionMemory.open(database.url(timeout=60))
    assert [node.label for node in again.graph("chat").nodes(type="decision")] == labels
    assert again.forget("chat") > 0
    again.close()
