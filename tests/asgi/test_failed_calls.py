"""Calls that the provider answers with an error before any reply: they begin no session, and no message is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.savings.calling import answered, asked, call
from tokenmizer_mw import SessionMemory, Settings

ERROR = {"error": {"message": "no", "type": "error"}}
FIRST = [{"role": "user", "content": "Use SQLite for the bookings of the hall."}]
SECOND = [*FIRST, {"role": "assistant", "content": "Fine."}, {"role": "user", "content": "Use PostgreSQL instead."}]


@pytest.fixture(params=[False, True], ids=["", "savings"])
def memory(request: pytest.FixtureRequest) -> Iterator[SessionMemory]:
    with SessionMemory.open("memory://", Settings(savings=request.param)) as found:
        yield found


def send(memory: SessionMemory, messages: list[dict[str, str]], reply: Any, status: int = 200) -> None:
    call(memory, asked(messages), reply, session="chat", status=status)
    memory.flush()


def texts(memory: SessionMemory) -> list[str]:
    return [one.message.text for one in memory.messages("chat")]


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 503])
def test_a_failed_first_call_begins_no_session(status: int, memory: SessionMemory) -> None:
    for _ in range(2):
        send(memory, FIRST, ERROR, status)
    assert list(memory.sessions()) == []
    assert memory.counters()["turn_error"] == 2


def test_an_error_in_place_of_a_stream_begins_no_session(memory: SessionMemory) -> None:
    stream = b'data: {"error": {"message": "overloaded"}}\n\n'
    call(memory, asked(FIRST, stream=True), stream, session="chat", media=b"text/event-stream")
    memory.flush()
    assert list(memory.sessions()) == []


def test_a_message_that_is_sent_again_is_there_once(memory: SessionMemory) -> None:
    send(memory, FIRST, ERROR, 429)
    send(memory, FIRST, answered("Fine."))
    assert texts(memory) == ["Use SQLite for the bookings of the hall.", "Fine."]
    send(memory, SECOND, ERROR, 500)
    assert texts(memory)[-1] == "Use PostgreSQL instead."
    send(memory, SECOND, answered("Done."))
    assert texts(memory)[2:] == ["Use PostgreSQL instead.", "Done."]
    assert [node.value for node in memory.graph("chat").nodes("decision") if node.current] == ["postgresql"]


def test_a_reply_that_breaks_off_is_kept(memory: SessionMemory) -> None:
    stream = (
        b'data: {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half an ans"}}]}\n\n'
        b'data: {"error": {"message": "overloaded"}}\n\n'
    )
    call(memory, asked(FIRST, stream=True), stream, session="chat", media=b"text/event-stream")
    memory.flush()
    assert texts(memory) == [FIRST[0]["content"], "Half an ans"]
