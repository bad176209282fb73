"""A chat backend with session memory on FastAPI. Run: python integrations/examples/fastapi_app.py"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse
from relay import Upstream, relayed, serve

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.errors import UnknownSession


def create_app(memory: SessionMemory, upstream: Upstream) -> FastAPI:
    """Return the application. The caller must close ``memory``."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await upstream.aclose()

    app = FastAPI(title="A chat that remembers", lifespan=lifespan)
    app.add_middleware(TokenMizerMiddleware, memory=memory)  # this line is all that the memory needs

    @app.get("/sessions/{session_id}", response_class=PlainTextResponse)
    async def remembered(session_id: str) -> str:
        """Return the resume block of a session, as the model gets it when the context is full.

        A real application must authenticate the caller here, because session ids are not secret.
        """
        try:
            return (await memory.aresume(session_id, "full")).text + "\n"
        except UnknownSession:
            raise HTTPException(404, "no such session") from None

    @app.post("/{path:path}")
    async def chat(request: Request) -> Response:
        return await relayed(request, upstream)

    return app


if __name__ == "__main__":
    serve(create_app)
