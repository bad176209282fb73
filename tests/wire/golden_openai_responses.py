"""Writes the golden files of OpenAI Responses, checked against the SDK's own types:
``python tests/wire/golden_openai_responses.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import Discriminator, TypeAdapter

GOLDEN = Path(__file__).parent / "golden" / "openai_responses"
EVENTS: TypeAdapter[Any] = TypeAdapter(Annotated[get_args(ResponseStreamEvent)[0], Discriminator("type")])
USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 100},
    "output_tokens": 34,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 1234,
}
UNICODE = ("Grüße, ", "漢字 🦉", "\u2028", "\x85 fin.")

Item = dict[str, Any]
Event = dict[str, Any]


def response(output: list[Item], status: str = "completed", **members: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5.4",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status in ("in_progress", "queued") else USAGE,
        **members,
    }


# -- items: as they are when they are done -------------------------------------------------------------------------


def said(*pieces: str, id: str = "msg_1", **members: Any) -> Item:
    part = {"type": "output_text", "text": pieces, "annotations": []}
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part], **members}


def refused(*pieces: str) -> Item:
    return {**said(), "content": [{"type": "refusal", "refusal": pieces}]}


def thought(*pieces: str, id: str = "rs_1") -> Item:
    summary = [{"type": "summary_text", "text": pieces}]
    return {"type": "reasoning", "id": id, "summary": summary, "encrypted_content": "AAAA"}


def reasoned(*pieces: str) -> Item:
    content = [{"type": "reasoning_text", "text": pieces}]
    return {"type": "reasoning", "id": "rs_2", "summary": [], "content": content}


def called(call_id: str, name: str, *pieces: str) -> Item:
    id = call_id.replace("call", "fc")
    status = "completed"
    return {"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": pieces, "status": status}


def custom(call_id: str, name: str, *pieces: str) -> Item:
    return {"type": "custom_tool_call", "id": "ctc_1", "call_id": call_id, "name": name, "input": pieces}


SEARCHED = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "weather in Oslo", "queries": ["weather in Oslo"]},
}
CITED: Item = {
    **said(),
    "content": [
        {
            "type": "output_text",
            "text": ("It ", "rains."),
            "annotations": [
                {"type": "url_citation", "url": "http://test/", "title": "T", "start_index": 0, "end_index": 2}
            ],
        }
    ],
}
LISTED = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki", "tools": []}
MCP = {
    "type": "mcp_call",
    "id": "mcp_1",
    "server_label": "wiki",
    "name": "look_up",
    "arguments": ('{"page":', '"Oslo"}'),
    "status": "completed",
    "output": "A city.",
    "error": None,
}
MCP_FAILED = {
    **MCP,
    "id": "mcp_2",
    "output": None,
    "status": "failed",
    "error": {"type": "http_error", "code": 502, "message": "Bad gateway"},
}
APPROVAL = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "wiki",
    "name": "edit",
    "arguments": '{"page":"Oslo"}',
}
CODE = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "container_id": "cntr_1",
    "status": "completed",
    "code": ("print(", "6 * 7)"),
    "outputs": [{"type": "logs", "logs": "42\n"}, {"type": "image", "url": "http://test/1.png"}],
}
SHELL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_s1",
    "status": "completed",
    "action": {"commands": ["pytest -q"], "timeout_ms": 1000, "max_output_length": None},
    "environment": {"type": "container_reference", "container_id": "cntr_1"},
}
SHELL_RAN = {
    "type": "shell_call_output",
    "id": "sho_1",
    "call_id": "call_s1",
    "status": "completed",
    "max_output_length": None,
    "output": [
        {"stdout": "1 failed", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}},
        {"stdout": "", "stderr": "slow", "outcome": {"type": "timeout"}},
    ],
}
LOCAL_SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call_l1",
    "status": "completed",
    "action": {"type": "exec", "command": ["bash", "-lc", "ls"], "env": {}, "timeout_ms": None},
}
PATCH = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call_p1",
    "status": "completed",
    "operation": {"type": "update_file", "path": "src/app.py", "diff": "@@\n-a\n+b"},
}
CLICK = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "call_u1",
    "status": "completed",
    "pending_safety_checks": [],
    "action": {"type": "click", "button": "left", "x": 3, "y": 4},
}
IMAGE = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}
FOUND = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["port"], "results": None}
PROGRAM = {"type": "program", "id": "pr_1", "call_id": "call_r1", "code": "return 42", "fingerprint": "AAAA"}
PROGRAM_RAN = {"type": "program_output", "id": "pro_1", "call_id": "call_r1", "result": "42", "status": "completed"}
TOOLS_FOUND = {
    "type": "tool_search_output",
    "id": "tso_1",
    "call_id": None,
    "execution": "server",
    "status": "completed",
    "tools": [],
}
TOOLS_SEARCHED = {
    "type": "tool_search_call",
    "id": "ts_1",
    "call_id": None,
    "execution": "server",
    "status": "completed",
    "arguments": {"paths": ["crm"]},
}
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "AAAA"}

# -- events --------------------------------------------------------------------------------------------------------

PIECES = {
    "arguments": "response.function_call_arguments",
    "input": "response.custom_tool_call_input",
    "code": "response.code_interpreter_call_code",
}
PARTS = {
    "output_text": ("response.output_text", "text"),
    "refusal": ("response.refusal", "refusal"),
    "summary_text": ("response.reasoning_summary_text", "text"),
    "reasoning_text": ("response.reasoning_text", "text"),
}


def whole(item: Item) -> Item:
    """The item with its pieces joined."""

    def joined(value: Any) -> Any:
        if isinstance(value, tuple):
            return "".join(value)
        if isinstance(value, dict):
            return {name: joined(inner) for name, inner in value.items()}
        return [joined(inner) for inner in value] if isinstance(value, list) else value

    return joined(item)  # type: ignore[no-any-return]


def begun(item: Item) -> Item:
    """The item as it is announced: nothing in it yet."""
    empty: Item = {"content": [], "summary": [], "arguments": "", "input": "", "code": "", "outputs": None}
    known = {name: empty.get(name, value) for name, value in item.items()}
    runs = "status" in item and item["type"] != "program_output"
    return {**known, "status": "in_progress"} if runs else known


def streamed(item: Item, index: int) -> Iterator[Event]:
    """The events of one item."""
    at: Event = {"item_id": item["id"], "output_index": index}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun(item)}
    for name, usual in PIECES.items():
        if isinstance(item.get(name), tuple):
            stem = "response.mcp_call_arguments" if item["type"] == "mcp_call" else usual
            yield from ({"type": f"{stem}.delta", **at, "delta": piece} for piece in item[name])
            yield {"type": f"{stem}.done", **at, name: "".join(item[name])}
    for name in ("summary", "content"):
        for number, part in enumerate(item.get(name, ())):
            yield from streamed_part(part, at | {f"{name}_index": number})
    yield {"type": "response.output_item.done", "output_index": index, "item": whole(item)}


def streamed_part(part: Item, at: Event) -> Iterator[Event]:
    stem, text = PARTS[part["type"]]
    names = "reasoning_summary_part" if part["type"] == "summary_text" else "content_part"
    more = {"logprobs": []} if part["type"] == "output_text" else {}
    yield {"type": f"response.{names}.added", **at, "part": {**part, text: ""}}
    yield from ({"type": f"{stem}.delta", **at, "delta": piece, **more} for piece in part[text])
    yield {"type": f"{stem}.done", **at, text: "".join(part[text]), **more}
    yield {"type": f"response.{names}.done", **at, "part": whole(part)}


def events(*items: Item, status: str = "completed", **members: Any) -> list[Event]:
    """The events of a whole response."""
    return [
        {"type": "response.created", "response": response([], "in_progress")},
        *(event for index, item in enumerate(items) for event in streamed(item, index)),
        {"type": f"response.{status}", "response": response(list(map(whole, items)), status, **members)},
    ]


def as_stream(listed: list[Event], *, named: bool = True, ascii: bool = False) -> bytes:
    """The events on the wire; each is checked against the SDK's type of it."""
    lines = []
    for number, event in enumerate(listed):
        sent = {"type": event["type"], "sequence_number": number, **event}
        assert EVENTS.validate_python(sent).type == event["type"]
        if event["type"].endswith(".delta"):
            sent["obfuscation"] = "aB3"
        lines += [f"event: {event['type']}"] * named
        lines += ["data: " + json.dumps(sent, ensure_ascii=ascii, separators=(",", ":")), ""]
    return ("\n".join(lines) + "\n").encode()


def as_body(body: dict[str, Any]) -> bytes:
    Response.model_validate(body)
    return json.dumps(body, ensure_ascii=False, indent=2).encode()


PARALLEL = (
    said("Both ", "at once.", phase="commentary"),
    called("call_a1", "read_file", '{"path":', '"a.py"}'),
    called("call_b2", "run_tests", "{\n", '  "k": "auth"\n}'),
)
LENGTH = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
FAILED = {"status": "failed", "error": {"code": "server_error", "message": "The model failed"}}
REPLIES: dict[str, list[Item]] = {
    "text": [thought("The owl ", "waves."), said(*UNICODE)],
    "two_messages": [said("I look.", phase="commentary"), said("Port ", "8080.", id="msg_2", phase="final_answer")],
    "tool_call": [thought("Read it."), called("call_a1", "read_file", '{"path":', '"a.py"}')],
    "parallel_tools": list(PARALLEL),
    "custom_tool": [custom("call_c", "apply_patch", "*** Begin", " Patch")],
    "refusal": [refused("I can't ", "help with that.")],
    "reasoning_text": [reasoned("The port ", "is 8080."), said("Use 8080.")],
    "web_search": [SEARCHED, CITED],
    "look_ups": [FOUND, TOOLS_SEARCHED, TOOLS_FOUND, said("Port 8080.")],
    "mcp": [LISTED, MCP, MCP_FAILED, said("A city.")],
    "approval": [APPROVAL],
    "code": [CODE, said("42")],
    "hosted_shell": [SHELL, SHELL_RAN, said("It fails.")],
    "own_tools": [LOCAL_SHELL, PATCH, CLICK],
    "image": [IMAGE, said("Here.")],
    "program": [PROGRAM, PROGRAM_RAN, said("42")],
    "compacted": [COMPACTION, said("Shorter.")],
    "nothing": [],
}


def main() -> None:
    streams = {name: as_stream(events(*items)) for name, items in REPLIES.items()}
    text = events(*REPLIES["text"])
    streams["length"] = as_stream(events(said("One two"), **LENGTH))
    streams["filtered"] = as_stream(events(said("So far"), **FILTERED))
    streams["failed"] = as_stream(events(said("Half an "), **FAILED))
    streams["escapes"] = as_stream(text, ascii=True)
    streams["unnamed"] = b": keep-alive\n\n" + as_stream(text, named=False) + b"data: [DONE]\n\n"
    left_out = events(*PARALLEL)
    left_out[-1]["response"]["output"] = []
    streams["output_left_out"] = as_stream(left_out)
    failing = {"type": "error", "code": "server_error", "message": "Provider disconnected", "param": None}
    streams["error_midway"] = as_stream([*events(said("Half an "))[:5], failing])
    streams["error_first"] = as_stream([text[0], failing])
    streams["error_plain"] = as_stream(text[:1]) + b'data: {"error":{"message":"overloaded"}}\n\n'
    streams["cut_text"] = streams["text"].partition(b"event: response.output_text.done")[0] + b"event: respon"
    calls = streams["parallel_tools"]
    streams["cut_call"] = calls[: calls.rindex(b"event: response.function_call_arguments.delta")]
    streams["cut_end"] = streams["text"][:-40]
    bodies = {name: as_body(response(list(map(whole, REPLIES[name])))) for name in ("text", "parallel_tools", "mcp")}
    bodies["length"] = as_body(response([whole(said("One two"))], **LENGTH))
    bodies["failed"] = as_body(response([], **FAILED))
    bodies["queued"] = as_body(response([], "queued", background=True))
    bodies["cancelled"] = as_body(response([whole(said("Half an"))], "cancelled", background=True))
    bodies["error"] = b'{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}'
    bodies["cut"] = bodies["text"][:-60]
    GOLDEN.mkdir(exist_ok=True)
    for name, data in streams.items():
        (GOLDEN / f"{name}.sse").write_bytes(data)
    for name, data in bodies.items():
        (GOLDEN / f"{name}.json").write_bytes(data)


if __name__ == "__main__":
    main()
