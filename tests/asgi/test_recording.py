"""What is remembered of a call, when, and how it ended."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import string
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from starlette.responses import StreamingResponse

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.event import Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.memory import MemoryLog

from .driving import (
    CHAT_BODY,
    EVENTS,
    REPLY,
    SESSION,
    SSE,
    STREAM,
    App,
    Connection,
    Message,
    Surface,
    answering,
    chunked,
    event,
    piece,
    request,
    start,
    streaming,
    turn_of_the_loop,
)
from .recorded import ASKED, closed, said

JSON = [(b"content-type", b"application/json")]
WHOLE = json.dumps(
    {"choices": [{"message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}]}, ensure_ascii=False
).encode()
USER = ("user", ASKED)
ASSISTANT = ("assistant", REPLY)
ERROR_EVENT = b'data: {"error": {"message": "overloaded"}}\n\n'


def _encoded(name: bytes, headers: list[tuple[bytes, bytes]] = SSE) -> list[tuple[bytes, bytes]]:
    return [*headers, (b"content-encoding", name)]


def chat(app: App, memory: Any, connection: Connection | None = None, **scope: Any) -> Connection:
    """One chat call through the middleware, with all background work done."""

    def wrap(inner: App) -> App:
        return TokenMizerMiddleware(inner, memory=memory)

    connection = asyncio.run(_chat(Surface("chat", wrap), app, connection, scope))
    assert memory.flush(0.2 if memory.service.store_monitor.trouble else None) is (
        memory.service.store_monitor.trouble is None
    )
    return connection


async def _chat(surface: Surface, app: App, connection: Connection | None, scope: Any) -> Connection:
    return await surface.call(app, connection, **scope)


@pytest.mark.parametrize(
    ("pieces", "headers", "status", "expected", "outcome"),
    [
        pytest.param(EVENTS, SSE, 200, [USER, ASSISTANT], [("complete", "stop")], id="stream"),
        pytest.param([STREAM], SSE, 200, [USER, ASSISTANT], [("complete", "stop")], id="stream in one piece"),
        pytest.param([WHOLE], JSON, 200, [USER, ASSISTANT], [("complete", "stop")], id="whole"),
        pytest.param(chunked(WHOLE, 9), JSON, 200, [USER, ASSISTANT], [("complete", "stop")], id="whole in pieces"),
        pytest.param([STREAM], [], 200, [USER, ASSISTANT], [("complete", "stop")], id="no content type"),
        pytest.param(EVENTS[:-1], SSE, 200, [USER, ASSISTANT], [("complete", "stop")], id="no terminal event"),
        pytest.param(EVENTS[:2], SSE, 200, [USER, ("assistant", "Ich heiße ")], [("truncated", "")], id="cut"),
        pytest.param(
            [event("Ich "), event(finish="length"), EVENTS[-1]],
            SSE,
            200,
            [USER, ("assistant", "Ich ")],
            [("truncated", "length")],
            id="length limit",
        ),
        pytest.param([EVENTS[0], ERROR_EVENT], SSE, 200, [USER, ("assistant", "Ich ")], [("error", "")], id="in band"),
        pytest.param([b'{"error": 1}'], JSON, 503, [USER], [("error", "")], id="status 503"),
        *(
            pytest.param([WHOLE], JSON, status, [], [], id=f"status {status}")
            for status in (303, 400, 401, 403, 422, 429)
        ),
        pytest.param([b"<html>"], [(b"content-type", b"text/html")], 200, [USER], [], id="other content type"),
        pytest.param([], SSE, 200, [USER], [("truncated", "")], id="empty stream"),
        pytest.param([b"nonsense"], JSON, 200, [USER], [("truncated", "")], id="not json"),
        pytest.param(
            chunked(gzip.compress(STREAM), 5),
            _encoded(b"gzip"),
            200,
            [USER, ASSISTANT],
            [("complete", "stop")],
            id="gzip",
        ),
        pytest.param(
            [gzip.compress(WHOLE)],
            _encoded(b"GZIP", JSON),
            200,
            [USER, ASSISTANT],
            [("complete", "stop")],
            id="gzip whole",
        ),
        pytest.param(
            [zlib.compress(STREAM)], _encoded(b"deflate"), 200, [USER, ASSISTANT], [("complete", "stop")], id="deflate"
        ),
        pytest.param([STREAM], _encoded(b"identity"), 200, [USER, ASSISTANT], [("complete", "stop")], id="identity"),
        pytest.param([b"?"], _encoded(b"unheard-of"), 200, [USER], [], id="unknown encoding"),
        pytest.param([b"not gzip"], _encoded(b"gzip"), 200, [USER], [], id="corrupt encoding"),
    ],
)
def test_reply_is_recorded_with_its_outcome(
    pieces: list[bytes], headers: Any, status: int, expected: Any, outcome: Any, memory: Any, log: MemoryLog
) -> None:
    connection = chat(streaming(pieces, headers, status), memory)
    assert connection.sent == [start(headers, status), *map(piece, pieces), piece(more=False)]
    assert said(log) == expected
    assert closed(log) == outcome


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 13, 64, 10_000])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_any_chunking_is_recorded_before_the_end_is_released(
    size: int, line_end: bytes, memory: Any, log: MemoryLog
) -> None:
    stream = STREAM.replace(b"\n", line_end)
    connection = Connection(request(CHAT_BODY), on_send=_expecting_turn(log, lambda: connection, b"[DONE]"))
    chat(streaming(chunked(stream, size)), memory, connection)
    assert connection.body == stream
    assert said(log) == [USER, ASSISTANT]
    assert closed(log) == [("complete", "stop")]


def _expecting_turn(log: MemoryLog, connection: Callable[[], Connection], end: bytes) -> Any:
    """Called with each message as the server gets it: the turn is in the log once the client can see ``end``."""

    async def check(message: Message) -> None:
        ended = end in connection().body or not message.get("more_body", True)
        assert said(log) == ([USER, ASSISTANT] if ended else [])

    return check


@pytest.mark.parametrize(
    ("pieces", "headers", "end"),
    [
        pytest.param(EVENTS[:-1], SSE, b"never", id="no terminal event"),
        pytest.param([STREAM + b": bye\n\n"], SSE, b"[DONE]", id="more behind the end"),
        pytest.param([WHOLE], JSON, b"never", id="whole"),
        pytest.param(
            chunked(WHOLE, 20), [*JSON, (b"content-length", b"%d" % len(WHOLE))], WHOLE, id="whole of a known length"
        ),
    ],
)
def test_turn_is_kept_before_the_last_piece_is_released(
    pieces: list[bytes], headers: Any, end: bytes, memory: Any, log: MemoryLog
) -> None:
    connection = Connection(request(CHAT_BODY), on_send=_expecting_turn(log, lambda: connection, end))
    chat(streaming(pieces, headers), memory, connection)
    assert closed(log) == [("complete", "stop")]


def test_turn_of_an_encoded_stream_is_kept_before_its_end_can_be_read(memory: Any, log: MemoryLog) -> None:
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = [compressor.compress(part) + compressor.flush(zlib.Z_SYNC_FLUSH) for part in EVENTS]
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    seen = b""

    async def check(message: Message) -> None:
        nonlocal seen
        seen += reader.decompress(message.get("body", b""))
        assert said(log) == ([USER, ASSISTANT] if b"[DONE]" in seen else [])

    chat(streaming(pieces, _encoded(b"gzip")), memory, Connection(request(CHAT_BODY), on_send=check))
    assert seen == STREAM


def test_what_looks_like_the_end_but_is_not_does_not_cut_the_reply(memory: Any, log: MemoryLog) -> None:
    fakes = [
        event("data: [DONE]"),
        b"event: x\ndata: [DONE",
        b" not really\n\n",
        b"data: of two lines\ndata: [DONE]\n\n",
    ]
    events = [EVENTS[0], *fakes, event("end"), *EVENTS[3:]]
    chat(streaming(events), memory)
    assert said(log) == [USER, ("assistant", "Ich data: [DONE]end")]


def test_client_that_leaves_makes_an_aborted_turn(memory: Any, log: MemoryLog) -> None:
    async def endless() -> Any:
        while True:
            yield EVENTS[0]
            await asyncio.sleep(0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await StreamingResponse(endless(), media_type="text/event-stream")(scope, receive, send)

    chat(app, memory, Connection(request(CHAT_BODY), leave_after=4))
    user, (role, text) = said(log)
    assert user == USER
    assert role == "assistant"
    assert text.startswith("Ich Ich ")
    assert closed(log) == [("aborted", "")]


def test_server_that_refuses_makes_an_aborted_turn(memory: Any, log: MemoryLog) -> None:
    async def broken(message: Message) -> None:
        if message.get("body") == EVENTS[1]:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        chat(streaming(), memory, Connection(request(CHAT_BODY), on_send=broken))
    assert memory.flush()
    assert closed(log) == [("aborted", "")]


def test_cancelled_call_makes_an_aborted_turn(memory: Any, log: MemoryLog) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send(start())
        await send(piece(EVENTS[0]))
        await asyncio.Event().wait()

    async def cancelled() -> None:
        surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))
        calling = asyncio.ensure_future(surface.call(app))
        await turn_of_the_loop()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling

    assert (
        memory.service.redaction.redactor is not None
    )  # its rules are read, as SessionMemory.open does: no thread is asked first
    asyncio.run(cancelled())
    assert memory.flush()
    assert said(log) == [USER, ("assistant", "Ich ")]
    assert closed(log) == [("aborted", "")]


@pytest.mark.parametrize("count", [0, 2])
def test_application_that_fails_makes_a_turn_in_error(count: int, memory: Any, log: MemoryLog) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in [start(), *map(piece, EVENTS)][:count]:
            await send(message)
        raise LookupError

    with pytest.raises(LookupError):
        chat(app, memory)
    assert memory.flush()
    assert said(log) == [USER, ("assistant", "Ich ")][: 1 + bool(count)]
    assert closed(log) == [("error", "")]


def test_failure_after_the_end_changes_nothing(memory: Any, log: MemoryLog) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await streaming()(scope, receive, send)
        raise LookupError

    with pytest.raises(LookupError):
        chat(app, memory)
    assert memory.flush()
    assert closed(log) == [("complete", "stop")]


def test_retried_request_is_one_message(memory: Any, log: MemoryLog) -> None:
    for status in (429, 503):
        chat(streaming([b"{}"], JSON, status), memory)
    chat(streaming(), memory)
    assert said(log) == [USER, ASSISTANT]
    assert closed(log) == [("error", ""), ("complete", "stop")]
    assert memory.counters()["request_refused"] == 1


class Refused(Exception):
    """What an application raises after it has refused a request."""


@pytest.mark.parametrize("ending", ["whole", "pieces", "fails", "left"])
def test_nothing_of_a_refused_request_changes_the_session(ending: str, memory: Any, log: MemoryLog) -> None:
    def asked(text: str) -> bytes:
        return json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}).encode()

    async def refusing(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send(start(JSON, 401))
        if ending == "fails":
            raise Refused
        if ending == "left":
            await send(piece(b'{"error": '))
            raise asyncio.CancelledError
        for part in [b'{"error": 1}'] if ending == "whole" else chunked(b'{"error": 1}', 3):
            await send(piece(part))
        await send(piece(more=False))

    chat(streaming([WHOLE], JSON), memory, Connection(request(asked("Use PostgreSQL for the orders."))))
    before, facts = log.read(SessionKey("local", SESSION)), memory.resume(SESSION).text
    with suppress(Refused, asyncio.CancelledError):
        chat(refusing, memory, Connection(request(asked("Use MongoDB instead of PostgreSQL for the orders."))))
    assert memory.flush()
    assert log.read(SessionKey("local", SESSION))[: len(before)] == before
    assert said(log) == [("user", "Use PostgreSQL for the orders."), ASSISTANT]
    assert memory.resume(SESSION).text == facts and "MongoDB" not in facts
    assert memory.counters()["request_refused"] == 1


def test_reply_past_the_cap_is_counted_and_not_kept(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(capture_max=len(EVENTS[0]) + 10)
    connection = Connection(request(CHAT_BODY), on_send=_keeps_order(log, lambda: connection))
    chat(streaming(), memory, connection)
    assert connection.body == STREAM
    assert said(log) == [USER, ("assistant", "Ich ")]
    assert closed(log) == [("truncated", "")]
    assert memory.counters()["reply_capped"] == 1


def _keeps_order(log: MemoryLog, connection: Callable[[], Connection]) -> Any:
    async def check(message: Message) -> None:
        assert (b"[DONE]" in connection().body) <= (closed(log) != [])

    return check


def test_compressed_bomb_is_cut_at_the_cap(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(capture_max=10_000)
    bomb = gzip.compress(EVENTS[0] + b": " + b"x" * 50_000_000)
    connection = chat(streaming(chunked(bomb, 1_000), _encoded(b"gzip")), memory)
    assert connection.body == bomb
    assert closed(log) == [("truncated", "")]
    assert memory.counters()["reply_capped"] == 1


class FullDisk(MemoryLog):
    """A store that cannot write."""

    def append(self, session: SessionKey, events: Any, *, expected_seq: int) -> list[Recorded]:
        raise StoreUnavailable("no space left on device", cause="disk_full", place="/some/place.db")


def test_store_that_fails_does_not_stop_the_chat(open_memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    memory = open_memory(log=FullDisk(), drain_seconds=0.2)
    connection = chat(streaming(), memory)
    assert connection.sent == [start(), *map(piece, EVENTS), piece(more=False)]
    assert memory.counters()["turn_spooled"] == 1
    memory.close()
    assert memory.counters()["turn_lost"] == 1
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("tokenmizer_mw")]
    assert [line.partition(":")[0] for line in lines] == ["store unavailable", "1 turns are lost"]
    assert "disk_full" in lines[0] and "/some/place.db" in lines[0]
    assert not any(word in line for line in lines for word in (ASKED, REPLY, "device"))


@pytest.mark.parametrize(
    ("body", "counter"),
    [(b"not json", "malformed_request"), (b'{"messages": 1}', "malformed_request")],
)
def test_malformed_request_is_counted_and_not_recorded(body: bytes, counter: str, memory: Any, log: MemoryLog) -> None:
    notes: list[bytes] = []
    chat(answering([start(), piece(b"", False)], notes), memory, Connection(request(body)))
    assert notes == [body]
    assert said(log) == []
    assert memory.counters() == {counter: 1}


def test_a_route_that_cannot_be_read_is_logged_once(memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    notes: list[bytes] = []
    for body in (b'{"messages": 1, "word": "confidential"}', b'{"messages": 2}', b'{"messages": 3}'):
        chat(answering([start(), piece(b"", False)], notes), memory, Connection(request(body)))
    [line] = [record.getMessage() for record in caplog.records if record.name.startswith("tokenmizer_mw")]
    assert "/v1/chat/completions: no list of messages" in line
    assert line.endswith("(docs/not-remembered.md; malformed_request)")
    assert "confidential" not in line


def test_lifespan_ends_when_nothing_is_left_to_do(memory: Any, log: MemoryLog) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await send({"type": "lifespan.shutdown.complete"})
        else:
            await receive()
            await send(start())
            await send(piece(EVENTS[0]))  # and ends without an end

    async def note(message: Message) -> None:
        assert closed(log) == [("truncated", "")]

    async def process() -> None:
        wrapped = TokenMizerMiddleware(app, memory=memory)
        surface = Surface("chat", lambda inner: inner)
        await surface.call(wrapped)
        connection = Connection(on_send=note)
        await wrapped({"type": "lifespan"}, connection.receive, connection.send)
        assert connection.sent == [{"type": "lifespan.shutdown.complete"}]

    asyncio.run(process())


@pytest.mark.parametrize("size", [1, 20_000])
def test_what_a_provider_says_of_the_end_is_kept_short_and_without_secrets(
    memory: Any, log: MemoryLog, size: int
) -> None:
    key = "gh" + "p_" + "".join(random.choices(string.ascii_letters + string.digits, k=36))
    call = {"id": "c1", "type": "function", "function": {"name": key, "arguments": "{}"}}
    message = {"role": "assistant", "content": REPLY, "tool_calls": [call]}
    told = {"choices": [{"message": message, "finish_reason": key * size}]}
    chat(streaming([json.dumps(told).encode()], JSON), memory)
    [(outcome, reason)] = closed(log)
    assert outcome == "complete" and len(reason) <= 64
    assert key not in repr(log.read(SessionKey("local", SESSION)))
