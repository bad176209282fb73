"""The protocol of the demonstration's models, and the HTTP provider for ``--live``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

import httpx2

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class StartedResponse:
    """A response whose head has arrived: status, media type, and the body as it arrives."""

    status: int
    media_type: str
    body: AsyncIterator[bytes]


class DemoUpstream(Protocol):
    """Protocol of a model that speaks OpenAI Chat Completions."""

    async def open(self, body: bytes) -> StartedResponse:
        """Send a request body and return when the response head has arrived."""

    async def aclose(self) -> None:
        """Release connections."""


class HttpProvider:
    """A real provider over HTTP; bytes are passed unchanged."""

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
        """Close the connection pool."""
        await self._client.aclose()


async def _relay(response: httpx2.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        async for chunk in response.aiter_bytes():
            yield chunk
