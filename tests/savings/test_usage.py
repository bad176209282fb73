"""Calls through the middleware, and their usage as it is recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.store.postgres_database import Database
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import CallerError, InvalidSession, StoreUnavailable
from tokenmizer_mw.model.usage import CALL, CUT
from tokenmizer_mw.store.memory import MemoryLedger, MemoryLog

from .calling import CHAT, answered, asked, call, chat, used

OPEN = Settings(savings=True)
SMALL = Settings(savings=True, context_window=1_500, block_tokens=120)


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    found = SessionMemory.open("memory://", OPEN)
    yield found
    found.close()


@pytest.fixture
def small() -> Iterator[SessionMemory]:
    found = SessionMemory.open("memory://", SMALL)
    yield found
    found.close()


def test_a_call_is_booked_as_the_provider_told(memory: SessionMemory) -> None:
    body = asked(chat(1))
    assert call(memory, body, answered(**used(2_000, 1_024))) is body
    whole = memory.savings("s").whole
    assert (whole.calls, whole.input_tokens, whole.cached_tokens, whole.output_tokens) == (1, 2_000, 1_024, 10)
    assert whole.cost == 976 * 2_500 + 1_024 * 1_250 + 10 * 10_000
    assert (whole.saved, whole.estimated) == (0, 0)
    assert memory.savings("s").stages == {}


def test_books_are_closed_unless_the_settings_open_them() -> None:
    memory = SessionMemory.open("memory://")
    call(memory, asked(chat(1)), answered(**used(2_000, 1_024)))
    assert memory.savings().rows == []
    memory.close()


def test_a_cut_is_a_loss_first_and_saves_afterwards(small: SessionMemory) -> None:
    """The provider has the whole history in its cache: at the cut it finds nothing of it any more."""
    history = chat(14, words=60)
    call(small, asked(chat(1), model="gpt-5.1"), answered(**used(1_100, 1_024)))
    sent = call(small, asked(history, model="gpt-5.1"), answered(**used(900, 0)))
    assert len(json.loads(sent)["messages"]) < len(history)
    (cut, _) = small.list_usage("s")
    assert cut.stages[CUT].saved_tokens > 1_000
    assert cut.stages[CUT].saved < 0
    assert cut.stages[CALL].saved == cut.stages[CUT].saved
    assert small.counters()["call_cost_more"] == 1
    for turn in range(3):
        history += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": f"And then? {turn}"}]
        call(small, asked(history, model="gpt-5.1"), answered(**used(1_100, 1_024)))
    assert [one.stages[CUT].saved > 0 for one in small.list_usage("s")[:3]] == [True] * 3
    total = small.savings("s")
    assert total.whole.saved == total.stages[CUT].saved == sum(one.stages[CALL].saved for one in small.list_usage("s"))


def outputs(count: int) -> list[dict[str, Any]]:
    """A long system prompt, and an agent that has read so many files."""
    told: list[dict[str, Any]] = [{"role": "system", "content": "be good " * 800}, {"role": "user", "content": "fix"}]
    for number in range(count):
        function = {"name": "bash", "arguments": json.dumps({"command": f"cat f{number}.py"})}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        text = "\n".join(f"x{number}_{line} = {line}  # some text here {number}" for line in range(100))
        told.append({"role": "assistant", "content": None, "tool_calls": calls})
        told.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    return told


def test_a_step_over_old_outputs_is_a_loss_where_no_usage_is_told() -> None:
    """What stands behind the first output that gave way just now was in no provider's cache."""
    settings = Settings(savings=True, compress="history,spaces", compress_step=2_000)
    memory = SessionMemory.open("memory://", settings)
    history = outputs(14)
    stepped, sent = [], [history[:2]]
    for count in range(2, 15):
        body = asked(history[: 2 + 2 * count], model="gpt-5.1")
        sent.append(json.loads(call(memory, body, answered()))["messages"])
        stepped.append(sent[-1][: len(sent[-2])] != sent[-2])
    spent = [one.stages[CALL] for one in reversed(memory.list_usage("s"))]
    memory.close()
    assert 2 <= sum(stepped) < len(stepped) - 4
    for moved, whole in list(zip(stepped, spent, strict=True))[1:]:
        assert whole.estimated == 1
        if moved:
            assert whole.saved < 0 and whole.cached_tokens < 0.75 * whole.input_tokens
        else:
            assert whole.saved >= 0 and whole.cached_tokens > 0.4 * whole.input_tokens
    assert spent[stepped.index(True)].cached_tokens <= 1_664, "the system prompt, and what stands before the step"


def test_without_usage_both_sides_are_counted_alike(small: SessionMemory) -> None:
    call(small, asked(chat(2)), answered())
    whole = small.savings("s").whole
    assert (whole.estimated, whole.saved) == (1, 0)
    assert whole.input_tokens > 50
    assert whole.output_tokens > 0


def test_a_stream_without_usage_is_booked_too(memory: SessionMemory) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]}
    stream = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    call(memory, asked(chat(1), stream=True), stream, media=b"text/event-stream")
    assert memory.savings("s").whole.estimated == 1


USAGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (CHAT, {"model": "m", "messages": [{"role": "user", "content": "x"}]}, answered(**used(70, 30, 5))),
    (
        "/v1/responses",
        {"model": "m", "input": [{"role": "user", "content": "x"}]},
        {
            "object": "response", "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]}],
            "usage": {"input_tokens": 70, "input_tokens_details": {"cached_tokens": 30}, "output_tokens": 5},
        },
    ),
    (
        "/v1/messages",
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]},
        {
            "type": "message", "role": "assistant", "content": [{"type": "text", "text": "y"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 30, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 10,
                      "output_tokens": 5},
        },
    ),
    (
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "x"}]}]},
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": "y"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 70, "cachedContentTokenCount": 30, "candidatesTokenCount": 5},
        },
    ),
    (
        "/api/chat",
        {"model": "m", "stream": False, "messages": [{"role": "user", "content": "x"}]},
        {"message": {"role": "assistant", "content": "y"}, "done": True, "done_reason": "stop",
         "prompt_eval_count": 70, "eval_count": 5},
    ),
    (
        "/v2/chat",
        {"model": "m", "messages": [{"role": "user", "content": "x"}]},
        {
            "message": {"role": "assistant", "content": [{"type": "text", "text": "y"}]}, "finish_reason": "COMPLETE",
            "usage": {"tokens": {"input_tokens": 70, "output_tokens": 5}, "cached_tokens": 30},
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize("path, body, reply", USAGES, ids=[path for path, _, _ in USAGES])
def test_usage_is_read_in_every_dialect(
    memory: SessionMemory, path: str, body: dict[str, Any], reply: dict[str, Any]
) -> None:
    call(memory, json.dumps(body).encode(), reply, path=path)
    whole = memory.savings().whole
    assert (whole.calls, whole.estimated, whole.input_tokens, whole.output_tokens) == (1, 0, 70, 5)
    assert whole.cached_tokens == (0 if path == "/api/chat" else 30)


@pytest.mark.parametrize("reply", [b"<html>", {"error": {"message": "no"}}])
@pytest.mark.parametrize("status", [429, 500])
def test_what_failed_is_not_billed(memory: SessionMemory, reply: Any, status: int) -> None:
    call(memory, asked(chat(1)), reply, status=status)
    assert memory.savings().rows == []


def test_sums_by_session_model_and_day(memory: SessionMemory) -> None:
    call(memory, asked(chat(1)), answered(**used(100, 0)), session="one")
    call(memory, asked(chat(1), model="gpt-4.1"), answered(**used(200, 0)), session="two")
    by_session = memory.savings(by=("session",)).to_dict()["groups"]
    assert [(group["session"], group["input_tokens"]) for group in by_session] == [("one", 100), ("two", 200)]
    assert memory.savings(model="gpt-4.1").whole.input_tokens == 200
    (day,) = {row.day for row in memory.savings(by=("day",)).rows}
    assert memory.savings(since=day, until=day).whole.calls == 2
    assert memory.savings(until="1999-12-31").rows == []
    for wrong in ("yesterday", "2026-13-01", "20261121"):
        with pytest.raises(CallerError, match="a day is a date"):
            memory.savings(since=wrong)
    with pytest.raises(InvalidSession):
        memory.savings("")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_workers_lose_no_call_and_count_none_twice(kind: str, tmp_path: Path) -> None:
    database = Database(services.postgres()) if kind == "postgres" else None
    log = database.log if database is not None else None
    workers = [
        SessionMemory(log(), OPEN) if log is not None else SessionMemory.open(f"sqlite:///{tmp_path / 'c.db'}", OPEN)
        for _ in range(2)
    ]

    def work(number: int) -> None:
        for turn in range(4):
            call(workers[number], asked(chat(turn)), answered(f"{number} {turn}", **used(100, 0)), session=f"s{turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [worker.savings().whole.input_tokens for worker in workers] == [800, 800]
    for worker in workers:
        worker.close()
    if database is not None:
        database.drop()


def test_a_forgotten_session_leaves_no_name(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'chat.db'}", OPEN)
    call(memory, asked(chat(1)), answered(**used(100, 0)), session="somebody-private")
    memory.forget("somebody-private")
    assert memory.savings().whole.input_tokens == 100
    assert memory.list_usage("somebody-private") == []
    assert [row.session for row in memory.savings(by=("session",)).rows] == [""]
    memory.close()
    assert b"somebody-private" not in (tmp_path / "chat.db").read_bytes()


class Broken(MemoryLedger):
    """Cannot be written."""

    def add(self, session: Any, spent: Any) -> bool:
        raise StoreUnavailable("no room left")


class Shaky(MemoryLedger):
    """Adds, and then loses the answer, every other time."""

    times = 0

    def add(self, session: Any, spent: Any) -> bool:
        added = super().add(session, spent)
        self.times += 1
        if self.times % 2:
            raise StoreUnavailable("the connection broke")
        return added


@pytest.mark.parametrize("ledger, calls, lost", [(Broken, 0, 1), (Shaky, 1, 0)])
def test_books_that_cannot_be_written_do_not_stop_the_chat(ledger: type[MemoryLedger], calls: int, lost: int) -> None:
    log = MemoryLog()
    log.ledger = ledger(log._holds)
    memory = SessionMemory(log, OPEN)
    call(memory, asked(chat(1)), answered(**used(100, 0)))
    assert memory.counters().get("savings_not_kept", 0) == lost
    assert memory.savings().whole.calls == calls
    assert memory.counters()["turn_complete"] == 1
    memory.close()


def test_a_store_without_a_ledger_keeps_no_books() -> None:
    class Plain(MemoryLog):
        ledger = None  # type: ignore[assignment]

        def __setattr__(self, name: str, value: Any) -> None:
            if name != "ledger":
                super().__setattr__(name, value)

    memory = SessionMemory(Plain(), OPEN)
    call(memory, asked(chat(1)), answered(**used(100, 0)))
    assert memory.savings().rows == []
    assert memory.list_usage("s") == []
    memory.close()
