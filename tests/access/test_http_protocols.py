"""Heads that do not end, at a real server, with both of uvicorn's parsers."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from tests.waiting import eventually
from tokenmizer_mw.server.access.http_protocols import PROTOCOL, BoundedH11

from .serving import SECONDS, until_answered

Connect = Callable[[], socket.socket]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers at once at /early; elsewhere when the body is there."""
    if scope["type"] != "http":
        return
    while scope["path"] != "/early" and (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(params=["httptools", "h11"])
def start(request: pytest.FixtureRequest) -> Iterator[Callable[..., Connect]]:
    pytest.importorskip(request.param)
    with contextlib.ExitStack() as running:

        def start_(seconds: int = 60) -> Connect:
            protocol: Any = BoundedH11 if request.param == "h11" else PROTOCOL
            listener = socket.create_server(("127.0.0.1", 0))
            options: dict[str, Any] = {"h11_max_incomplete_event_size": 10_000, "log_level": "critical", "ws": "none"}
            server = uvicorn.Server(uvicorn.Config(app, http=protocol, timeout_keep_alive=seconds, **options))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            running.callback(listener.close)
            running.callback(thread.join, SECONDS)
            running.callback(setattr, server, "should_exit", True)
            assert eventually(lambda: server.started)
            return lambda: socket.create_connection(listener.getsockname(), SECONDS)

        yield start_


def test_a_head_that_drips_in(start: Callable[..., Connect]) -> None:
    connect = start(seconds=1)
    with connect() as link:
        link.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
        stop = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not stop.wait(0.05):
                    link.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        answer = until_answered(link)
        stop.set()
        thread.join()
    assert answer.startswith(b"HTTP/1.1 408") or answer == b"", "the answer may be lost with what was still sent"


def test_a_head_that_stops(start: Callable[..., Connect]) -> None:
    with start(seconds=1)() as link:
        link.sendall(b"GET / HTTP/1.1\r\nhost: lo")
        assert until_answered(link).startswith(b"HTTP/1.1 408")
        assert link.recv(10) == b""


def test_a_second_head_that_stops(start: Callable[..., Connect]) -> None:
    with start(seconds=1)() as link:
        link.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert until_answered(link).endswith(b"ok")
        link.sendall(b"G")
        assert until_answered(link).startswith(b"HTTP/1.1 408")


def test_a_client_that_says_nothing(start: Callable[..., Connect]) -> None:
    with start(seconds=1)() as link:
        assert link.recv(10) == b""


@pytest.mark.parametrize("piece", [b"x-filler: " + b"x" * 90 + b"\r\n", b"x" * 100])
def test_a_head_without_end(start: Callable[..., Connect], piece: bytes) -> None:
    with start()() as link:
        link.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(100_000):
                link.sendall(piece)
            raise AssertionError("10 MB of a head were taken")
        answer = until_answered(link)
    assert answer[9:12] in (b"431", b"400", b""), answer


def test_an_address_without_end(start: Callable[..., Connect]) -> None:
    with start()() as link, contextlib.suppress(ConnectionError):
        link.sendall(b"GET /")
        for _ in range(100_000):
            link.sendall(b"x" * 100)
        raise AssertionError("10 MB of an address were taken")


def test_requests_in_small_pieces(start: Callable[..., Connect]) -> None:
    request = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nhello"
    with start()() as link:
        for _ in range(3):
            for at in range(len(request)):
                link.sendall(request[at : at + 1])
            assert until_answered(link).endswith(b"ok")


def test_bodies_are_no_heads(start: Callable[..., Connect]) -> None:
    """Neither a large body, nor what of one still comes when it was answered already, counts as a head."""
    with start()() as probe:
        link = http.client.HTTPConnection(*probe.getpeername(), timeout=SECONDS)
    with contextlib.closing(link):
        for path in ("/", "/early", "/"):
            link.request("POST", path, b"x" * 3_000_000)
            assert link.getresponse().read() == b"ok"
