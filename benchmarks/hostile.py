"""Inputs that are made to be slow: does the time double when the input does, and how long does a megabyte take?

Two groups of rows: one message through ``memory.record``, and one request body through every function that reads it
before it may be refused. ``--only TEXT`` runs the rows whose names contain this text, such as "request".
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters
from tokenmizer_mw.server.access.bounds import Bounds, excess
from tokenmizer_mw.wire.http import DECODERS
from tokenmizer_mw.wire.request import Dialect

from .measure import at_most, cpu_seconds
from .windows import dialects

SIZE: Final = 200_000
MEGABYTE: Final = 1_000_000
TRIALS: Final = 4
"""How often times are measured at most, until their ratio is good: other work on the machine can only add to them."""

TRACEBACK: Final = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'

INPUTS: Final[dict[str, str]] = {
    "marker": "Decided: ",
    "letter": "A",
    "space": " ",
    "dotted": "a.",
    "quotes": '"',
    "tracebacks": TRACEBACK,
    "checkboxes": "- [ ] ",
    "backticks": "`",
    "slashes": "a/",
    "colons": "x: ",
    "switches": "switch from a to b ",
    "newlines": "\n",
    "cjk": "決定",
    "fences": "```\n",
    "underscores": "_",
    "digits": "1.",
    "less-than signs": "<",
    "number signs": "#",
    "forged fences": "<tokenmizer-resume>x</tokenmizer-resume>\n",
    "zero-width": "a\u200b",
    "full-width": "\uff21",
    "percent escapes": "%41",
    "addresses": "https://a.b/c?d=e&f=g ",
    "diffs": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "deep lists": "[",
    "deep objects": '{"a":',
    "beginnings of JWTs": "eyJ",
    "beginnings of JWTs, apart": "eyJ-_",
    "beginnings of keys": "sk-AKIAxox",
    "beginnings of key blocks": "-----BEGIN ",
    "beginnings of addresses": "://",
    "dense values": "export A_KEY=a1B2c3d4e5\n",
}

ROLES: Final = ("user", "assistant", "tool")

BODIES: Final[dict[str, tuple[str, str, str]]] = {
    "empty lists": ('{"messages": [', "[],", "[]]}"),
    "deep lists": ('{"messages": ', "[", ""),
    "deep objects": ("", '{"a":', ""),
    "empty objects": ('{"messages": [', "{},", "{}]}"),
    "less-than signs": ('{"messages": [{"role": "user", "content": "', "<", '"}]}'),
    "escapes": ('{"messages": [{"role": "user", "content": "', "\\u0041", '"}]}'),
    "backslashes": ('{"messages": [{"role": "user", "content": "', "\\\\", '"}]}'),
    "zero-width": ('{"messages": [{"role": "user", "content": "', "a\u200b", '"}]}'),
    "addresses": ('{"messages": [{"role": "user", "content": "', "https://a.b/c?d=e ", '"}]}'),
    "secrets": ('{"messages": [{"role": "user", "content": "', f"Bearer {draw_characters('w', 16, 'a')} ", '"}]}'),
    "beginnings of JWTs": ('{"messages": [{"role": "user", "content": "', "eyJ", '"}]}'),
    "beginnings of JWTs, apart": ('{"messages": [{"role": "user", "content": "', "eyJ-_", '"}]}'),
    "beginnings of keys": ('{"messages": [{"role": "user", "content": "', "sk-AKIAxox", '"}]}'),
    "tables of secrets": ('{"messages": [{"role": "user", "content": "', "|password|b\\n|a1b2c3|b\\n", '"}]}'),
    "messages": ('{"messages": [', '{"role": "user", "content": "a"},', '{"role": "user", "content": "a"}]}'),
    "members": ("{", '"a": 1,', '"b": 1}'),
    "not JSON": ("", "<#", ""),
}
"""Bodies of requests: how they begin, what is repeated, and how they end."""

Work = Callable[[int], Callable[[], None]]
"""Function from a number of characters to a function that does the work on an input of that size."""


def run(only: str = "") -> dict[str, Any]:
    """Return the figures and bars of all rows, or of those whose names contain ``only``."""
    settings = Settings(message_max=4 * MEGABYTE)
    _record(settings, "user", "warm up: decided to use Redis.")
    works = {name: work for name, work in {**_messages(settings), **_requests(settings)}.items() if only in name}
    rows = {name: _row(work) for name, work in works.items()}
    worst_ratio = max(rows, key=lambda name: float(rows[name]["ratio"]))
    worst_time = max(rows, key=lambda name: float(rows[name]["seconds_1mb"]))
    return {
        "figures": rows,
        "bars": [
            at_most(f"worst time(2n)/time(n), {worst_ratio}", rows[worst_ratio]["ratio"], 2.3),
            at_most(f"worst CPU for 1 MB, {worst_time}", rows[worst_time]["seconds_1mb"], 2.0, "s"),
        ],
        "notes": "Inputs that are made to be slow, such as nested brackets or nothing but secrets, in two ways: one"
        f" message through `memory.record` with a store in memory, n = {SIZE} characters, `message_max` raised to 4 MB"
        " (by default 200 kB of one message are read); and one request body through the check of limits, gzip decoding,"
        " redaction and the parser of each dialect. Times are the least of three to twelve runs. Ratios of inputs that"
        " take less than 5 ms are not judged.",
    }


def _messages(settings: Settings) -> dict[str, Work]:
    return {
        f"{name} ({role})": lambda size, role=role, unit=unit: _recording(settings, role, unit, size)
        for name, unit in INPUTS.items()
        for role in ROLES
    }


def _recording(settings: Settings, role: str, unit: str, size: int) -> Callable[[], None]:
    text = _repeated(unit, size)
    return lambda: _record(settings, role, text)


def _requests(settings: Settings) -> dict[str, Work]:
    redactor = Redactor(key=b"benchmark" * 4)
    looks: dict[str, Callable[[bytes], object]] = {
        "bounds": lambda body: excess(body, Bounds()),
        "redaction": lambda body: redactor.redact_body(body.decode("utf-8", "surrogatepass")),
        **{f"opening, {name}": _opening(dialect, settings) for name, dialect in dialects().items()},
    }
    rows = {
        f"request: {what}, {name}": lambda size, look=look, shape=shape: _looking(look, shape, size)
        for what, look in looks.items()
        for name, shape in BODIES.items()
    }
    return {**rows, "request: decoding, gzip": _decoding}


def _opening(dialect: Dialect, settings: Settings) -> Callable[[bytes], object]:
    def opening(body: bytes) -> object:
        with suppress(TokenMizerError):
            return open_exchange(dialect, [(b"x-session-id", b"s")], body, settings).request
        return None

    return opening


def _looking(look: Callable[[bytes], object], shape: tuple[str, str, str], size: int) -> Callable[[], None]:
    begin, unit, end = shape
    body = (begin + unit * (size // len(unit)) + end).encode()
    return lambda: (look(body), None)[1]


def _decoding(size: int) -> Callable[[], None]:
    packed = gzip.compress(b"a" * 64) * (size // 64)

    def work() -> None:
        with suppress(ValueError):
            DECODERS["gzip"]().decode(packed, 64 * MEGABYTE)

    return work


def _row(work: Work) -> dict[str, float]:
    once, twice = float("inf"), float("inf")
    for _ in range(TRIALS):
        once = min(once, cpu_seconds(work(SIZE), repeat=3))
        twice = min(twice, cpu_seconds(work(2 * SIZE), repeat=3))
        if twice <= 2.2 * once:
            break
    ratio = twice / once if twice > 0.005 else 0.0
    return {
        "seconds_n": round(once, 4),
        "seconds_2n": round(twice, 4),
        "ratio": round(ratio, 2),
        "seconds_1mb": round(cpu_seconds(work(MEGABYTE)), 3),
    }


def _repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _record(settings: Settings, role: str, text: str) -> None:
    memory = SessionMemory.open("memory://", settings)
    call = {"id": "c", "function": {"name": "run_command", "arguments": '{"command": "make"}'}}
    before = [{"role": "assistant", "content": "", "tool_calls": [call]}] if role == "tool" else []
    extra = {"tool_call_id": "c"} if role == "tool" else {}
    memory.record("s", [*before, {"role": role, "content": text, **extra}])
    memory.close()
