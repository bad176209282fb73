"""Conformance: every response message goes on as it came, in order, before ``send`` returns."""

from __future__ import annotations

import asyncio
import copy
import gc
import gzip
import os
import time
import tracemalloc
from typing import Any

from .driving import (
    EVENTS,
    SSE,
    STREAM,
    Connection,
    Message,
    Surface,
    answering,
    chunked,
    event,
    piece,
    read_body,
    request,
    start,
    streaming,
    turn_of_the_loop,
)
from .suite import case

JSON_BODY = b'{"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}'
JSON_HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(JSON_BODY)).encode())]


async def _exact(surface: Surface, messages: list[Message]) -> None:
    connection = await surface.call(answering(messages))
    assert connection.sent == messages


@case()
async def response_single_exact(surface: Surface) -> None:
    await _exact(surface, [start(JSON_HEADERS), piece(JSON_BODY, False)])
    await _exact(surface, [start(JSON_HEADERS, 429), piece(JSON_BODY, False)])
    await _exact(surface, [start([], 204), piece(b"", False)])


@case()
async def response_content_length_still_true(surface: Surface) -> None:
    for pieces in ([JSON_BODY], chunked(JSON_BODY, 10)):
        connection = await surface.call(streaming(pieces, JSON_HEADERS))
        assert dict(connection.sent[0]["headers"])[b"content-length"] == str(len(connection.body)).encode()


@case()
async def sse_bytes_exact_odd_chunkings(surface: Surface) -> None:
    for stream in (STREAM, STREAM.replace(b"\n", b"\r\n"), STREAM.replace(b"\n", b"\r"), b": ping\n\n" + STREAM):
        for size in (1, 2, 3, 7, 16, 61, len(stream)):
            await _exact(surface, [start(), *map(piece, chunked(stream, size)), piece(more=False)])


@case()
async def sse_huge_single_event_and_binary_garbage(surface: Surface) -> None:
    huge = event("x" * 3_000_000) + EVENTS[-1]
    await _exact(surface, [start(), *map(piece, chunked(huge, 65_536)), piece(more=False)])
    garbage = os.urandom(100_000)
    await _exact(surface, [start(), *map(piece, chunked(garbage, 1_000)), piece(more=False)])


@case("S")
async def empty_chunk_forwarded(surface: Surface) -> None:
    await _exact(surface, [start(), piece(b""), piece(EVENTS[0]), piece(b""), piece(EVENTS[-1]), piece(b"", False)])


@case()
async def chunk_forwarded_immediately(surface: Surface) -> None:
    reached = asyncio.Event()

    async def arrived(message: Message) -> None:
        if message.get("body") == EVENTS[0]:
            reached.set()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        await send(piece(EVENTS[0]))
        await reached.wait()  # the next token comes only when the client has the first
        await send(piece(EVENTS[-1], False))

    await surface.call(app, surface.connection(on_send=arrived))


@case("S")
async def chunk_forwarded_before_send_returns(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        for message in (start(), *map(piece, EVENTS), piece(more=False)):
            await send(message)
            assert connection.sent[-1] == message

    await surface.call(app, connection)


@case()
async def headers_sent_before_first_chunk(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        assert connection.sent == [start()]
        await streaming([])(scope, _ended, _dropping_start(send))

    await surface.call(app, connection)


async def _ended() -> Message:
    return request()


def _dropping_start(send: Any) -> Any:
    async def dropping(message: Message) -> None:
        if message["type"] != "http.response.start":
            await send(message)

    return dropping


@case()
async def backpressure(surface: Surface) -> None:
    room, produced = asyncio.Event(), 0

    async def full(message: Message) -> None:
        if message["type"] == "http.response.body":
            await room.wait()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal produced
        await read_body(receive)
        await send(start())
        for _ in range(50):
            produced += 1
            await send(piece(EVENTS[0]))
        await send(piece(EVENTS[-1], False))

    calling = asyncio.ensure_future(surface.call(app, surface.connection(on_send=full)))
    await turn_of_the_loop(100)
    assert produced == 1
    room.set()
    await calling
    assert produced == 50


@case()
async def memoryview_body(surface: Surface) -> None:
    views = [memoryview(part) for part in EVENTS] + [memoryview(bytearray(b"\n"))]
    connection = await surface.call(answering([start(), *map(piece, views), piece(more=False)]))  # type: ignore[arg-type]
    assert connection.body == STREAM + b"\n"


@case()
async def start_headers_optional_or_tuple_or_iterator(surface: Surface) -> None:
    pairs = [[b"Content-Type", b"text/event-stream"], [b"X-Two", b"2"]]
    forms = (pairs, tuple(pairs), iter(pairs), (pair for pair in pairs))
    for message in map(start, forms):
        connection = await surface.call(answering([message, *map(piece, EVENTS), piece(more=False)]))
        assert list(connection.sent[0]["headers"]) == pairs
        assert connection.body == STREAM
    await _exact(surface, [{"type": "http.response.start", "status": 200}, *map(piece, EVENTS), piece(more=False)])


@case()
async def body_message_default_keys(surface: Surface) -> None:
    await _exact(surface, [start(), {"type": "http.response.body"}])
    await _exact(surface, [start(), piece(EVENTS[0]), {"type": "http.response.body", "body": EVENTS[-1]}])
    await _exact(surface, [start(), {"type": "http.response.body", "more_body": True}, piece(b"x", False)])


@case()
async def app_message_objects_not_mutated(surface: Surface) -> None:
    messages = [start(list(SSE)), *map(piece, EVENTS), piece(more=False)]
    before = copy.deepcopy(messages)
    for _ in range(3):  # applications keep such messages and send them again
        await surface.call(answering(messages))
    assert messages == before


@case()
async def gzip_br_response_exact(surface: Surface) -> None:
    for encoding, body in ((b"gzip", gzip.compress(STREAM)), (b"br", b"\x1b opaque"), (b"gzip", b"not gzip at all")):
        headers = [*SSE, (b"content-encoding", encoding)]
        await _exact(surface, [start(headers), *map(piece, chunked(body, 9)), piece(more=False)])
        await _exact(surface, [start([*JSON_HEADERS[:1], (b"content-encoding", encoding)]), piece(body, False)])


@case()
async def ndjson_stream_exact(surface: Surface) -> None:
    lines = b'{"message": {"content": "a"}}\n{"done": true}\n'
    headers = [(b"content-type", b"application/x-ndjson")]
    for size in (1, 5, len(lines)):
        await _exact(surface, [start(headers), *map(piece, chunked(lines, size)), piece(more=False)])


@case()
async def trailers(surface: Surface) -> None:
    trailing = {"type": "http.response.trailers", "headers": [(b"x-sum", b"1")], "more_trailers": False}
    await _exact(surface, [start(trailers=True), *map(piece, EVENTS), piece(more=False), trailing])


@case()
async def pathsend(surface: Surface) -> None:
    await _exact(surface, [start(JSON_HEADERS), {"type": "http.response.pathsend", "path": "/srv/file"}])


@case()
async def zerocopysend(surface: Surface) -> None:
    sending = {"type": "http.response.zerocopysend", "file": 5, "offset": 0, "count": 10}
    await _exact(surface, [start(), {**sending, "more_body": True}, {**sending, "more_body": False}])


@case()
async def early_hint_push_debug(surface: Surface) -> None:
    before = [
        {"type": "http.response.early_hint", "links": [b"</a.css>; rel=preload"]},
        {"type": "http.response.push", "path": "/a.css", "headers": []},
        {"type": "http.response.debug", "info": {"template": object()}},
        {"type": "http.response.of_the_future", "anything": 1},
    ]
    await _exact(surface, [*before, start(), *map(piece, EVENTS), piece(more=False)])


@case()
async def long_stream_memory_bounded(surface: Surface) -> None:
    part = b"data: " + b"x" * 65_000 + b"\n\n"

    async def forget(message: Message) -> None:
        connection.sent.clear()

    connection = surface.connection(on_send=forget)
    gc.collect()
    tracemalloc.start()
    try:
        await surface.call(streaming(part for _ in range(1_000)), connection)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


@case("S")
async def per_chunk_cost_linear(surface: Surface) -> None:
    async def cost(count: int) -> float:
        app, connection = streaming([EVENTS[0]] * count), surface.connection()
        began = time.process_time()
        await surface.call(app, connection)
        return time.process_time() - began

    pairs = [(await cost(4_000), await cost(16_000)) for _ in range(3)]
    assert min(long / max(short, 1e-9) for short, long in pairs) < 8


@case()
async def send_from_child_tasks(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        turn = asyncio.Lock()

        async def one(part: bytes) -> None:
            async with turn:
                await send(piece(part))

        await asyncio.gather(*(one(part) for part in EVENTS[:-1]))
        ending = asyncio.ensure_future(send(piece(b"data: [DONE]\n\n")))
        await turn_of_the_loop(1)
        await asyncio.gather(ending, send(piece(b": behind it\n\n")), send(piece(b"", False)))

    connection = await surface.call(app)
    last = [piece(b"data: [DONE]\n\n"), piece(b": behind it\n\n"), piece(b"", False)]
    assert connection.sent == [start(), *map(piece, EVENTS[:-1]), *last]


@case()
async def app_returns_without_response(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)

    assert (await surface.call(app)).sent == []

    async def half(scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        await send(piece(EVENTS[0]))

    assert (await surface.call(half)).sent == [start(), piece(EVENTS[0])]


@case()
async def background_work_after_response(surface: Surface) -> None:
    connection: Connection = surface.connection()
    seen: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await streaming()(scope, receive, send)
        seen.append(len(connection.sent))  # the server has everything before the work begins
        await turn_of_the_loop()
        seen.append(-1)

    await surface.call(app, connection)
    assert seen == [len(EVENTS) + 2, -1]
