"""The application that ``streams`` and ``client_gone`` measure: a chat route that streams as each request says.

``/bare`` is the route alone, ``/noop`` behind a middleware that does nothing, ``/memory`` behind ours. The member
``shape`` of a request says how much is streamed and what happens then. ``/probe/WHAT`` reports what the process has
used and observed.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware

from .middleware import Passing

_FRAME: Final = 172

LAG_STEP: Final = 0.005
"""Seconds between two measurements of the loop's lag."""

_BEFORE: Final = (
    b'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "choices": [{"index": 0, '
)
_LAST: Final = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def chunk(number: int, size: int) -> bytes:
    """Return a chunk of an answer of about ``size`` bytes, with another text for every number."""
    choice = {"index": 0, "delta": {"content": f" order {number}" + "x" * (size - _FRAME)}, "finish_reason": None}
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


class Probe:
    """What the process has observed. Times are seconds on the machine's monotonic clock.

    - ``notes``: names and times of events; ``lags``: how late the loop was, in seconds; ``holding``: how many streams
      wait for "go".
    """

    def __init__(self, memory: SessionMemory) -> None:
        self.memory = memory
        self.notes: list[tuple[str, float]] = []
        self.lags: list[float] = []
        self.holding = 0
        self._go_on = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    def note(self, what: str) -> None:
        self.notes.append((what, time.monotonic()))

    async def answer(self, request: Request) -> Response:
        """Do what the last part of the path says ("go", "flush", "watch" or "relax"; nothing for any other word), and
        report what was observed."""
        await getattr(self, f"_{request.path_params['what']}", self._nothing)()
        return JSONResponse(
            {
                "loop": time.thread_time(),
                "process": time.process_time(),
                "notes": self.notes,
                "lags": self.lags,
                "holding": self.holding,
                **_resident(),
            }
        )

    async def _nothing(self) -> None:
        """Do nothing."""

    async def hold(self) -> None:
        """Wait until ``/probe/go`` is requested."""
        self.holding += 1
        await self._go_on.wait()

    async def _go(self) -> None:
        self._go_on.set()
        self._go_on, self.holding = asyncio.Event(), 0

    async def _flush(self) -> None:
        await self.memory.aflush(60)

    async def _watch(self) -> None:
        self.lags = []
        self._watching = asyncio.create_task(self._watch_the_loop())

    async def _relax(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _watch_the_loop(self) -> None:
        while True:
            expected = time.perf_counter() + LAG_STEP
            await asyncio.sleep(LAG_STEP)
            self.lags.append(time.perf_counter() - expected)


def _resident() -> dict[str, int]:
    """Memory of this process in bytes: resident now, and the peak so far. 0 if the system does not report it."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    told = dict(line.split(":", 1) for line in lines)
    names = {"resident": "VmRSS", "peak": "VmHWM"}
    return {name: int(told.get(field, "0 kB").split()[0]) * 1024 for name, field in names.items()}


class Chat:
    """The chat route. The member ``then`` of a request's ``shape`` says what happens:

    - "end": the chunks are sent, and the stream ends.
    - "hold": the stream waits for ``/probe/go`` before its first chunk and after its last one.
    - "drip": after the chunks, further ones are sent until the client leaves.
    - "silent": the application waits for the client to leave before it sends anything.
    - "linger": the application waits for the client to leave after it has sent everything.
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe

    async def answer(self, request: Request) -> Response:
        shape: dict[str, Any] = json.loads(await request.body())["shape"]
        if shape["then"] == "silent":
            self.probe.note("listening")
            await request.receive()
            self.probe.note("gone")
        return StreamingResponse(self._stream(**shape), media_type="text/event-stream")

    async def _stream(self, chunks: int, size: int, then: str) -> AsyncIterator[bytes]:
        try:
            if then == "hold":
                await self.probe.hold()
            for number in range(chunks):
                yield chunk(number, size)
            if then == "hold":
                await self.probe.hold()
            while then == "drip":
                yield chunk(0, size)
                await asyncio.sleep(0.05)
            yield _LAST
            if then == "linger":
                await asyncio.Event().wait()
        finally:
            if then in ("drip", "linger"):
                self.probe.note("gone")


def build() -> Starlette:
    """Return the application with all mounts, on the store ``BENCHMARK_STORE``. ``BENCHMARK_CAPTURE``: how many bytes
    of a response are kept."""
    settings = Settings(capture_max=int(os.environ.get("BENCHMARK_CAPTURE", Settings().capture_max)))
    memory = SessionMemory.open(os.environ.get("BENCHMARK_STORE", "memory://"), settings)
    probe = Probe(memory)
    routes = [Route("/v1/chat/completions", Chat(probe).answer, methods=["POST"])]
    return Starlette(
        routes=[
            Route("/probe/{what}", probe.answer),
            Mount("/bare", app=Starlette(routes=routes)),
            Mount("/noop", app=Passing(Starlette(routes=routes))),
            Mount("/memory", app=TokenMizerMiddleware(Starlette(routes=routes), memory=memory)),
        ]
    )
