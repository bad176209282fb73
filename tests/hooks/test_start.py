"""A worker that has just been started answers the start of a session with the block that one before it built."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.operations.test_agent_transcripts import assistant, cut, handed_out, lines, said, user
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.agents.hooks.client import _is_awaited
from tokenmizer_mw.agents.hooks.start import answer_start
from tokenmizer_mw.agents.hooks.worker import WorkerState
from tokenmizer_mw.safety.fence import own_blocks

from .agent import Desk

BUILD = b""
"""The answer of those who cannot answer without the package."""


class Shop:
    """A project of an agent's user, with the transcripts of its sessions."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def transcript(self, name: str) -> Path:
        return self.desk.project / f"{name}.jsonl"

    def write(self, name: str, *values: object) -> None:
        with self.transcript(name).open("ab") as file:
            file.write(lines(*values))

    def request(self, event: str, name: str, source: str = "", folder: str = "") -> tuple[bytes, bytes]:
        told = {"session_id": name, "transcript_path": str(self.transcript(name)), "source": source}
        head = "\x1f".join((event, "claude-code", "", folder or str(self.desk.project)))
        return head.encode(), json.dumps(told).encode()

    def work(self, *requests: tuple[bytes, bytes]) -> list[bytes]:
        """What a worker answers, which then ends."""
        with WorkerState(self.desk.environment, self.desk.spot) as work:
            return [work.answer(*request) for request in requests]

    def start(self, name: str, source: str = "startup", folder: str = "") -> bytes:
        return answer_start(*self.request("sessionstart", name, source, folder), self.desk.environment, self.desk.spot)

    def memory(self) -> SessionMemory:
        return SessionMemory.open(self.desk.environment["TOKENMIZER_STORE"])


@pytest.fixture
def shop(at_desk: Desk) -> Shop:
    shop = Shop(at_desk)
    shop.write("one", user("We use PostgreSQL for the orders."), assistant(said("Fine.")))
    assert shop.work(shop.request("stop", "one")) == [b"ok\n"]
    return shop


def context(answer: bytes) -> str:
    outcome, _, values = answer.partition(b"\n")
    assert outcome == b"ok"
    return str(json.loads(values)["hookSpecificOutput"]["additionalContext"]) if values else ""


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "clear"])
def test_a_recorded_session_gets_what_a_worker_would_answer(shop: Shop, source: str) -> None:
    answer = shop.start("one", source)
    assert "PostgreSQL" in context(answer)
    assert shop.work(shop.request("sessionstart", "one", source)) == [answer]


def test_a_new_session_gets_what_is_known_of_its_project(shop: Shop) -> None:
    for name in ("two", "three"):
        answer = shop.start(name)
        assert "PostgreSQL" in context(answer)
        assert shop.work(shop.request("sessionstart", name, "startup")) == [answer]
        with shop.memory() as memory:
            (span,) = own_blocks(context(answer), memory.log.secret())
        assert span == (0, len(context(answer)))


def test_delimiters_differ_between_sessions(shop: Shop) -> None:
    ids = [re.findall(r"\d{12}", context(shop.start(name))) for name in ("one", "two", "three")]
    assert len({id for two in ids for id in two}) == 6


def test_the_first_session_of_a_project_has_nothing_to_read(shop: Shop, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert shop.start("two", folder=str(elsewhere)) == b"ok\n"


def test_a_store_that_is_not_there_yet(at_desk: Desk) -> None:
    shop = Shop(at_desk)
    assert shop.start("one") == b"ok\n"
    assert not at_desk.store.exists()
    shop.write("one", user("We use PostgreSQL for the orders."))
    assert shop.start("one") == BUILD


def test_messages_that_are_not_recorded_are_recorded_first(shop: Shop) -> None:
    shop.write("one", {"type": "file-history-snapshot", "snapshot": {}})
    assert "PostgreSQL" in context(shop.start("one"))
    shop.write("one", user("We use MySQL for the orders instead of PostgreSQL."))
    assert shop.start("one") == BUILD
    assert "MySQL" in context(shop.work(shop.request("sessionstart", "one", "startup"))[0])
    assert "MySQL" in context(shop.start("one"))


def test_a_session_that_was_changed_since_is_built_again(shop: Shop) -> None:
    with shop.memory() as memory:
        (session,) = [info.key.id for info in memory.sessions()]
        memory.remember(session, "cache: Redis")
    assert (shop.start("one"), shop.start("two")) == (BUILD, BUILD)
    shop.work(shop.request("sessionend", "one"))
    assert "Redis" in context(shop.start("one"))
    assert "Redis" in context(shop.start("two"))


def test_other_sessions_of_the_project_are_built_again_with_one(shop: Shop) -> None:
    shop.write("two", user("The cache is Redis."), assistant(said("Fine.")))
    shop.work(shop.request("stop", "two"))
    answer = shop.start("one", "resume")
    assert "PostgreSQL" in context(answer)
    assert shop.work(shop.request("sessionstart", "one", "resume")) == [answer]


def test_erasure_erases_blocks_too(shop: Shop) -> None:
    shop.write("two", user("The cache is Redis."))
    shop.work(shop.request("stop", "two"))
    with shop.memory() as memory:
        (session,) = [info.key.id for info in memory.sessions() if info.key.id.endswith("/one")]
        memory.forget(session)
    assert (shop.start("one"), shop.start("two"), shop.start("three")) == (BUILD, BUILD, BUILD)
    with closing(sqlite3.connect(shop.desk.store)) as connection:
        assert connection.execute("SELECT count(*) FROM blocks").fetchone() == (0,)
    files = (path for path in shop.desk.store.parent.iterdir() if path.name.startswith(shop.desk.store.name))
    assert not any(b"PostgreSQL" in path.read_bytes() for path in files)


def test_a_session_that_still_has_its_block_gets_none(shop: Shop) -> None:
    block = context(shop.work(shop.request("sessionstart", "one", "startup"))[0])
    shop.write("one", {**handed_out(), "attachment": {"type": "hook_additional_context", "content": [block]}})
    assert shop.start("one", "resume") == b"ok\n"
    assert context(shop.start("one", "clear")) == block
    assert shop.work(shop.request("sessionstart", "one", "resume")) == [b"ok\n"]


@pytest.mark.parametrize(
    "changed", [{"TOKENMIZER_BLOCK_TOKENS": "100"}, {"TOKENMIZER_STORE": "memory://"}, {"TOKENMIZER_STORE": "nonsense"}]
)
def test_other_settings_and_stores_need_the_package(shop: Shop, changed: dict[str, str]) -> None:
    shop.desk.environment.update(changed)
    assert shop.start("one") == BUILD


@pytest.fixture
def waiting(shop: Shop) -> Shop:
    """A session whose next prompt has to be given the block, which did not survive a compaction."""
    shop.write("one", assistant(said("As you say."), uuid="a1"))
    block = context(shop.work(shop.request("sessionstart", "one", "resume"))[0])
    shop.write("one", {**handed_out(), "attachment": {"type": "hook_additional_context", "content": [block]}})
    assert shop.work(shop.request("sessionstart", "one", "compact")) == [b"ok\n"]
    return shop


def ask(shop: Shop, name: str = "one") -> bytes:
    return answer_start(*shop.request("userpromptsubmit", name), shop.desk.environment, shop.desk.spot)


def test_a_prompt_that_waits_for_a_block_gets_what_a_worker_would_answer(waiting: Shop) -> None:
    assert ask(waiting) == b"ok\n", "so far the block is what came last"
    waiting.write("one", cut("a1"))
    answer = ask(waiting)
    assert "PostgreSQL" in context(answer)
    assert ask(waiting, "two") == BUILD
    assert waiting.work(waiting.request("userpromptsubmit", "one")) == [answer]
    assert ask(waiting) == BUILD, "it waits no more"


def test_a_prompt_is_left_to_the_worker_where_no_block_was_built(waiting: Shop) -> None:
    waiting.write("one", cut("a1"), user("We use MySQL for the orders instead of PostgreSQL."))
    assert ask(waiting) == BUILD
    assert "MySQL" in context(waiting.work(waiting.request("userpromptsubmit", "one"))[0])


def test_a_prompt_whose_host_has_gone_leaves_the_block_to_the_next(waiting: Shop) -> None:
    waiting.write("one", cut("a1"))
    with WorkerState(waiting.desk.environment, waiting.desk.spot) as work:
        work.complete(*waiting.request("userpromptsubmit", "one"), b"ok\n")
    assert "PostgreSQL" in context(ask(waiting))
    with WorkerState(waiting.desk.environment, waiting.desk.spot) as work:
        work.complete(*waiting.request("userpromptsubmit", "one"), ask(waiting))
    assert ask(waiting) == BUILD


def test_only_the_prompt_of_a_session_that_waits_is_waited_for(shop: Shop) -> None:
    pending = Path(shop.desk.spot.pending)
    payload = {name: shop.request("userpromptsubmit", name)[1] for name in ("b4-1", "b4-2", "\u00e9/1")}
    assert not any(_is_awaited(shop.desk.spot, one) for one in payload.values())
    pending.write_text("b4-1\n", encoding="utf-8")
    assert [_is_awaited(shop.desk.spot, one) for one in payload.values()] == [True, False, False]
    pending.write_text("b4-3\n\u00e9/1", encoding="utf-8")
    assert all(_is_awaited(shop.desk.spot, one) for one in payload.values()), "JSON may write this id in several ways"


def test_two_sessions_that_may_be_meant_need_the_package(shop: Shop) -> None:
    with shop.memory() as memory:
        memory.record("one", [{"role": "user", "content": "Hello."}])
    assert shop.start("one") == BUILD


def test_a_damaged_store_is_left_to_the_worker(shop: Shop) -> None:
    shop.desk.store.write_bytes(b"no database" * 1_000)
    for suffix in ("-wal", "-shm"):
        Path(f"{shop.desk.store}{suffix}").unlink(missing_ok=True)
    assert shop.start("one") == BUILD


def test_through_both_processes(shop: Shop) -> None:
    told: dict[str, Any] = json.loads(shop.request("sessionstart", "one", "startup")[1])
    done = shop.desk.hook("SessionStart", told)
    assert "PostgreSQL" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    again = shop.desk.hook("SessionStart", told)
    assert again.stdout == b""  # the same event twice within seconds is one
    assert os.path.exists(shop.desk.spot.socket)
