"""Paths, methods, media types, sizes and values: what is understood, and what clients are told when it is not."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.server.api import api, local
from tokenmizer_mw.store.conformance import HOSTILE_IDS, REFUSED_IDS

from .hosts import CHAT, HOSTS, ask, starlette, who

IDS = [*HOSTILE_IDS, "a/b/c", "/", "//", "..", ".", "/api/graph/x", "x/history", "a%2Fb", "a b?c#d&e=f", "semi;colon"]


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_any_printable_id_survives_the_path(host: Any, memory: SessionMemory) -> None:
    app = host(api(memory, authorize=who))
    for id in IDS:
        memory.record(id, CHAT[:1], tenant="tenant-a")
    for id in IDS:
        encoded = quote(id, safe="").replace(".", "%2E")
        told = ask(app, "GET", f"/api/graph/{encoded}")
        assert (told.status_code, told.json().get("session_id")) == (200, id)
        assert ask(app, "GET", f"/api/graph/{encoded}/transitions").json().get("session_id") == id
        assert ask(app, "DELETE", f"/api/sessions/{encoded}").status_code == 200
    assert memory.sessions(tenant="tenant-a") == []


@pytest.mark.parametrize("id", [id for id in REFUSED_IDS if id and id.isascii()])
def test_an_id_that_no_store_keeps_is_unknown(id: str, memory: SessionMemory) -> None:
    app, encoded = api(memory, authorize=who), quote(id, safe="")
    told = ask(app, "GET", f"/api/graph/{encoded}", prefix="")
    assert told.json()["error"]["code"] == "unknown_session"
    assert ask(app, "POST", "/api/checkpoint", body={"session_id": id}, prefix="").status_code in (404, 422)
    assert ask(app, "POST", f"/api/sessions/{encoded}/import", body=CHAT, prefix="").status_code == 422


def test_bytes_that_are_no_text_name_no_session(shared: Shared) -> None:
    assert ask(shared.app, "GET", "/api/graph/%ff%fe").status_code == 404


@dataclass
class Shared:
    """One application for all tests that change nothing."""

    memory: SessionMemory
    app: Any


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    memory = SessionMemory.open()
    memory.record("hall", CHAT, tenant="tenant-a")
    yield Shared(memory, starlette(api(memory, authorize=who)))
    memory.close()


def call(app: Any, **scope: Any) -> tuple[int, dict[str, Any]]:
    """One GET with a scope of its own making."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    base = {"type": "http", "method": "GET", "headers": [], "query_string": b"", "root_path": ""}
    asyncio.run(app({**base, **scope}, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize("raw", [None, b"", b"/other", b"/api/graph/hall/history", b"/x%2Fy"])
def test_a_raw_path_that_says_something_else_is_not_believed(raw: bytes | None, memory: SessionMemory) -> None:
    memory.record("hall", CHAT[:1])
    memory.record("history", CHAT[:1])
    status, told = call(api(memory, authorize=local), path="/api/graph/hall", raw_path=raw)
    assert (status, told["session_id"]) == (200, "hall")


def test_a_server_without_raw_paths_serves_ids_without_slashes(memory: SessionMemory) -> None:
    memory.record("hall 1", CHAT[:1])
    assert call(api(memory, authorize=local), path="/api/graph/hall 1")[0] == 200


@pytest.mark.parametrize("host", [b"api", b"evil.test/health?", b"desk.test#/health", b"a@b", b"//x"])
def test_the_host_header_decides_nothing(host: bytes, memory: SessionMemory) -> None:
    assert call(api(memory), path="/api/sessions", headers=[(b"host", host)])[0] == 401


@pytest.mark.parametrize(
    "path",
    [
        "/health/../api/sessions",
        "//api/sessions",
        "/api//sessions",
        "/api/sessions/",
        "/health%2F..%2Fapi",
        "/API/stats",
    ],
)
def test_a_path_in_another_spelling_leads_nowhere(path: str, memory: SessionMemory) -> None:
    assert call(api(memory), path=path, raw_path=path.encode())[0] in (401, 404)


def test_a_path_of_many_segments_is_cheap(memory: SessionMemory) -> None:
    path = "/" * 200_000
    assert call(api(memory), path=path, raw_path=path.encode())[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/api/sessions", "GET, HEAD"),
        ("GET", "/api/checkpoint", "POST"),
        ("GET", "/api/sessions/hall", "DELETE"),
        ("DELETE", "/api/sessions/hall/export", "GET, HEAD"),
        ("OPTIONS", "/api/stats", "GET, HEAD"),
        ("TRACE", "/health", "GET, HEAD"),
    ],
)
def test_a_method_that_a_path_does_not_take(method: str, path: str, allowed: str, shared: Shared) -> None:
    answer = ask(shared.app, method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_head_is_get_without_its_body(shared: Shared) -> None:
    head, get = ask(shared.app, "HEAD", "/api/graph/hall"), ask(shared.app, "GET", "/api/graph/hall")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_every_answer_is_neither_kept_nor_guessed_at(shared: Shared) -> None:
    for path in ("/api/graph/hall", "/api/graph/none", "/nothing", "/health", "/api/sessions/hall/export"):
        headers = ask(shared.app, "GET", path).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


MEDIA = [
    ({}, 415),
    ({"content-type": "text/plain"}, 415),
    ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
    ({"content-type": "application/x-ndjson"}, 415),
    ({"content-type": "application/json; charset=utf-8"}, 404),
    ({"content-type": "APPLICATION/JSON", "content-encoding": "identity"}, 404),
]


@pytest.mark.parametrize(("headers", "status"), MEDIA)
def test_media_types(headers: dict[str, str], status: int, shared: Shared) -> None:
    answer = ask(shared.app, "POST", "/api/checkpoint", raw=b'{"session_id": "nowhere"}', headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == ("unsupported_media_type" if status == 415 else "unknown_session")


BODIES = [
    (b"", "invalid JSON"),
    (b"{", "invalid JSON"),
    (b"[]", "object"),
    (b"null", "object"),
    (b"{}", "session_id: field required"),
    (b'{"session_id": 7}', "session_id: input should be a valid string"),
    (b'{"session_id": ""}', "session_id"),
    (b'{"session_id": "x", "tenant": "tenant-b"}', "tenant: there is no such field; the fields are: session_id."),
    (b'{"session_id": "\\ud800"}', ""),
    (b"[" * 900, ""),
    (b"\xff\xfe", ""),
]


@pytest.mark.parametrize(("raw", "told"), BODIES)
def test_a_body_that_cannot_be_used_is_told_why(raw: bytes, told: str, shared: Shared) -> None:
    answer = ask(shared.app, "POST", "/api/checkpoint", raw=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert told.lower() in answer.json()["error"]["message"].lower()


IMPORTS = [
    (b"", "empty"),
    (b"[]", "no messages"),
    (b"{}", "expected a list of messages"),
    (b'[{"role": "wizard", "content": "x"}]', "no role"),
    (b'[{"role": "user", "content": 7}]', "content of type int"),
    (b'{"tokenmizer_export": 99, "session": "x", "events": 0}', "newer version"),
    (b'{"tokenmizer_export": 1, "session": "x", "events": 3}', "cut short"),
    (b'{"tokenmizer_export": 1, "session": "x", "events": 1}\n{"seq": 1}', "not an event"),
    (b"[" * 20_000, "nested too deeply"),
    (b"\xff", "not UTF-8"),
]


@pytest.mark.parametrize(("raw", "told"), IMPORTS)
def test_an_import_that_cannot_be_used_is_told_why(raw: bytes, told: str, shared: Shared) -> None:
    answer = ask(shared.app, "POST", "/api/sessions/new/import", raw=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert told in answer.json()["error"]["message"]
    assert not shared.memory.messages("new", tenant="tenant-a")


def cursor(told: str) -> str:
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


QUERIES = [
    ("/api/resume/hall?budget=63", "budget"),
    ("/api/resume/hall?budget=many", "budget"),
    ("/api/resume/hall?level=deep", "level"),
    ("/api/resume/hall?level=full&level=full", None),
    ("/api/resume/hall?colour=red", "colour"),
    ("/api/graph/hall?x=1", "x"),
    ("/api/graph/hall/history", "at_time"),
    ("/api/graph/hall/history?at_time=yesterday", "at_time"),
    ("/api/graph/hall/history?at_time=6", "at_time"),
    ("/api/graph/hall?message=0", "message"),
    ("/api/graph/hall/history?at_time=nan", "at_time"),
    ("/api/graph/hall/history?at_time=1e400", "at_time"),
    ("/api/graph/hall/history?at_time=1700000000&as=told", "as"),
    ("/api/graph/hall/why", "text"),
    ("/api/graph/hall/search?text=", "text"),
    ("/api/graph/hall/search?text=x&k=0", "k"),
    ("/api/graph/hall/diff?from=-1", "from"),
    ("/api/graph/hall/diff?to=checkpoint", "to"),
    ("/api/sessions?limit=0", "limit"),
    ("/api/sessions?cursor=x", "cursor"),
    ("/api/sessions?cursor=W1tdLDFd", "cursor"),
    ("/api/sessions?cursor=" + cursor("[NaN,1]"), "cursor"),
    ("/api/sessions?cursor=" + cursor('[1e999,"a"]'), "cursor"),
    ("/api/sessions?cursor=" + cursor(f'[1{"0" * 400},"a"]'), "cursor"),
    ("/api/sessions?cursor=" + cursor('[1,"a\\u0000b"]'), "cursor"),
    ("/api/sessions?cursor=" + cursor('[1,"\\ud83d"]'), "cursor"),
    ("/api/sessions?" + "&".join(f"p{number}=1" for number in range(60)), None),
]


@pytest.mark.parametrize(("path", "field"), QUERIES)
def test_a_parameter_that_cannot_be_used_is_named(path: str, field: str | None, shared: Shared) -> None:
    answer = ask(shared.app, "GET", path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert answer.json()["error"]["field"] == field


@pytest.mark.parametrize("number", ["6", "-5", "0.0", "946684799"])
def test_a_small_number_is_no_time_and_may_be_a_message(number: str, shared: Shared) -> None:
    answer = ask(shared.app, "GET", f"/api/graph/hall/history?at_time={number}")
    assert "before the year 2000" in answer.json()["error"]["message"]
    assert "message=" in answer.json()["error"]["message"]


def test_bodies_beyond_their_cap_are_refused(small: SessionMemory) -> None:
    app = starlette(api(small, authorize=who))
    for path, limit in (("/api/checkpoint", 1_024), ("/api/sessions/x/import", 2_048)):
        answer = ask(app, "POST", path, raw=b" " * (limit + 1), headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_a_document_is_held_to_less_than_lines_are() -> None:
    memory = SessionMemory.open(settings=Settings(request_max=1_024, import_max=8_192))
    app = starlette(api(memory, authorize=who))
    line = json.dumps({"role": "user", "content": "x" * 400}).encode()
    lines, document, long = b"\n".join([line] * 8), b"[" + b",".join([line] * 8) + b"]", line.replace(b"x", b"xxx")
    assert _imported(app, "application/x-ndjson", lines) == 201
    assert _imported(app, "application/json", document) == 413
    assert _imported(app, "application/x-ndjson", b"\n".join([line, long])) == 413
    memory.close()


def _imported(app: Any, media: str, raw: bytes) -> int:
    return ask(app, "POST", "/api/sessions/x/import", raw=raw, headers={"content-type": media}).status_code


def test_a_body_that_grows_beyond_its_cap_is_not_read_to_its_end(small: SessionMemory) -> None:
    asked = 0

    async def receive() -> Any:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b" " * 600, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/checkpoint", "query_string": b""}
    headers = [(b"content-type", b"application/json")]
    asyncio.run(api(small, authorize=local)({**scope, "headers": headers}, receive, send))
    assert (sent[0]["status"], asked) == (413, 2)


def test_a_client_that_leaves_gets_nothing(memory: SessionMemory) -> None:
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "method": "POST", "path": "/api/checkpoint", "query_string": b""}
    headers = [(b"content-type", b"application/json")]
    asyncio.run(api(memory, authorize=local)({**scope, "headers": headers}, receive, send))


def test_other_connections(memory: SessionMemory) -> None:
    sent: list[Any] = []
    told = iter(({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}))

    async def receive() -> Any:
        return next(told)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(api(memory)({"type": "lifespan"}, receive, send))
    asyncio.run(api(memory)({"type": "websocket", "path": "/health"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]


def test_secrets_do_not_come_in_through_reasons_and_imports(filled: SessionMemory, app: Any) -> None:
    from benchmarks.redaction_corpus import cases

    secret = next(case.secret for case in cases() if case.secret and "\n" not in case.secret)
    body = {"session_id": "hall", "node_id": "decision-1", "reason": f"the key {secret} was in it"}
    assert ask(app, "POST", "/api/invalidate", body=body).status_code == 200
    ask(app, "POST", "/api/sessions/new/import", body=[{"role": "user", "content": f"Use {secret} as the key."}])
    for info in filled.sessions(tenant="tenant-a"):
        assert secret not in repr(filled.log.read(info.key))
