"""The way to a provider, against servers whose every byte is scripted."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.proxy.connection import BrokenResponse
from tokenmizer_mw.server.proxy.upstream import Unreachable, Upstream, UpstreamResponse, UpstreamTimeouts, place

from .serving import run_on_loop

pytestmark = pytest.mark.usefixtures("loop")

OK = b"HTTP/1.1 200 OK\r\n"
TWO = b"content-length: 2\r\n\r\nhi"


class Server:
    """Answers each request with the next script: pieces, written one by one. "close" after the last where told."""

    def __init__(self, *scripts: Sequence[bytes], close: bool = False) -> None:
        self.scripts = list(scripts)
        self.close = close
        self.requests: list[bytes] = []
        self.connections = 0
        self.ended = 0

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or b"0")
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.scripts.pop(0) if self.scripts else ():
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.close:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended += 1
            writer.close()


@asynccontextmanager
async def reaching(
    server: Server,
    patience: UpstreamTimeouts | None = None,
    *,
    connections: int | None = None,
    secured: ssl.SSLContext | None = None,
    ca_file: str | None = None,
) -> AsyncIterator[tuple[Upstream, str]]:
    listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, ssl=secured)
    upstream = Upstream(patience, connections=connections, ca_file=ca_file)
    try:
        scheme = "https" if secured else "http"
        yield upstream, f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    finally:
        await upstream.aclose()
        listening.close()
        while server.ended < server.connections:
            await asyncio.sleep(0.005)


async def told(answer: UpstreamResponse) -> bytes:
    try:
        return await answer.read(1_000_000)
    finally:
        await answer.aclose()


def once(script: Sequence[bytes], *, method: str = "POST", close: bool = False) -> tuple[int, bytes, Server]:
    server = Server(script, close=close)

    async def asking() -> tuple[int, bytes]:
        async with reaching(server) as (upstream, base):
            answer = await upstream.open(method, place(base, "/chat"), [(b"a", b"b")], b"body")
            return answer.status, await told(answer)

    status, body = run_on_loop(asking(), 20)
    return status, body, server


CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"

WHOLE = {
    "length": [OK + TWO],
    "chunked": [CHUNKED],
    "trailers": [OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-checksum: 1\r\n\r\n"],
    "byte by byte": [bytes([byte]) for byte in CHUNKED],
    "informational first": [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", OK + TWO],
    "bare line feeds in the body": [OK + b"content-length: 2\r\n\r\n", b"hi"],
}


@pytest.mark.parametrize("script", WHOLE.values(), ids=WHOLE)
def test_bodies_are_read_to_their_end(script: Sequence[bytes]) -> None:
    status, body, server = once(script)
    assert (status, body) == (200, b"hi")
    assert server.requests[0].startswith(b"POST /v1/chat HTTP/1.1\r\nhost: 127.0.0.1:")
    assert server.requests[0].endswith(b"\r\na: b\r\ncontent-length: 4\r\n\r\nbody")


def test_a_body_may_end_with_the_connection() -> None:
    assert once([OK + b"\r\n", b"h", b"i"], close=True)[:2] == (200, b"hi")


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 304 Not Modified\r\n\r\n"])
def test_some_statuses_have_no_body(head: bytes) -> None:
    assert once([head])[1] == b""


def test_an_answer_to_head_has_no_body() -> None:
    assert once([OK + b"content-length: 99\r\n\r\n"], method="HEAD")[1] == b""


CUT = {
    "length": [OK + b"content-length: 9\r\n\r\nhi"],
    "chunk": [OK + b"transfer-encoding: chunked\r\n\r\n9\r\nhi"],
    "between chunks": [OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n"],
    "before the last line": [OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"],
    "no size": [OK + b"transfer-encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n"],
}


@pytest.mark.parametrize("script", CUT.values(), ids=CUT)
def test_a_body_that_breaks_off_is_broken(script: Sequence[bytes]) -> None:
    with pytest.raises(BrokenResponse):
        once(script, close=True)


UNHEARD = {
    "nothing": [],
    "half a head": [b"HTTP/1.1 200 OK\r\ncontent-"],
    "no http": [b"SSH-2.0-OpenSSH_9.6\r\n"],
    "two lengths": [OK + b"content-length: 1\r\ncontent-length: 2\r\n\r\nhi"],
    "length and chunks": [OK + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"],
    "upgrade": [b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"],
    "endless head": [OK, *([b"x-more: " + b"y" * 8_000 + b"\r\n"] * 40)],
}


@pytest.mark.parametrize("script", UNHEARD.values(), ids=UNHEARD)
def test_what_is_no_answer_is_none(script: Sequence[bytes]) -> None:
    with pytest.raises(Unreachable) as caught:
        once(script, close=True)
    assert (caught.value.status, caught.value.unsent) == (502, False)


async def ask(upstream: Upstream, base: str, path: str = "/chat") -> bytes:
    return await told(await upstream.open("POST", place(base, path), [], b"body"))


def test_a_connection_carries_one_call_after_the_other() -> None:
    server = Server(*[[OK + TWO]] * 5)

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            for _ in range(5):
                assert await ask(upstream, base) == b"hi"

    run_on_loop(asking(), 20)
    assert server.connections == 1


@pytest.mark.parametrize(
    "first",
    [
        [OK + TWO + OK + TWO.replace(b"hi", b"no")],  # an answer too much
        [OK + TWO + b"surplus"],
        [OK + b"connection: close\r\n" + TWO],
        [b"HTTP/1.0 200 OK\r\n" + TWO],
        [OK + TWO, OK + TWO.replace(b"hi", b"no")],  # one that comes later
    ],
    ids=["two answers", "surplus", "close", "http/1.0", "late surplus"],
)
def test_a_connection_in_doubt_is_not_used_again(first: Sequence[bytes]) -> None:
    """Else the answer to one call would reach another."""
    server = Server(first, [OK + TWO])

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            assert await ask(upstream, base) == b"hi"
            await asyncio.sleep(0.05)
            assert await ask(upstream, base) == b"hi"

    run_on_loop(asking(), 20)
    assert server.connections == 2


def test_an_answer_that_is_let_go_early_ends_its_connection() -> None:
    server = Server([OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n"], [OK + TWO])

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            answer = await upstream.open("POST", place(base, "/chat"), [], b"body")
            await answer.aclose()
            await answer.aclose()
            assert await ask(upstream, base) == b"hi"

    run_on_loop(asking(), 20)
    assert server.connections == 2


CHUNKS = OK + b"transfer-encoding: chunked\r\n\r\n"
LONG = b"y" * 65_536

HEADS = {
    "one header of 400 kB": [OK + b"x-more: " + b"y" * 400_000 + b"\r\n" + TWO],
    "300 headers": [OK + b"".join(b"x-%d: y\r\n" % number for number in range(300)) + TWO],
    "informational heads": [b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 40_000 + OK + TWO],
    "a reason of 400 kB": [b"HTTP/1.1 200 " + b"y" * 400_000 + b"\r\n" + TWO],
}


@pytest.mark.parametrize("script", HEADS.values(), ids=HEADS)
def test_heads_are_bounded(script: Sequence[bytes]) -> None:
    with pytest.raises(Unreachable) as caught:
        once(script)
    assert caught.value.status == 502


TAILS = {
    "one trailer without end": (CHUNKS + b"2\r\nhi\r\n0\r\nx-more: ", LONG),
    "trailers without end": (CHUNKS + b"2\r\nhi\r\n0\r\n", b"x-more: yes\r\n" * 5_000),
    "an extension without end": (CHUNKS + b"2\r\nhi\r\n1;x=", LONG),
    "extensions of every chunk": (CHUNKS + b"2\r\nhi\r\n", (b"1;x=" + b"y" * 8_000 + b"\r\nh\r\n") * 8),
}


@pytest.mark.parametrize(("start", "more"), TAILS.values(), ids=TAILS)
def test_what_is_besides_the_body_is_bounded(start: bytes, more: bytes) -> None:
    """Of 200 MB that the provider would send, it gets rid of a few before its connection ends."""
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(start)
            while sent < 200_000_000:
                writer.write(more)
                sent += len(more)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def asking() -> None:
        async with await asyncio.start_server(endless, "127.0.0.1", 0) as listening:
            upstream = Upstream()
            base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            with pytest.raises(BrokenResponse):
                await told(await upstream.open("GET", place(base, "/chat"), [], b""))
            await upstream.aclose()

    run_on_loop(asking(), 30)
    assert sent < 20_000_000


@pytest.mark.parametrize("size", [1, 3])
def test_small_chunks_are_no_overhead(size: int) -> None:
    """One byte a chunk, in more of them than could come without a body."""
    chunk = b"%x\r\n%s\r\n" % (size, b"x" * size)
    status, body, _ = once([CHUNKS, *[chunk * 10_000] * 30, b"0\r\n\r\n"])
    assert (status, body) == (200, b"x" * size * 300_000)


class Early:
    """Answers as soon as a head is there, and takes what comes of the body for the next request."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.connections = 0

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answer)
                await writer.drain()
                await asyncio.sleep(0.2)  # the body waits
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.mark.parametrize(
    ("answer", "body"),
    [(OK + TWO, b"x" * 16_000_000), (b"HTTP/1.1 413 Too Large\r\n" + TWO, b"small")],
    ids=["success while the body is sent", "refusal of a short body"],
)
def test_a_connection_that_answered_before_it_read_the_body_is_not_used_again(answer: bytes, body: bytes) -> None:
    """Else what is left of the body would be the next request, and its answer the next caller's."""
    server = Early(answer)

    async def asking() -> None:
        async with await asyncio.start_server(server.connected, "127.0.0.1", 0) as listening:
            upstream = Upstream()
            base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            for _ in range(3):
                assert await told(await upstream.open("POST", place(base, "/chat"), [], body)) == b"hi"
            await upstream.aclose()

    run_on_loop(asking(), 30)
    assert server.connections == 3


def test_a_connection_that_the_provider_closed_is_not_used_again() -> None:
    server = Server([OK + TWO], [OK + TWO], close=True)

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            assert await ask(upstream, base) == b"hi"
            while server.ended < 1:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.05)
            assert await ask(upstream, base) == b"hi"

    run_on_loop(asking(), 20)
    assert server.connections == 2


def test_a_slow_reader_stops_the_provider() -> None:
    """What waits for it is bounded by what fits into the sockets and one mark of ours."""
    size = 16 * 1024 * 1024
    server = Server([OK + b"content-length: %d\r\n\r\n" % size, *[b"x" * 65_536] * (size // 65_536)])

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            answer = await upstream.open("POST", place(base, "/chat"), [], b"body")
            pieces = answer.pieces()
            seen = len(await anext(pieces))
            await asyncio.sleep(0.2)
            seen += len(await anext(pieces))
            assert seen < 2 * 1024 * 1024
            async for piece in pieces:
                seen += len(piece)
            assert seen == size
            await answer.aclose()

    run_on_loop(asking(), 60)


def test_no_more_connections_than_there_may_be() -> None:
    server = Server([OK + TWO], [OK + TWO])

    async def asking() -> None:
        async with reaching(server, UpstreamTimeouts(connect=0.1), connections=1) as (upstream, base):
            first = await upstream.open("POST", place(base, "/chat"), [], b"body")
            with pytest.raises(Unreachable) as caught:
                await ask(upstream, base)
            assert (caught.value.status, caught.value.unsent) == (503, True)
            assert await told(first) == b"hi"
            assert await ask(upstream, base) == b"hi"

    run_on_loop(asking(), 20)


def test_a_header_of_several_lines_is_not_sent() -> None:
    server = Server()

    async def asking() -> None:
        async with reaching(server) as (upstream, base):
            with pytest.raises(Unreachable, match="more than one line"):
                await upstream.open("POST", place(base, "/chat"), [(b"a", b"b\r\nc: d")], b"")

    run_on_loop(asking(), 20)
    assert server.connections == 0


@pytest.mark.parametrize(
    ("base", "path", "query", "target"),
    [
        ("http://a/v1", "/chat", b"", b"/v1/chat"),
        ("http://a", "/v1beta/models/m:generateContent", b"alt=sse", b"/v1beta/models/m:generateContent?alt=sse"),
        ("http://a", "/models/%2e%2e", b"", b"/models/%252e%252e"),
        ("http://a", "/models/caf\xe9 x", b"", b"/models/caf%C3%A9%20x"),
        ("http://a", "/x\r\ny: z", b"", b"/x%0D%0Ay:%20z"),
        ("http://a", "", b"", b"/"),
    ],
)
def test_places(base: str, path: str, query: bytes, target: bytes) -> None:
    assert place(base, path, query).target == target


def test_hosts_of_places() -> None:
    assert place("https://api.example.com", "/x").origin.port == 443
    assert place("http://[::1]:8000/v1", "/x").origin.host == "::1"
    assert place("http://[::1]:8000/v1", "/x").origin.authority == b"[::1]:8000"


# -- over TLS -------------------------------------------------------------------------------------------------------

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, str]:
    """A server's context whose certificate is its own authority, for ``name``; and the file of the certificate."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "1", "-subj", "/CN=test"]
    subprocess.run([*command, "-addext", f"subjectAltName={name}"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, str(certificate)


async def over_tls(secured: ssl.SSLContext, ca_file: str | None, script: Sequence[bytes] = (OK + TWO,)) -> bytes:
    async with reaching(Server(script, close=True), secured=secured, ca_file=ca_file) as (upstream, base):
        return await ask(upstream, base)


@needs_openssl
def test_an_authority_of_ones_own_is_trusted_when_it_is_named(tmp_path: Path) -> None:
    secured, certificate = certified(tmp_path, "IP:127.0.0.1")
    assert run_on_loop(over_tls(secured, certificate), 20) == b"hi"
    with pytest.raises(Unreachable) as caught:
        run_on_loop(over_tls(secured, None), 20)
    assert (caught.value.status, caught.value.unsent) == (502, True)


@needs_openssl
def test_a_certificate_for_another_host_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreachable):
        run_on_loop(over_tls(*certified(tmp_path, "DNS:other.example")), 20)


@needs_openssl
@pytest.mark.parametrize("script", CUT.values(), ids=CUT)
def test_a_body_that_breaks_off_over_tls_is_broken(tmp_path: Path, script: Sequence[bytes]) -> None:
    with pytest.raises(BrokenResponse):
        run_on_loop(over_tls(*certified(tmp_path, "IP:127.0.0.1"), script), 20)


def test_a_file_without_certificates(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    with pytest.raises(ConfigError, match="ca_file"):
        Upstream(ca_file=str(tmp_path / "empty.pem"))
