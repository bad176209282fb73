"""The proxy with its own HTTP client, with aiohttp and with httpx2, on the same calls in the same run.

Each is the whole proxy under uvicorn in a process of its own, in front of the same simulated provider; only the HTTP
client to the provider differs. Chats name no session, so that only the relay is measured. Both libraries are
configured as a relay needs them: no cookies, no redirects, no decompression, no headers of their own, the path
escaped as it came.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import httpx2

from tokenmizer_mw.server.proxy import configuration as configuring
from tokenmizer_mw.server.proxy.app import proxy as configured
from tokenmizer_mw.server.proxy.connection import BrokenResponse
from tokenmizer_mw.server.proxy.upstream import GATEWAY_TIMEOUT, Unreachable, UpstreamAddress, UpstreamTimeouts
from tokenmizer_mw.wire.http import Header

from .load import END, Stream
from .proxy import WHOLE_END, Mount
from .proxy_upstream import PIECES
from .server import free_port, serving, waiting_for

CLIENTS: Final = 16
CALLS: Final = 10
ROUNDS: Final = 5
NAMES: Final = ("own", "aiohttp", "httpx2")
BAR: Final = 0.9
"""Share of the throughput of our own client that a library must reach to replace it."""


def run() -> dict[str, Any]:
    others = os.getloadavg()[0]
    with _mounts() as mounts:
        figures = {kind: _load(mounts, stream=kind == "stream") for kind in ("whole", "stream")}
    notes = (
        f"{__doc__}\nStreams have {PIECES} pieces. {CLIENTS} clients, {ROUNDS} rounds of {CALLS} calls each, the"
        f" servers in turns; medians, ratios of the same round. A library would replace our client from {BAR} x on with"
        f" both kinds of replies. Load of the machine before it began: {others:.1f} on {os.cpu_count()} cores;"
        " above 1, only CPU figures are reliable."
    )
    return {"figures": figures, "bars": [], "page": page(figures), "notes": notes}


def page(figures: dict[str, Any]) -> list[str]:
    """Return the figures as a Markdown table."""
    rows = [
        f"| {name} | {kind} | {row[name]['calls_per_second']} | {row[name]['throughput_ratio']} |"
        f" {row[name]['cpu_ms']} | {row[name]['cpu_ratio']} |"
        for kind, row in figures.items()
        for name in NAMES
    ]
    head = "| client | replies | calls/s | x of our own | CPU a call, ms | CPU of our own to it |"
    return [head, "|---|---|---|---|---|---|", *rows]


@contextmanager
def _mounts() -> Iterator[list[Mount]]:
    port = free_port()
    provider = subprocess.Popen([sys.executable, "-m", "benchmarks.proxy_upstream", str(port)])
    try:
        waiting_for(port, provider)
        with _proxies(f"http://127.0.0.1:{port}", NAMES) as mounts:
            yield mounts
    finally:
        provider.kill()
        provider.wait()


@contextmanager
def _proxies(address: str, names: Sequence[str]) -> Iterator[list[Mount]]:
    if not names:
        yield []
        return
    told = {"BENCHMARK_UPSTREAM": address, "BENCHMARK_CLIENT": names[0]}
    with (
        serving("benchmarks.proxy_clients:proxy", **told) as (process, port),
        _proxies(address, names[1:]) as others,
    ):
        yield [Mount(names[0], port, process), *others]


def _load(mounts: list[Mount], *, stream: bool) -> dict[str, Any]:
    taken: dict[str, list[tuple[float, float]]] = {mount.name: [] for mount in mounts}
    for number in range(ROUNDS + 1):
        turn = number % len(mounts)
        for mount in [*mounts[turn:], *mounts[:turn]]:
            before = mount.cpu()
            seconds = asyncio.run(_round(mount, stream=stream))
            calls = CLIENTS * CALLS
            if number:  # the first round warms the processes
                taken[mount.name].append((calls / seconds, (mount.cpu() - before) * 1e3 / calls))
    row: dict[str, Any] = {}
    for name, costs in taken.items():
        pairs = list(zip(taken["own"], costs, strict=True))
        row[name] = {
            "calls_per_second": round(statistics.median(rate for rate, _ in costs), 1),
            "cpu_ms": round(statistics.median(cpu for _, cpu in costs), 3),
            "throughput_ratio": round(statistics.median(its[0] / own[0] for own, its in pairs), 3),
            "cpu_ratio": round(statistics.median(own[1] / its[1] for own, its in pairs), 3),
        }
    return row


async def _round(mount: Mount, *, stream: bool) -> float:
    """Seconds that the calls of all clients take."""
    asked = {"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": "Which database?"}]}
    body = json.dumps(asked).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer made-up\r\n"
    call = f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    async def client() -> None:
        link = await Stream.open(mount.port)
        for _ in range(CALLS):
            await link.ask(call, end=END if stream else WHOLE_END)
        link.leave()

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return time.perf_counter() - start


# -- the libraries, behind the interface of our own client ---------------------------------------------------------


def proxy() -> Any:
    """Return the proxy with the HTTP client that ``BENCHMARK_CLIENT`` names ("own", "aiohttp" or "httpx2")."""
    client = {"aiohttp": AiohttpUpstream, "httpx2": Httpx2Upstream}.get(os.environ["BENCHMARK_CLIENT"])
    if client is not None:
        configuring.Upstream = client  # type: ignore[misc, assignment]
    providers = {"openai": {"base_url": f"{os.environ['BENCHMARK_UPSTREAM']}/v1"}}
    return configured(configuring.Configuration.read({"store": "memory://", "providers": providers}, {}))


class _Answer:
    """A response that has begun, by either library."""

    def __init__(self, status: int, headers: list[Header], pieces: AsyncIterator[bytes], close: Any) -> None:
        self.status, self.headers = status, headers
        self.pieces = lambda: pieces
        self.aclose = close

    async def read(self, limit: int) -> bytes:
        """Return the whole body. Raises ``BrokenResponse`` if it breaks off or is longer than ``limit`` bytes."""
        whole = b"".join([piece async for piece in self.pieces()])
        if len(whole) > limit:
            raise BrokenResponse(f"the provider's response is longer than {limit} bytes")
        return whole


def _address(place: UpstreamAddress) -> str:
    scheme = "https" if place.origin.secure else "http"
    return f"{scheme}://{place.origin.authority.decode()}{place.target.decode('ascii')}"


class AiohttpUpstream:
    """The interface of ``tokenmizer_mw.server.proxy.upstream.Upstream`` over aiohttp."""

    def __init__(self, patience: UpstreamTimeouts | None = None, **_: Any) -> None:
        self._patience = patience or UpstreamTimeouts()
        self._session: Any = None

    def _opened(self) -> Any:
        import aiohttp

        if self._session is None:
            patience = self._patience
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=15),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=patience.connect, sock_read=patience.first_byte),
                max_field_size=64 * 1024,
                max_line_size=64 * 1024,
            )
        return self._session

    async def open(self, method: str, place: UpstreamAddress, headers: Sequence[Header], body: bytes) -> _Answer:
        """As ``Upstream.open``. Raises ``Unreachable``."""
        import aiohttp
        from yarl import URL

        named = [(name.decode("latin-1"), value.decode("utf-8", "surrogateescape")) for name, value in headers]
        try:
            response = await self._opened().request(
                method,
                URL(_address(place), encoded=True),
                headers=named,
                data=body or None,
                allow_redirects=False,
            )
        except TimeoutError:
            raise Unreachable("the provider gave no answer in time", status=GATEWAY_TIMEOUT) from None
        except (aiohttp.ClientError, ValueError) as error:
            unsent = isinstance(error, aiohttp.ClientConnectorError)
            raise Unreachable(f"the provider cannot be reached: {type(error).__name__}", unsent=unsent) from None
        return _Answer(response.status, list(response.raw_headers), self._pieces(response), partial(_shut, response))

    async def _pieces(self, response: Any) -> AsyncIterator[bytes]:
        import aiohttp

        try:
            async for piece in response.content.iter_any():
                yield piece
        except (aiohttp.ClientError, TimeoutError) as error:
            raise BrokenResponse(type(error).__name__) from None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


async def _shut(response: Any) -> None:
    response.close() if not response.content.at_eof() else response.release()


class Httpx2Upstream:
    """The interface of ``server.proxy.upstream.Upstream`` over httpx2: its transport, without its client."""

    def __init__(self, patience: UpstreamTimeouts | None = None, **_: Any) -> None:
        patience = patience or UpstreamTimeouts()
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=256, keepalive_expiry=15)
        self._transport = httpx2.AsyncHTTPTransport(limits=limits, trust_env=False)
        times = {"connect": patience.connect, "read": patience.first_byte, "write": 60.0, "pool": 60.0}
        self._extensions = {"timeout": times}

    async def open(self, method: str, place: UpstreamAddress, headers: Sequence[Header], body: bytes) -> _Answer:
        """As ``Upstream.open``. Raises ``Unreachable``."""
        named = [(b"host", place.origin.authority), *headers, (b"content-length", b"%d" % len(body))]
        extensions = {**self._extensions, "target": place.target}
        request = httpx2.Request(method, _address(place), headers=named, content=body, extensions=extensions)
        try:
            response = await self._transport.handle_async_request(request)
        except httpx2.TimeoutException:
            raise Unreachable("the provider gave no answer in time", status=GATEWAY_TIMEOUT) from None
        except (httpx2.TransportError, ValueError) as error:
            unsent = isinstance(error, httpx2.ConnectError)
            raise Unreachable(f"the provider cannot be reached: {type(error).__name__}", unsent=unsent) from None
        return _Answer(response.status_code, response.headers.raw, self._pieces(response), response.aclose)

    async def _pieces(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        try:
            async for piece in response.aiter_raw():
                yield piece
        except httpx2.TransportError as error:
            raise BrokenResponse(type(error).__name__) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()
