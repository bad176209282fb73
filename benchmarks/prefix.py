"""What of a long chat's requests a provider's prompt cache can serve, compared with two usual ways to stay small.

One session is sent call by call, each with all messages so far, to a model with a small window. The cached share is
how much of a request, up to its last message, is a byte prefix of the previous request. A cached token costs a tenth
of another.

- ``full``: nothing is cut, which no window holds in the end.
- ``sliding``: the oldest messages are dropped until the rest fits, at each call.
- ``rewritten``: a block replaces the old messages and is written anew at each call.
- ``tokenmizer-mw``: cuts of this package, with reminders, which the next turn sends without.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.assembly import Shortened

from .measure import at_least, at_most
from .probes import tokens
from .sessions import long_session

MESSAGES: Final = 300
WINDOW: Final = 6_000
KEPT: Final = 0.85
CACHED_COST: Final = 0.1
BLOCK_TOKENS: Final = 300

Request = Sequence[Mapping[str, Any]]


def run() -> dict[str, Any]:
    messages = long_session(MESSAGES).messages
    calls = [messages[:end] for end in range(1, len(messages) + 1) if messages[end - 1]["role"] != "assistant"]
    figures = {name: sent([way(call) for call in calls]) for name, way in _ways().items()}
    ours, sliding = figures["tokenmizer-mw"], figures["sliding"]
    return {
        "figures": figures,
        "bars": [
            at_least("share of input tokens that a cache can serve", ours["cached"], 0.9),
            at_most("cost of input / with a sliding window", ours["cost"] / sliding["cost"], 1.0),
            at_most("cost of input / without any cut", ours["cost"] / figures["full"]["cost"], 1.0),
        ],
        "notes": __doc__,
    }


def _ways() -> dict[str, Callable[[Request], Request]]:
    return {
        "tokenmizer-mw": _cut_by(_memory()),
        "full": lambda call: call,
        "sliding": _sliding,
        "rewritten": _rewritten_by(_memory()),
    }


def _memory() -> SessionMemory:
    return SessionMemory.open("memory://", Settings(context_window=WINDOW, block_tokens=BLOCK_TOKENS))


def _cut_by(memory: SessionMemory) -> Callable[[Request], Request]:
    def way(call: Request) -> Request:
        memory.record("s", call)
        fit = memory.shorten("s", call)
        if fit is None:
            return call
        block = [{"role": "system", "content": fit.block}] if fit.block else []
        return [*block, *(_reminded(call[at], fit, at) for at in fit.kept)]

    return way


def _reminded(message: Mapping[str, Any], fit: Shortened, at: int) -> Mapping[str, Any]:
    """Message ``at`` with the part of the reminder that belongs after it, if any."""
    text = fit.reminder.text_behind(at) if fit.reminder is not None else ""
    return {**message, "content": f"{message['content']}\n\n{text}"} if text else message


def _sliding(call: Request) -> Request:
    start = 0
    while _size(call[start:]) > KEPT * WINDOW and start < len(call) - 1:
        start += 1
    return call[start:]


def _rewritten_by(memory: SessionMemory) -> Callable[[Request], Request]:
    def way(call: Request) -> Request:
        memory.record("s", call)
        rest = _sliding(call)
        if len(rest) == len(call):
            return call
        return [{"role": "system", "content": memory.resume("s", budget=BLOCK_TOKENS).text}, *rest]

    return way


def sent(requests: Sequence[Request]) -> dict[str, float]:
    """Return the share of all input tokens that repeat the beginning of the request before, the cost of the input in
    uncached tokens, all tokens, and those of the largest request."""
    before, total, cached, largest = "", 0, 0, 0
    for request in requests:
        body = _written(request)
        size = tokens(body)
        total, largest = total + size, max(largest, size)
        cached += _common(before, body) // 4
        before = body
    cost = total - cached * (1 - CACHED_COST)
    return {"cached": cached / total, "cost": cost, "tokens": float(total), "largest": float(largest)}


def _common(before: str, after: str) -> int:
    if after.startswith(before):
        return len(before)
    return next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(after))


def _written(request: Request) -> str:
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in request)


def _size(request: Request) -> int:
    return tokens(_written(request))
