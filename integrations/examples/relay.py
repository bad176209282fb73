"""The sources of the examples' responses: a provider, whose responses are relayed byte for byte, or a scripted model
that needs no API key.

A relay must pass on the provider's status, headers and bytes as they arrive; a stream that breaks off must not look
complete; and when the client disconnects, even before the first byte, the provider's connection must be closed, or it
continues to generate a reply that is paid for and not read.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import httpx2
import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli.demo.script import load_script
from tokenmizer_mw.cli.demo.scripted_model import Pace, ScriptedModel
from tokenmizer_mw.context.tokens import MessageCounter, counter_for


class Provider(NamedTuple):
    """The provider for requests whose path ends in ``ending``. ``key``: environment variable with its API key;
    ``header``, ``value``: request header that carries the key."""

    ending: str
    url: str
    key: str
    header: str = "authorization"
    value: str = "Bearer {}"


PROVIDERS = (
    Provider("/chat/completions", "https://api.openai.com", "OPENAI_API_KEY"),
    Provider("/responses", "https://api.openai.com", "OPENAI_API_KEY"),
    Provider("/messages", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "x-api-key", "{}"),
    Provider(":generateContent", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "x-goog-api-key", "{}"),
    Provider(
        ":streamGenerateContent", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "x-goog-api-key", "{}"
    ),
    Provider("/v2/chat", "https://api.cohere.com", "CO_API_KEY"),
    Provider("/api/chat", "http://127.0.0.1:11434", "OLLAMA_API_KEY"),
)

# What belongs to one connection and not to the message (RFC 9110, 7.6.1), and what the HTTP client writes itself.
_NOT_PASSED_ON = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
_NOT_SENT = _NOT_PASSED_ON | {b"host", b"content-length", b"expect", b"x-session-id"}
_NOT_ANSWERED = _NOT_PASSED_ON | {b"date", b"server"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response whose head has arrived. The caller must close it, read or unread."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: AsyncIterator[bytes]
    held: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def aclose(self) -> None:
        """Release the connection; the provider is disconnected if the response was not complete."""
        await self.held.aclose()


class Upstream(Protocol):
    """Protocol of anything that answers chat requests."""

    async def open(self, scope: Mapping[str, Any], body: bytes) -> Answer:
        """Send a request and return when the response head has arrived. ``scope`` is the ASGI scope."""

    async def aclose(self) -> None:
        """Release connections."""


class Relay:
    """Providers over HTTP, through one connection pool.

    ``environ``: may contain their API keys; without one the client's own key is sent. ``UPSTREAM_URL`` selects another
    server instead of all of them.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(600, connect=10), trust_env=False)

    async def open(self, scope: Mapping[str, Any], body: bytes) -> Answer:
        """Relay a request. Returns 502 if the provider cannot be reached."""
        provider = next((row for row in PROVIDERS if scope["path"].endswith(row.ending)), None)
        if provider is None:
            return _said(404, "no provider is known for this path")
        held = AsyncExitStack()
        try:
            response = await self._client.send(self._request(provider, scope, body), stream=True)
        except httpx2.TransportError as error:
            return _said(502, f"the provider cannot be reached: {type(error).__name__}")
        held.push_async_callback(response.aclose)
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _NOT_ANSWERED]
        return Answer(response.status_code, headers, response.aiter_raw(), held)

    def _request(self, provider: Provider, scope: Mapping[str, Any], body: bytes) -> httpx2.Request:
        url = self._environ.get("UPSTREAM_URL", provider.url) + scope["raw_path"].decode("ascii")
        if query := scope.get("query_string"):
            url += "?" + query.decode("ascii")
        headers = httpx2.Headers([(name, value) for name, value in scope["headers"] if name.lower() not in _NOT_SENT])
        headers.setdefault("accept-encoding", "identity")  # the bytes go on as they are: only what the client can read
        if key := self._environ.get(provider.key):
            headers[provider.header] = provider.value.format(key)
        return httpx2.Request("POST", url, headers=headers, content=body)

    async def aclose(self) -> None:
        """Close the pool."""
        await self._client.aclose()


class Scripted:
    """The model of the package's demonstration: it speaks OpenAI Chat Completions and knows one conversation."""

    def __init__(self) -> None:
        self._model = ScriptedModel(load_script(), MessageCounter(counter_for("gpt-4o")), pace=Pace(0.05, 0.01))

    async def open(self, scope: Mapping[str, Any], body: bytes) -> Answer:
        """Answer a request; paths other than ``/chat/completions`` get an error that says which variables to set."""
        if not scope["path"].endswith("/chat/completions"):
            return _said(404, "without a provider's key there is only a scripted model, at /v1/chat/completions")
        answer = await self._model.open(body)
        return Answer(answer.status, [(b"content-type", answer.media_type.encode())], answer.body)

    async def aclose(self) -> None:
        """Nothing to release."""


def upstream_from(environ: Mapping[str, str]) -> Upstream:
    """Return the providers if the environment contains a key or an address, else the scripted model."""
    given = any(environ.get(provider.key) for provider in PROVIDERS) or environ.get("UPSTREAM_URL")
    if not given:
        print("No provider's key in the environment: a scripted model answers /v1/chat/completions.", flush=True)
    return Relay(environ) if given else Scripted()


def serve(create_app: Callable[[SessionMemory, Upstream], Any]) -> None:
    """Run an application until Ctrl-C, on port ``PORT`` (8000), with its memory at ``MEMORY`` (``chat.db``)."""
    memory = SessionMemory.open(os.environ.get("MEMORY", "sqlite:///chat.db"), Settings.load())
    try:
        uvicorn.run(create_app(memory, upstream_from(os.environ)), port=int(os.environ.get("PORT", "8000")))
    finally:
        memory.close()


def _said(status: int, text: str) -> Answer:
    async def body() -> AsyncIterator[bytes]:
        yield json.dumps({"error": {"message": text}}).encode()

    return Answer(status, [(b"content-type", b"application/json")], body())


# -- for Starlette and FastAPI; Django cancels a view by itself when its client leaves -----------------------------


class Relayed(StreamingResponse):
    """A response to the client that closes the upstream response in any case, even before the first piece."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body, answer.status)
        self.raw_headers = answer.headers
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._answer.aclose()


class Unheard(Response):
    """An empty response for a client that has disconnected."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send nothing."""


async def relayed(request: Request, upstream: Upstream) -> Response:
    """Return the upstream's response to ``request``; an empty one if the client disconnects first."""
    opening = upstream.open(request.scope, await request.body())
    answer = await unless_gone(opening, request.receive)
    return Relayed(answer) if answer is not None else Unheard()


async def unless_gone(opening: Awaitable[Answer], receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> Answer | None:
    """Return the result of ``opening``; if the client disconnects first, cancel it and return ``None``."""
    answered = asyncio.ensure_future(opening)
    left = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({answered, left}, return_when=asyncio.FIRST_COMPLETED)
        return answered.result() if answered.done() else None
    finally:
        for task in (answered, left):
            task.cancel()
        await asyncio.gather(answered, left, return_exceptions=True)


async def _left(receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
