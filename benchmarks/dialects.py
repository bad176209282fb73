"""CPU that the middleware adds to a request in every dialect, at 3 kB and at 100 kB, compared with a no-op middleware.

Applications are called directly, as in ``middleware``; a header names the session. ``loop_us`` is CPU time of the
event loop's thread. ``process_us`` is that of the whole process, including parsing the request, the commit and the
extraction of two new messages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .conversations import WRITERS, Answered, Asked, Item, Told, Writer
from .measure import at_most
from .middleware import Call, Cost, Memory, Wrap, compared, cost_of, streaming
from .windows import dialects

SIZES: Final = {"3 kB": (3_000, 150.0), "100 kB": (100_000, 1_500.0)}
"""Bytes of a request, and the bar in microseconds of the loop's thread."""

ROUNDS: Final = 9
REQUESTS: Final = 30
TURNS: Final = 3

_WORDS: Final = "We keep the orders in one table and write the history of each order to a second one. "
_SAID: Final = "Noted, the history goes to a second table."


@dataclass(frozen=True, slots=True)
class Replied:
    """A short streamed answer: its chunks and their content type."""

    pieces: Sequence[bytes]
    content_type: bytes = b"text/event-stream"


def _sse(*events: Mapping[str, Any], named: bool = False) -> list[bytes]:
    return [
        (f"event: {event['type']}\n" if named else "").encode() + b"data: " + json.dumps(event).encode() + b"\n\n"
        for event in events
    ]


def _chat_chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


_OUTPUT: Final = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": _SAID}]}
_BLOCK: Final = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
_DELTA: Final = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _SAID}}
_PARTS: Final = {"role": "model", "parts": [{"text": _SAID}]}

REPLIES: Final[Mapping[str, Replied]] = {
    "openai_chat": Replied(
        [*_sse(_chat_chunk({"role": "assistant", "content": _SAID}), _chat_chunk({}, "stop")), b"data: [DONE]\n\n"]
    ),
    "openai_responses": Replied(
        _sse(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": _SAID},
            {"type": "response.completed", "response": {"id": "r1", "status": "completed", "output": [_OUTPUT]}},
            named=True,
        )
    ),
    "anthropic": Replied(
        _sse(
            {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
            _BLOCK,
            _DELTA,
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
            named=True,
        )
    ),
    "gemini": Replied(_sse({"candidates": [{"content": _PARTS, "finishReason": "STOP", "index": 0}]})),
    "ollama": Replied(
        [
            json.dumps({"model": "m", "message": {"role": "assistant", "content": _SAID}, "done": False}).encode()
            + b"\n",
            b'{"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}\n',
        ],
        b"application/x-ndjson",
    ),
    "cohere": Replied(
        _sse(
            {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": _SAID}}}},
            {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
            named=True,
        )
    ),
}


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(f"sqlite:///{Path(folder) / 'bench.db'}")
        assert isinstance(memory, Memory)
        try:
            figures = {name: {size: added(memory, name, size) for size in SIZES} for name in dialects()}
        finally:
            memory.close()
    bars = [
        at_most(f"{name}: loop thread, per {size} request", row[size]["ours"]["loop_us"], bar, "us", 1)
        for name, row in figures.items()
        for size, (_, bar) in SIZES.items()
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def added(memory: Memory, name: str, size: str, *, requests: int = REQUESTS, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the microseconds that the memory adds to a request of a dialect, compared with a middleware that does
    nothing. ``size``: a key of ``SIZES``; ``requests``: in each of ``rounds`` rounds."""
    calls = _calls(WRITERS[name], f"{name}-{size}", SIZES[size][0], requests * (rounds + 1))
    replied = REPLIES[name]

    async def one_round(wrap: Wrap, number: int) -> Cost:
        app = wrap(streaming(replied.pieces, replied.content_type))
        cost = await cost_of(app, calls[requests * number : requests * (number + 1)], memory)
        return {unit: value / requests for unit, value in cost.items()}

    return {"body_bytes": len(calls[-1][0]), **compared(one_round, memory, rounds)}


def _calls(writer: Writer, session: str, size: int, count: int) -> list[Call]:
    """The calls of a session whose client sends the last ``TURNS`` turns with each call; two messages of each call are
    new."""
    words = _WORDS * (size // ((TURNS + 1) * len(_WORDS)) or 1)
    asked = [Asked(f"{number}. {words}") for number in range(count + TURNS)]
    calls: list[Call] = []
    for number in range(count):
        items: list[Item] = [Told("Be brief.")]
        for question in asked[number : number + TURNS]:
            items += [question, Answered(_SAID)]
        calls.append((writer.write([*items, asked[number + TURNS]]).body, writer.path, session.encode()))
    return calls
