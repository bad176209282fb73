"""The servers that ``proxy`` measures: a bare relay over one pooled client, and our proxy with its memory.

``BENCHMARK_UPSTREAM`` is the provider's address, ``BENCHMARK_STORE`` the URL of the store.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tokenmizer_mw.server.proxy.app import proxy as configured
from tokenmizer_mw.server.proxy.configuration import Configuration


def bare() -> Starlette:
    """Return a plain relay: requests and responses are passed on as they come."""
    client = httpx2.AsyncClient(timeout=600, trust_env=False, limits=httpx2.Limits(max_connections=None))
    base = os.environ["BENCHMARK_UPSTREAM"]

    async def relay(request: Request) -> StreamingResponse:
        kept = [(name, value) for name, value in request.headers.raw if name not in (b"host", b"content-length")]
        asked = client.build_request("POST", base + request.url.path, headers=kept, content=await request.body())
        answer = await client.send(asked, stream=True)

        async def body() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_raw():
                    yield piece
            finally:
                await answer.aclose()

        headers = {name: value for name, value in answer.headers.items() if name != "transfer-encoding"}
        return StreamingResponse(body(), answer.status_code, headers)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await client.aclose()

    return Starlette(routes=[Route("/{path:path}", relay, methods=["POST"])], lifespan=lifespan)


def proxy() -> Any:
    """Return our proxy as it is served: authentication, memory and relay."""
    base, store = os.environ["BENCHMARK_UPSTREAM"], os.environ["BENCHMARK_STORE"]
    given = {"store": store, "providers": {"openai": {"base_url": f"{base}/v1"}}}
    return configured(Configuration.read(given, {}))
