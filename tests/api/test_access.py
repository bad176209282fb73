"""Every route of the table with every kind of caller; a session of somebody else is not there."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.compaction.contract import SealedContent
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.access.caller import CALLER_KEY, Caller
from tokenmizer_mw.server.api import api, local
from tokenmizer_mw.server.api.app import Api
from tokenmizer_mw.server.api.requests import Route

from .hosts import CALLERS, CHAT, ask, starlette, who

ROUTES: tuple[Route, ...] = api(SessionMemory.open(), authorize=local).routes
QUERIES = {
    "history": "?at_time=2999-01-01T00:00:00Z",
    "why": "?text=SQLite",
    "search": "?text=SQLite",
    "recall": "?query=SQLite",
}
BODIES: dict[str, Any] = {
    "checkpoint": {"session_id": "hall"},
    "invalidate": {"session_id": "hall", "node_id": "decision-1", "reason": "wrong"},
    "complete": {"session_id": "hall", "node_id": "task-1"},
    "archive": {"session_id": "hall", "node_id": "decision-1"},
    "separate": {"session_id": "hall", "node_id": "decision-1"},
    "pin": {"session_id": "hall", "node_id": "decision-1"},
    "correct": {"session_id": "hall", "node_id": "decision-1", "detail": "it is one file"},
    "undo": {"session_id": "hall", "number": 1},
    "remember": {"session_id": "hall", "text": "Answer in French", "kind": "rule"},
    "import": CHAT,
}


@pytest.fixture
def bodies(filled: SessionMemory) -> dict[str, Any]:
    """``BODIES``, and the body of a compaction that the store of ``filled`` has sealed."""
    sealed = filled.service.compaction.seal().close("tenant-a", SealedContent("hall", "checkpoint-1", "We use SQLite."))
    return {**BODIES, "compaction": {"encrypted_content": sealed}}


def call(app: Any, route: Route, token: str | None, bodies: Mapping[str, Any]) -> httpx2.Response:
    """A request that would succeed for who may make it."""
    path = route.path.replace("{session_id}", "hall") + QUERIES.get(route.name, "")
    return ask(app, route.method, path, token=token, body=bodies.get(route.name))


def expected(route: Route, token: str | None) -> int:
    """What the table promises to a caller."""
    if route.scope is None:
        return route.status
    if token is None or token not in CALLERS:
        return 401
    if not CALLERS[token].may(route.scope):
        return 403
    if token == "b" and (route.of_session or route.name == "compaction") and route.name != "import":
        return 404
    return route.status


def told(answer: httpx2.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    return answer.status_code, answer.content, sorted(answer.headers.items())


TOKENS = (None, "wrong", "chat", "b", "admin", "a")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_with_every_caller(route: Route, filled: SessionMemory, app: Any, bodies: dict[str, Any]) -> None:
    key = SessionKey("tenant-a", "hall")
    filled.pin("hall", "decision-1", tenant="tenant-a")  # what undo takes back
    for token in TOKENS:
        if route.name == "undo" and token == "a":  # admin has taken it back: the next change is undone
            bodies["undo"] = {"session_id": "hall", "number": 2}
        if route.name == "separate" and token == "a":  # so has admin
            filled.undo("hall", tenant="tenant-a")
        before = filled.log.read(key)
        answer = call(app, route, token, bodies)
        if route.name == "forget" and token == "admin":
            filled.log.load(key, before, expected_seq=0)
        assert answer.status_code == expected(route, token), (token, answer.text)
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"code", "message", "field"}
        if answer.status_code >= 400 or token == "b":
            assert filled.log.read(key) == before


def test_the_matrix_meets_every_scope() -> None:
    assert {route.scope for route in ROUTES} == {None, "read", "write", "erase", "admin"}
    assert len({route.name for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.of_session and route.name != "import"], ids=lambda route: route.name
)
def test_a_foreign_session_is_an_unknown_one(
    route: Route, filled: SessionMemory, app: Any, bodies: dict[str, Any]
) -> None:
    foreign = call(app, route, "b", bodies)
    filled.forget("hall", tenant="tenant-a")
    assert told(foreign) == told(call(app, route, "b", bodies))
    assert foreign.json()["error"]["code"] == "unknown_session"
    assert "hall" not in foreign.text


def test_nobody_is_let_in_unless_the_host_says_so(filled: SessionMemory, bodies: dict[str, Any]) -> None:
    app = starlette(api(filled))
    for route in ROUTES:
        assert call(app, route, "a", bodies).status_code == (401 if route.scope is not None else 200), route.name


def test_the_caller_that_the_door_let_in(filled: SessionMemory) -> None:
    inner = api(filled)

    async def door(scope: Any, receive: Any, send: Any) -> None:
        await inner({**scope, CALLER_KEY: Caller("tenant-a", "key", frozenset({"read"}))}, receive, send)

    assert ask(door, "GET", "/api/graph/hall", prefix="").status_code == 200
    assert ask(door, "DELETE", "/api/sessions/hall", prefix="").status_code == 403

    async def forged(scope: Any, receive: Any, send: Any) -> None:
        await inner({**scope, CALLER_KEY: {"tenant": "tenant-a", "scopes": ["admin"]}}, receive, send)

    assert ask(forged, "GET", "/api/graph/hall", prefix="").status_code == 401


def test_local_is_the_hosts_own_choice(memory: SessionMemory) -> None:
    memory.record("hall", CHAT)
    app = starlette(api(memory, authorize=local))
    assert ask(app, "GET", "/api/graph/hall", token=None).status_code == 200
    assert ask(app, "GET", "/api/stats", token=None).json()["counters"] == {}


def fails(scope: Mapping[str, Any]) -> Caller:
    raise RuntimeError("the key store says tmz_secret")


async def fails_later(scope: Mapping[str, Any]) -> Caller:
    raise RuntimeError("the key store says tmz_secret")


def says_yes(scope: Mapping[str, Any]) -> Any:
    return True


@pytest.mark.parametrize("authorize", [fails, fails_later, says_yes])
def test_a_verdict_that_fails_lets_nobody_in(
    authorize: Any, filled: SessionMemory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = ask(starlette(api(filled, authorize=authorize)), "GET", "/api/graph/hall")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert "tmz_secret" not in caplog.text + answer.text


def test_arguments_of_another_kind_are_refused(memory: SessionMemory) -> None:
    with pytest.raises(ConfigError, match="memory is a SessionMemory"):
        api("sqlite:///x.db")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="authorize is called"):
        api(memory, authorize="me")  # type: ignore[arg-type]


def test_nothing_of_a_session_is_logged(
    filled: SessionMemory, app: Any, bodies: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for route in ROUTES:
        call(app, route, "a", bodies)
    filled.close()
    broken = [call(app, route, "a", bodies) for route in ROUTES]
    assert {answer.status_code for answer in broken} <= {200, 403, 404, 422, 503}
    lines = [json.dumps(record.__dict__, default=str) for record in caplog.records if "tokenmizer" in record.name]
    assert lines
    assert not any(word in line for line in lines for word in ("hall", "SQLite", "PostgreSQL", "booking"))


def test_the_table_is_the_apps(memory: SessionMemory) -> None:
    app = api(memory, authorize=who)
    assert isinstance(app, Api)
    assert {"openapi", "metrics", "graph"} <= {route.name for route in app.routes}
