"""A streamed chat of a warm session, its cut not due, with all calls of this package counted: figures as JSON.

Run in a process of its own: threads are watched from their start. ``calls`` are those of functions, generators and
comprehensions until the turn is durable; ``path`` are the functions from ``TokenMizerMiddleware.__call__`` to the
append of the turn's events, on the event loop's thread and the worker's. The worker reads the reply and then writes the
turn; the functions that are under both are listed once.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import tokenmizer_mw
from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware
from tokenmizer_mw.model.event import Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.memory import MemoryLog

HERE = str(Path(tokenmizer_mw.__file__).parent)
TURNS = 6
BEHIND = "tokenmizer-background"
"""The thread that no chat waits for: how often it looks for work varies."""


class Watch:
    """What is counted, while ``on``."""

    on = False
    calls = 0
    paths: ClassVar[list[list[str]]] = []


def stack(frame: FrameType | None) -> list[str]:
    """The functions of this package on the stack, the outermost first."""
    found: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(HERE):
            found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found[::-1]


def watch(frame: FrameType, event: str, argument: object) -> None:
    """Count a call; note the stack where the turn goes to another thread."""
    code = frame.f_code
    if not Watch.on or threading.current_thread().name == BEHIND:
        return
    if event == "call" and code.co_filename.startswith(HERE):
        Watch.calls += 1
        handed_over = code.co_qualname == "WorkerPool.put"
        if handed_over or code.co_qualname == "TurnSpool.put":
            Watch.paths.append(stack(frame.f_back if handed_over else frame))


class PathLog(MemoryLog):
    """A store that notes how it was reached."""

    def append(self, session: SessionKey, events: Any, *, expected_seq: int) -> list[Recorded]:
        if Watch.on:
            Watch.paths.append(stack(sys._getframe(1)))
        return super().append(session, events, expected_seq=expected_seq)


async def chat(app: TokenMizerMiddleware, body: bytes) -> None:
    """One request with a streamed answer."""

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        pass

    headers = [(b"content-type", b"application/json"), (b"x-session-id", b"s")]
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": headers, "query_string": b""}
    await app(scope, receive, send)


def answer(text: str) -> Any:
    """An application that streams three chunks."""
    deltas = [{"index": 0, "delta": {"content": f"{text} {number}"}} for number in range(3)]
    pieces = [b"data: %s\n\n" % json.dumps({"choices": [delta]}).encode() for delta in deltas]
    last = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
        await send(start)
        for piece in (*pieces, last):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


def main() -> None:
    # Facts are derived behind the chat: only of the first turn, until the work in the background is flushed.
    memory = SessionMemory(PathLog(), Settings(extract_pause_seconds=600, extract_wait_seconds=600))
    _ = memory.service.redaction.redactor
    messages: list[dict[str, str]] = []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"{turn}. We keep the orders in one table."})
        body = json.dumps({"model": "gpt-4o", "stream": True, "messages": messages}).encode()
        app = TokenMizerMiddleware(answer(f"order {turn}"), memory=memory)
        Watch.on = turn == TURNS - 1
        sys.setprofile(watch)
        asyncio.run(chat(app, body))
        sys.setprofile(None)
        while memory.counters().get("turn_complete", 0) <= turn:
            time.sleep(0.005)
        Watch.on = False
        memory.flush()
        messages.append({"role": "assistant", "content": "".join(f"order {turn} {number}" for number in range(3))})
    loop = next(path for path in Watch.paths if path[0] == "__call__")
    worker = next(path for path in Watch.paths if path[-1] == "put")
    writer = Watch.paths[-1]
    shared = next(count for count, (one, other) in enumerate(zip(worker, writer, strict=False)) if one != other)
    path = [*loop, *worker, *writer[shared:]]
    saving = [name for name in sys.modules if name.startswith("tokenmizer_mw.saving")]
    print(json.dumps({"calls": Watch.calls, "path": path, "saving": saving, "counters": memory.counters()}))
    memory.close()


if __name__ == "__main__":
    threading.setprofile(watch)
    main()
