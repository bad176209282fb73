"""The access middleware as an ASGI application, on asyncio and on trio, without a server."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.caller import CALLER_KEY, Caller, caller_of, tenant_of
from tokenmizer_mw.server.access.hosts import Hosts, Origins
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.middleware import Access
from tokenmizer_mw.server.access.settings import AccessSettings, RateSettings

from .conftest import kept

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
Sent = list[dict[str, Any]]


def scope_of(key: str = "", *, path: str = CHAT, **more: Any) -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"Authorization", f"Bearer {key}".encode())]
    common = {"type": "http", "path": path, "method": "POST", "headers": headers, "client": ("127.0.0.1", 5)}
    return {**common, **more}


async def passed(door: Access, scope: dict[str, Any], *messages: dict[str, Any]) -> Sent:
    """What a request is answered."""
    sent: Sent = []
    waiting = list(messages or [{"type": "http.request", "body": b"{}"}])

    async def receive() -> Any:
        return waiting.pop(0) if waiting else await anyio.sleep_forever()

    async def send(message: Any) -> None:
        sent.append(message)

    with anyio.fail_after(20):
        await door(scope, receive, send)
    return sent


class App:
    """Reads its body, answers, and remembers the scopes it was called with."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.messages: Sent = []
        self.start = {"type": "http.response.start", "status": 200, "headers": [(b"x-request-id", b"r1")]}
        self.body = {"type": "http.response.body", "body": memoryview(b"done")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["type"] == "lifespan":
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.messages.append(await receive())
        while self.messages[-1].get("more_body"):
            self.messages.append(await receive())
        await send(self.start)
        await send(self.body)


async def test_what_goes_in_and_what_comes_out() -> None:
    app, keys = App(), MemoryKeys()
    key = kept(keys, "acme", ("chat", "read"))
    door = Access(app, keys=keys)
    scope = scope_of(key, state={"a": 1}, extensions={})
    before = {**scope, "headers": list(scope["headers"])}
    sent = await passed(door, scope)
    assert scope == before, "the server's scope is its own"
    (inner,) = app.scopes
    caller = caller_of(inner)
    assert caller is not None and (caller.tenant, caller.scopes) == ("acme", {"chat", "read"})
    assert tenant_of(inner) == "acme" and inner["state"] is scope["state"]
    assert inner["headers"] == [(b"host", b"localhost")]
    assert sent[0] is app.start and sent[1] is app.body, "the response passes as it is"


async def test_the_server_cannot_be_told_who_calls() -> None:
    """A scope that names a caller already, as a door further out leaves it, does not open this one."""
    app = App()
    door = Access(app, keys=MemoryKeys())
    sent = await passed(door, scope_of(**{CALLER_KEY: Caller("acme")}))
    assert sent[0]["status"] == 401 and app.scopes == []


async def test_headers_that_can_be_read_only_once() -> None:
    app, keys = App(), MemoryKeys()
    key = kept(keys)
    scope = scope_of(key)
    scope["headers"] = iter([*scope["headers"], (b"x-other", b"1")])
    sent = await passed(Access(app, keys=keys), scope)
    assert sent[0]["status"] == 200 and (b"x-other", b"1") in app.scopes[0]["headers"]


async def test_scopes_that_lack_what_is_optional() -> None:
    app = App()
    sent = await passed(Access(app, keys=None), {"type": "http", "path": "/", "method": "GET"})
    assert sent[0]["status"] == 421, "without a host nobody knows that this machine was meant"
    door = Access(app, keys=None, settings=AccessSettings(hosts=("a.example",)))
    sent = await passed(door, {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", b"a.example")]})
    assert sent[0]["status"] == 200


async def test_a_body_in_pieces_is_given_on_as_it_comes() -> None:
    app, keys = App(), MemoryKeys()
    pieces = [{"type": "http.request", "body": bytes([at]) * 10, "more_body": at < 4} for at in range(5)]
    await passed(Access(app, keys=keys), scope_of(kept(keys)), *pieces)
    assert all(got is sent for got, sent in zip(app.messages, pieces, strict=True))


async def test_an_application_that_answers_before_it_reads() -> None:
    """A body that turns out too large then: the answer stands, and the application is told that the client is gone."""
    keys = MemoryKeys()
    told: Sent = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        told.extend([await receive(), await receive(), await receive()])
        await send({"type": "http.response.body", "body": b"all"})

    door = Access(app, keys=keys, settings=AccessSettings(body_max=15))
    piece = {"type": "http.request", "body": b"x" * 10, "more_body": True}
    sent = await passed(door, scope_of(kept(keys)), piece, piece)
    assert [message["type"] for message in told] == ["http.request", "http.disconnect", "http.disconnect"]
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[1]["body"] == b"all"


async def test_an_application_that_fails_because_it_was_cut_off() -> None:
    keys = MemoryKeys()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 500, "headers": []})
        raise LookupError("the client is gone")

    door = Access(app, keys=keys, settings=AccessSettings(body_max=15))
    sent = await passed(door, scope_of(kept(keys)), {"type": "http.request", "body": b"x" * 20})
    assert [message.get("status") for message in sent] == [413, None]


async def test_an_error_of_the_application_is_its_own() -> None:
    keys = MemoryKeys()
    error = LookupError("its own")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise error

    with pytest.raises(LookupError) as raised:
        await passed(Access(app, keys=keys), scope_of(kept(keys)))
    assert raised.value is error


async def test_a_call_that_fails_gives_its_place_back() -> None:
    keys = MemoryKeys()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise LookupError

    key = kept(keys)
    door = Access(app, keys=keys, settings=AccessSettings(per_tenant=RateSettings(streams=1)))
    for _ in range(3):
        with pytest.raises(LookupError):
            await passed(door, scope_of(key))


async def test_a_call_that_is_cancelled_gives_its_place_back() -> None:
    keys = MemoryKeys()
    entered = anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        entered.set()
        await anyio.sleep_forever()

    key = kept(keys)
    door = Access(app, keys=keys, settings=AccessSettings(per_tenant=RateSettings(streams=1)))
    async with anyio.create_task_group() as group:
        group.start_soon(passed, door, scope_of(key))
        await entered.wait()
        assert (await passed(door, scope_of(key)))[0]["status"] == 429
        group.cancel_scope.cancel()
    app_ = App()
    door.app = app_
    assert (await passed(door, scope_of(key)))[0]["status"] == 200


async def test_a_body_that_does_not_come() -> None:
    app, keys = App(), MemoryKeys()
    door = Access(app, keys=keys, settings=AccessSettings(body_wait_seconds=0.05))
    piece = {"type": "http.request", "body": b"x", "more_body": True}
    sent = await passed(door, scope_of(kept(keys)), piece)
    assert sent[0]["status"] == 408 and app.messages[-1]["type"] == "http.disconnect"
    assert door.counts == {"request_too_slow": 1}


@pytest.mark.parametrize("has_key", [True, False])
async def test_websockets(has_key: bool) -> None:
    entered: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        entered.append(caller_of(scope))

    keys = MemoryKeys()
    key = kept(keys)
    scope = scope_of(key if has_key else "", type="websocket")
    del scope["method"]
    sent = await passed(Access(app, keys=keys), scope, {"type": "websocket.connect"})
    assert len(entered) == has_key
    assert [message["type"] for message in sent] == ([] if has_key else ["websocket.close"])


async def test_lifespans_pass() -> None:
    app = App()
    sent = await passed(Access(app, keys=None), {"type": "lifespan"})
    assert sent == [{"type": "lifespan.shutdown.complete"}]


async def test_answers_to_head_have_no_body() -> None:
    sent = await passed(Access(App(), keys=MemoryKeys()), scope_of(method="HEAD"))
    assert sent[0]["status"] == 401 and sent[1]["body"] == b""


def test_wiring_that_cannot_be() -> None:
    for wrong in (lambda: Access(None, keys=None), lambda: Access(App(), keys="tmz_")):  # type: ignore[arg-type]
        with pytest.raises(ConfigError):
            wrong()


@pytest.mark.parametrize("pattern", ["", "*", "*.", "https://a.example", "a.example/", "a@b", "a b", "*.a.*"])
def test_hosts_that_are_none(pattern: str) -> None:
    with pytest.raises(ConfigError):
        Hosts((pattern,))


@pytest.mark.parametrize("origin", ["", "*", "a.example", "https://a.example/"])
def test_origins_that_are_none(origin: str) -> None:
    with pytest.raises(ConfigError):
        Origins((origin,))


def test_whoever_comes_through_no_door_has_no_tenant() -> None:
    with pytest.raises(LookupError):
        tenant_of({"type": "http"})
    assert caller_of({CALLER_KEY: "acme"}) is None


def test_admin_may_all() -> None:
    assert Caller("acme", "k", frozenset({"admin"})).may("erase")
    assert not Caller("acme", "k", frozenset({"read"})).may("erase")
