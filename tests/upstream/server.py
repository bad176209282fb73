"""The scripted upstream: HTTP/1.1 on raw streams, so that every byte and every pause is its own.

    with Upstream() as upstream:
        client = OpenAI(base_url=f"{upstream.url}/v1", ...)
        client.chat.completions.create(model="fake-n5-crlf-split7", ...)
        upstream.calls[-1].body

It speaks all dialects at once, each at its path; the name of the model steers it. It runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from .answer import Invalid, Scripted, answer_to
from .anthropic import AnthropicMessages
from .cohere import CohereChat
from .format import Event, Format, as_json
from .framing import framed, pieces
from .gemini import Gemini
from .ollama import OllamaChat
from .openai_chat import MistralChat, OpenAIChat
from .openai_responses import OpenAIResponses
from .steering import Missteered, Steering, steering

CALLS_KEPT: Final = 2_000
"""Requests that are remembered; older ones are forgotten."""

_HEAD_MAX: Final = 64 * 1024
_BODY_MAX: Final = 64 * 1024 * 1024
_PHRASES: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
}

_PLAIN: Final = Steering()

_FORMATS: Final[tuple[tuple[str, Format], ...]] = (
    ("/chat/completions", OpenAIChat()),
    ("/v1/responses", OpenAIResponses()),
    ("/v1/messages", AnthropicMessages()),
    (":generateContent", Gemini()),
    (":streamGenerateContent", Gemini("application/json")),
    ("/v2/chat", CohereChat()),
    ("/api/chat", OllamaChat()),
)


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


@dataclass(slots=True)
class Statistics:
    """What happened so far. ``active``: answers under way; ``aborted``: answers whose reader left, the moments of
    which (monotonic seconds) are in ``left_at``."""

    connections: int = 0
    requests: int = 0
    active: int = 0
    finished: int = 0
    aborted: int = 0
    left_at: list[float] = field(default_factory=list)


class Upstream:
    """A provider of all dialects on a free port of this machine, while the context lasts.

    ``script`` holds answers for the next calls, in order; what is not scripted is told by the name of the model.
    """

    def __init__(self, script: Iterable[Scripted] = (), port: int = 0) -> None:
        self.calls: deque[Received] = deque(maxlen=CALLS_KEPT)
        self.statistics = Statistics()
        self.script: deque[Scripted] = deque(script)
        self.url = ""
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-upstream", daemon=True)
        self._started = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def since(self, requests: int) -> list[Received]:
        """The requests that came after so many others, as far as they are remembered."""
        return list(self.calls)[-(self.statistics.requests - requests) or len(self.calls) :]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, limit=_HEAD_MAX)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._stop.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.statistics.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        ahead: bytes | None = b""
        try:
            while ahead is not None:
                ahead = await self._exchanged(reader, writer, ahead)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchanged(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ahead: bytes
    ) -> bytes | None:
        """One request, which begins with ``ahead``, and its response. What was read of the next request meanwhile;
        ``None`` when the connection ends here."""
        received = await _read(reader, writer, ahead)
        if received is None:
            return None
        self.calls.append(received)
        self.statistics.requests += 1
        self.statistics.active += 1
        answering = asyncio.ensure_future(self._answer(received, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done() and leaving.result():  # the next request is here before this answer is put away
                await asyncio.wait({answering})
            if answering.done():
                stays = answering.result()
                self.statistics.finished += 1
                leaving.cancel()
                await asyncio.wait({leaving})
                return (b"" if leaving.cancelled() else leaving.result()) if stays else None
            self._left()
            return None
        except ConnectionError:
            self._left()
            return None
        finally:
            self.statistics.active -= 1
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    def _left(self) -> None:
        self.statistics.aborted += 1
        self.statistics.left_at.append(time.monotonic())

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        scripted = self.script.popleft() if self.script else Scripted()
        try:
            response = _response(received, scripted)
        except Missteered as error:
            response = _Response(400, "application/json", [as_json({"error": str(error)}).encode()])
        return await _write(response, writer)


@dataclass(frozen=True, slots=True)
class _Response:
    """A response before it is written. A ``stream`` goes out in chunks, everything else with its length."""

    status: int
    media_type: str
    body: list[bytes]
    stream: bool = False
    told: Steering = _PLAIN
    compressed: bool = False


def _response(received: Received, scripted: Scripted) -> _Response:
    wire = _format(received)
    if wire is None or received.method != "POST":
        return _Response(404, "application/json", [b'{"error":"not found"}'])
    try:
        body = received.json
        model = _model(received, body)
        named = steering(model)
        told = scripted.steering or named
        if isinstance(wire, OpenAIChat) and "mistral" in named.modes:
            wire = MistralChat()
        asked = wire.asked(body)
    except (Invalid, json.JSONDecodeError) as error:
        return _error(wire, 400, str(error), _PLAIN)
    if told.status != 200:
        return _error(wire, told.status, "the model is not to be had", told)
    answer = answer_to(asked, received.body, model, told, scripted)
    compressed = "gzip" in told.modes and "gzip" in received.headers.get("accept-encoding", "")
    if not _streams(received, body):
        document = [as_json(wire.whole(answer)).encode()]
        return _Response(200, "application/json", document, told=told, compressed=compressed)
    events = _bent(list(wire.stream(answer, body, usage="usage" in told.modes)), wire, told)
    body_pieces = framed(events, wire.media_type, told.modes)
    return _Response(200, wire.media_type, body_pieces, stream=True, told=told, compressed=compressed)


def _bent(events: list[Event], wire: Format, told: Steering) -> list[Event]:
    """The events with the faults that were asked for."""
    spoken = [event for event in events if not event.terminal]
    if "errmid" in told.modes:
        return [*spoken[: len(spoken) // 2 + 1], replace(wire.failed(), terminal=True)]
    return spoken if "nodone" in told.modes else events


def _error(wire: Format, status: int, text: str, told: Steering) -> _Response:
    return _Response(status, "application/json", [as_json(wire.error(status, text)).encode()], told=told)


def _format(received: Received) -> Format | None:
    if received.path.endswith(":streamGenerateContent") and "alt=sse" in received.query:
        return Gemini()
    return next((found for ending, found in _FORMATS if received.path.endswith(ending)), None)


def _model(received: Received, body: dict[str, Any]) -> str:
    name = received.path.rpartition("/")[2].partition(":")
    return name[0] if name[1] else str(body.get("model", ""))


def _streams(received: Received, body: dict[str, Any]) -> bool:
    if ":" in received.path:
        return received.path.endswith(":streamGenerateContent")
    return bool(body.get("stream", received.path.endswith("/api/chat")))


async def _write(response: _Response, writer: asyncio.StreamWriter) -> bool:
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


async def _write_head(response: _Response, length: int | None, writer: asyncio.StreamWriter, *, slowly: bool) -> None:
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


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ahead: bytes) -> Received | None:
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
