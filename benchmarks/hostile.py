"""Input made to hurt: does time double when the input does, and what does a megabyte cost?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings

from .measure import at_most, cpu_seconds

SIZE: Final = 200_000
MEGABYTE: Final = 1_000_000
TRIALS: Final = 4
"""How often times are taken again while their ratio looks bad: other work on the machine only ever adds to them."""

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
}

ROLES: Final = ("user", "assistant", "tool")


def run() -> dict[str, Any]:
    settings = Settings(message_max=4 * MEGABYTE)
    _record(settings, "user", "warm up: decided to use Redis.")
    rows = {}
    for name, unit in INPUTS.items():
        for role in ROLES:
            rows[f"{name} ({role})"] = _row(settings, role, unit)
    worst_ratio = max(rows, key=lambda name: float(rows[name]["ratio"]))
    worst_time = max(rows, key=lambda name: float(rows[name]["seconds_1mb"]))
    return {
        "figures": rows,
        "bars": [
            at_most(f"worst time(2n)/time(n), {worst_ratio}", rows[worst_ratio]["ratio"], 2.3),
            at_most(f"worst CPU for 1 MB, {worst_time}", rows[worst_time]["seconds_1mb"], 2.0, "s"),
        ],
        "notes": f"One message through memory.record on an in-memory store, n = {SIZE} characters, least of three to"
        " twelve, with message_max raised to 4 MB (the default reads 200 kB of one message). Ratios of inputs that take"
        " under 5 ms are not judged: they measure the clock.",
    }


def _row(settings: Settings, role: str, unit: str) -> dict[str, float]:
    once, twice = float("inf"), float("inf")
    for _ in range(TRIALS):
        once = min(once, cpu_seconds(_work(settings, role, unit, SIZE), repeat=3))
        twice = min(twice, cpu_seconds(_work(settings, role, unit, 2 * SIZE), repeat=3))
        if twice <= 2.2 * once:
            break
    ratio = twice / once if twice > 0.005 else 0.0
    return {
        "seconds_n": round(once, 4),
        "seconds_2n": round(twice, 4),
        "ratio": round(ratio, 2),
        "seconds_1mb": round(cpu_seconds(_work(settings, role, unit, MEGABYTE)), 3),
    }


def _work(settings: Settings, role: str, unit: str, size: int) -> Callable[[], None]:
    text = (unit * (size // len(unit) + 1))[:size]
    return lambda: _record(settings, role, text)


def _record(settings: Settings, role: str, text: str) -> None:
    memory = SessionMemory.open("memory://", settings)
    call = {"id": "c", "function": {"name": "run_command", "arguments": '{"command": "make"}'}}
    before = [{"role": "assistant", "content": "", "tool_calls": [call]}] if role == "tool" else []
    extra = {"tool_call_id": "c"} if role == "tool" else {}
    memory.record("s", [*before, {"role": role, "content": text, **extra}])
    memory.close()
