"""Whose session a chat belongs to, and what the application sees of that."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tokenmizer_mw.asgi import ROUTES, TokenMizerMiddleware
from tokenmizer_mw.chat.exchange_opening import INLINE_MAX
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.store.memory import MemoryLog

from .bodies import BAD_BODIES
from .driving import CHAT_BODY, App, Connection, Surface, read_body, request, streaming
from .recorded import ASKED, said

WITH_FIELD = b'{"session_id": "from field", ' + CHAT_BODY[1:]


def _called(
    memory: Any,
    body: bytes = CHAT_BODY,
    headers: Any = (),
    *,
    scope: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[Any, Any, Any, bytes]:
    """One call; gives the scope, receive and send that the application got, and the body that it read."""
    seen: list[Any] = []

    async def app(*arguments: Any) -> None:
        seen.extend(arguments)
        seen.append(await read_body(arguments[1]))
        await streaming()(arguments[0], Connection(request()).receive, arguments[2])

    async def call() -> Connection:
        surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory, **options))
        length = (b"content-length", str(len(body)).encode())
        given = surface.scope(headers=[length, *headers], **(scope or {}))
        connection = Connection(request(body))
        await surface.wrap(app)(given, connection.receive, connection.send)
        seen.extend([given, connection])
        return connection

    asyncio.run(call())
    assert memory.flush()
    got_scope, got_receive, got_send, got_body, given, connection = seen
    assert len(got_body) == int(dict(got_scope["headers"])[b"content-length"])
    same = (got_scope is given, got_receive == connection.receive, got_send == connection.send)
    return same, got_scope, connection, got_body


HEADER = [(b"X-Session-Id", b"from header")]


@pytest.mark.parametrize(
    ("body", "headers", "options", "session"),
    [
        pytest.param(CHAT_BODY, HEADER, {}, "from header", id="header"),
        pytest.param(CHAT_BODY, [(b"x-session-id", "Gerät".encode())], {}, "Gerät", id="header in utf-8"),
        pytest.param(CHAT_BODY, [(b"x-session-id", "Gerät".encode("latin-1"))], {}, "Gerät", id="header in latin-1"),
        pytest.param(WITH_FIELD, [], {}, "from field", id="field"),
        pytest.param(WITH_FIELD, HEADER, {}, "from field", id="field before header"),
        pytest.param(WITH_FIELD, HEADER, {"session": lambda scope: "called"}, "called", id="callable before both"),
        pytest.param(CHAT_BODY, HEADER, {"session": lambda scope: None}, "from header", id="callable without answer"),
        pytest.param(BAD_BODIES["field is a number"], HEADER, {}, "from header", id="useless field, header"),
    ],
)
def test_session_is_found(body: bytes, headers: Any, options: Any, session: str, memory: Any, log: MemoryLog) -> None:
    _called(memory, body, headers, **options)
    assert [role for role, _ in said(log, session)] == ["user", "assistant"]


def test_our_field_is_dropped_and_every_other_byte_stays(memory: Any) -> None:
    _, scope, _, body = _called(memory, WITH_FIELD)
    assert body == CHAT_BODY
    assert dict(scope["headers"])[b"content-length"] == str(len(CHAT_BODY)).encode()


def test_transfer_coding_is_dropped_with_the_field(memory: Any) -> None:
    _, scope, _, body = _called(memory, WITH_FIELD, [(b"transfer-encoding", b"chunked"), (b"x-other", b"1")])
    assert body == CHAT_BODY
    assert scope["headers"] == [(b"x-other", b"1"), (b"content-length", str(len(CHAT_BODY)).encode())]


def test_request_without_a_length_gets_none(memory: Any) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([scope["headers"], await read_body(receive)])

    surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))
    asyncio.run(surface.call(app, Connection(request(WITH_FIELD)), http_version="2"))  # type: ignore[arg-type]
    assert seen == [surface.headers(), CHAT_BODY]


def test_field_stays_where_the_settings_say_so(open_memory: Any, log: MemoryLog) -> None:
    assert _called(open_memory(keep_session_field=True), WITH_FIELD)[3] == WITH_FIELD
    assert said(log, "from field")


def test_field_stays_when_the_session_is_named_otherwise(memory: Any) -> None:
    assert _called(memory, WITH_FIELD, session=lambda scope: "called")[3] == WITH_FIELD


def test_other_names_for_header_and_field(open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(session_header="X-Thread", session_field="thread")
    assert _called(memory, b'{"thread": "a", ' + CHAT_BODY[1:])[3] == CHAT_BODY
    _called(memory, CHAT_BODY, [(b"x-thread", b"b")])
    assert said(log, "a") == said(log, "b")
    assert _called(memory, WITH_FIELD)[3] == WITH_FIELD
    assert memory.counters() == {"no_session": 1, "turn_complete": 2}


def test_tenants_are_apart(memory: Any, log: MemoryLog) -> None:
    _called(memory, CHAT_BODY, HEADER, tenant=lambda scope: scope["client"][0])
    assert said(log, "from header", "127.0.0.1")
    assert said(log, "from header") == []


@pytest.mark.parametrize(
    ("body", "headers", "options", "counter"),
    [
        pytest.param(CHAT_BODY, [], {}, "no_session", id="none"),
        pytest.param(CHAT_BODY, [(b"x-session-id", b"")], {}, "session_invalid", id="empty header"),
        pytest.param(CHAT_BODY, [(b"x-session-id", b"x" * 10_000)], {}, "session_invalid", id="header of 10 kB"),
        pytest.param(CHAT_BODY, [(b"x-session-id", b"a\x00b")], {}, "session_invalid", id="control characters"),
        pytest.param(BAD_BODIES["field is a number"], [], {}, "session_invalid", id="field is a number"),
        pytest.param(BAD_BODIES["field is empty"], [], {}, "session_invalid", id="field is empty"),
        pytest.param(BAD_BODIES["field of 10 kB"], [], {}, "session_invalid", id="field of 10 kB"),
        pytest.param(BAD_BODIES["field with a lone surrogate"], [], {}, "session_invalid", id="lone surrogate"),
        pytest.param(BAD_BODIES["field is null"], [], {}, "no_session", id="field is null"),
        pytest.param(BAD_BODIES["field inside a message"], [], {}, "no_session", id="field inside a message"),
        pytest.param(BAD_BODIES["cut, with field"], [], {}, "malformed_request", id="malformed"),
        pytest.param(BAD_BODIES["deep, with field"], [], {}, "malformed_request", id="deep"),
        pytest.param(CHAT_BODY, HEADER, {"tenant": lambda scope: ""}, "session_invalid", id="empty tenant"),
        pytest.param(CHAT_BODY, HEADER, {"session": lambda scope: 17}, "session_invalid", id="callable gives no text"),
        pytest.param(CHAT_BODY, HEADER, {"session": lambda scope: scope["x"]}, "session_failed", id="callable raises"),
        pytest.param(CHAT_BODY, HEADER, {"tenant": lambda scope: scope["x"]}, "session_failed", id="tenant raises"),
        pytest.param(CHAT_BODY, [*HEADER, (b"content-encoding", b"gzip")], {}, "request_encoded", id="encoded"),
    ],
)
def test_chat_without_a_session_passes_untouched(
    body: bytes, headers: Any, options: Any, counter: str, memory: Any, log: MemoryLog
) -> None:
    same, _, _, seen = _called(memory, body, headers, **options)
    assert seen == body
    assert (same[0], same[2]) == (True, True)  # the scope and send are the server's own
    assert memory.counters() == {counter: 1}
    assert log.sessions("local") == []


def test_body_is_not_even_read_when_only_a_header_could_tell(open_memory: Any) -> None:
    same, _, connection, _ = _called(open_memory(session_field=""), WITH_FIELD)
    assert same == (True, True, True)
    assert connection.received == 1


@pytest.mark.parametrize("announced", [True, False])
def test_request_past_the_limit_passes_untouched(announced: bool, open_memory: Any, log: MemoryLog) -> None:
    memory = open_memory(request_max=100)
    body = b'{"session_id": "a", "messages": [{"role": "user", "content": "' + b"x" * 200 + b'"}]}'
    pieces = [request(body[:90], True), request(body[90:150], True), request(body[150:])]
    connection = Connection(*pieces)
    seen: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if announced:
            assert connection.received == 0
        seen.append(await read_body(receive))

    surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))
    headers = surface.headers(*([(b"content-length", str(len(body)).encode())] if announced else []))
    asyncio.run(surface.wrap(app)(surface.scope(headers=headers), connection.receive, connection.send))  # type: ignore[arg-type]
    assert seen == [body]
    assert memory.counters() == {"request_too_large": 1}


def test_large_bodies_are_recorded_too(memory: Any, log: MemoryLog) -> None:
    filler = "x" * INLINE_MAX
    body = json.dumps({"session_id": "large", "messages": [{"role": "user", "content": filler}]}).encode()
    seen = _called(memory, body)[3]
    assert json.loads(seen) == {"messages": [{"role": "user", "content": filler}]}
    assert said(log, "large")[0] == ("user", filler)


@pytest.mark.parametrize(
    ("path", "root_path", "ours"),
    [
        ("/chat/completions", "", True),
        ("/v1/chat/completions", "", True),
        ("/api/v1/chat/completions", "/api", True),
        ("/api/chat/completions", "/api", True),
        ("/chat/completions", "/chat/completions", False),
        ("/chat/completions/", "", False),
        ("/chat/completions/x", "", False),
        ("/mychat/completions", "", False),
        ("/xchat/completions", "", False),
        ("/v1/chat/completions", "/other", True),
    ],
)
def test_routes_match_the_end_of_the_path(path: str, root_path: str, ours: bool, memory: Any, log: MemoryLog) -> None:
    _called(memory, CHAT_BODY, HEADER, scope={"path": path, "root_path": root_path})
    assert bool(said(log, "from header")) is ours


def test_routes_of_ones_own(memory: Any, log: MemoryLog) -> None:
    routes = {"/talk": ROUTES["/chat/completions"]}
    _called(memory, CHAT_BODY, HEADER, scope={"path": "/v1/talk"}, routes=routes)
    assert said(log, "from header")[0] == ("user", ASKED)
    with pytest.raises(ConfigError):
        TokenMizerMiddleware(streaming(), memory=memory, routes={"talk": ROUTES["/chat/completions"]})


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory": "sqlite:///memory.db"},
        {"routes": ["/talk"]},
        {"routes": {"/talk": "openai"}},
        {"routes": {"/talk": type(ROUTES["/chat/completions"])}},
        {"session": "session-1"},
        {"tenant": "acme"},
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_at_once(wrong: Any, memory: Any) -> None:
    """Later on they would only show in the log: the chat goes on, and nothing is remembered."""
    with pytest.raises(ConfigError):
        TokenMizerMiddleware(streaming(), **{"memory": memory, **wrong})


def test_inner_middleware_stands_aside(open_memory: Any, log: MemoryLog) -> None:
    inner_log = MemoryLog()
    outer, inner = open_memory(), open_memory(log=inner_log)

    def twice(app: App) -> App:
        return TokenMizerMiddleware(TokenMizerMiddleware(app, memory=inner), memory=outer)

    asyncio.run(_one(Surface("chat", twice)))
    assert outer.flush()
    assert inner.flush()
    assert (len(said(log)), len(said(inner_log))) == (2, 0)


async def _one(surface: Surface) -> Connection:
    return await surface.call(streaming())
