"""The four faces of the transports, driven alike: every step returns when it is done, whatever the colour."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpx
import httpx2

from tokenmizer_mw import AsyncHttpxTransport, AsyncTransport, HttpxTransport, SessionMemory, Transport


class Answer:
    """A response whose head is there. ``next`` is the next piece as it came over the wire, ``None`` at the end."""

    def __init__(self, response: Any, do: Callable[[Callable[[], Any]], Any]) -> None:
        self.response = response
        self._do = do
        self._asynchronous = isinstance(response.stream, httpx2.AsyncByteStream | httpx.AsyncByteStream)
        self._pieces = response.aiter_raw() if self._asynchronous else response.iter_raw()

    def next(self) -> bytes | None:
        def step() -> Any:
            return anext(self._pieces, None) if self._asynchronous else next(self._pieces, None)

        piece: bytes | None = self._do(step)
        return piece

    def pieces(self) -> Iterator[bytes]:
        return iter(self.next, None)

    def raw(self) -> bytes:
        return b"".join(self.pieces())

    def read(self) -> bytes:
        content: bytes = self._do(self.response.aread if self._asynchronous else self.response.read)
        return content

    def close(self) -> None:
        self._do(self.response.aclose if self._asynchronous else self.response.close)


@dataclass(frozen=True)
class Face:
    """One library in one colour. ``transport`` is ours for it, ``plain`` the library's own."""

    name: str
    library: ModuleType
    transport: Callable[..., Any]
    asynchronous: bool = False

    @property
    def plain(self) -> Callable[..., Any]:
        name = "AsyncHTTPTransport" if self.asynchronous else "HTTPTransport"
        transport: Callable[..., Any] = getattr(self.library, name)
        return transport


FACES = [
    Face("httpx2", httpx2, Transport),
    Face("httpx2 async", httpx2, AsyncTransport, True),
    Face("httpx", httpx, HttpxTransport),
    Face("httpx async", httpx, AsyncHttpxTransport, True),
]


class Client:
    """A client over ``transport``; with ``memory``, over ours around it."""

    def __init__(self, face: Face, transport: Any = None, memory: SessionMemory | None = None) -> None:
        self.face = face
        self._closed = False
        self._runner = asyncio.Runner() if face.asynchronous else None
        inner = face.plain() if transport is None else transport
        outer = inner if memory is None else face.transport(memory, inner)
        kind = face.library.AsyncClient if face.asynchronous else face.library.Client
        self.client = kind(transport=outer, timeout=20)

    def do(self, step: Callable[[], Any]) -> Any:
        """Make a step, in the context of the caller."""
        if self._runner is None:
            return step()

        async def run() -> Any:
            made = step()
            return await made if isinstance(made, Awaitable) else made

        return self._runner.run(run(), context=contextvars.copy_context())

    def post(self, url: str, **request: Any) -> Answer:
        built = self.client.build_request("POST", url, **request)
        return Answer(self.do(lambda: self.client.send(built, stream=True)), self.do)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.do(self.client.aclose if self.face.asynchronous else self.client.close)
        if self._runner is not None:
            self._runner.close()
