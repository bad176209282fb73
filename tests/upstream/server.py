"""The scripted upstream: HTTP/1.1 on raw streams, so that every byte and every pause is its own.

    with Upstream() as upstream:
        client = OpenAI(base_url=f"{upstream.url}/v1", ...)
        client.chat.completions.create(model="fake-n5-crlf-split7", ...)
        upstream.calls[-1].body

It speaks all dialects at once, each at its path; the name of the model steers it. It runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from .answer import Invalid, Scripted, answer_to
from .anthropic import AnthropicMessages
from .cohere import CohereChat
from .format import Event, Format, as_json
from .framing import framed
from .gemini import Gemini
from .ollama import OllamaChat
from .openai_chat import DeepSeekChat, ExactMistralChat, MistralChat, OpenAIChat
from .openai_responses import OpenAIResponses
from .request import Received, read_request
from .response import PLAIN, Response, write_response
from .steering import Missteered, Steering, steering

CALLS_KEPT: Final = 2_000
"""Requests that are remembered; older ones are forgotten."""

_HEAD_MAX: Final = 64 * 1024

_FORMATS: Final[tuple[tuple[str, Format], ...]] = (
    ("/chat/completions", OpenAIChat()),
    ("/v1/responses", OpenAIResponses()),
    ("/v1/messages", AnthropicMessages()),
    (":generateContent", Gemini()),
    (":streamGenerateContent", Gemini("application/json")),
    ("/v2/chat", CohereChat()),
    ("/api/chat", OllamaChat()),
)


@dataclass(slots=True)
class Statistics:
    """What happened so far. ``active``: answers under way; ``aborted``: answers whose reader left;
    ``refused``: requests that a provider would refuse."""

    connections: int = 0
    requests: int = 0
    active: int = 0
    finished: int = 0
    aborted: int = 0
    refused: int = 0


class Upstream:
    """A provider of all dialects on a free port of this machine, while the context lasts.

    ``by_model`` holds answers for every call of a model, ``script`` those for the next other calls, in order; what is
    not scripted is told by the name of the model. ``model`` is asked before all of these: it reads the request, and
    says ``None`` where it has nothing to say.
    """

    def __init__(self, script: Iterable[Scripted] = (), port: int = 0) -> None:
        self.calls: deque[Received] = deque(maxlen=CALLS_KEPT)
        self.statistics = Statistics()
        self.script: deque[Scripted] = deque(script)
        self.by_model: dict[str, Scripted] = {}
        self.model: Callable[[Received], Scripted | None] | None = None
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
        received = await read_request(reader, writer, ahead)
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
            self.statistics.aborted += 1
            return None
        except ConnectionError:
            self.statistics.aborted += 1
            return None
        finally:
            self.statistics.active -= 1
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    def _scripted(self, received: Received) -> Scripted:
        if self.model is not None and (decided := self.model(received)) is not None:
            return decided
        if self.by_model and (found := self.by_model.get(str(received.json.get("model")))):
            return found
        return self.script.popleft() if self.script else Scripted()

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        try:
            response = _response(received, self._scripted(received))
            self.statistics.refused += response.status == 400
        except Missteered as error:
            response = Response(400, "application/json", [as_json({"error": str(error)}).encode()])
        return await write_response(response, writer)


def _response(received: Received, scripted: Scripted) -> Response:
    wire = _format(received)
    if wire is None or received.method != "POST":
        return Response(404, "application/json", [b'{"error":"not found"}'])
    try:
        body = received.json
        model = _model(received, body)
        named = steering(model)
        told = scripted.steering or named
        if isinstance(wire, OpenAIChat):
            wire = _spelled(wire, named)
        asked = wire.asked(body)
    except (Invalid, json.JSONDecodeError) as error:
        return _error(wire, 400, str(error), PLAIN)
    if told.status != 200:
        return _error(wire, told.status, "the model is not to be had", told)
    answer = answer_to(asked, received.body, model, told, scripted)
    compressed = "gzip" in told.modes and "gzip" in received.headers.get("accept-encoding", "")
    if not _streams(received, body):
        document = [as_json(wire.whole(answer)).encode()]
        return Response(200, "application/json", document, told=told, compressed=compressed)
    events = _bent(list(wire.stream(answer, body, usage="usage" in told.modes)), wire, told)
    body_pieces = framed(events, wire.media_type, told.modes)
    return Response(200, wire.media_type, body_pieces, stream=True, told=told, compressed=compressed)


def _spelled(wire: Format, named: Steering) -> Format:
    if "mistral" in named.modes:
        return ExactMistralChat() if "exact" in named.modes else MistralChat()
    return DeepSeekChat() if "deepseek" in named.modes else wire


def _bent(events: list[Event], wire: Format, told: Steering) -> list[Event]:
    """The events with the faults that were asked for."""
    spoken = [event for event in events if not event.terminal]
    if "errmid" in told.modes:
        return [*spoken[: len(spoken) // 2 + 1], replace(wire.failed(), terminal=True)]
    return spoken if "nodone" in told.modes else events


def _error(wire: Format, status: int, text: str, told: Steering) -> Response:
    return Response(status, "application/json", [as_json(wire.error(status, text)).encode()], told=told)


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
