import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.openai_responses import OpenAIResponses
from tokenmizer_mw.wire.sse import events_in

from .replay import LINE_ENDS, chunkings, cut_at, replaced, replay

GOLDEN = Path(__file__).parent / "golden" / "openai_responses"
RESPONSES = OpenAIResponses()
REQUEST = json.dumps({"model": "gpt-5.4", "stream": True, "input": "Hello"}).encode()
SSE = b"text/event-stream"
UNICODE = "Grüße, 漢字 🦉\u2028\x85 fin."
USAGE = {
    "prompt_tokens": 1200,
    "completion_tokens": 34,
    "total_tokens": 1234,
    "cached_tokens": 1024,
    "cache_write_tokens": 100,
    "reasoning_tokens": 20,
}
READ = ToolCall("call_a1", "read_file", '{"path":"a.py"}')
TESTS = ToolCall("call_b2", "run_tests", '{\n  "k": "auth"\n}')


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def done(
    message: Message | None, finish: str = "completed", outcome: Outcome = Outcome.COMPLETE, error: str = ""
) -> Reply:
    return Reply(message, outcome, finish, USAGE, error)


TEXT = said(UNICODE, thinking="The owl waves.")
PARALLEL = said("Both at once.", tool_calls=(READ, TESTS))
MCP = said(
    "A city.",
    tool_calls=(ToolCall("mcp_1", "look_up", '{"page":"Oslo"}'), ToolCall("mcp_2", "look_up", '{"page":"Oslo"}')),
    tool_results=(ToolResult("mcp_1", "A city."), ToolResult("mcp_2", "Bad gateway", True)),
)
FAILED = "The model failed"
REPLIES = {
    "text.sse": done(TEXT),
    "escapes.sse": done(TEXT),
    "unnamed.sse": done(TEXT),
    "two_messages.sse": done(said("I look.\nPort 8080.")),
    "tool_call.sse": done(said(tool_calls=(READ,), thinking="Read it.")),
    "parallel_tools.sse": done(PARALLEL),
    "output_left_out.sse": done(PARALLEL),
    "custom_tool.sse": done(said(tool_calls=(ToolCall("call_c", "apply_patch", "*** Begin Patch"),))),
    "refusal.sse": done(said(refusal="I can't help with that.")),
    "reasoning_text.sse": done(said("Use 8080.", thinking="The port is 8080.")),
    "web_search.sse": done(said("It rains.")),
    "look_ups.sse": done(said("Port 8080.")),
    "mcp.sse": done(MCP),
    "approval.sse": done(said(tool_calls=(ToolCall("mcpr_1", "edit", '{"page":"Oslo"}'),))),
    "code.sse": done(
        said(
            "42",
            tool_calls=(ToolCall("ci_1", "code_interpreter", "print(6 * 7)"),),
            tool_results=(ToolResult("ci_1", "42\n"),),
        )
    ),
    "hosted_shell.sse": done(
        said(
            "It fails.",
            tool_calls=(ToolCall("call_s1", "shell", '{"commands":["pytest -q"],"timeout_ms":1000}'),),
            tool_results=(ToolResult("call_s1", "1 failed\nexit code: 1\nslow\ntimed out"),),
        )
    ),
    "own_tools.sse": done(
        said(
            tool_calls=(
                ToolCall("call_l1", "local_shell", '{"type":"exec","command":["bash","-lc","ls"],"env":{}}'),
                ToolCall(
                    "call_p1",
                    "apply_patch",
                    '{"operation":{"type":"update_file","path":"src/app.py","diff":"@@\\n-a\\n+b"}}',
                ),
                ToolCall("call_u1", "computer", '{"action":{"type":"click","button":"left","x":3,"y":4}}'),
            )
        )
    ),
    "image.sse": done(said("Here.", attachments=("image_generation_call",))),
    "program.sse": done(
        said(
            "42",
            tool_calls=(ToolCall("call_r1", "program", "return 42"),),
            tool_results=(ToolResult("call_r1", "42"),),
        )
    ),
    "compacted.sse": done(said("Shorter.")),
    "nothing.sse": done(None),
    "length.sse": done(said("One two"), "max_output_tokens", Outcome.TRUNCATED),
    "filtered.sse": done(said("So far"), "content_filter"),
    "failed.sse": done(said("Half an "), "failed", Outcome.ERROR, FAILED),
    "error_midway.sse": Reply(said("Half an "), Outcome.ERROR, error="Provider disconnected"),
    "error_first.sse": Reply(None, Outcome.ERROR, error="Provider disconnected"),
    "error_plain.sse": Reply(None, Outcome.ERROR, error="overloaded"),
    "cut_text.sse": Reply(TEXT, Outcome.TRUNCATED),
    "cut_end.sse": Reply(TEXT, Outcome.TRUNCATED),
    "cut_call.sse": Reply(
        said("Both at once.", tool_calls=(READ, ToolCall("call_b2", "run_tests", "{\n"))), Outcome.TRUNCATED
    ),
    "text.json": done(TEXT),
    "parallel_tools.json": done(PARALLEL),
    "mcp.json": done(MCP),
    "length.json": done(said("One two"), "max_output_tokens", Outcome.TRUNCATED),
    "failed.json": done(None, "failed", Outcome.ERROR, FAILED),
    "queued.json": Reply(None, Outcome.TRUNCATED, "queued"),
    "cancelled.json": done(said("Half an"), "cancelled", Outcome.TRUNCATED),
    "error.json": Reply(None, Outcome.ERROR, error="You exceeded your current quota"),
    "cut.json": Reply(None, Outcome.TRUNCATED),
}
STREAMS = sorted(name for name in REPLIES if name.endswith(".sse"))
FINISHED = sorted(name for name in STREAMS if REPLIES[name].finish_reason)
REFUSED = {"error_first.sse", "error_plain.sse", "error_midway.sse"}


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_every_golden_file_has_its_reply() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == REPLIES.keys()


@pytest.mark.parametrize("name", sorted(REPLIES))
@pytest.mark.parametrize("stream", [True, False])
def test_replies(name: str, stream: bool) -> None:
    assert RESPONSES.collect(golden(name), stream=stream) == REPLIES[name]
    assert RESPONSES.collect(b"\xef\xbb\xbf" + golden(name), stream=stream) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", STREAMS)
def test_every_split_gives_the_same_reply(name: str, every: bool) -> None:
    for pieces in chunkings(golden(name), every=every):
        assert replay(RESPONSES, REQUEST, pieces, SSE) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("name", ["text.sse", "error_midway.sse"])
def test_every_split_with_every_line_end(name: str, line_end: bytes, every: bool) -> None:
    for pieces in chunkings(golden(name).replace(b"\n", line_end), every=every):
        assert replay(RESPONSES, REQUEST, pieces, SSE) == REPLIES[name]


@given(st.sampled_from(STREAMS), st.sampled_from(LINE_ENDS), st.lists(st.integers(0, 6_000), max_size=40))
def test_any_chunking_gives_the_same_reply(name: str, line_end: bytes, places: list[int]) -> None:
    data = golden(name).replace(b"\n", line_end)
    assert replay(RESPONSES, REQUEST, cut_at(data, places), SSE) == REPLIES[name]


@pytest.mark.parametrize("name", sorted(name for name in REPLIES if name.endswith(".json")))
def test_a_whole_body_in_any_pieces(name: str) -> None:
    for pieces in chunkings(golden(name)):
        assert replay(RESPONSES, REQUEST, pieces, b"application/json") == REPLIES[name]


@pytest.mark.parametrize("name", STREAMS)
def test_the_end_is_seen_wherever_the_stream_is_split(name: str) -> None:
    data = golden(name)
    ends = name in FINISHED or name in REFUSED - {"error_plain.sse"} or name == "cut_end.sse"
    for place in range(1, len(data)):
        first, second = data[:place], data[place:]
        assert (RESPONSES.ends(first) or RESPONSES.ends(first[-64:] + second)) == ends


TAILS = [
    (b'data: {"type":"response.completed","response":{}}\n\n', True),
    (b'data: {"response":{},"sequence_number":3,"type" : "response.incomplete"}', True),
    (b"event: response.failed\n", True),
    (b"}\r\revent:response.failed\r", True),
    (b'data: {"type": "error","message":"x"}', True),
    (b"event: error\n", True),
    (b'data: {"type":"response.output_text.delta","delta":"a \\"response.completed\\" b"}', False),
    (b'data: {"type":"response.output_text.delta","delta":"an event: response.completed, \\nevent: error"}', False),
    (b'data: {"type":"response.web_search_call.completed","output_index":0}', False),
    (b'data: {"type":"response.mcp_call.failed","output_index":0}', False),
    (b'data: {"type":"response.output_text.delta","delta":"error"}', False),
    (b'data: {"type":"response.comp', False),
    (b"", False),
]


@pytest.mark.parametrize(("tail", "expected"), TAILS)
def test_the_end_is_seen_in_a_tail(tail: bytes, expected: bool) -> None:
    assert RESPONSES.ends(tail) is expected


@pytest.mark.parametrize("name", sorted(set(FINISHED) - {"nothing.sse", "unnamed.sse"}))
def test_a_stream_cut_anywhere_gives_what_came_and_has_its_end_only_at_its_end(name: str) -> None:
    data, whole = golden(name), REPLIES[name].message
    assert whole is not None
    for place in range(0, len(data) - 2, 3):
        reply = RESPONSES.collect(data[:place], stream=True)
        assert (reply.outcome, reply.finish_reason) == (Outcome.TRUNCATED, "")
        if (message := reply.message) is not None:
            assert whole.text.startswith(message.text.rstrip("\ufffd"))
            assert whole.thinking.startswith(message.thinking.rstrip("\ufffd"))
            assert [call.name for call in whole.tool_calls][: len(message.tool_calls)] == [
                call.name for call in message.tool_calls
            ]
    behind = data.rindex(b'"type":"response.')
    assert RESPONSES.collect(data[:behind], stream=True).message == whole


# -- the SDK -----------------------------------------------------------------------------------------------------


def client(data: bytes, content_type: bytes, sent: list[bytes] | None = None) -> openai.OpenAI:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if sent is not None:
            sent.append(request.read())
        return httpx2.Response(200, content=data, headers={"content-type": content_type.decode()})

    transport = httpx2.MockTransport(answer)
    return openai.OpenAI(
        api_key="none", base_url="http://test", http_client=httpx2.Client(transport=transport), max_retries=0
    )


def heard(name: str) -> tuple[Response | None, str]:
    """The response that the SDK puts together, and the error that it raises."""
    response: Response | None = None
    with client(golden(name), SSE) as sdk:
        try:
            with sdk.responses.create(model="m", input="Hello", stream=True) as stream:
                for event in stream:
                    if event.type in ("response.completed", "response.incomplete", "response.failed"):
                        response = event.response  # type: ignore[union-attr]
                    elif event.type == "error":
                        return response, event.message  # type: ignore[union-attr]
        except openai.APIError as error:
            return response, error.message
    return response, ""


@pytest.mark.parametrize("name", [*FINISHED, *sorted(REFUSED)])
def test_the_sdk_hears_the_same(name: str) -> None:
    reply = REPLIES[name]
    response, error = heard(name)
    if response is None:
        assert error == reply.error != ""
        return
    assert (response.error.message if response.error else "") == reply.error
    message = reply.message or said()
    if name != "output_left_out.sse":
        texts = [
            part.text
            for item in response.output
            if item.type == "message"
            for part in item.content
            if part.type == "output_text"
        ]
        assert "\n".join(texts) == message.text
        named = [item for item in response.output if item.type == "function_call"]
        calls = [call for call in message.tool_calls if call in (READ, TESTS)]
        assert [ToolCall(call.call_id, call.name, call.arguments) for call in named] == calls
    assert response.usage is not None
    assert response.usage.input_tokens == reply.usage["prompt_tokens"]


def plain(item: Any) -> Any:
    return item.model_dump()


RESENT: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda item: item,
    "everything, null members too": plain,
    "what was sent": lambda item: item.to_dict(),
    "without null members": lambda item: item.model_dump(exclude_none=True),
    "as JSON": lambda item: json.loads(item.model_dump_json()),
    "without ids": lambda item: {
        k: v for k, v in plain(item).items() if k not in ("id", "status") or "call_id" not in plain(item)
    },
    "members in another order": lambda item: dict(sorted(plain(item).items(), reverse=True)),
}


def sent_by_the_sdk(items: list[Any]) -> bytes:
    sent: list[bytes] = []
    with client(golden("text.json"), b"application/json", sent) as sdk:
        sdk.responses.create(
            model="m", input=[{"role": "user", "content": "Hello"}, *items, {"role": "user", "content": "And?"}]
        )
    return sent[0]


@pytest.mark.parametrize("spelling", RESENT)
@pytest.mark.parametrize("name", sorted(set(FINISHED) - {"nothing.sse", "output_left_out.sse", "failed.sse"}))
def test_what_the_sdk_sends_back_is_the_message_that_was_collected(name: str, spelling: str) -> None:
    response, _ = heard(name)
    assert response is not None
    request = RESPONSES.read(sent_by_the_sdk([RESENT[spelling](item) for item in response.output]))
    message = REPLIES[name].message
    assert message is not None
    assert [m.role for m in request.messages] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert digest(request.messages[1]) == digest(message)
    assert request.stand_down == ("provider_compacts" if name == "compacted.sse" else "")


@pytest.mark.parametrize("name", ["text.sse", "web_search.sse", "look_ups.sse", "reasoning_text.sse", "length.sse"])
def test_clients_that_send_back_only_the_text_are_understood(name: str) -> None:
    response, _ = heard(name)
    assert response is not None
    request = RESPONSES.read(sent_by_the_sdk([{"role": "assistant", "content": response.output_text}]))
    message = REPLIES[name].message
    assert message is not None
    assert digest(request.messages[1]) == digest(message)


@pytest.mark.parametrize("name", ["text.sse", "tool_call.sse", "parallel_tools.sse"])
def test_clients_that_leave_reasoning_out_are_understood(name: str) -> None:
    response, _ = heard(name)
    assert response is not None
    request = RESPONSES.read(sent_by_the_sdk([item for item in response.output if item.type != "reasoning"]))
    message = REPLIES[name].message
    assert message is not None
    assert digest(request.messages[1]) == digest(message)


# -- odd responses -------------------------------------------------------------------------------------------------

ENDED = b'data: {"type":"response.%s","response":%s}\n\n'
A = b'[{"role":"assistant","content":"a"}]'
ODD = [
    (b"", None, Outcome.TRUNCATED),
    (b"data: [DONE]\n\n", None, Outcome.TRUNCATED),
    (b"<html>502 Bad Gateway</html>", None, Outcome.TRUNCATED),
    (b"data: not json\n\ndata: 1\n\ndata: [1]\n\ndata: null\n\n", None, Outcome.TRUNCATED),
    (b'event: response.completed\ndata: {"response":{"output":[]}}\n\n', None, Outcome.COMPLETE),
    (b"event: error\ndata: {\n\n", None, Outcome.TRUNCATED),
    (ENDED % (b"completed", b"7"), None, Outcome.TRUNCATED),
    (b'data: {"type":"response.completed"}\n\n', None, Outcome.TRUNCATED),
    (ENDED % (b"completed", b'{"output":7,"usage":[],"error":3}'), None, Outcome.COMPLETE),
    (ENDED % (b"completed", b'{"output":[7,null,{}]}'), said(), Outcome.COMPLETE),
    (ENDED % (b"completed", b'{"status":"in_progress","output":%s}' % A), said("a"), Outcome.COMPLETE),
    (ENDED % (b"completed", b'{"status":"incomplete","output":%s}' % A), said("a"), Outcome.TRUNCATED),
    (ENDED % (b"incomplete", b'{"incomplete_details":7,"output":[]}'), None, Outcome.TRUNCATED),
    (ENDED % (b"failed", b"{}"), None, Outcome.ERROR),
    (b'data: {"type":"response.output_text.delta","delta":"a"}\n\n', said("a"), Outcome.TRUNCATED),
    (b'data: {"type":"response.output_text.delta","delta":7,"output_index":"x"}\n\n', None, Outcome.TRUNCATED),
    (b'data: {"type":"response.output_item.done","item":[]}\n\n', None, Outcome.TRUNCATED),
    (b'data: {"type":"error"}\n\n', None, Outcome.ERROR),
    (b'data: {"type":"error","error":{"message":"x"}}\n\n', None, Outcome.ERROR),
    (b"data: " + b"[" * 20_000 + b"\n\n", None, Outcome.TRUNCATED),
    (b"data: " + b"9" * 5_000 + b"\n\n", None, Outcome.TRUNCATED),
    (b'{"detail":"Not Found"}', None, Outcome.ERROR),
    (b'{"output":%s}' % A, said("a"), Outcome.COMPLETE),
    (
        b'{"object":"response","status":"odd","output":%s}' % A.replace(b'a"}', b'\xff"}'),
        said("\ufffd"),
        Outcome.COMPLETE,
    ),
    (b'{"object":"response","status":["completed"],"output":{}}', None, Outcome.COMPLETE),
    (b'{"a":' * 20_000, None, Outcome.TRUNCATED),
]


@pytest.mark.parametrize(("data", "message", "outcome"), ODD)
def test_odd_responses(data: bytes, message: Message | None, outcome: Outcome) -> None:
    reply = RESPONSES.collect(data, stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)


def test_fragments_of_several_items_and_parts_come_in_any_order() -> None:
    sent: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "role": "assistant"}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 1, "delta": "two"},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "on"},
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "one"},
    ]
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in sent).encode()
    assert RESPONSES.collect(data, stream=True).message == said("one\ntwo", tool_calls=(ToolCall("", "", "{}"),))


def assert_storable(reply: Reply) -> None:
    f"{reply.error}{reply.finish_reason}".encode()
    if reply.message is not None:
        encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["", "\ud83e", "message", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=8,
)
PARSED = {
    name: [json.loads(event.data) for event in events_in(golden(name), stream=True) or () if event.data[-1:] == "}"]
    for name in STREAMS
    if name != "cut_end.sse"
}


@given(st.data())
def test_any_value_anywhere_in_a_stream_is_survived(data: st.DataObject) -> None:
    events = PARSED[data.draw(st.sampled_from(sorted(PARSED)))]
    changed = replaced(data.draw, events, JSON)
    sent = changed if isinstance(changed, list) else [changed]
    for count in (len(sent), len(sent) - 1):
        raw = "".join(f"data: {json.dumps(event)}\n\n" for event in sent[:count]).encode()
        assert_storable(RESPONSES.collect(raw, stream=True))


@given(st.data())
def test_any_value_anywhere_in_a_body_is_survived(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["text.json", "parallel_tools.json", "mcp.json", "failed.json", "error.json"]))
    changed = replaced(data.draw, json.loads(golden(name)), JSON)
    assert_storable(RESPONSES.collect(json.dumps(changed).encode(), stream=False))


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, stream: bool) -> None:
    RESPONSES.collect(data, stream=stream)
    RESPONSES.ends(data)


def test_collecting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int, end: bytes) -> Callable[[], object]:
        delta = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "word "}
        data = f"data: {json.dumps(delta)}\n\n".encode() * count + end
        return lambda: RESPONSES.collect(data, stream=True)

    assert growth(work(4_000, b""), work(8_000, b"")) < 3
    assert growth(work(4_000, b"data: " + b"x" * 400_000), work(8_000, b"data: " + b"x" * 800_000)) < 3


def test_where_the_end_is_there_nothing_else_is_read() -> None:
    name = "text.sse"
    events = golden(name).split(b"\n\n")
    broken = b"\n\n".join([b'data: {"type":"response.output_text.delta","delta":"wrong"', *events[-2:]])
    assert RESPONSES.collect(broken, stream=True) == REPLIES[name]
