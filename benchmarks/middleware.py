"""CPU that the middleware adds to a chat, compared with an ASGI middleware that does nothing.

Applications are called directly, without a server, so that only the middleware is measured. Each round runs every
middleware once, one after the other. From its time the time of the middleware that does nothing is subtracted, in the
same round. A figure is the median of these differences over all rounds.

- ``loop_us``: CPU time of the event loop's thread, which is what delays other requests; the facts of a round's turns
  are extracted at its end.
- ``busy_loop_us``: the same while extraction runs in other threads, which compete for the interpreter and the caches.
- ``process_us``: CPU time of the whole process, with store and extraction.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from starlette.middleware.base import BaseHTTPMiddleware

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey

from .measure import at_most

App = Callable[[Any, Any, Any], Awaitable[None]]
Wrap = Callable[[App], App]

ROUNDS: Final = 15
REQUESTS: Final = 50
CHUNKS: Final = 5_000
CHUNK_BAR: Final = 0.5
REQUEST_BAR: Final = 80.0
PROCESS_BAR: Final = 1_500.0
OFF_ROUTE_BAR: Final = 3.0

_WORDS: Final = "We keep the orders in one table and write the history of each order to a second one. "
_DELTA: Final = {"index": 0, "delta": {"content": " order"}, "finish_reason": None}
_CHUNK: Final = (
    b"data: "
    + json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "choices": [_DELTA]}).encode()
    + b"\n\n"
)
_LAST: Final = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


class Passing:
    """An ASGI middleware that wraps receive and send and does nothing; its cost is subtracted from the others."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def passing_receive() -> Any:
            return await receive()

        async def passing_send(message: Any) -> None:
            await send(message)

        await self.app(scope, passing_receive, passing_send)


class Base(BaseHTTPMiddleware):
    """A middleware on Starlette's ``BaseHTTPMiddleware`` that does nothing, for comparison."""

    async def dispatch(self, request: Any, call_next: Any) -> Any:
        return await call_next(request)


class Memory(SessionMemory):
    """A memory that puts extraction off until ``finish`` is called, unless ``busy`` is set."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.busy = False
        self._put_off: set[SessionKey] = set()
        self._schedule = self.service.extraction.schedule
        self.service.extraction.schedule = self._put_off_or_schedule

    def _put_off_or_schedule(self, key: SessionKey, *, is_chat: bool = False) -> None:
        if self.busy:
            self._schedule(key, is_chat=is_chat)
        else:
            self._put_off.add(key)

    def finish(self) -> None:
        """Extract the facts that were put off, and wait until all work is done."""
        while self._put_off:
            self.service.extraction.extract(self._put_off.pop())
        self.flush(60)


def run() -> dict[str, Any]:
    """Return the benchmark's result; figures are in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(f"sqlite:///{Path(folder) / 'bench.db'}")
        assert isinstance(memory, Memory)
        try:
            figures = {
                "chunk": added_per_chunk(memory),
                "request_header": added_per_request(memory, in_body=False),
                "request_field": added_per_request(memory, in_body=True),
                "other_routes": added_off_route(memory),
            }
            if (uvloop := _uvloop()) is not None:
                figures["request_header_uvloop"] = added_per_request(memory, in_body=False, loop=uvloop)
                figures["request_field_uvloop"] = added_per_request(memory, in_body=True, loop=uvloop)
        finally:
            memory.close()
    return {"figures": figures, "bars": bars(figures), "notes": __doc__}


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bars for these figures."""

    def loop(name: str) -> float:
        return float(figures[name]["ours"]["loop_us"])

    return [
        at_most("loop thread, added per chunk", loop("chunk"), CHUNK_BAR, "us"),
        at_most("loop thread, per 3 kB request, session in a header", loop("request_header"), REQUEST_BAR, "us", 1),
        at_most("loop thread, per 3 kB request, session in the body", loop("request_field"), REQUEST_BAR, "us", 1),
        at_most(
            "whole process with extraction, per 3 kB request, session in a header",
            float(figures["request_header"]["ours"]["process_us"]),
            PROCESS_BAR,
            "us",
            0,
        ),
        at_most("loop thread, per request of another route", loop("other_routes"), OFF_ROUTE_BAR, "us"),
    ]


def added_per_chunk(memory: Memory, *, chunks: int = CHUNKS, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the microseconds that each middleware adds to a chunk: the cost of a long stream less that of a short one,
    divided by the chunks between them."""
    bodies = _bodies("chunk", 2 * (rounds + 1), in_body=False)

    async def one_round(wrap: Wrap, number: int) -> Cost:
        short = await cost_of(wrap(answering(0)), bodies[2 * number : 2 * number + 1], memory)
        long = await cost_of(wrap(answering(chunks)), bodies[2 * number + 1 : 2 * number + 2], memory)
        return {name: (long[name] - short[name]) / chunks for name in long}

    return compared(one_round, memory, rounds)


def added_per_request(
    memory: Memory,
    *,
    in_body: bool,
    requests: int = REQUESTS,
    rounds: int = ROUNDS,
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> dict[str, Any]:
    """Return the microseconds that each middleware adds to a request of about 3 kB (seven messages, two of them new)
    with a short streamed reply. ``in_body``: the session's id is in the body, not in a header; ``loop``: makes the
    event loop."""
    bodies = _bodies(f"request-{in_body}-{loop.__module__}", 2 * requests * (rounds + 1), in_body=in_body)

    async def one_round(wrap: Wrap, number: int) -> Cost:
        app, first = wrap(answering(5)), 2 * requests * number
        calm = await cost_of(app, bodies[first : first + requests], memory)
        busy = await cost_of(app, bodies[first + requests : first + 2 * requests], memory, busy=True)
        cost = {**calm, "busy_loop_us": busy["loop_us"]}
        return {name: value / requests for name, value in cost.items()}

    return {"body_bytes": len(bodies[-1][0]), **compared(one_round, memory, rounds, loop)}


def added_off_route(memory: Memory, *, requests: int = 1_000, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the microseconds that each middleware adds to a request of a route that the memory does not handle."""
    bodies = [(b"{}", "/v1/models", b"")] * requests

    async def one_round(wrap: Wrap, number: int) -> Cost:
        cost = await cost_of(wrap(answering(1)), bodies, memory)
        return {name: value / requests for name, value in cost.items()}

    return compared(one_round, memory, rounds)


Cost = dict[str, float]
"""Microseconds by the name of the figure."""

Call = tuple[bytes, str, bytes]
"""Body, path and session header ("" for none) of a request."""


def _bodies(name: str, count: int, *, in_body: bool) -> list[Call]:
    """The calls of a session whose client sends the last seven messages with each call."""
    said = [f"{number}. {_WORDS * 8}" for number in range(count + 7)]
    calls: list[Call] = []
    for number in range(count):
        spoken = [
            {
                "role": ("user", "assistant")[place % 2],
                "content": said[number + place // 2] if place % 2 == 0 else " order" * 5,
            }
            for place in range(7)
        ]
        members = {"model": "gpt-4o", "stream": True, "messages": spoken}
        body = json.dumps({"session_id": name, **members} if in_body else members).encode()
        calls.append((body, "/v1/chat/completions", b"" if in_body else name.encode()))
    return calls


def answering(chunks: int) -> App:
    """Return an application that streams so many chunks of OpenAI Chat, and their end."""
    return streaming([_CHUNK] * chunks + [_LAST])


def streaming(bodies: Sequence[bytes], content_type: bytes = b"text/event-stream; charset=utf-8") -> App:
    """Return an application that reads the request and streams ``bodies``, one chunk each."""
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]}
    pieces = [{"type": "http.response.body", "body": body, "more_body": True} for body in bodies]
    pieces += [{"type": "http.response.body", "body": b"", "more_body": False}]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send(start)
        for piece in pieces:
            await send(piece)

    return app


async def cost_of(app: App, calls: list[Call], memory: Memory, *, busy: bool = False) -> Cost:
    """Return the CPU time of the loop's thread during the calls, and that of the process until all work was done.
    ``busy``: extraction runs during the calls, not afterwards."""

    async def send(message: Any) -> None:
        pass

    async def once(body: bytes, path: str, session: bytes) -> None:
        incoming = {"type": "http.request", "body": body, "more_body": False}

        async def receive() -> Any:
            return incoming

        await app(_scope(path, session), receive, send)

    memory.busy = busy
    gc.collect()
    gc.disable()  # whose allocation starts a collection is chance
    try:
        loop, process = time.thread_time(), time.process_time()
        for call in calls:
            await once(*call)
        loop = time.thread_time() - loop
        memory.finish()
        return {"loop_us": loop * 1e6, "process_us": (time.process_time() - process) * 1e6}
    finally:
        gc.enable()


def _scope(path: str, session: bytes) -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"accept", b"application/json"), (b"content-type", b"application/json")]
    headers += [(b"x-stainless-%d" % number, b"value") for number in range(8)]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [*headers, (b"x-session-id", session)] if session else headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }


def compared(
    one_round: Callable[[Wrap, int], Awaitable[Cost]],
    memory: Memory,
    rounds: int,
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> dict[str, Any]:
    """Return, for each middleware, the medians of what it costs more than the one that does nothing, over ``rounds``
    rounds after a first one to warm up."""
    wraps: dict[str, Wrap] = {"ours": lambda app: TokenMizerMiddleware(app, memory=memory), "base_http": Base}

    async def all_rounds() -> dict[str, list[Cost]]:
        added: dict[str, list[Cost]] = {name: [] for name in wraps}
        for number in range(rounds + 1):
            floor = await one_round(Passing, number)
            for name, wrap in wraps.items():
                cost = await one_round(wrap, number)
                if number:  # the first round warms up
                    added[name].append({unit: cost[unit] - floor[unit] for unit in floor})
        return added

    with asyncio.Runner(loop_factory=loop) as runner:
        added = runner.run(all_rounds())
    return {
        name: {unit: round(statistics.median(cost[unit] for cost in costs), 3) for unit in costs[0]}
        for name, costs in added.items()
    }


def _uvloop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Function that makes uvloop's event loop; ``None`` if it is not installed."""
    if find_spec("uvloop") is None:
        return None
    module = import_module("uvloop")
    new: Callable[[], asyncio.AbstractEventLoop] = module.new_event_loop
    return new
