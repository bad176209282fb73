"""A chat backend with session memory on Starlette. Run: python integrations/examples/starlette_app.py"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from relay import Upstream, relayed, serve
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.errors import UnknownSession


def create_app(memory: SessionMemory, upstream: Upstream) -> Starlette:
    """Return the application. The caller must close ``memory``."""

    async def chat(request: Request) -> Response:
        return await relayed(request, upstream)

    async def remembered(request: Request) -> Response:
        """Return the resume block of a session, as the model gets it when the context is full.

        A real application must authenticate the caller here, because session ids are not secret.
        """
        try:
            resume = await memory.aresume(request.path_params["session_id"], "full")
        except UnknownSession:
            return PlainTextResponse("no such session\n", 404)
        return PlainTextResponse(resume.text + "\n")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await upstream.aclose()

    return Starlette(
        routes=[
            Route("/sessions/{session_id}", remembered),
            Route("/{path:path}", chat, methods=["POST"]),
        ],
        middleware=[Middleware(TokenMizerMiddleware, memory=memory)],  # this line is all that the memory needs
        lifespan=lifespan,
    )


if __name__ == "__main__":
    serve(create_app)
