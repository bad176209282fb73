"""Every server, as a process of its own: the wire is the application's, and turns are recorded as what they were."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import eventually

from .served_app import EVENTS, REPLY
from .serving import ASKED, CHAT, SERVERS, Server, ask, body, running, stop

STREAM = b"".join(EVENTS)
USER, ASSISTANT = ("user", ASKED), ("assistant", REPLY)
NORMAL_AND_NIGHTLY = [
    pytest.param(name, marks=() if name in ("uvicorn-httptools", "daphne") else pytest.mark.nightly) for name in SERVERS
]


@pytest.fixture(scope="module", params=NORMAL_AND_NIGHTLY)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture
def link(server: Server) -> Iterator[http.client.HTTPConnection]:
    with contextlib.closing(server.connect()) as link:
        yield link


@pytest.fixture
def session(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def _plain(response: http.client.HTTPResponse) -> tuple[int, list[tuple[str, str]]]:
    return response.status, sorted((n.lower(), v) for n, v in response.getheaders() if n.lower() != "date")


def test_bytes_on_the_wire_are_the_applications(server: Server, link: http.client.HTTPConnection, session: str) -> None:
    bare = ask(link, "speaks", path="/bare" + CHAT)
    expected = _plain(bare), bare.read()
    assert expected[1] == STREAM
    for named in ("", session):
        response = ask(link, "speaks", named)
        assert (_plain(response), response.read()) == expected
    assert server.said(session) == [USER, ASSISTANT]
    assert server.closed(session) == [("complete", "stop")]


def test_first_piece_arrives_before_the_second_is_made(
    server: Server, link: http.client.HTTPConnection, session: str
) -> None:
    server.wait_until_held()
    response = ask(link, "waits", session)
    first = b""
    while len(first) < len(EVENTS[0]):
        first += response.read1()
    assert first == EVENTS[0]
    server.go()
    assert first + response.read() == STREAM
    assert server.said(session) == [USER, ASSISTANT]


def test_turn_is_kept_when_the_client_has_its_end(
    server: Server, link: http.client.HTTPConnection, session: str
) -> None:
    response = ask(link, "speaks", session)
    seen = b""
    while b"[DONE]" not in seen:
        seen += response.read1()
    assert server.closed(session) == [("complete", "stop")]
    response.read()


def test_client_gone_before_the_response(server: Server, link: http.client.HTTPConnection, session: str) -> None:
    listening, gone = len(server.notes("listening")), len(server.notes("gone before the response"))
    link.request("POST", CHAT, body("silent"), {"x-session-id": session})
    assert eventually(lambda: len(server.notes("listening")) > listening)
    link.close()
    assert eventually(lambda: len(server.notes("gone before the response")) > gone)
    assert eventually(lambda: server.closed(session) == [("aborted", "")])
    assert server.said(session) == [USER]


def test_client_gone_in_the_middle_of_the_stream(
    server: Server, link: http.client.HTTPConnection, session: str
) -> None:
    stopped = len(server.notes("stopped"))
    response = ask(link, "endless", session)
    assert response.read1().startswith(EVENTS[0])
    response.close()
    link.close()
    assert eventually(lambda: len(server.notes("stopped")) > stopped)
    assert eventually(lambda: server.closed(session) == [("aborted", "")])
    user, (role, text) = server.said(session)
    assert (user, role) == (USER, "assistant")
    assert text.startswith("Ich ")


def test_client_gone_at_the_last_byte(server: Server, link: http.client.HTTPConnection, session: str) -> None:
    gone = len(server.notes("gone at the last byte"))
    response = ask(link, "lingers", session)
    assert response.read(len(STREAM)) == STREAM
    response.close()
    link.close()
    assert eventually(lambda: len(server.notes("gone at the last byte")) > gone)
    assert server.said(session) == [USER, ASSISTANT]
    assert server.closed(session) == [("complete", "stop")]


def test_client_gone_inside_its_own_request(server: Server, session: str) -> None:
    data = body("speaks")
    noticed, counted = len(server.notes("gone in the body")), server.counters().get("request_incomplete", 0)
    with server.raw() as raw:
        raw.sendall(_head(session, f"content-length: {len(data)}") + data[:20])
        time.sleep(0.1)
    if server.name == "daphne":  # which takes the whole body in before the application is called
        return
    assert eventually(lambda: len(server.notes("gone in the body")) > noticed)
    assert eventually(lambda: server.counters().get("request_incomplete", 0) > counted)
    assert server.said(session) == []


def test_request_in_chunks(server: Server, link: http.client.HTTPConnection, session: str) -> None:
    data = body("speaks")
    response = ask(
        link, "", session, data=iter(data[at : at + 7] for at in range(0, len(data), 7)), encode_chunked=True
    )
    assert response.read() == STREAM
    assert server.said(session) == [USER, ASSISTANT]


@pytest.mark.parametrize("size", [3 * 2**20, 9 * 2**20], ids=["remembered", "past the limit"])
def test_large_request(size: int, server: Server, link: http.client.HTTPConnection, session: str) -> None:
    data = body("measures", "x" * size)
    answer = json.loads(ask(link, "", session, data=data).read())
    assert answer == {"size": len(data), "sum": hashlib.sha256(data).hexdigest()}
    assert eventually(lambda: len(server.said(session)) == (1 if size < 8 * 2**20 else 0))


def test_body_is_asked_for_when_the_client_waits_to_be_asked(server: Server, session: str) -> None:
    data = body("speaks")
    with server.raw() as raw:
        raw.sendall(_head(session, f"content-length: {len(data)}", "expect: 100-continue", "connection: close"))
        assert _until(raw, b"\r\n\r\n").startswith(b"HTTP/1.1 100")
        raw.sendall(data)
        assert b"data: [DONE]\n\n" in _until(raw, b"0\r\n\r\n")
    assert server.said(session) == [USER, ASSISTANT]


def test_body_that_nobody_reads_is_not_asked_for(server: Server) -> None:
    if server.name == "daphne":  # which takes the whole body in before the application is called
        return
    asked = []
    for path in ("/bare/refused", "/refused"):
        with server.raw() as raw:
            raw.sendall(_head("a", "content-length: 1000000", "expect: 100-continue", path=path))
            asked.append(_until(raw, b" 413").partition(b" 413")[0])
    assert asked[0] == asked[1]


def test_connection_is_used_again(server: Server, link: http.client.HTTPConnection, session: str) -> None:
    sockets = set()
    for number in range(6):
        response = ask(link, "speaks", ("", f"{session}-{number}")[number % 2])
        sockets.add(link.sock)
        assert response.read() == STREAM
    assert len(sockets) == 1
    assert all(server.said(f"{session}-{number}") == [USER, ASSISTANT] for number in (1, 3, 5))


def test_crash_of_the_application_cuts_the_connection(
    server: Server, link: http.client.HTTPConnection, session: str
) -> None:
    response = ask(link, "crashes", session)
    if server.name == "daphne":  # which leaves the connection open, without us too
        assert response.read1() == EVENTS[0]
    else:
        with pytest.raises((http.client.IncompleteRead, ConnectionError)) as cut:
            response.read()
        assert getattr(cut.value, "partial", EVENTS[0]) == EVENTS[0]
    assert eventually(lambda: server.closed(session) == [("error", "")])
    assert server.said(session) == [USER, ("assistant", "Ich ")]


@pytest.mark.parametrize("name", NORMAL_AND_NIGHTLY)
def test_stopping_the_server_loses_nothing(name: str, tmp_path: Path) -> None:
    words = "Please add the parser to src/parser.py. We decided to use Redis for the queue because it is fast. "
    with running(name, tmp_path) as server, contextlib.closing(server.connect()) as link:
        for number in range(6):
            text = f"{number}. " + words * 600
            assert ask(link, "", f"s{number}", data=body("speaks", text)).read() == STREAM
        status = stop(server.process)
    assert status in (0, -15)
    assert [len(server.said(f"s{number}")) for number in range(6)] == [2] * 6
    assert [server.drawn(f"s{number}") for number in range(6)] == [2] * 6


def _head(session: str, *more: str, path: str = CHAT) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: localhost", f"x-session-id: {session}", *more]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


def _until(raw: socket.socket, end: bytes) -> bytes:
    """What comes up to and with ``end``."""
    seen = b""
    while end not in seen:
        piece = raw.recv(65_536)
        assert piece, seen
        seen += piece
    return seen
