"""The demonstration's application, a real FastAPI app with the one line that adds the middleware; its server; and what
compares requests before and after the middleware.

Everything is measured from outside of the middleware: requests before and after it, cuts, latency, answers.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import httpx2
import re2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory

from .script import ChatMessage, Probe, answering_lines, split_reminder, text_of

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class StartedResponse:
    """A model's response whose head has arrived: status, media type, and an iterator over the body as it arrives."""

    status: int
    media_type: str
    body: AsyncIterator[bytes]


class DemoUpstream(Protocol):
    """Protocol of a model that speaks OpenAI Chat Completions."""

    async def open(self, body: bytes) -> StartedResponse:
        """Send a request body and return when the response head has arrived."""

    async def aclose(self) -> None:
        """Close the connections to the model."""


class HttpProvider:
    """A real provider over HTTP; bytes are passed unchanged. ``key``: its API key; ``url``: the address to which
    "chat/completions" is added."""

    def __init__(self, key: str, url: str = OPENAI_URL) -> None:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        self._client = httpx2.AsyncClient(base_url=url, headers=headers, timeout=120.0)

    async def open(self, body: bytes) -> StartedResponse:
        """Forward ``body``; return the provider's response, errors included."""
        stack = AsyncExitStack()
        response = await stack.enter_async_context(self._client.stream("POST", "chat/completions", content=body))
        media_type = response.headers.get("content-type", "application/json")
        return StartedResponse(response.status_code, media_type, _relay(response, stack))

    async def aclose(self) -> None:
        """Close the connection pool of the provider."""
        await self._client.aclose()


async def _relay(response: httpx2.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        async for chunk in response.aiter_bytes():
            yield chunk


class RequestRecorder:
    """Passes requests on to the model ``upstream`` and keeps the newest one, to show what the middleware made of it."""

    def __init__(self, upstream: DemoUpstream) -> None:
        self._upstream = upstream
        self._body = b"{}"

    async def open(self, body: bytes) -> StartedResponse:
        """Send a request body and return when the response head has arrived."""
        self._body = body
        return await self._upstream.open(body)

    async def aclose(self) -> None:
        """Close the connections to the model."""
        await self._upstream.aclose()

    def request(self) -> dict[str, Any]:
        """Return the newest request as it left the middleware, parsed; {} before the first one."""
        request: dict[str, Any] = json.loads(self._body)
        return request


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request before and after the middleware.

    - ``sent``, ``received``: its tokens as the client sent it, and as the application received it.
    - ``block``: the resume block, "" if there is none; ``dropped``: number of messages that the block replaces.
    - ``kept``: the client's messages that the application received.
    - ``reminder``: the text of the reminder (facts looked up for the newest message), "" if there is none.
    """

    sent: int = 0
    received: int = 0
    dropped: int = 0
    block: str = ""
    kept: tuple[ChatMessage, ...] = ()
    reminder: str = ""


def compare_messages(
    sent: list[ChatMessage], received: list[ChatMessage], tokens_sent: int, tokens_received: int
) -> SeenRequest:
    """Compare the messages that a client sent with those that the application received. ``tokens_sent`` and
    ``tokens_received``: tokens of the two requests."""
    parts = [split_reminder(message) for message in received]
    received = [message for message, _ in parts]
    head = _common(sent, received)
    tail = min(_common(sent[::-1], received[::-1]), len(received) - head)
    ours = received[head : len(received) - tail]
    kept = received[:head] + received[len(received) - tail :]
    block = "\n".join(map(text_of, ours))
    reminder = "\n".join(text for _, text in parts if text)
    return SeenRequest(tokens_sent, tokens_received, len(sent) - head - tail, block, tuple(kept), reminder)


def _common(one: list[ChatMessage], other: list[ChatMessage]) -> int:
    """Return the number of messages at the start that the two lists have in common."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


@dataclass(frozen=True, slots=True)
class CutSeen:
    """A request at which the middleware replaced more old messages by a block than before (a cut).

    ``turn``: number of the turn; ``seen``: the request. ``held``: tokens that it would have had without this cut;
    ``first_byte``: seconds to the first byte of its reply.
    """

    turn: int
    held: int
    seen: SeenRequest
    first_byte: float


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The model's answer to a question about an old fact. ``right``: whether it contains what was expected; ``source``:
    the part of the request that contained it (see ``judge_answer``)."""

    turn: int
    probe: Probe
    answer: str
    right: bool
    source: str


def judge_answer(turn: int, probe: Probe, answer: str, request: SeenRequest) -> ProbeOutcome:
    """Judge the model's ``answer`` to ``probe``, asked in turn ``turn`` with ``request``.

    ``ProbeOutcome.source`` says which part of the request contained the expected words: "resume block", "recent
    messages", "both" or "nothing".
    """
    expected = re2.compile(probe.expected)
    block: ChatMessage = {"role": "user", "content": request.block}
    in_block = any(expected.search(line) for line in answering_lines(probe, [block]))
    in_kept = any(expected.search(line) for line in answering_lines(probe, request.kept[:-1]))
    sources = {(True, True): "both", (True, False): "resume block", (False, True): "recent messages"}
    right = expected.search(answer) is not None
    return ProbeOutcome(turn, probe, answer, right, sources.get((in_block, in_kept), "nothing"))


@dataclass(slots=True)
class RunFigures:
    """What was measured in a run.

    - ``requests``, ``tokens_sent``, ``tokens_received``: number of requests, and the sums of their tokens before and
      after the middleware; ``refused_without``: requests that would have exceeded the window without memory.
    - ``with_memory``, ``without_memory``: seconds to the first byte of the first reply in each turn; empty for a live
      model.
    - ``cuts``, ``answers``: the cuts, and the answers to questions about old facts.
    - ``refused_at``: number of the turn in which a request was refused, which ended the run; ``None`` if none was.
    """

    requests: int = 0
    tokens_sent: int = 0
    tokens_received: int = 0
    refused_without: int = 0
    with_memory: list[float] = field(default_factory=list)
    without_memory: list[float] = field(default_factory=list)
    cuts: list[CutSeen] = field(default_factory=list)
    answers: list[ProbeOutcome] = field(default_factory=list)
    refused_at: int | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the session was played to its end, the transcript was cut and the model still knew all old facts
        afterwards."""
        answers = self.answers
        return self.refused_at is None and bool(self.cuts and answers) and all(answer.right for answer in answers)

    def saved_share(self) -> float:
        """Return the share of all tokens that the middleware saved, such as 0.6; 0.0 before the first request."""
        return 1 - self.tokens_received / self.tokens_sent if self.tokens_sent else 0.0


STARTS_WITHIN: Final = 10.0
"""Seconds that a server may take to start or to stop."""


@contextmanager
def serve_app(app: Any) -> Iterator[str]:
    """Serve ``app`` while the context is active; yield its address, such as ``http://127.0.0.1:40123``.

    Raises ``RuntimeError`` if it does not start.
    """
    # The protocol is named because asyncio sends small pieces at once only where it knows that this is TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="demo-server", daemon=True)
        thread.start()
        try:
            _wait_for_start(server, thread)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STARTS_WITHIN)


def _wait_for_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the demonstration's server did not start")
        time.sleep(0.005)


def create_app(upstream: DemoUpstream, memory: SessionMemory | None = None) -> FastAPI:
    """Return a chat application that asks the model ``upstream``; with ``memory`` it has the middleware."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await upstream.aclose()

    app = FastAPI(title="tokenmizer-mw demonstration", lifespan=lifespan)

    @app.post("/v1/chat/completions")
    async def chat_completions(request: Request) -> StreamingResponse:
        answer = await upstream.open(await request.body())
        return StreamingResponse(answer.body, status_code=answer.status, media_type=answer.media_type)

    if memory is not None:
        app.add_middleware(TokenMizerMiddleware, memory=memory)
    return app
