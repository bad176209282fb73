"""What no single case of the conformance table shows: many calls at once, slow work of ours, nothing left behind."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.memory import MemoryLog

from .driving import EVENTS, REPLY, STREAM, Connection, Surface, event, piece, read_body, start, streaming
from .recorded import ASKED, closed, said

TURN = [("user", ASKED), ("assistant", REPLY)]


def _surface(memory: SessionMemory) -> Surface:
    return Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))


def _named(session: str) -> list[tuple[bytes, bytes]]:
    return [(b"content-type", b"application/json"), (b"x-session-id", session.encode())]


@pytest.mark.parametrize("path", ["/", "/v1/models", "/v1/chat/completions/", "/v1/chat", "/chat/completions/abc"])
def test_another_path_gets_the_servers_own_objects(path: str, memory: SessionMemory) -> None:
    """But for ``send`` where the path ends as a chat: the status of the answer says whether to log it."""
    seen: list[Any] = []

    async def app(*arguments: Any) -> None:
        seen.extend(arguments)

    async def call() -> tuple[Any, ...]:
        surface, connection = _surface(memory), Connection()
        given = surface.scope(path=path), connection.receive, connection.send
        await surface.wrap(app)(*given)
        assert connection.received == 0
        return given

    given = asyncio.run(call())
    own = 2 if path.rstrip("/").endswith(("/chat", "/completions")) else 3
    assert all(mine is theirs for mine, theirs in zip(given[:own], seen[:own], strict=True))
    assert memory.counters() == {}


def test_sixty_chats_at_once_each_in_its_own_session(memory: SessionMemory, log: MemoryLog) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        mark = dict(scope["headers"])[b"x-session-id"].decode()
        await read_body(receive)
        await send(start())
        for number in range(5):
            await asyncio.sleep(0)
            await send(piece(event(f"{mark}:{number} ")))
        for part in EVENTS[-2:]:
            await send(piece(part))
        await send(piece(more=False))

    async def all_of_them() -> None:
        surface = _surface(memory)
        wrapped = surface.wrap(app)
        before = dict(vars(wrapped))

        async def one(number: int) -> None:
            connection = surface.connection()
            await wrapped(surface.scope(headers=_named(f"s{number}")), connection.receive, connection.send)

        await asyncio.gather(*(one(number) for number in range(60)))
        assert vars(wrapped) == before

    asyncio.run(all_of_them())
    for number in range(60):
        spoken = "".join(f"s{number}:{place} " for place in range(5))
        assert said(log, f"s{number}") == [("user", ASKED), ("assistant", spoken)]
        assert closed(log, f"s{number}") == [("complete", "stop")]


def test_a_chat_that_stalls_does_not_hold_up_another_of_its_session(memory: SessionMemory, log: MemoryLog) -> None:
    async def both() -> None:
        stalled, go_on = asyncio.Event(), asyncio.Event()

        async def stalling(scope: Any, receive: Any, send: Any) -> None:
            await read_body(receive)
            await send(start())
            await send(piece(EVENTS[0]))
            stalled.set()
            await go_on.wait()

        surface = _surface(memory)
        first = asyncio.ensure_future(surface.call(stalling))
        await stalled.wait()
        assert (await surface.call(streaming())).body == STREAM
        assert said(log) == TURN
        go_on.set()
        await first

    asyncio.run(both())
    assert memory.flush()
    assert sorted(closed(log)) == [("complete", "stop"), ("truncated", "")]


def test_nothing_is_left_in_the_callers_context(memory: SessionMemory) -> None:
    async def call() -> None:
        before = dict(contextvars.copy_context())
        for headers in ([], _named("a"), [(b"x-session-id", b"")]):
            await _surface(memory).call(streaming(), headers=headers)
        now = dict(contextvars.copy_context())
        changed = [name for name, value in now.items() if value is not before.get(name)]
        assert changed == []

    asyncio.run(call())


class Slow(SessionMemory):
    """Its extraction waits to be told to go on."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.started, self.go_on = threading.Event(), threading.Event()
        self._extract = self.service.extraction.extract
        self.service.extraction.extract = self._extract_slowly

    def _extract_slowly(self, key: SessionKey) -> None:
        self.started.set()
        assert self.go_on.wait(20)
        self._extract(key)


def test_the_end_does_not_wait_for_facts_to_be_drawn(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(kind=Slow)

    async def call() -> Connection:
        connection = await _surface(memory).call(streaming())
        assert await asyncio.to_thread(memory.started.wait, 20)
        return connection

    assert asyncio.run(call()).body == STREAM
    assert said(log) == TURN
    assert not memory.flush(0.01)
    memory.go_on.set()
    assert memory.flush()


def test_when_the_queue_is_full_chats_go_on_and_a_counter_says_so(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(kind=Slow, queue_max=1)

    async def calls() -> None:
        for number in range(4):
            connection = await _surface(memory).call(streaming(), headers=_named(f"s{number}"))
            assert connection.body == STREAM
            assert await asyncio.to_thread(memory.started.wait, 20)

        async def broken_off(scope: Any, receive: Any, send: Any) -> None:
            await read_body(receive)
            await send(start())

        await _surface(memory).call(broken_off, headers=_named("broken off"))

    asyncio.run(calls())
    assert [said(log, f"s{number}") for number in range(4)] == [TURN] * 4
    assert memory.counters()["extraction_deferred_queue_full"] == 2
    assert memory.counters()["dropped_queue_full"] == 1
    memory.go_on.set()
    assert memory.flush()


def test_shutdown_waits_no_longer_than_the_settings_say(open_memory: Any) -> None:
    memory = open_memory(kind=Slow, drain_seconds=0.1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await send({"type": "lifespan.shutdown.complete"})
        else:
            await streaming()(scope, receive, send)

    async def process() -> float:
        wrapped = TokenMizerMiddleware(app, memory=memory)
        await Surface("chat", lambda inner: inner).call(wrapped)
        connection, began = Connection(), time.monotonic()
        await wrapped({"type": "lifespan"}, connection.receive, connection.send)
        assert connection.sent == [{"type": "lifespan.shutdown.complete"}]
        return time.monotonic() - began

    assert asyncio.run(process()) < 5
    memory.go_on.set()
