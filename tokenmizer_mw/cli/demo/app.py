"""The demonstration's application, a real FastAPI app with the one line that adds the middleware, and its server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory

from .observing import DemoUpstream

STARTS_WITHIN: Final = 10.0
"""Seconds that a server may take to start or to stop."""


@contextmanager
def serving(app: Any) -> Iterator[str]:
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
    """Return a chat application in front of ``upstream``; with ``memory`` it has the middleware."""

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
