"""Conformance: what is not ours passes by, and the scope is the server's."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from .driving import Connection, Surface, answering, piece, read_body, request, start, streaming
from .suite import case

PLAIN = ("plain",)


def _lifespan(surface: Surface, state: dict[str, Any]) -> dict[str, Any]:
    return {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": state}


@case(on=PLAIN)
async def lifespan_passthrough_and_state(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "lifespan.startup"
        scope["state"]["pool"] = 1
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        await send({"type": "lifespan.shutdown.complete"})

    state: dict[str, Any] = {}
    connection = Connection({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    await surface.wrap(app)(_lifespan(surface, state), connection.receive, connection.send)
    assert state == {"pool": 1}
    assert [message["type"] for message in connection.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


@case(on=PLAIN)
async def lifespan_unsupported_raises(surface: Surface) -> None:
    refusal = ValueError("no lifespan here")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise refusal

    connection = Connection({"type": "lifespan.startup"})
    try:
        await surface.wrap(app)(_lifespan(surface, {}), connection.receive, connection.send)
    except ValueError as error:
        assert error is refusal
    else:
        raise AssertionError("swallowed")
    assert connection.sent == []


@case(on=PLAIN)
async def lifespan_startup_failed(surface: Surface) -> None:
    failed = {"type": "lifespan.startup.failed", "message": "no database"}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send(failed)

    connection = Connection({"type": "lifespan.startup"})
    await surface.wrap(app)(_lifespan(surface, {}), connection.receive, connection.send)
    assert connection.sent == [failed]


def _websocket(surface: Surface) -> dict[str, Any]:
    scope = surface.scope(type="websocket", path="/v1/chat/completions", subprotocols=[])
    del scope["method"]
    return scope


@case(on=PLAIN)
async def websocket_passthrough(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": (await receive())["text"]})

    connection = Connection({"type": "websocket.connect"}, {"type": "websocket.receive", "text": "hi"})
    await surface.wrap(app)(_websocket(surface), connection.receive, connection.send)
    assert connection.sent == [{"type": "websocket.accept"}, {"type": "websocket.send", "text": "hi"}]


@case(on=PLAIN)
async def websocket_denial_response(surface: Surface) -> None:
    denial = [
        {"type": "websocket.http.response.start", "status": 401, "headers": []},
        {"type": "websocket.http.response.body", "body": b"no"},
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in denial:
            await send(message)

    connection = Connection({"type": "websocket.connect"})
    await surface.wrap(app)(_websocket(surface), connection.receive, connection.send)
    assert connection.sent == denial


@case(on=PLAIN)
async def unknown_scope_type(surface: Surface) -> None:
    seen: list[Any] = []

    async def app(*arguments: Any) -> None:
        seen.extend(arguments)

    connection = Connection()
    given = ({"type": "mystery"}, connection.receive, connection.send)
    await surface.wrap(app)(*given)
    assert all(mine is theirs for mine, theirs in zip(given, seen, strict=True))


@case()
async def scope_not_mutated(surface: Surface) -> None:
    scope = surface.scope()
    headers, before = scope["headers"], copy.deepcopy(scope)
    connection = surface.connection()
    await surface.wrap(streaming())(scope, connection.receive, connection.send)
    assert scope == before
    assert scope["headers"] is headers


@case()
async def scope_root_path_headers_seen_by_app(surface: Surface) -> None:
    names = ("path", "raw_path", "root_path", "query_string", "method", "headers", "client", "server", "http_version")
    mounted = surface.scope(root_path="/api", path="/api" + surface.scope()["path"])

    def make(notes: list[Any]) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            notes.append({name: scope[name] for name in names})
            await streaming()(scope, receive, send)

        return app

    assert await surface.same(make, request(surface.body))
    assert await surface.same(make, request(surface.body), root_path="/api", path=mounted["path"])


@case()
async def scope_extensions_and_state_identity(surface: Surface) -> None:
    extensions, state = {"http.response.pathsend": {}}, {"pool": object()}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["extensions"] is extensions
        assert scope["state"] is state
        await streaming()(scope, receive, send)

    await surface.call(app, extensions=extensions, state=state)


@case()
async def http2_scope_no_content_length(surface: Surface) -> None:
    half = len(surface.body) // 2
    incoming = (request(surface.body[:half], True), request(surface.body[half:]))
    notes = await surface.same(
        lambda notes: answering([start(), piece(b"ok", False)], notes), *incoming, http_version="2"
    )
    assert notes == [surface.body]


@case()
async def minimal_scope_optional_keys_missing(surface: Surface) -> None:
    scope = surface.scope()
    minimal = {name: scope[name] for name in ("type", "asgi", "http_version", "method", "path", "query_string")}
    for given in (minimal, {**minimal, "headers": []}, {**minimal, "headers": iter(scope["headers"])}):
        connection = surface.connection()
        await surface.wrap(streaming())(given, connection.receive, connection.send)
        assert connection.sent[-1] == piece(more=False)


@case()
async def head_request(surface: Surface) -> None:
    def make(notes: list[Any]) -> Any:
        return answering([start([(b"content-length", b"10")]), piece(b"", False)], notes)

    await surface.same(make, request(b""), method="HEAD")


@case(on=("chat",))
async def options_and_get_on_path_untouched(surface: Surface) -> None:
    for method in ("OPTIONS", "GET", "DELETE", "PUT"):
        seen: list[Any] = []

        async def app(*arguments: Any, seen: list[Any] = seen) -> None:
            seen.extend(arguments)

        connection = surface.connection()
        given = (surface.scope(method=method), connection.receive, connection.send)
        await surface.wrap(app)(*given)
        assert all(mine is theirs for mine, theirs in zip(given, seen, strict=True))
        assert connection.received == 0


@case()
async def double_wrapped(surface: Surface) -> None:
    notes: list[Any] = []
    app = surface.wrap(surface.wrap(streaming()))
    connection = surface.connection()
    await app(surface.scope(), connection.receive, connection.send)
    bare = await Surface(surface.name, lambda app: app).call(streaming())
    assert connection.sent == bare.sent

    async def reading(scope: Any, receive: Any, send: Any) -> None:
        notes.append(await read_body(receive))
        notes.append((await receive())["type"])

    connection = surface.connection()
    connection.disconnect()
    await surface.wrap(surface.wrap(reading))(surface.scope(), connection.receive, connection.send)
    assert notes == [surface.body, "http.disconnect"]


@case()
async def concurrent_requests_no_crosstalk(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        mark = dict(scope["headers"])[b"x-mark"]
        body = await read_body(receive)
        await send(start([(b"x-mark", mark), (b"content-type", b"text/event-stream")]))
        for _ in range(5):
            await asyncio.sleep(0)
            await send(piece(mark + b":" + body))
        await send(piece(more=False))

    wrapped = surface.wrap(app)

    async def one(number: int) -> None:
        mark = str(number).encode()
        connection = surface.connection()
        headers = surface.headers((b"x-mark", mark))
        await wrapped(surface.scope(headers=headers), connection.receive, connection.send)
        assert connection.sent[0]["headers"][0] == (b"x-mark", mark)
        assert connection.body == (mark + b":" + surface.body) * 5

    await asyncio.gather(*(one(number) for number in range(60)))
