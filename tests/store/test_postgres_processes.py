"""Several processes on one PostgreSQL store: they lose nothing, and each sees the others at its next call."""

from __future__ import annotations

from tests.store.postgres_database import Database
from tests.store.processes import StartWorker, hear, tell
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey

KEY = SessionKey("tenant", "session")


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
