"""Writes the golden files of Gemini from the SDK's own types: ``python tests/wire/golden_gemini.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.genai import types

GOLDEN = Path(__file__).parent / "golden" / "gemini"
UNICODE = ["Grüße, ", "漢字 🦉", "\u2028", "\x85 fin."]
ERROR = {"error": {"code": 503, "message": 'The model is overloaded {try} "later"', "status": "UNAVAILABLE"}}
PIXEL = types.Blob(data=b"\x89PNG...", mime_type="image/png")

Chunk = dict[str, Any]
Part = types.Part


def usage(**counts: int) -> types.GenerateContentResponseUsageMetadata:
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1200,
        cached_content_token_count=1024,
        total_token_count=1200 + sum(counts.values()),
        **counts,
    )


COUNTED = usage(candidates_token_count=34)
THOUGHT = usage(candidates_token_count=14, thoughts_token_count=20)
SEARCHED = usage(candidates_token_count=34, tool_use_prompt_token_count=5)


def candidate(*parts: Part, index: int = 0, end: str | None = None, **more: Any) -> types.Candidate:
    return types.Candidate(
        content=types.Content(role="model", parts=list(parts)), index=index, finish_reason=end, **more
    )


def chunk(
    *candidates: types.Candidate, counts: types.GenerateContentResponseUsageMetadata = COUNTED, **more: Any
) -> Chunk:
    """A response object as the API writes it, made by the SDK's type of it."""
    response = types.GenerateContentResponse(
        candidates=list(candidates) or None,
        usage_metadata=counts,
        model_version="gemini-3.8-flash",
        response_id="reply-1",
        **more,
    )
    dumped: Chunk = response.model_dump(by_alias=True, exclude_none=True, mode="json")
    return dumped


def says(text: str, **more: Any) -> Chunk:
    return chunk(candidate(Part(text=text), **more))


def call(name: str, arguments: dict[str, Any] | None, id: str | None = None, **more: Any) -> Part:
    return Part(function_call=types.FunctionCall(id=id, name=name, args=arguments), **more)


READ = call("read_file", {"path": "a.py"}, "call_a1", thought_signature=b"signed")
TEST = call("run_tests", {"k": "Grüße", "n": 1.5}, "call_b2")
RUN = Part(executable_code=types.ExecutableCode(code="print(6 * 7)", language="PYTHON"))
RAN = Part(code_execution_result=types.CodeExecutionResult(outcome="OUTCOME_OK", output="42\n"))
THINKING = [
    chunk(candidate(Part(text="The port ", thought=True)), counts=THOUGHT),
    chunk(candidate(Part(text="is 8080.", thought=True)), counts=THOUGHT),
    chunk(candidate(Part(text="Use ")), counts=THOUGHT),
    chunk(candidate(Part(text="8080.", thought_signature=b"signed"), end="STOP"), counts=THOUGHT),
]
BLOCKED = {"block_reason": "PROHIBITED_CONTENT", "block_reason_message": "The prompt was blocked."}
STREAMS: dict[str, list[Chunk]] = {
    "text": [*(says(piece) for piece in UNICODE), says("", end="STOP")],
    "one": [says("Yes.", end="STOP")],
    "thinking": THINKING,
    "calls": [
        says("Both at once."),
        chunk(candidate(READ)),
        chunk(candidate(TEST)),
        says("", end="STOP"),
    ],
    "no_ids": [chunk(candidate(call("read_file", {"path": "a.py"}), call("list_files", {}), end="STOP"))],
    "code": [
        chunk(candidate(Part(text="Let me see. "), RUN), counts=SEARCHED),
        chunk(candidate(RAN, Part(text="It is 42.")), counts=SEARCHED),
        chunk(candidate(Part(text=""), end="STOP"), counts=SEARCHED),
    ],
    "image": [says("Here: "), chunk(candidate(Part(inline_data=PIXEL), end="STOP"))],
    "length": [says("One "), says("two", end="MAX_TOKENS")],
    "no_room": [chunk(types.Candidate(content=types.Content(role="model"), index=0, finish_reason="MAX_TOKENS"))],
    "continued": [says("Once upon "), says("a time", end="CONTINUATION", continuation_token=b"more")],
    "filtered": [says("So far"), chunk(types.Candidate(index=0, finish_reason="SAFETY"))],
    "refused": [chunk(types.Candidate(index=0, finish_reason="SAFETY", finish_message="It was not safe."))],
    "malformed_call": [chunk(types.Candidate(index=0, finish_reason="MALFORMED_FUNCTION_CALL"))],
    "blocked": [chunk(prompt_feedback=types.GenerateContentResponsePromptFeedback(**BLOCKED))],
    "two_candidates": [
        chunk(candidate(Part(text="first ")), candidate(Part(text="second "), index=1)),
        chunk(candidate(Part(text="answer"), end="STOP"), candidate(Part(text="one"), index=1, end="STOP")),
    ],
    "empty": [says("", end="STOP")],
}
BODIES: dict[str, Chunk] = {
    "text": says("".join(UNICODE), end="STOP"),
    "thinking": chunk(
        candidate(Part(text="The port is 8080.", thought=True), Part(text="Use 8080."), end="STOP"), counts=THOUGHT
    ),
    "calls": chunk(candidate(Part(text="Both at once."), READ, TEST, end="STOP")),
    "code": chunk(candidate(Part(text="Let me see. "), RUN, RAN, Part(text="It is 42."), end="STOP"), counts=SEARCHED),
    "length": says("One two", end="MAX_TOKENS"),
    "refused": STREAMS["refused"][0],
    "blocked": STREAMS["blocked"][0],
    "two_candidates": chunk(
        candidate(Part(text="first answer"), end="STOP"), candidate(Part(text="second one"), index=1, end="STOP")
    ),
}


def as_stream(chunks: list[Chunk], *, ascii: bool = False) -> bytes:
    return "".join(f"data: {json.dumps(each, ensure_ascii=ascii)}\n\n" for each in chunks).encode()


def as_array(chunks: list[Chunk]) -> bytes:
    """The chunks as they come without ``alt=sse``."""
    return ("[" + ",\n".join(map(as_text, chunks)) + "]").encode()


def as_text(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"


def in_snake_case(value: Any) -> Any:
    """The same with the other spelling of its members' names."""
    if isinstance(value, list):
        return [in_snake_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): in_snake_case(v) for name, v in value.items()}


def files() -> dict[str, bytes]:
    """The content of every golden file by its name."""
    made = {f"{name}.sse": as_stream(chunks) for name, chunks in STREAMS.items()}
    made |= {f"{name}.json": as_text(body).encode() for name, body in BODIES.items()}
    made |= {
        f"{name}_array.json": as_array(STREAMS[name]) for name in ("text", "thinking", "calls", "length", "refused")
    }
    made["snake.sse"] = as_stream(in_snake_case(STREAMS["thinking"]))
    made["snake_calls.sse"] = as_stream(in_snake_case(STREAMS["calls"]))
    halves = [says("owl \ud83e"), says("\udd89 and half \ud83e", end="STOP")]
    made["surrogates.sse"] = as_stream(halves, ascii=True)
    made["comments.sse"] = b": keep-alive\n\n" + made["text.sse"] + b"data: [DONE]\n\n"
    half = as_stream([says("Half an ")])
    made["failed.sse"] = half + as_stream([ERROR])
    made["failed_bare.sse"] = half + as_text(ERROR).encode()
    made["failed_array.json"] = as_array([says("Half an "), ERROR])
    made["error.json"] = as_text(ERROR).encode()
    made["error_array.json"] = as_array([ERROR])
    made["cut.sse"] = made["text.sse"].rpartition(b"data: ")[0] + b'data: {"candidates": [{"content": {"pa'
    made["cut_array.json"] = made["text_array.json"][: made["text_array.json"].rfind(b'"finishReason"')]
    made["cut.json"] = made["text.json"][:60]
    return made


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name, data in files().items():
        (GOLDEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
