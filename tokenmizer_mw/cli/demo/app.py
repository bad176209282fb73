"""The demonstration's application: a real FastAPI app with the one line that adds the middleware, and the server that
runs it. Also compares each request as the client sent it with the request that the application received from the
middleware.

Everything is measured outside the middleware: requests before and after it, cuts, latency, answers. A cut is a request
in which the middleware replaced old messages by a resume block (a short text that sums them up).
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
    """A model's response of which status and headers have arrived. ``body`` iterates over the bytes of the body as they
    arrive."""

    status: int
    media_type: str
    body: AsyncIterator[bytes]


class DemoUpstream(Protocol):
    """Protocol of what answers the application's requests: a model that speaks OpenAI Chat Completions."""

    async def open(self, body: bytes) -> StartedResponse:
        """Send the JSON body of a chat request. Return when the status and headers of the response have arrived."""

    async def aclose(self) -> None:
        """Close the connections to the model."""


class HttpProvider:
    """A real provider, reached over HTTP. Bytes are passed unchanged in both directions. ``key``: the provider's API
    key. ``url``: base URL, to which "chat/completions" is added."""

    def __init__(self, key: str, url: str = OPENAI_URL) -> None:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        self._client = httpx2.AsyncClient(base_url=url, headers=headers, timeout=120.0)

    async def open(self, body: bytes) -> StartedResponse:
        """Send the JSON body of a chat request to the provider. Return its response, also if the status is an error.
        Raises the exceptions of httpx2 if the connection fails."""
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
    """Passes requests on to the model ``upstream`` and remembers the newest one, to show what the middleware made of
    it."""

    def __init__(self, upstream: DemoUpstream) -> None:
        self._upstream = upstream
        self._body = b"{}"

    async def open(self, body: bytes) -> StartedResponse:
        """Remember the JSON body of a chat request and send it to the model. Return when the status and headers of the
        response have arrived."""
        self._body = body
        return await self._upstream.open(body)

    async def aclose(self) -> None:
        """Close the connections of the model ``upstream``."""
        await self._upstream.aclose()

    def request(self) -> dict[str, Any]:
        """Return the newest request as it left the middleware, parsed from JSON; ``{}`` before the first one."""
        request: dict[str, Any] = json.loads(self._body)
        return request


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request before and after the middleware.

    - ``sent``, ``received``: number of tokens as the client sent it, and as the application received it.
    - ``block``: text of the resume block, which stands for old messages; "" if there is none. ``dropped``: number of
      messages that the block replaces.
    - ``kept``: the client's own messages that the application received.
    - ``reminder``: text of the reminder (facts that the middleware looked up for the newest message and appended to
      it); "" if there is none.
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
    """Compare the messages that a client sent with those that the application received. Messages that the lists have in
    common at the start and at the end are the client's. What is between them in ``received`` is the resume block, with
    which the middleware replaced old messages. ``tokens_sent`` and ``tokens_received``: tokens of the two requests."""
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
    """Return how many messages at the start of the two lists are equal, up to the first difference."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


@dataclass(frozen=True, slots=True)
class CutSeen:
    """A request in which the middleware replaced more old messages by the resume block than in the request before (a
    cut).

    - ``turn``: number of the turn; ``seen``: the request.
    - ``held``: number of tokens that the request would have had without this cut.
    - ``first_byte``: seconds from the request to the first byte of its reply.
    """

    turn: int
    held: int
    seen: SeenRequest
    first_byte: float


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The model's answer to a question about an old fact (a probe), asked in turn number ``turn``. ``right``: whether
    the answer contains what was expected. ``source``: where the request contained it: "resume block",
    "recent messages", "both" or "nothing"."""

    turn: int
    probe: Probe
    answer: str
    right: bool
    source: str


def judge_answer(turn: int, probe: Probe, answer: str, request: SeenRequest) -> ProbeOutcome:
    """Judge the model's ``answer`` to the question ``probe``, which was asked in turn number ``turn`` with ``request``.

    The answer is right if the pattern ``probe.expected`` matches in it. ``ProbeOutcome.source`` says where in the
    request the expected words are: "resume block", "recent messages" (without the question itself), "both" or
    "nothing".
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
    """What was measured in a run of the demonstration.

    - ``requests``: number of requests. ``tokens_sent``, ``tokens_received``: sums of their tokens before and after the
      middleware.
    - ``refused_without``: number of requests that, without the middleware, would have exceeded the context window.
    - ``with_memory``, ``without_memory``: for each turn, the seconds to the first byte of its first reply, from the
      application with and without the middleware. Both lists are empty for a live model.
    - ``cuts``: the requests in which the middleware newly replaced old messages. ``answers``: the answers to questions
      about old facts.
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
        """Return the share of all sent tokens that the middleware saved, such as 0.6 for 60 %; 0.0 before the first
        request. Negative if it added more than it saved."""
        return 1 - self.tokens_received / self.tokens_sent if self.tokens_sent else 0.0


STARTS_WITHIN: Final = 10.0
"""Seconds that a server may take to start; also the longest wait, in seconds, for it to stop."""


@contextmanager
def serve_app(app: Any) -> Iterator[str]:
    """Serve the ASGI application ``app`` on a free port of 127.0.0.1 while the context is active. Yield its address,
    such as ``http://127.0.0.1:40123``.

    Raises ``RuntimeError`` if the server does not start within ``STARTS_WITHIN`` seconds.
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
    """Return a FastAPI chat application that passes requests on to the model ``upstream``. With ``memory``, the
    application has the middleware; with ``None``, it has not."""

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
