"""Conformance: the request body, and ``receive``."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import json
from typing import Any

from starlette.requests import Request

from .bodies import BAD_BODIES
from .driving import Surface, answering, chunked, piece, read_body, request, start, streaming, turn_of_the_loop
from .suite import case

OK = [start([(b"content-type", b"application/json")]), piece(b"{}", False)]


@case()
async def request_body_exact_any_chunking(surface: Surface) -> None:
    for size in (1, 2, 7, 64, len(surface.body)):
        pieces = chunked(surface.body, size)
        incoming = [*(request(part, True) for part in pieces[:-1]), request(pieces[-1])]
        assert await surface.same(lambda notes: answering(OK, notes), *incoming) == [surface.body]
        empties = [request(b"", True), *(request(part, True) for part in pieces), request(b"")]
        assert await surface.same(lambda notes: answering(OK, notes), *empties) == [surface.body]


@case()
async def request_message_default_keys(surface: Surface) -> None:
    assert await surface.same(lambda notes: answering(OK, notes), {"type": "http.request"}) == [b""]
    only_body = {"type": "http.request", "body": surface.body}
    assert await surface.same(lambda notes: answering(OK, notes), only_body) == [surface.body]
    only_more = {"type": "http.request", "more_body": True}
    assert await surface.same(lambda notes: answering(OK, notes), only_more, only_body) == [surface.body]


@case()
async def request_bad_bodies_pass_unchanged(surface: Surface) -> None:
    for name, body in BAD_BODIES.items():
        notes = await surface.same(lambda notes: answering(OK, notes), request(body))
        assert notes == [body], name


@case()
async def request_gzip_content_encoding_unchanged(surface: Surface) -> None:
    body = gzip.compress(surface.body)
    headers = surface.headers((b"content-encoding", b"gzip"), (b"content-length", str(len(body)).encode()))
    assert await surface.same(lambda notes: answering(OK, notes), request(body), headers=headers) == [body]


@case()
async def content_length_consistent_with_body_seen(surface: Surface) -> None:
    with_field = json.dumps({"session_id": "abc", "model": "m", "messages": [{"role": "user", "content": "é"}]})
    for body in (surface.body, with_field.encode()):
        seen: list[Any] = []

        async def app(scope: Any, receive: Any, send: Any, seen: list[Any] = seen) -> None:
            seen.append(int(dict(scope["headers"])[b"content-length"]))
            seen.append(len(await read_body(receive)))
            await streaming()(scope, _nothing, send)

        headers = surface.headers((b"content-length", str(len(body)).encode()))
        await surface.call(app, surface.connection(request(body)), headers=headers)
        assert seen[0] == seen[1]


async def _nothing() -> dict[str, Any]:
    return request()


@case()
async def receive_blocks_after_body_until_disconnect(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        waiting = asyncio.ensure_future(receive())
        await turn_of_the_loop()
        assert not waiting.done()
        connection.disconnect()
        assert (await waiting)["type"] == "http.disconnect"

    await surface.call(app, connection)


@case()
async def disconnect_seen_midstream_fast(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        gone = asyncio.ensure_future(receive())
        await send(start())
        for number in range(100):
            await send(piece(b": keep-alive\n\n"))
            if number == 3:
                connection.disconnect()
            await turn_of_the_loop(5)
            if gone.done():
                break
        assert number == 3
        assert gone.result()["type"] == "http.disconnect"

    await surface.call(app, connection)


@case()
async def disconnect_before_response_while_app_waits(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        asyncio.get_running_loop().call_soon(connection.disconnect)
        assert (await receive())["type"] == "http.disconnect"

    await surface.call(app, connection)
    assert connection.sent == []


@case()
async def disconnect_during_request_body(surface: Surface) -> None:
    first = request(surface.body[:10], True)

    def make(notes: list[Any]) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            notes.extend([await receive(), await receive(), await receive()])

        return app

    notes = await surface.same(make, first, {"type": "http.disconnect"}, {"type": "http.disconnect"})
    assert notes == [first, {"type": "http.disconnect"}, {"type": "http.disconnect"}]

    async def quitting(scope: Any, receive: Any, send: Any) -> None:
        with contextlib.suppress(AssertionError):
            await read_body(receive)

    assert (await surface.call(quitting, surface.connection(first, {"type": "http.disconnect"}))).sent == []


@case()
async def repeated_disconnect_messages(surface: Surface) -> None:
    connection = surface.connection()
    connection.disconnect()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        for _ in range(4):
            assert await receive() == {"type": "http.disconnect"}

    await surface.call(app, connection)


@case()
async def starlette_request_is_disconnected_polling(surface: Surface) -> None:
    connection = surface.connection()
    polled: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asking = Request(scope, receive, send)
        assert await asking.body() == surface.body
        polled.append(await asking.is_disconnected())
        connection.disconnect()
        polled.append(await asking.is_disconnected())

    await surface.call(app, connection)
    assert polled == [False, True]


@case()
async def cancelled_receive_loses_nothing(surface: Surface) -> None:
    connection = surface.connection()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(3):  # before the body was read: cancelled at once, nothing may be taken
            early = asyncio.ensure_future(receive())
            early.cancel()
            await asyncio.gather(early, return_exceptions=True)
        assert await read_body(receive) == surface.body
        for _ in range(3):
            late = asyncio.ensure_future(receive())
            await turn_of_the_loop(3)
            late.cancel()
            await asyncio.gather(late, return_exceptions=True)
        connection.disconnect()
        assert (await receive())["type"] == "http.disconnect"

    await surface.call(app, connection)


@case(on=("plain",))
async def response_without_reading_body(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start([], 413))
        await send(piece(b"too large", False))

    connection = await surface.call(app, surface.connection(request(b"x", True)))
    assert connection.received == 0
    assert connection.body == b"too large"


@case(on=("plain",))
async def request_body_streams_lazily(surface: Surface) -> None:
    connection = surface.connection(request(b"first", True))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == b"first"
        connection.push(request(b"second"))  # the client sends on only once the first part was taken
        assert (await receive())["body"] == b"second"
        await send(start())
        await send(piece(b"", False))

    await surface.call(app, connection)


@case()
async def request_body_64MB_exact(surface: Surface) -> None:
    part = bytes(range(256)) * 4096
    opening = b'{"messages": [{"role": "user", "content": "' if surface.name == "chat" else b""
    incoming = [request(opening, True), *(request(part, True) for _ in range(64)), request(b"end")]
    seen = hashlib.sha256()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            seen.update(message["body"])
            if not message["more_body"]:
                break
        await send(start())
        await send(piece(b"ok", False))

    await surface.call(app, surface.connection(*incoming))
    expected = hashlib.sha256(opening + part * 64 + b"end")
    assert seen.digest() == expected.digest()
