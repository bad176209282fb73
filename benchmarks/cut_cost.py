"""How long a chat waits whose request is cut, over real HTTP, with the server in a process of its own.

A chat grows call by call, and a client sends the whole history each time. ``new cut``: calls in which messages are
removed for the first time; ``behind``: calls after a cut that need no further one; ``uncut``: those before. Each call
is also sent to the bare route; the figure is the difference of the times to the first byte.
"""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from .server import ask, serving
from .sessions import long_session

WINDOWS: Final = (4_000, 32_000, 128_000)
PAUSE: Final = 0.15
"""Seconds between two calls, in which the facts of the last turn are extracted."""
CUTS: Final = 5
"""New cuts after which a chat ends."""
CALLS_MAX: Final = 400
TURNS_A_WINDOW: Final = 40
CHARACTERS_A_TOKEN: Final = 4

Message = dict[str, str]


def run() -> dict[str, Any]:
    """Return the benchmark's result."""
    rows = {window: _measure(window) for window in WINDOWS}
    head = ["| window | calls | median | longest |", "|---|---|---|---|"]
    table = [
        f"| {window} tokens | {row['calls']} {kind} | {row['median_ms']} ms | {row['longest_ms']} ms |"
        for window, part in rows.items()
        for kind, row in part.items()
    ]
    return {
        "figures": {f"window of {window} tokens": part for window, part in rows.items()},
        "bars": [],
        "notes": "FastAPI under uvicorn in its own process, SQLite store. Milliseconds that the middleware adds"
        " until the"
        f" first byte. A window holds about {TURNS_A_WINDOW} turns; a chat waits {PAUSE} s between calls and ends after"
        f" {CUTS} new cuts. *uncut*: the request passes unchanged; *new cut*: a cut is made; *behind*: a call after a"
        " cut, which repeats it. The"
        " first new cut of a process includes loading the model's tokenizer, unless the background has done that.",
        "page": [*head, *table],
        "lines": table,
    }


def _measure(window: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'memory.db'}"
        application = "benchmarks.first_byte_app:build"
        with serving(application, BENCHMARK_STORE=store, BENCHMARK_WINDOW=str(window)) as (_, port):
            added: dict[str, list[float]] = {}
            for kind, seconds in _calls(port, window):
                added.setdefault(kind, []).append(seconds * 1e3)
    return {
        kind: {"calls": len(some), "median_ms": round(statistics.median(some), 1), "longest_ms": round(max(some), 1)}
        for kind, some in added.items()
    }


def _calls(port: int, window: int) -> Iterator[tuple[str, float]]:
    """The kind of each call of a chat, and the seconds that the middleware adds to its first byte."""
    links = {mount: http.client.HTTPConnection("127.0.0.1", port) for mount in ("bare", "memory")}
    said: list[Message] = []
    turns, removed, cuts = _turns(window), 0, 0
    for _ in range(CALLS_MAX):
        said.append(next(turns))
        body = json.dumps({"model": "gpt-4o", "stream": True, "messages": said})
        bare = ask(links["bare"], "/bare/v1/chat/completions", body, "chat")
        ours = ask(links["memory"], "/memory/v1/chat/completions", body, "chat")
        gone = len(said) - int(ours.headers["x-messages"])
        kind = "new cut" if gone > removed else "behind" if gone else "uncut"
        cuts += kind == "new cut"
        removed = gone
        yield kind, ours.first - bare.first
        if cuts == CUTS:
            return
        said.append(next(turns))
        time.sleep(PAUSE)


def _turns(window: int) -> Iterator[Message]:
    """Messages of a working session, of user and assistant in turn, each so long that about ``TURNS_A_WINDOW`` turns
    fill the window."""
    length = window * CHARACTERS_A_TOKEN // (2 * TURNS_A_WINDOW)
    texts = cycle(one["content"] for one in long_session(2_000).messages if one.get("content"))
    for role in cycle(("user", "assistant")):
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            parts.append(next(texts))
        yield {"role": role, "content": "\n\n".join(parts)}
