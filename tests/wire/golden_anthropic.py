"""Writes the golden files of Anthropic Messages from the SDK's own types: ``python tests/wire/golden_anthropic.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from pydantic import TypeAdapter

GOLDEN = Path(__file__).parent / "golden" / "anthropic"
UNICODE = ["Grüße, ", "漢字 🦉", "\u2028", "\x85 fin."]
INPUT = {"input_tokens": 20, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4000}
OUTPUT = {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 7}}
CITATION = {
    "type": "char_location",
    "cited_text": "Grass is green.",
    "document_index": 0,
    "document_title": "Meadows",
    "start_char_index": 0,
    "end_char_index": 15,
}
READ = {"type": "tool_use", "id": "toolu_a1", "name": "read_file", "input": {"path": "a.py"}}
LIST = {"type": "tool_use", "id": "toolu_b2", "name": "list_files", "input": {}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_c3", "name": "web_search", "input": {"query": "message_stop"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_c3",
    "content": [
        {
            "type": "web_search_result",
            "title": '"message_stop"',
            "url": "http://test/a",
            "encrypted_content": "ZmFrZQ==",
            "page_age": None,
        }
    ],
}
RAN = {
    "type": "bash_code_execution_tool_result",
    "tool_use_id": "srvtoolu_d4",
    "content": {"type": "bash_code_execution_result", "stdout": "ok", "stderr": "", "return_code": 0, "content": []},
}
FALLBACK = {
    "type": "fallback",
    "from": {"model": "claude-opus-5-5"},
    "to": {"model": "claude-sonnet-5-5"},
    "trigger": {"type": "refusal", "category": "cyber"},
}
ASKED = {"type": "mcp_tool_use", "id": "mcptoolu_e5", "name": "ask", "server_name": "wiki", "input": {"q": "x"}}
TOLD = {
    "type": "mcp_tool_result",
    "tool_use_id": "mcptoolu_e5",
    "is_error": False,
    "content": [{"type": "text", "text": "42"}],
}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
PING = {"type": "ping"}

Event = dict[str, Any]


def message(*blocks: Event, reason: str | None = None, **more: Any) -> Event:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(blocks),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {**INPUT, "output_tokens": 1},
        **more,
    }


def begun() -> Event:
    return {"type": "message_start", "message": message()}


def block(index: int, start: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str, cites: bool = False) -> list[Event]:
    deltas: list[Event] = [{"type": "text_delta", "text": piece} for piece in pieces]
    cited = [{"type": "citations_delta", "citation": CITATION}] if cites else []
    return block(index, {"type": "text", "text": ""}, *deltas, *cited)


def thinking(index: int, *pieces: str) -> list[Event]:
    deltas: list[Event] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def call(index: int, whole: Event, *pieces: str) -> list[Event]:
    deltas: list[Event] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {**whole, "input": {}}, *deltas)


def ended(reason: str, **more: Any) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    return [{"type": "message_delta", "delta": delta, "usage": OUTPUT}, {"type": "message_stop"}]


TOOLS = [
    *text(0, "Both ", "at once."),
    *call(1, READ, "", '{"pa', 'th": "a.', 'py"}'),
    *call(2, LIST, ""),
]
REDACTED = {"type": "redacted_thinking", "data": "ZmFrZQ=="}
REFUSED = {"type": "refusal", "category": "cyber", "explanation": "This cannot be answered."}
HALF = [begun(), *text(0, "Half an ")[:-1]]
STREAMS: dict[str, list[Event]] = {
    "text": [begun(), PING, *text(0, *UNICODE), PING, *ended("end_turn")],
    "thinking": [begun(), *thinking(0, "The port ", "is 8080."), *block(1, REDACTED), *text(2, "Use 8080."),
                 *ended("end_turn")],
    "interleaved": [begun(), *thinking(0, "Hm."), *text(1, "First"), *thinking(2, "So."), *text(3, " and second."),
                    *call(4, READ, '{"path": "a.py"}'), *ended("tool_use")],
    "tools": [begun(), *TOOLS, *ended("tool_use")],
    "citations": [begun(), *text(0, "The text says that "), *text(1, "grass is ", "green", cites=True), *text(2, "."),
                  *ended("end_turn")],
    "server": [begun(), *text(0, "I look it up."), *call(1, SEARCH, '{"query"', ': "message_stop"}'), *block(2, FOUND),
               *text(3, "It ends a stream."), *block(4, RAN),
               *block(5, {"type": "container_upload", "file_id": "file_1"}), *ended("end_turn")],
    "pause": [begun(), *text(0, "Searching."), *call(1, SEARCH, '{"query": "message_stop"}'), *ended("pause_turn")],
    "stop_sequence": [begun(), *text(0, "One, two"), *ended("stop_sequence", stop_sequence=", three")],
    "refusal": [begun(), *text(0, "First you "), *ended("refusal", stop_details=REFUSED)],
    "length": [begun(), *text(0, "One two"), *ended("max_tokens")],
    "length_in_call": [begun(), *call(0, READ, '{"path": "a.'), *ended("max_tokens")],
    "window": [begun(), *text(0, "One two"), *ended("model_context_window_exceeded")],
    "empty": [begun(), *ended("end_turn")],
    "error_midway": [*HALF, OVERLOADED],
    "error_first": [OVERLOADED],
    "cut": HALF,
    "no_stop": [begun(), *text(0, "All of it."), *ended("end_turn")[:-1]],
}  # fmt: skip
BETA: dict[str, list[Event]] = {
    "mcp": [begun(), *text(0, "I ask."), *block(1, FALLBACK), *call(2, ASKED, '{"q": "x"}'), *block(3, TOLD),
            *text(4, "42."), *ended("end_turn")],
    "compaction": [begun(), *block(0, {"type": "compaction", "content": None},
                                   {"type": "compaction_delta", "content": "What was said."}), *ended("compaction")],
}  # fmt: skip
SURROGATES = [
    begun(),
    *text(0, "owl \ud83e", "\udd89 and half \ud83e"),
    *call(1, READ, '{"path": "\\ud83e', '\\udd89"}'),
    *ended("tool_use"),
]
CALLS = [{"type": "text", "text": "Both at once."}, READ, LIST]
BODIES: dict[str, Event] = {
    "text": message({"type": "text", "text": "".join(UNICODE), "citations": None}, reason="end_turn"),
    "tools": message(*CALLS, reason="tool_use"),
    "thinking": message(
        {"type": "thinking", "thinking": "The port is 8080.", "signature": "c2lnbmVk"},
        REDACTED,
        {"type": "text", "text": "Use 8080."},
        reason="end_turn",
    ),
    "server": message(
        {"type": "text", "text": "I look it up."},
        {**SEARCH, "caller": {"type": "direct"}},
        FOUND,
        {"type": "text", "text": "It ends a stream."},
        RAN,
        {"type": "container_upload", "file_id": "file_1"},
        reason="end_turn",
    ),
    "length": message({"type": "text", "text": "One two"}, reason="max_tokens"),
    "refusal": message(reason="refusal", stop_details=REFUSED),
}
FAILED = {**OVERLOADED, "request_id": "req_1"}


def streamed(events: list[Event], *, named: bool = True, ascii: bool = False) -> bytes:
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event, ensure_ascii=ascii)}\n\n")
    return "".join(lines).encode()


def whole(body: Event) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def main() -> None:
    """Check every event and body against the SDK's types and write them in the wire format."""
    event: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    beta: TypeAdapter[Any] = TypeAdapter(BetaRawMessageStreamEvent)
    for streams, adapter in ((STREAMS, event), (BETA, beta)):
        for events in streams.values():
            for each in events:
                if each["type"] not in ("ping", "error"):
                    adapter.validate_python(each)
    for body in BODIES.values():
        Message.model_validate(body)
        BetaMessage.model_validate(body)
    files = {f"{name}.sse": streamed(events) for name, events in {**STREAMS, **BETA}.items()}
    files |= {f"{name}.json": whole(body) for name, body in BODIES.items()}
    files["unnamed.sse"] = streamed(STREAMS["text"], named=False)
    files["escapes.sse"] = streamed(STREAMS["text"], ascii=True)
    files["surrogates.sse"] = streamed(SURROGATES, ascii=True)
    files["spaced.sse"] = streamed(STREAMS["text"]).replace(
        b'{"type": "message_stop"}', b'{ "type" :  "message_stop" }'
    )
    files["error.json"] = whole(FAILED)
    files["cut.json"] = files["text.json"][:-40]
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (GOLDEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
