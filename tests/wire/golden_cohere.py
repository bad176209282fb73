"""Writes the golden files of Cohere Chat from the SDK's own types: ``python tests/wire/golden_cohere.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cohere import types as co
from cohere.core.pydantic_utilities import parse_obj_as
from cohere.v2.types import V2ChatResponse, V2ChatStreamResponse

GOLDEN = Path(__file__).parent / "golden" / "cohere"
USAGE = {
    "billed_units": {"input_tokens": 37.0, "output_tokens": 28.0},
    "tokens": {"input_tokens": 913.0, "output_tokens": 83.0},
    "cached_tokens": 64.0,
}
UNICODE = ["Grüße, ", "漢字 🦉", "\u2028", "\x85 fin."]
CITATION = {
    "start": 0,
    "end": 5,
    "text": "Grüße",
    "type": "TEXT_CONTENT",
    "sources": [{"type": "tool", "id": "call_a1:0", "tool_output": {"message-end": '"message-end"'}}],
}

Event = dict[str, Any]


def started() -> Event:
    message = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    return {"id": "reply-1", "type": "message-start", "delta": {"message": message}}


def block(index: int, kind: str, *pieces: str) -> list[Event]:
    def content(**members: str) -> dict[str, Any]:
        return {"message": {"content": members}}

    return [
        {"type": "content-start", "index": index, "delta": content(type=kind, **{kind: ""})},
        *({"type": "content-delta", "index": index, "delta": content(**{kind: piece})} for piece in pieces),
        {"type": "content-end", "index": index},
    ]


def plan(*pieces: str) -> list[Event]:
    return [{"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}} for piece in pieces]


def call(index: int, id: str, name: str, *arguments: str) -> list[Event]:
    def calls(call: dict[str, Any]) -> dict[str, Any]:
        return {"message": {"tool_calls": call}}

    start = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    deltas = [{"function": {"arguments": piece}} for piece in arguments]
    return [
        {"type": "tool-call-start", "index": index, "delta": calls(start)},
        *({"type": "tool-call-delta", "index": index, "delta": calls(delta)} for delta in deltas),
        {"type": "tool-call-end", "index": index},
    ]


def cited() -> list[Event]:
    return [
        {"type": "citation-start", "index": 0, "delta": {"message": {"citations": CITATION}}},
        {"type": "citation-end", "index": 0},
    ]


def ended(reason: str, **members: Any) -> Event:
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": USAGE, **members}}


TOOLS = [
    *plan("I will ", "look at both."),
    *call(0, "call_a1", "read_file", '{"path"', ':"a.py"}'),
    *call(1, "call_b2", "run_tests", "{\n", '    "k": "auth"\n}'),
]
STREAMS: dict[str, list[Event]] = {
    "text": [started(), *block(0, "text", *UNICODE), ended("COMPLETE")],
    "thinking": [
        started(),
        *block(0, "thinking", "The port ", "is 8080."),
        *block(1, "text", "Use ", "8080."),
        ended("COMPLETE"),
    ],
    "two_texts": [started(), *block(0, "text", "First."), *block(1, "text", "Second."), ended("COMPLETE")],
    "tools": [started(), *TOOLS, ended("TOOL_CALL")],
    "thinking_tools": [started(), *block(0, "thinking", "Hm."), *TOOLS, ended("TOOL_CALL")],
    "citations": [started(), *block(0, "text", "Grüße"), *cited(), ended("COMPLETE")],
    "debug": [{"type": "debug", "prompt": "<turn>"}, started(), *block(0, "text", "Hi."), ended("STOP_SEQUENCE")],
    "length": [started(), *block(0, "text", "One two"), ended("MAX_TOKENS")],
    "error": [started(), *block(0, "text", "Half an "), ended("ERROR", error="the model failed")],
    "timeout": [started(), *block(0, "text", "Half an "), ended("TIMEOUT")],
    "empty": [started(), ended("COMPLETE")],
}


def whole(content: list[dict[str, str]] | None, reason: str = "COMPLETE", **members: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **members}
    kept = {name: value for name, value in message.items() if value is not None}
    return {"id": "reply-1", "finish_reason": reason, "message": kept, "usage": USAGE}


TOOL_CALLS = [
    {"id": "call_a1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a.py"}'}},
    {"id": "call_b2", "type": "function", "function": {"name": "run_tests", "arguments": '{\n    "k": "auth"\n}'}},
]
BODIES: dict[str, dict[str, Any]] = {
    "text": whole([{"type": "text", "text": "".join(UNICODE)}], citations=[CITATION]),
    "thinking": whole([{"type": "thinking", "thinking": "The port is 8080."}, {"type": "text", "text": "Use 8080."}]),
    "two_texts": whole([{"type": "text", "text": "First."}, {"type": "text", "text": "Second."}]),
    "tools": whole(None, "TOOL_CALL", tool_plan="I will look at both.", tool_calls=TOOL_CALLS),
    "length": whole([{"type": "text", "text": "One two"}], "MAX_TOKENS"),
}
ERROR = {"id": "reply-1", "message": "invalid request: model 'x' not found"}


def as_stream(events: list[Event], *, named: bool = True) -> bytes:
    """The events as Cohere sends them; each is checked against the SDK's type of it."""
    lines = []
    for event in events:
        typed = parse_obj_as(V2ChatStreamResponse, event)
        assert typed.type == event["type"]
        lines += [f"event: {event['type']}"] * named
        lines += [f"data: {json.dumps(event, ensure_ascii=False)}", ""]
    return ("\n".join(lines) + "\n").encode()


def as_body(body: dict[str, Any]) -> bytes:
    typed = parse_obj_as(V2ChatResponse, body)
    assert isinstance(typed.message, co.AssistantMessageResponse)
    return json.dumps(body, ensure_ascii=False).encode()


def main() -> None:
    files = {f"{name}.sse": as_stream(events) for name, events in STREAMS.items()}
    files |= {f"{name}.json": as_body(body) for name, body in BODIES.items()}
    text = STREAMS["text"]
    files["unnamed.sse"] = b": keep-alive\n\n" + as_stream(text, named=False) + b"data: [DONE]\n\n"
    files["escapes.sse"] = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in text)
    files["cut.sse"] = (
        files["text.sse"].partition(b"event: content-end")[0] + b'event: content-delta\ndata: {"type":"con'
    )
    files["failed.sse"] = as_stream([started(), *block(0, "text", "Half an ")]) + b'data: {"message": "lost"}\n\n'
    files["lines.ndjson"] = "".join(f"{json.dumps(event)}\n" for event in text).encode()
    files["error.json"] = json.dumps(ERROR).encode()
    files["cut.json"] = files["text.json"][:-40]
    GOLDEN.mkdir(exist_ok=True)
    for name, data in files.items():
        (GOLDEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
