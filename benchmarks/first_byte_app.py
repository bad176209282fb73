"""The application that ``first_byte`` and ``durability`` measure: a FastAPI chat route that answers at once.

``/bare`` is the route alone, ``/memory`` the same route behind the middleware. The store is named by the
environment variable ``BENCHMARK_STORE``.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware

PIECES = 8


def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def chat_app() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> StreamingResponse:
        body = await request.json()
        said = body["messages"][-1]["content"]

        async def stream() -> AsyncIterator[bytes]:
            yield chunk({"role": "assistant", "content": ""})
            for number in range(PIECES):
                yield chunk({"content": f"piece {number} of the answer to {said[:40]!r}. "})
                await asyncio.sleep(0)
            yield chunk({}, "stop")
            yield b"data: [DONE]\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    return app


def build() -> FastAPI:
    """Both mounts, on the store that the environment names."""
    memory = SessionMemory.open(os.environ.get("BENCHMARK_STORE", "memory://"))
    outer = FastAPI()
    outer.mount("/bare", chat_app())
    outer.mount("/memory", TokenMizerMiddleware(chat_app(), memory=memory))
    return outer
