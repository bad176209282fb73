"""What a server must hold against whoever reaches it, each through real HTTP. The numbers are those of the list that
the tests were written from; what is about providers' addresses is tested with the proxy."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import secrets
import socket
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.waiting import eventually
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.server.access.hosts import check_bind
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.keyring import open_keys
from tokenmizer_mw.server.access.keys import Key
from tokenmizer_mw.server.access.refusals import NO_KEY
from tokenmizer_mw.server.access.settings import RateSettings
from tokenmizer_mw.server.api.routes import ROUTES

from .conftest import kept, made
from .own_redis import OwnRedis
from .serving import CHAT, ProxyServing, Serving, chat, served, until_answered


@pytest.fixture(params=["small", "proxy"])
def serving(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Serving]:
    yield from served(tmp_path, request.param)


@pytest.fixture
def keys() -> MemoryKeys:
    return MemoryKeys()


# 1. Keys.


def test_1_whoever_has_no_key_gets_the_same_answer_for_every_reason(serving: Serving, keys: MemoryKeys) -> None:
    good, wrong = kept(keys), made()[0]
    revoked = kept(keys)
    keys.revoke(keys.all_keys()[-1].id, 0.0)
    ended = kept(keys, expires_at=1.0)
    server = serving(keys, failed_per_minute=1_000)
    assert server.ask(good).status == 200
    attempts: list[dict[str, str]] = [
        {},
        *({"authorization": value} for value in ("", " ", "Bearer", "Bearer ", f"Bearer {wrong}", f"Basic {good}")),
        *({"authorization": value} for value in (good, f"bearer {good}", f"BEARER {good}", f"Bearer  {good}")),
        *({"authorization": f"Bearer {value}"} for value in (revoked, ended, good[:-1], good + "x", good.upper())),
        *({"authorization": f"Bearer {value}"} for value in (f"{good}, {good}", f"{good}\xe9", "tmz_" + "\xe9" * 43)),
        *({name: wrong} for name in ("x-api-key", "x-goog-api-key", "api-key", "x-tokenmizer-key")),
        {"x-api-key": ""},
        {"x-api-key": f"Bearer {good}"},
        {"authorization": f"Bearer {good}", "x-api-key": good},
        {"authorization": f"Bearer {good}", "x-tokenmizer-key": wrong},
        {"cookie": f"key={good}"},
    ]
    answers = [server.ask(headers=headers) for headers in attempts]
    answers.append(server.ask(path=f"{CHAT}?key={good}"))
    assert {answer.status for answer in answers} == {401}
    assert len({answer.body for answer in answers}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}
    assert len(server.model.seen) == 1


def test_1_a_header_that_comes_twice(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys)
    head = f"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {good}\r\n"
    assert server.raw(f"{head}\r\n".encode()).startswith(b"HTTP/1.1 200")
    for again in (good, made()[0], ""):
        assert server.raw(f"{head}authorization: Bearer {again}\r\n\r\n".encode()).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("place", ["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-tokenmizer-key"])
def test_1_a_key_is_taken_from_where_clients_put_it(serving: Serving, keys: MemoryKeys, place: str) -> None:
    good = kept(keys)
    server = serving(keys)
    value = f"Bearer {good}" if place == "authorization" else good
    assert server.ask(headers={place: value}).status == 200
    assert good not in json.dumps(server.model.seen[0]["headers"]), "nothing behind the door sees the key"


def test_1_a_provider_key_of_the_client_goes_on(serving: Serving, keys: MemoryKeys) -> None:
    good, own = kept(keys), f"sk-{secrets.token_hex(16)}"
    server = serving(keys)
    headers = {"x-tokenmizer-key": good, "authorization": f"Bearer {own}"}
    assert server.ask(headers=headers).status == 200
    seen = dict(server.model.seen[0]["headers"])
    assert seen["authorization"] == f"Bearer {own}" and "x-tokenmizer-key" not in seen


@pytest.mark.parametrize(
    ("path", "type_", "place"),
    [
        ("/v1/chat/completions", "invalid_api_key", ("error", "code")),
        ("/v1/responses", "invalid_api_key", ("error", "code")),
        ("/v1/messages", "authentication_error", ("error", "type")),
        ("/v1/messages/count_tokens", "authentication_error", ("error", "type")),
        ("/v1beta/models/gemini-2.5-flash:generateContent", "UNAUTHENTICATED", ("error", "status")),
        ("/v2/chat", NO_KEY.message, ("message",)),
        ("/api/chat", NO_KEY.message, ("error",)),
    ],
)
def test_1_the_answer_has_the_shape_of_the_clients_dialect(
    serving: Serving, keys: MemoryKeys, path: str, type_: str, place: Sequence[str]
) -> None:
    found = serving(keys).ask(path=path).json()
    for name in place:
        found = found[name]
    assert found == type_


def test_1_a_revoked_key_opens_nothing_in_any_process(serving: Serving, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'keys.db'}"
    office = open_keys(url)
    good = kept(office)
    doors = [serving(open_keys(url), refresh_seconds=0.2) for _ in range(2)]
    assert [door.ask(good).status for door in doors] == [200, 200]
    office.revoke(office.all_keys()[0].id, time.time())
    for door in doors:
        assert eventually(lambda door=door: door.ask(good).status == 401)  # type: ignore[misc]
    office.close()


# 2. Closed when in doubt.


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org", "[::]", "::ffff:10.0.0.1", "127.1"]
)
def test_2_no_open_door_to_others(host: str) -> None:
    with pytest.raises(ConfigError, match="without API keys"):
        check_bind(host, has_auth=False)
    check_bind(host, has_auth=True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "::1", "[::1]", "::ffff:127.0.0.1"]
)
def test_2_this_machine_needs_no_key(host: str) -> None:
    check_bind(host, has_auth=False)


def test_2_when_keys_cannot_be_read_nobody_comes_in(serving: Serving) -> None:
    class Broken(MemoryKeys):
        fault: Exception = StoreUnavailable("down")

        def all_keys(self) -> Sequence[Key]:
            raise self.fault

    for fault in (StoreUnavailable("secret place"), ValueError("secret place"), KeyError("secret place")):
        keys = Broken()
        keys.fault = fault
        server = serving(keys)
        for path in (CHAT, "/api/sessions", "/v1/models"):
            answer = server.ask(made()[0], path=path)
            assert answer.status == 503 and "retry-after" in answer.headers and b"secret place" not in answer.body
        assert server.model.seen == []


# 3. Routes and callers.


def test_3_every_route_for_every_caller(serving: Serving, keys: MemoryKeys) -> None:
    everybody = {
        "none": None,
        "wrong": made()[0],
        "chat": kept(keys, "a", ("chat",)),
        "read": kept(keys, "a", ("read",)),
        "other": kept(keys, "b", ("chat", "read", "write", "erase")),
        "admin": kept(keys, "a", ("admin",)),
    }
    server = serving(keys, failed_per_minute=10_000)
    assert server.ask(everybody["chat"], session="s1", text="We use SQLite.").status == 200
    opened = server.door.settings.open_paths
    for route in ROUTES:
        path = route.path.replace("{session_id}", "s1")
        data = b"{}" if route.method == "POST" else b""
        statuses = {
            who: server.ask(key, path=path, method=route.method, data=data).status for who, key in everybody.items()
        }
        if path in opened:
            assert statuses["none"] == 200, route.name
            continue
        assert (statuses["none"], statuses["wrong"]) == (401, 401), route.name
        if route.scope is not None:
            assert statuses["chat"] == 403, route.name
            assert (statuses["read"] == 403) is (route.scope != "read"), route.name
            assert statuses["admin"] not in (401, 403), route.name
            assert statuses["other"] not in (401, 403), route.name
            if route.of_session:
                assert statuses["other"] >= 400 or route.name == "import", route.name
    for path in (CHAT, "/v1/messages", "/v1/models", "/v1/embeddings", "/api/chat", "/api/tags", "/anything"):
        answers = {who: server.ask(key, path=path) for who, key in everybody.items()}
        assert [answers.pop(who).status for who in ("none", "wrong", "read")] == [401, 401, 403], path
        for answer in answers.values():  # a provider that has no key is behind the door
            assert answer.status not in (401, 403) or b"_API_KEY" in answer.body, path


_HOSTS = [
    "localhost",
    "localhost/health?",
    "localhost/health#",
    "user@localhost",
    "localhost:80@evil.example",
    "localhost#@evil.example",
    "localhost\\@evil.example",
    "//health",
    "..",
    "../health",
    "localhost/../health",
    "localhost%2fhealth",
    "localhost:99999999",
    "[::1",
    "lo calhost",
    "\xe9",
    "",
]


@pytest.mark.parametrize("http", ["h11", "httptools"])
def test_3_the_named_host_never_changes_the_decision(serving: Serving, keys: MemoryKeys, http: str) -> None:
    pytest.importorskip(http)
    server = serving(keys, http=http, failed_per_minute=10_000)
    good = kept(keys)
    for host in _HOSTS:
        for path in (CHAT, "/v1/models", "/api/sessions"):
            request = f"GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode("latin-1")
            assert server.raw(request)[9:12] in (b"400", b"401"), host
    assert server.model.seen == []
    assert server.ask(good).status == 200


_PATHS = [
    "//health",
    "/health/",
    "/health/live/",
    "/health/..",
    "/health/../v1/models",
    "/health%2f..%2fv1/models",
    "/health;/v1/models",
    "/health%00",
    "/./health",
    "/%2e/health",
    "/v1/%2e%2e/health",
    "/v1/..%2fhealth",
    "/HEALTH",
    "/health%20",
    "http://localhost/health/x",
]


@pytest.mark.parametrize("http", ["h11", "httptools"])
def test_3_paths_that_look_like_open_ones(serving: Serving, keys: MemoryKeys, http: str) -> None:
    pytest.importorskip(http)
    server = serving(keys, http=http, failed_per_minute=10_000)
    for path in _PATHS:
        request = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
        assert server.raw(request)[9:12] == b"401", path
    assert server.ask(path="/health", method="GET").status == 200


@pytest.mark.parametrize("serving", ["small"], indirect=True)
def test_3_below_a_mounted_root(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys, below="/llm", open_paths=("/health",))
    assert server.ask(path="/llm/health", method="GET").status == 200
    assert server.ask(good, path=f"/llm{CHAT}").status == 200
    for path in (f"/llm{CHAT}", "/llm/llm/health", "/llm//health", "/llm/health/llm", "/llm/health/..", "/llm/"):
        assert server.ask(path=path, method="GET").status == 401, path


def test_3_only_hosts_that_are_named(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys, hosts=("api.example.org", "*.internal.example", "pinned.example:8443"))
    expected = {
        "api.example.org": 200,
        "API.EXAMPLE.ORG:443": 200,
        "a.internal.example": 200,
        "pinned.example:8443": 200,
        "pinned.example": 421,
        "internal.example": 421,
        "api.example.org.evil.example": 421,
        "evilapi.example.org": 421,
        "127.0.0.1": 421,
    }
    found = {host: server.ask(good, headers={"host": host}).status for host in expected}
    assert found == expected
    assert server.raw(b"GET /v1/models HTTP/1.0\r\n\r\n")[9:12] == b"421"


# 4. Tenants.


def test_4_a_foreign_session_is_like_an_unknown_one(serving: Serving, keys: MemoryKeys) -> None:
    everything = ("chat", "read", "write", "erase")
    mine, other = kept(keys, "a", everything), kept(keys, "b", everything)
    server = serving(keys)
    assert server.ask(mine, session="plan", text="We decided to use SQLite.").status == 200
    assert server.ask(mine, path="/api/resume/plan", method="GET").status == 200
    for route in (route for route in ROUTES if "{session_id}" in route.path and route.method != "POST"):
        foreign, unknown = (
            server.ask(other, path=route.path.replace("{session_id}", name), method=route.method)
            for name in ("plan", "none")
        )
        assert foreign.status == unknown.status and foreign.status >= 400, route.name
        assert foreign.body.replace(b"plan", b"none") == unknown.body, route.name
        assert _plain(foreign.headers) == _plain(unknown.headers), route.name
    for path, body in (("checkpoint", {}), ("invalidate", {"node_id": "d1", "reason": "r"})):
        foreign, unknown = (
            server.ask(other, path=f"/api/{path}", data=json.dumps({"session_id": name, **body}).encode())
            for name in ("plan", "none")
        )
        assert foreign.status == unknown.status and foreign.body.replace(b"plan", b"none") == unknown.body
    assert server.ask(mine, path="/api/resume/plan", method="GET").status == 200


def test_4_one_name_two_sessions(serving: Serving, keys: MemoryKeys) -> None:
    everything = ("chat", "read")
    mine, other = kept(keys, "a", everything), kept(keys, "b", everything)
    server = serving(keys)
    assert server.ask(mine, session="plan", text="My secret word is plum.").status == 200
    assert server.ask(other, session="plan", text="Mine is pear.").status == 200
    for key, word, foreign in ((mine, b"plum", b"pear"), (other, b"pear", b"plum")):
        told = server.ask(key, path="/api/sessions/plan/export", method="GET")
        assert told.status == 200 and word in told.body and foreign not in told.body
    listed = server.ask(mine, path="/api/sessions", method="GET").json()
    assert len(listed["sessions"]) == 1


def _plain(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in ("date", "content-length")}


# 5. What clients name is data.


def test_5_ids_are_never_paths_nor_statements(serving: Serving, keys: MemoryKeys, tmp_path: Path) -> None:
    good = kept(keys, "../../outside", ("chat", "read"))
    server = serving(keys)
    ids = ["../../../etc/passwd", "..", "a/b", "'; DROP TABLE sessions; --", "%2e%2e%2f", "C:\\x", "~root"]
    for id_ in ids:
        assert server.ask(good, session=id_).status == 200
    listed = server.ask(good, path="/api/sessions?limit=50", method="GET").json()["sessions"]
    assert sorted(item["session_id"] for item in listed) == sorted(ids)
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    folder = tmp_path / "data"
    assert {path.name for path in folder.iterdir()} <= {"sessions.db", "sessions.db-wal", "sessions.db-shm"}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
    with contextlib.closing(sqlite3.connect(folder / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (len(ids),)


# 6. Where requests go.


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
def test_6_a_client_cannot_say_where_its_request_goes(serving: Serving, keys: MemoryKeys) -> None:
    good, own = kept(keys), f"sk-{secrets.token_hex(16)}"
    server = serving(keys)
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}"
        for field in ("api_base", "base_url", "extra_headers", "custom_llm_provider", "api_key", "endpoint"):
            server.ask(good, data=chat(**{field: elsewhere}))
        for header in ("x-base-url", "x-forwarded-host", "forwarded", "x-original-url", "openai-base-url", "via"):
            server.ask(good, headers={header: elsewhere})
        server.ask(good, path=f"{CHAT}?api_base={elsewhere}")
        server.ask(good, path=f"{elsewhere}{CHAT}")
        server.ask(headers={"x-tokenmizer-key": good, "authorization": f"Bearer {own}"})
        with pytest.raises(BlockingIOError):
            trap.accept()
    told = json.dumps(server.model.seen, default=str)
    assert len(server.model.seen) >= 8 and own in told
    assert good not in told, "the key of this server goes to no provider"


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
def test_6_a_provider_cannot_send_a_request_elsewhere(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys)
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        server.model.elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}{CHAT}"
        answer = server.ask(good, text="go elsewhere", session="s1")
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert (answer.status, answer.headers["location"], len(server.model.seen)) == (302, server.model.elsewhere, 1)


# 7. Requests that contradict themselves.


@pytest.mark.parametrize("http", ["h11", "httptools"])
@pytest.mark.parametrize(
    "lines",
    [
        "content-length: 5\r\ncontent-length: 6",
        "content-length: 5\r\ncontent-length: 5",
        "content-length: 5\r\ntransfer-encoding: chunked",
        "content-length: +5",
        "content-length: -5",
        "content-length: 0x5",
        "host: localhost",
    ],
)
def test_7_contradictions_are_refused(serving: Serving, keys: MemoryKeys, http: str, lines: str) -> None:
    pytest.importorskip(http)
    good = kept(keys)
    server = serving(keys, http=http)
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {good}\r\n"
    answer = server.raw(f"{head}{lines}\r\n\r\nhello".encode())
    if answer.startswith(b"HTTP/1.1 200"):
        # A server may hand on one of two equal lengths as one; never both, nor a body of another size.
        assert "content-length: 5\r\ncontent-length: 5" in lines and server.model.seen[0]["size"] == 5
    else:
        assert answer[9:12] in (b"400", b"") and server.model.seen == []


_SAID = b'"messages":[{"role":"user","content":"Use SQLite."}]'
_ODD = {
    "a byte order mark": b"\xef\xbb\xbf{%b}" % _SAID,
    "a name twice": b'{"messages":[],%b,"model":"a","model":"b"}' % _SAID,
    "no number": b'{%b,"temperature":NaN}' % _SAID,
    "half a character": b'{"messages":[{"role":"user","content":"\\ud83d"}]}',
    "no UTF-8": b'{"messages":[{"role":"user","content":"\xff"}]}',
    "no JSON": b'{"messages":[{"role":"user","content":"x"',
    "much space": b" " * 300 + b"{%b}" % _SAID,
}


@pytest.mark.parametrize("body", _ODD.values(), ids=_ODD)
def test_7_what_was_looked_at_is_what_is_sent(serving: Serving, keys: MemoryKeys, body: bytes) -> None:
    good = kept(keys)
    server = serving(keys)
    status = server.ask(good, data=body, session="s1").status
    if isinstance(serving, ProxyServing) and body == _ODD["no UTF-8"]:
        assert status == 415 and server.model.bodies == [], "what cannot be read cannot be redacted"
        return
    assert status == 200
    assert server.model.bodies == [body] and server.model.seen[0]["size"] == len(body)


# 8. Limits of what comes in.


def test_8_bodies_by_what_is_received(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys, body_max=100_000)
    assert server.ask(good, data=chat("x" * 90_000)).status == 200
    answer = server.ask(good, headers={"connection": "close"}, data=chat("x" * 100_000))
    assert answer.status == 413 and answer.json()["error"]["code"] == "request_too_large"
    assert answer.headers["connection"] == "close"
    pieces = (b"x" * 10_000 for _ in range(50))
    assert server.ask(good, data=pieces).status == 413
    assert [seen for seen in server.model.seen if "size" in seen and seen["size"] > 100_000] == []


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_8_bodies_by_what_they_decompress_to(serving: Serving, keys: MemoryKeys, encoding: str) -> None:
    good = kept(keys)
    server = serving(keys, body_max=1_000_000)
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    for size, status in ((900_000, 200), (1_000_001, 413), (100_000_000, 413)):
        data = pack(b"x" * size)
        assert len(data) < 1_000_000
        assert server.ask(good, data=data, headers={"content-encoding": encoding}).status == status, size
    assert server.ask(good, data=b"no such thing", headers={"content-encoding": encoding}).status == 400
    answer = server.ask(good, data=b"x", headers={"content-encoding": "compress"})
    assert answer.status == 415
    assert server.ask(good, data=b"x", headers={"content-encoding": "gzip, gzip"}).status == 415


def test_8_heads(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys, http="h11", head_max=8_000)
    assert server.ask(good, headers={"x-filler": "x" * 7_000}).status == 200
    answer = server.ask(good, headers={f"x-filler-{at}": "x" * 90 for at in range(90)})
    assert answer.status == 431


@pytest.mark.parametrize("http", ["h11", "httptools"])
def test_8_bodies_that_come_slowly(serving: Serving, keys: MemoryKeys, http: str) -> None:
    pytest.importorskip(http)
    good = kept(keys)
    server = serving(keys, http=http, body_wait_seconds=0.5, body_bytes_per_second=1_000)
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {good}\r\ncontent-length: 10000\r\n\r\n"
    with server.connect() as silent, server.connect() as dripping:
        silent.sendall(head.encode())
        dripping.sendall(head.encode())
        stop = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not stop.wait(0.05):
                    dripping.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        answers = [until_answered(silent), until_answered(dripping)]
        stop.set()
        thread.join()
    assert [answer[9:12] for answer in answers] == [b"408", b"408"]
    assert not any("size" in seen for seen in server.model.seen)
    assert server.ask(good).status == 200, "the server goes on"


def test_8_a_body_that_comes_steadily_may_take_long(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    server = serving(keys, body_wait_seconds=5.0, body_bytes_per_second=1_000)

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            time.sleep(0.05)
            yield b"x" * 1_000

    assert server.ask(good, data=pieces()).status == 200
    assert server.model.seen[0]["size"] == 20_000


def test_8_waiting_for_the_answer_is_no_slowness(serving: Serving, keys: MemoryKeys) -> None:
    """The application listens for the client's leaving while it works: that may take as long as it takes."""
    good = kept(keys)
    server = serving(keys, body_wait_seconds=1.0)
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(server.ask(good, text="wait for me").status))
    asking.start()
    assert eventually(lambda: len(server.model.seen) == 1)
    time.sleep(1.5)
    server.model.go.set()
    asking.join()
    assert answers == [200]


_CALLS = {
    "/v1/chat/completions": ("messages", ("error", "code"), "{code}"),
    "/v1/responses": ("input", ("error", "code"), "{code}"),
    "/v1/messages": ("messages", ("error", "type"), "invalid_request_error"),
    "/v1beta/models/gemini-2.5-flash:generateContent": ("contents", ("error", "status"), "INVALID_ARGUMENT"),
    "/v2/chat": ("messages", ("message",), "{message}"),
    "/api/chat": ("messages", ("error",), "{message}"),
}


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
@pytest.mark.parametrize("path", _CALLS)
def test_8_what_a_request_holds(serving: Serving, keys: MemoryKeys, path: str) -> None:
    good = kept(keys, "a", ("chat", "read"))
    server = serving(keys)
    name, place, shape = _CALLS[path]
    message: dict[str, object] = {"role": "user", "content": "Hello.", "parts": [{"text": "Hello."}]}
    deep = json.loads("[" * 62 + "]" * 62)
    too_much = {
        "nested_too_deeply": (
            {name: [{**message, "input": deep}]},
            f"{name}[0].input[0]...: nested deeper than the 64",
        ),
        "too_many_messages": ({name: [message] * 2_001}, f"{name}: 2001 messages are more than the 2000"),
        "too_many_tools": ({name: [message], "tools": [{"name": "f"}] * 257}, "tools: 257 tools are more than the 256"),
    }
    for code, (request, told) in too_much.items():
        data = json.dumps({"model": "gpt-4o", **request}).encode()
        answer = server.ask(good, path=path, data=data, session="s1")
        found = answer.json()
        for step in place:
            found = found[step]
        ends = " levels that this server takes" if code == "nested_too_deeply" else " that this server takes"
        assert (answer.status, found) == (400, shape.format(code=code, message=told + ends))
        assert told in answer.body.decode()
    assert server.model.seen == [] and dict(server.door.counts) == dict.fromkeys(too_much, 1)
    assert server.ask(good, path="/api/sessions", method="GET").json()["sessions"] == []


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
def test_8_what_a_request_holds_is_a_setting(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    for settings, status in (
        ({}, 200),
        ({"messages_max": 1_999}, 400),
        ({"tools_max": 255}, 400),
        ({"depth_max": 3}, 400),
    ):
        messages = [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}] * 2_000
        answer = serving(keys, **settings).ask(good, data=chat(messages=messages, tools=[{"name": "f"}] * 256))
        assert answer.status == status, settings


def test_8_streams_at_once(serving: Serving, keys: MemoryKeys) -> None:
    mine, other = kept(keys, "a"), kept(keys, "b")
    server = serving(keys, per_tenant=RateSettings(streams=2))
    threads = [threading.Thread(target=server.ask, args=(mine,), kwargs={"text": "wait for me"}) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(server.model.seen) == 2)
    answer = server.ask(mine)
    assert answer.status == 429 and answer.json()["error"]["code"] == "too_many_streams"
    assert answer.headers["retry-after"] == "1"
    assert server.ask(other).status == 200
    server.model.go.set()
    for thread in threads:
        thread.join()
    assert eventually(lambda: server.ask(mine).status == 200)


def test_8_a_client_that_leaves_gives_its_place_back(serving: Serving, keys: MemoryKeys) -> None:
    mine = kept(keys, "a")
    server = serving(keys, per_tenant=RateSettings(streams=1))
    data = chat("wait for me")
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {mine}\r\ncontent-length: {len(data)}"
    with server.connect() as leaving:
        leaving.sendall(f"{head}\r\n\r\n".encode() + data)
        assert eventually(lambda: len(server.model.seen) == 1)
        assert server.ask(mine).status == 429
    server.model.go.set()
    assert eventually(lambda: server.ask(mine).status == 200)


# 9. Rates.


def test_9_requests_of_a_tenant(serving: Serving, keys: MemoryKeys) -> None:
    mine, also_mine, other = kept(keys, "a"), kept(keys, "a"), kept(keys, "b")
    server = serving(keys, per_tenant=RateSettings(requests=3), tenants={"b": RateSettings(requests=1)})
    statuses = [server.ask(key).status for key in (mine, also_mine, mine)]
    assert statuses == [200, 200, 200]
    answer = server.ask(also_mine, headers={"x-forwarded-for": secrets.token_hex(4), "forwarded": "for=1.2.3.4"})
    assert answer.status == 429 and answer.json()["error"]["code"] == "rate_limit_exceeded"
    assert 1 <= int(answer.headers["retry-after"]) <= 20
    assert answer.headers["ratelimit-limit"] == answer.headers["x-ratelimit-limit-requests"] == "3"
    assert answer.headers["ratelimit-remaining"] == answer.headers["x-ratelimit-remaining-requests"] == "0"
    assert 40 <= int(answer.headers["ratelimit-reset"]) <= 60
    assert [server.ask(other).status for _ in range(2)] == [200, 429]
    assert len(server.model.seen) == 4, "what is refused reaches nobody"


def test_9_requests_of_a_key(serving: Serving, keys: MemoryKeys) -> None:
    mine, also_mine = kept(keys, "a"), kept(keys, "a")
    server = serving(keys, per_key=RateSettings(requests=2))
    assert [server.ask(mine).status for _ in range(3)] == [200, 200, 429]
    assert server.ask(also_mine).status == 200


def test_9_tokens_are_charged_as_the_reply_tells_them(serving: Serving, keys: MemoryKeys) -> None:
    mine = kept(keys, "a")
    server = serving(keys, per_tenant=RateSettings(tokens=13))
    assert [server.ask(mine).status for _ in range(3)] == [200, 200, 429], "12 tokens each"
    answer = server.ask(mine)
    assert answer.headers["x-ratelimit-limit-tokens"] == "13"
    assert server.ask(mine, path="/v1/models", method="GET").status == 200, "what takes no tokens goes on"


def test_9_wrong_keys_from_one_host(serving: Serving, keys: MemoryKeys) -> None:
    known, new = kept(keys), kept(keys)
    server = serving(keys, failed_per_minute=2)
    assert server.ask(known).status == 200
    forged = [{"x-forwarded-for": f"10.0.0.{at}"} for at in range(5)]
    statuses = [server.ask(made()[0], headers=headers).status for headers in forged]
    assert statuses == [401] * 2 + [429] * 3
    refused = server.ask(made()[0])
    assert int(refused.headers["retry-after"]) >= 1
    assert server.ask(new).status == 429, "nothing from this host is compared any more"
    assert server.ask(known).status == 200, "but who was let in before is not shut out"
    assert server.ask(new, source="127.0.0.2").status == 200, "nor are others"


def test_9_whoever_sends_no_key_guesses_none(serving: Serving, keys: MemoryKeys) -> None:
    """A probe or a scanner behind the same balancer must not shut out those who come with a key."""
    new = kept(keys)
    server = serving(keys, failed_per_minute=2)
    assert [server.ask(headers=headers).status for headers in ({}, {}, {"x-api-key": "sk-none"}, {})] == [401] * 4
    assert server.ask(new).status == 200


def test_9_limits_that_cannot_be_checked(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{nobody.getsockname()[1]}"
        closed = serving(keys, per_tenant=RateSettings(requests=2), redis=address, redis_down="closed")
        assert closed.ask(good).status == 503 and closed.model.seen == []
        opened = serving(keys, per_tenant=RateSettings(requests=2), redis=address, redis_down="open")
        assert [opened.ask(good).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
@pytest.mark.parametrize(
    "down, reason, statuses", [("open", "limits_not_shared", {200}), ("closed", "limits_unavailable", {503})]
)
def test_9_health_tells_of_a_redis_that_is_down(
    serving: Serving, keys: MemoryKeys, own_redis: OwnRedis, down: str, reason: str, statuses: set[int]
) -> None:
    good = kept(keys)
    server = serving(
        keys, per_tenant=RateSettings(requests=1_000), redis=own_redis.address, redis_seconds=5.0, redis_down=down
    )

    def health() -> tuple[int, str, bool, list[str]]:
        answer = server.ask(path="/health", method="GET")
        told = answer.json()
        return answer.status, told["status"], told["ready"], told["reasons"]

    assert (server.ask(good).status, health()) == (200, (200, "ok", True, []))
    own_redis.stop()
    assert health() == (200, "degraded", True, [reason]), "told without waiting for a call that fails"
    assert {server.ask(good).status for _ in range(3)} == statuses
    assert health() == (200, "degraded", True, [reason])
    assert server.ask(path="/health/ready", method="GET").status == 200
    own_redis.start()
    assert health() == (200, "ok", True, [])
    assert eventually(lambda: server.ask(good).status == 200)


# 10. Pages in browsers.


def test_10_no_page_may_read_answers_unless_it_is_named(serving: Serving, keys: MemoryKeys) -> None:
    good = kept(keys)
    asks = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    plain = serving(keys)
    for answer in (plain.ask(method="OPTIONS", headers=asks), plain.ask(good, headers={"origin": asks["origin"]})):
        assert not [name for name in answer.headers if name.startswith("access-control")]
    named = serving(keys, origins=("https://app.example",))
    answer = named.ask(method="OPTIONS", headers=asks)
    assert answer.status == 401 and "access-control-allow-origin" not in answer.headers
    asks["origin"] = "https://app.example"
    asks["access-control-request-headers"] = "authorization,content-type"
    answer = named.ask(method="OPTIONS", headers=asks)
    assert answer.status == 204 and answer.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["access-control-allow-headers"] == "authorization,content-type"
    assert "access-control-allow-credentials" not in answer.headers
    for key, status in ((good, 200), (None, 401)):
        answer = named.ask(key, headers={"origin": "https://app.example"})
        assert answer.status == status
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert answer.headers["vary"] == "origin"


def test_10_without_keys_pages_reach_nothing(serving: Serving) -> None:
    """A page can send a plain POST to a server on its visitor's machine, and give that machine a name of its own."""
    server = serving(None)
    assert server.ask().status == 200
    assert server.ask(headers={"host": f"localhost:{server.port}"}).status == 200
    assert server.ask(headers={"host": "rebound.example"}).status == 421
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        assert server.ask(headers={"origin": origin, "content-type": "text/plain"}).status == 403, origin
    assert server.ask(headers={"origin": f"http://127.0.0.1:{server.port}"}).status == 200
    named = serving(None, origins=("app://obsidian.md",))
    assert named.ask(headers={"origin": "app://obsidian.md"}).status == 200
    assert (len(server.model.seen), len(named.model.seen)) == (3, 1)


def test_10_refusals_are_not_stored_anywhere(serving: Serving, keys: MemoryKeys) -> None:
    assert serving(keys).ask().headers["cache-control"] == "no-store"


# 11. What is told to nobody.


def test_11_keys_are_in_no_log_and_no_answer(
    serving: Serving, keys: MemoryKeys, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    good, wrong = kept(keys, "a", ("chat", "read", "admin")), made()[0]
    server = serving(keys, body_max=10_000, per_tenant=RateSettings(requests=50))
    told = b""
    for key in (good, wrong):
        for path, method in (
            (CHAT, "POST"),
            ("/api/sessions", "GET"),
            ("/metrics", "GET"),
            (f"{CHAT}?key={key}", "POST"),
        ):
            answer = server.ask(key, path=path, method=method, session="s1")
            told += answer.body + json.dumps(answer.headers).encode()
    told += server.ask(good, data=b"x" * 20_000).body
    told += json.dumps(server.door.counts).encode()
    digest = keys.all_keys()[0].digest.hex()
    for secret in (good, wrong, good[-8:], digest):
        assert secret not in caplog.text and secret.encode() not in told
        assert all(secret.encode() not in path.read_bytes() for path in (tmp_path / "data").iterdir())


@pytest.mark.parametrize("serving", ["proxy"], indirect=True)
def test_11_secrets_of_prompts_headers_queries_and_errors_are_in_no_log(
    serving: Serving, keys: MemoryKeys, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    good = kept(keys, "a", ("chat", "read", "admin"))
    server = serving(keys)
    said, sent, asked = (f"sk-proj-{secrets.token_urlsafe(36)}" for _ in range(3))
    forged = "one\r\nERROR two\x1b[31m"
    headers = {"x-tokenmizer-key": good, "authorization": f"Bearer {sent}"}
    for session, text in (("s1", f"Our key is {said}"), (None, f"fail with this: {said}"), ("s1", "Go on.")):
        server.ask(path=f"{CHAT}?key={asked}", headers=headers, text=text, session=session)
    server.ask(good, text="x", data=chat(model=forged), session="s2")
    server.ask(good, path="/v1/%0d%0aERROR%20two", method="GET")
    metrics = server.ask(good, path="/metrics", method="GET").body.decode()
    server.memory.flush()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())
    assert len(server.model.seen) == 5
    assert all(said.encode() not in body for body in server.model.bodies)
    for secret in (said, sent, asked):
        assert secret not in caplog.text and secret not in metrics and secret.encode() not in stored
    own = [record.getMessage() for record in caplog.records if record.name.startswith("tokenmizer_mw")]
    assert not [line for line in own if "\x1b" in line or "\n" in line or "ERROR two" in line]
