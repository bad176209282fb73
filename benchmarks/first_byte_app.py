"""The application that ``first_byte`` and ``durability`` measure: a FastAPI chat route that answers at once.

``/bare`` is the route alone, ``/memory`` the same route behind the middleware. Environment variables:
``BENCHMARK_STORE`` is the URL of the store, ``BENCHMARK_WINDOW`` the context window in tokens. If ``BENCHMARK_SPOOLED``
names a file, a line is appended to it for each chat that ended before its turn was durable: the newest message of its
request.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.resilience.spool import SpooledTurn
from tokenmizer_mw.wire.dialect import Reply

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

        headers = {"x-messages": str(len(body["messages"]))}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    return app


class ReportingMemory(SessionMemory):
    """A memory that reports, in the file ``BENCHMARK_SPOOLED``, which turns ended for the client before they were
    durable."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        turns = self.service.turns
        self._submit, self._note_waited = turns.submit_turn, turns.note_waited
        turns.submit_turn, turns.note_waited = self._submit_turn, self._report_late

    def _submit_turn(
        self, key: SessionKey, messages: Sequence[Message], reply: Reply | None, **options: Any
    ) -> SpooledTurn:
        turn = self._submit(key, messages, reply, **options)
        self._asked[turn] = messages[-1].text
        return turn

    def _report_late(self, turn: SpooledTurn, written: bool) -> bool:
        if (asked := self._asked.pop(turn, None)) is not None and not written:
            os.write(self._report, f"{asked}\n".encode())  # in the file before the end is released, whatever follows
        return self._note_waited(turn, written)

    @cached_property
    def _asked(self) -> dict[SpooledTurn, str]:
        return {}

    @cached_property
    def _report(self) -> int:
        return os.open(os.environ["BENCHMARK_SPOOLED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def build() -> FastAPI:
    """Return the application with both mounts, configured by the environment variables of this module."""
    kind = ReportingMemory if "BENCHMARK_SPOOLED" in os.environ else SessionMemory
    window = os.environ.get("BENCHMARK_WINDOW")
    settings = Settings(context_window=int(window)) if window else None
    memory = kind.open(os.environ.get("BENCHMARK_STORE", "memory://"), settings)
    outer = FastAPI()
    outer.mount("/bare", chat_app())
    outer.mount("/memory", TokenMizerMiddleware(chat_app(), memory=memory))
    return outer
