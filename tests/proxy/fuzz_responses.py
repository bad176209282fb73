"""Responses of a hostile provider, made of bytes, and what must hold of each: the target of a fuzzer.

``test_fuzz.py`` runs a fixed number of seeded inputs, ``fuzz.py`` searches for new ones.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import h11

from tokenmizer_mw.server.proxy.connection import HEADERS_MAX, BrokenResponse, Connection
from tokenmizer_mw.wire.http import Header

T = TypeVar("T")

WHOLE: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"

TOKENS: Final = (
    WHOLE,
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 200 OK\r\n",
    b"HTTP/1.1 204 No Content\r\n",
    b"HTTP/1.1 304 Not Modified\r\n",
    b"HTTP/1.1 429 Too Many Requests\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n",
    b"content-length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"content-length: 5, 5\r\n",
    b"content-length: +5\r\n",
    b"content-length: 18446744073709551621\r\n",
    b"transfer-encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"transfer-encoding: chunked, identity\r\n",
    b"connection: close\r\n",
    b"connection: keep-alive\r\n",
    b"connection: upgrade\r\nupgrade: h2c\r\n",
    b"x-made: up\r\n",
    b" folded\r\n",
    b"x-empty:\r\n",
    b"\r\n",
    b"\n",
    b"5\r\nhello\r\n",
    b"1;x=y\r\nh\r\n",
    b"2 \r\nhi\r\n",
    b"0\r\n",
    b"0\r\n\r\n",
    b"00000000000000000\r\n\r\n",
    b"fffffffffffffffff\r\n",
    b"-1\r\n",
    b"hello",
    b"x-trailer: 1\r\n",
    b"x-long: " + b"y" * 200_000 + b"\r\n",
    b"x-many: 1\r\n" * 300,
    b"z" * 20_000,
)
"""What a byte of an input stands for; bytes beyond stand for themselves."""

SEEDS: Final = (
    (0,),
    (1, 9, 23, 33),
    (1, 14, 23, 25, 26, 29),
    (1, 14, 23, 25, 28, 34, 23),
    (6, 7, 1, 9, 23, 33),
    (2, 23, 33),
    (2, 18, 9, 23, 33),
    (3, 23, 0),
    (5, 17, 9, 23, 33),
    (0, 0),
    (1, 9, 14, 23, 25, 29),
    (1, 35, 23),
    (1, 36, 9, 23, 33),
)
"""Inputs to begin with, as places in ``TOKENS``."""


class Transport(asyncio.Transport):
    """A transport whose other side has read everything."""

    def write(self, data: Any) -> None:
        """Nothing reads it."""

    def abort(self) -> None:
        """The connection knows."""

    def pause_reading(self) -> None:
        """All is fed anyway."""

    def resume_reading(self) -> None:
        """As ``pause_reading``."""

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0


@dataclass(frozen=True)
class Outcome:
    """What a caller gets of one exchange. ``error``: "head" or "body", where that broke off; "" otherwise."""

    status: int = 0
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    error: str = ""
    reusable: bool = False


def response_of(data: bytes) -> bytes:
    """The response that an input stands for."""
    return b"".join(TOKENS[byte] if byte < len(TOKENS) else bytes((byte,)) for byte in data)


def connected() -> Connection:
    """A new connection. Needs a running loop."""
    connection = Connection()
    connection.connection_made(Transport())
    return connection


def exchanged(connection: Connection, pieces: Sequence[bytes], method: str = "POST") -> Outcome:
    """One exchange of which the pieces come in; the provider closes the connection where more would be waited for."""
    connection.send(method, b"head", b"")
    for piece in pieces:
        if not connection.closed:
            connection.data_received(piece)
    try:
        status, headers = _driven(connection, connection.head(60))
    except BrokenResponse:
        return Outcome(error="head")
    body, error = b"", ""
    try:
        while piece := _driven(connection, connection.piece(60)):
            body += piece
    except BrokenResponse:
        error = "body"
    return Outcome(status, tuple(headers), body, error, connection.reusable)


def _driven(connection: Connection, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` returns; the connection ends as soon as ``work`` waits for more."""
    try:
        work.send(None)
        connection.connection_lost(None)
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    work.close()
    raise AssertionError("a closed connection is waited for")


def reference(response: bytes, method: str = "POST") -> tuple[int, bytes] | None:
    """Status and body as h11 reads them, where the connection ends behind the response; ``None`` where h11 finds the
    response malformed or cut."""
    client = h11.Connection(h11.CLIENT, max_incomplete_event_size=2**24)
    client.send(h11.Request(method=method, target="/", headers=[("host", "a"), ("content-length", "0")]))
    client.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        client.receive_data(response)
        client.receive_data(b"")
        while True:
            match client.next_event():
                case h11.Response() as head:
                    status = head.status_code
                case h11.Data() as data:
                    body += bytes(data.data)
                case h11.EndOfMessage():
                    return status, body
                case h11.InformationalResponse():
                    pass
                case _:
                    return None
    except h11.RemoteProtocolError:
        return None


def check(data: bytes) -> None:
    """What must hold of any response. Raises ``AssertionError``. Needs a running loop."""
    response = response_of(data)
    seen = random.Random(data)
    connection = connected()
    whole = exchanged(connection, [response])
    cuts = sorted(seen.randrange(len(response) + 1) for _ in range(seen.randrange(1, 6)))
    parts = [response[start:end] for start, end in zip([0, *cuts], [*cuts, len(response)], strict=True)]
    parted = exchanged(connected(), [part for part in parts if part])
    if whole.reusable and not parted.reusable:  # line breaks behind a response are skipped where they come with it
        assert response.endswith(b"\n")
        parted = replace(parted, reusable=True)
    assert_same(parted, whole)
    assert len(whole.headers) <= HEADERS_MAX
    assert not (whole.error and whole.reusable), "a broken response leaves a connection that is used again"
    expected = reference(response)
    if expected is not None and not whole.error:
        assert (whole.status, whole.body) == expected, "h11 reads another response"
    if whole.reusable:
        assert_same(exchanged(connection, [WHOLE]), Outcome(200, ((b"content-length", b"2"),), b"hi", reusable=True))
        cut = exchanged(connected(), [response[:-1]] if len(response) > 1 else [])
        assert cut.error or cut.body == whole.body, "a response without its end passes for a shorter one"


def assert_same(one: Outcome, other: Outcome) -> None:
    """The pieces in which a response comes make no difference, but for how much of a broken body is seen."""
    assert replace(one, body=b"") == replace(other, body=b"")
    assert one.error or one.body == other.body
