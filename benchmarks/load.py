"""A plain client for many streams at once, which costs so little CPU that the server is measured."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

END: Final = b"\r\n0\r\n\r\n"
"""End of a chunked response."""

SAID: Final = b"[DONE]\n\n"
"""The last bytes of an answer's content."""

_READ: Final = 256 * 1024


def request(mount: str, session: str, shape: Mapping[str, Any], text: str = "And what about the orders?") -> bytes:
    """Return a chat call as HTTP bytes. ``mount``: the first part of its path; ``shape``: what the application shall
    stream."""
    said = [{"role": "user", "content": text}]
    body = json.dumps({"model": "gpt-4o", "stream": True, "messages": said, "shape": dict(shape)}).encode()
    head = f"POST /{mount}/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-session-id: {session}\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


class Stream:
    """One connection on which calls are made, one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Stream:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=_READ))

    async def ask(self, call: bytes, *, upto: int | None = None, end: bytes = END) -> int:
        """Send a call and read its answer, as ``read`` does. Returns the number of bytes read."""
        self._writer.write(call)
        return await self.read(upto, end)

    async def read(self, upto: int | None = None, end: bytes = END) -> int:
        """Read until ``end`` or, if ``upto`` is given, at least so many bytes. Returns the number of bytes read. Raises
        ``ConnectionError`` if the server closes the connection before."""
        size, seen = 0, b""
        while upto is None or size < upto:
            piece = await self._reader.read(_READ)
            if not piece:
                raise ConnectionError("the server closed the connection")
            size += len(piece)
            seen = seen[-len(end) :] + piece
            if end in seen:
                break
        return size

    def leave(self) -> None:
        """Close the connection at once, whatever is under way."""
        self._writer.transport.abort()


async def in_parallel(port: int, calls: Sequence[bytes], *, upto: int | None = None) -> list[Stream]:
    """Make the calls at the same time, each on a connection of its own, and return the connections, which stay open.
    ``upto``: as in ``Stream.read``."""
    streams = [await Stream.open(port) for _ in calls]
    await asyncio.gather(*(stream.ask(call, upto=upto) for stream, call in zip(streams, calls, strict=True)))
    return streams


def probe(port: int, what: str = "look") -> dict[str, Any]:
    """Request ``/probe/WHAT`` of the application, and return its JSON response: what the application has observed so
    far."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as link:
        link.request("GET", f"/probe/{what}")
        found: dict[str, Any] = json.loads(link.getresponse().read())
        return found
