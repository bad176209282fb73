"""The demonstration's application: a real FastAPI app, and the one line that adds the middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory

from .upstream import DemoUpstream


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
