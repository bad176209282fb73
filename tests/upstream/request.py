"""Reading HTTP/1.1 requests from a raw stream."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

_BODY_MAX: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ahead: bytes) -> Received | None:
    """The next request, which begins with ``ahead``; ``None`` when the connection ends before it begins."""
    try:
        head = ahead + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    start, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = start.split(" ", 2)
    named = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in named}
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    path, _, query = target.partition("?")
    return Received(method, path, query, headers, await _read_body(reader, headers))


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        length = int(headers.get("content-length", 0))
        if length > _BODY_MAX:
            raise ConnectionError("a request that is too large")
        return await reader.readexactly(length)
    chunks: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if sum(map(len, chunks)) + size > _BODY_MAX:
            raise ConnectionError("a request that is too large")
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return b"".join(chunks)
