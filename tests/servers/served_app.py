"""The application that servers serve: a scripted model behind a chat route, bare and behind the middleware.

It runs in the server's process. The environment names a folder: the store lies there, notes of what the application
saw go there, and a file "go" in it lets a model that waits speak on. The request's ``user`` tells the model what to do.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware

FOLDER: Final = Path(os.environ.get("SERVED_FOLDER", "."))
STORE: Final = "memory.db"
NOTES: Final = "notes.jsonl"
GO: Final = "go"


def event(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    chunk = {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


EVENTS: Final = [
    event("Ich "),
    b": keep-alive\n\n",
    event("heiße "),
    event("Ünal\u2028\U0001f642."),
    event(finish="stop"),
    b"data: [DONE]\n\n",
]
REPLY: Final = "Ich heiße Ünal\u2028\U0001f642."


def note(what: str, **more: Any) -> None:
    """Write down that something happened, and when on the machine's clock."""
    line = json.dumps({"what": what, **more}) + "\n"
    with (FOLDER / NOTES).open("a", encoding="utf-8") as file:
        file.write(line)


async def _spoken() -> AsyncIterator[bytes]:
    for part in EVENTS:
        yield part


async def _waiting() -> AsyncIterator[bytes]:
    yield EVENTS[0]
    while not (FOLDER / GO).exists():
        await anyio.sleep(0.005)
    for part in EVENTS[1:]:
        yield part


async def _endless() -> AsyncIterator[bytes]:
    try:
        while True:
            yield EVENTS[0]
            await anyio.sleep(0.005)
    finally:
        note("stopped")


async def _crashing() -> AsyncIterator[bytes]:
    yield EVENTS[0]
    raise LookupError("the model's own error")


_SPEAKING: Final = {"speaks": _spoken, "waits": _waiting, "endless": _endless, "crashes": _crashing}


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["path"].endswith("/refused"):
        await Response(status_code=413)(scope, receive, send)
    else:
        await _answer(scope, receive, send)


async def _lifespan(receive: Any, send: Any) -> None:
    for stage in ("startup", "shutdown"):
        assert (await receive())["type"] == f"lifespan.{stage}"
        await send({"type": f"lifespan.{stage}.complete"})


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    request = Request(scope, receive)
    try:
        raw = await request.body()
    except ClientDisconnect:
        note("gone in the body")
        return
    body = json.loads(raw)
    match body["user"]:
        case "silent":
            await _until_gone(receive, "gone before the response")
        case "lingers":
            await _linger(receive, send)
        case "measures":
            await JSONResponse({"size": len(raw), "sum": hashlib.sha256(raw).hexdigest()})(scope, receive, send)
        case manner:
            await StreamingResponse(_SPEAKING[manner](), media_type="text/event-stream")(scope, receive, send)


async def _until_gone(receive: Any, what: str) -> None:
    note("listening")
    assert (await receive())["type"] == "http.disconnect"
    note(what)


async def _linger(receive: Any, send: Any) -> None:
    """Everything is said, but the response stays open until the client leaves."""
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for part in EVENTS:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await _until_gone(receive, "gone at the last byte")


class Served:
    """Paths that begin with /bare reach the application alone, all others through the middleware."""

    def __init__(self) -> None:
        self.memory = SessionMemory.open(f"sqlite:///{FOLDER / STORE}")
        self.remembering = TokenMizerMiddleware(app, memory=self.memory)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/counters":
            await JSONResponse(self.memory.counters())(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith("/bare"):
            await app(scope, receive, send)
        else:
            await self.remembering(scope, receive, send)


served = Served() if "SERVED_FOLDER" in os.environ else None
