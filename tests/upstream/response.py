"""Writing HTTP/1.1 responses to a raw stream, piece by piece, with the pauses and the faults that are asked for."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
from dataclasses import dataclass
from typing import Final

from .framing import pieces
from .steering import Steering

PLAIN: Final = Steering()

_PHRASES: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Server Error"}


@dataclass(frozen=True, slots=True)
class Response:
    """A response before it is written. A ``stream`` goes out in chunks, everything else with its length."""

    status: int
    media_type: str
    body: list[bytes]
    stream: bool = False
    told: Steering = PLAIN
    compressed: bool = False


async def write_response(response: Response, writer: asyncio.StreamWriter) -> bool:
    """Write a response; whether the connection may carry another request."""
    told, modes = response.told, response.told.modes
    await asyncio.sleep(told.first)
    body = response.body
    if response.compressed:
        body = _compressed(body)
    body = pieces(body if response.stream else [b"".join(body)], modes)
    length = None if response.stream else sum(map(len, body))
    await _write_head(response, length, writer, slowly="slowhead" in modes)
    broken = {"cut", "rst"} & modes
    for place, piece in enumerate(body):
        if broken and place >= len(body) // 2:
            if length is not None:
                await _put(piece[: len(piece) // 2], writer, chunked=False)
            _break_off(writer, reset="rst" in modes)
            return False
        await _put(piece, writer, chunked=length is None)
        await asyncio.sleep(told.pause)
    if length is None:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _compressed(body: list[bytes]) -> list[bytes]:
    """Each piece compressed and flushed, so that it can be read when it arrives."""
    sink = _Sink()
    with gzip.GzipFile(fileobj=sink, mode="wb", mtime=0) as packing:
        done = []
        for piece in body:
            packing.write(piece)
            packing.flush()
            done.append(sink.take())
    return [*done, sink.take()]


class _Sink:
    """A file to write to, from which is taken what was written."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        taken = b"".join(self._written)
        self._written.clear()
        return taken


async def _write_head(response: Response, length: int | None, writer: asyncio.StreamWriter, *, slowly: bool) -> None:
    lines = [f"HTTP/1.1 {response.status} {_PHRASES.get(response.status, 'Status')}"]
    lines += [f"content-type: {response.media_type}", "x-request-id: req_scripted"]
    lines += ["content-encoding: gzip"] if response.compressed else []
    lines += ["retry-after: 1"] if response.status in (429, 503) else []
    lines += ["transfer-encoding: chunked"] if length is None else [f"content-length: {length}"]
    head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
    for start in range(0, len(head), 25) if slowly else ():
        writer.write(head[start : start + 25])
        await writer.drain()
        await asyncio.sleep(0.003)
    if not slowly:
        writer.write(head)
    await writer.drain()


async def _put(piece: bytes, writer: asyncio.StreamWriter, *, chunked: bool) -> None:
    if not piece:
        return
    writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
    await writer.drain()


def _break_off(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset:
        with contextlib.suppress(OSError):
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    writer.close()
