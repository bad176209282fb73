"""Writes the golden files of Ollama from the SDK's own types: ``python tests/wire/golden_ollama.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ollama import ChatResponse, Message

GOLDEN = Path(__file__).parent / "golden" / "ollama"
UNICODE = ["Grüße, ", "<漢字> & 🦉", "\u2028", " fin."]
ESCAPED = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""Characters that the server's JSON encoder never writes as they are."""

ERROR = {"error": "an error was encountered while running the model: CUDA error"}
COUNTED = {
    "total_duration": 4_935_886_791,
    "load_duration": 534_986_708,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 107_345_000,
    "eval_count": 237,
    "eval_duration": 4_289_432_000,
}

Line = dict[str, Any]


def line(message: Message | None, **more: Any) -> Line:
    """An object of a response as the server writes it, made by the SDK's type of it."""
    response = ChatResponse(
        model="llama3.2", created_at="2026-11-21T09:00:00.000000Z", message=message or Message(role="assistant"), **more
    )
    dumped: Line = response.model_dump(exclude_none=True)
    return dumped


def says(text: str = "", **more: Any) -> Line:
    return line(Message(role="assistant", content=text, **more), done=False)


def ended(reason: str | None = "stop", text: str = "", **more: Any) -> Line:
    return line(Message(role="assistant", content=text, **more), done=True, done_reason=reason, **COUNTED)


def call(name: str, **arguments: Any) -> Message.ToolCall:
    return Message.ToolCall(function=Message.ToolCall.Function(name=name, arguments=arguments))


READ, TEST = call("read_file", path="a.py"), call("run_tests", k="Grüße", n=1.5)
STREAMS: dict[str, list[Line]] = {
    "text": [*map(says, UNICODE), ended()],
    "one": [ended(text="Yes.")],
    "thinking": [says(thinking="The port "), says(thinking="is 8080."), says("Use "), says("8080."), ended()],
    "calls": [says("Both at once."), says(tool_calls=[READ]), says(tool_calls=[TEST]), ended()],
    "calls_at_once": [says("Both at once.", tool_calls=[READ, TEST]), ended()],
    "no_reason": [says("Done."), ended(None)],
    "length": [says("One "), says("two"), ended("length")],
    "empty": [ended()],
    "loaded": [ended("load")],
}
BODIES: dict[str, Line] = {
    "text": ended(text="".join(UNICODE)),
    "thinking": ended(text="Use 8080.", thinking="The port is 8080."),
    "calls": ended(text="Both at once.", tool_calls=[READ, TEST]),
    "length": ended("length", "One two"),
}


def as_lines(lines: list[Line], *, ascii: bool = False) -> bytes:
    """As the server writes them: without blanks, each ended by LF."""
    text = "".join(json.dumps(each, ensure_ascii=ascii, separators=(",", ":")) + "\n" for each in lines)
    return text.translate(str.maketrans(ESCAPED)).encode()


def files() -> dict[str, bytes]:
    """The content of every golden file by its name."""
    made = {f"{name}.ndjson": as_lines(lines) for name, lines in STREAMS.items()}
    made |= {f"{name}.json": as_lines([body]).removesuffix(b"\n") for name, body in BODIES.items()}
    made["indented.json"] = json.dumps(BODIES["calls"], indent=2).encode()
    made["spaced.ndjson"] = "".join(f"{json.dumps(each)}\n\n" for each in STREAMS["calls"]).encode()
    made["separators.ndjson"] = "".join(
        f"{json.dumps(each, ensure_ascii=False)}\n" for each in (says("a\u2028b\u2029c\x85d"), ended())
    ).encode()
    made["surrogates.ndjson"] = as_lines([says("owl \ud83e"), says("\udd89 and half \ud83e"), ended()], ascii=True)
    made["last_line_open.ndjson"] = made["text.ndjson"].removesuffix(b"\n")
    made["failed.ndjson"] = as_lines([says("Half an "), ERROR])
    made["error.json"] = json.dumps({"error": "model 'x' not found"}).encode()
    made["cut.ndjson"] = made["text.ndjson"].rpartition(b'{"model"')[0] + b'{"model":"llama3.2","crea'
    made["cut.json"] = made["text.json"][:90]
    return made


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name, data in files().items():
        (GOLDEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
