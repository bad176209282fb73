import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cohere
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, digest
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.cohere import Cohere

from .replay import LINE_ENDS, chunkings, cut_at, replaced, replay

GOLDEN = Path(__file__).parent / "golden" / "cohere"
COHERE = Cohere()
ASKED = [{"role": "user", "content": "Hello"}]
REQUEST = json.dumps({"model": "command-a", "stream": True, "messages": ASKED}).encode()
SSE = b"text/event-stream"
TYPES = {".sse": SSE, ".ndjson": b"application/stream+json", ".json": b"application/json"}
UNICODE = "Grüße, 漢字 🦉\u2028\x85 fin."
USAGE = {"prompt_tokens": 913, "completion_tokens": 83, "cached_tokens": 64}
CALLS = (
    ToolCall("call_a1", "read_file", '{"path":"a.py"}'),
    ToolCall("call_b2", "run_tests", '{\n    "k": "auth"\n}'),
)


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def done(
    message: Message | None, finish: str = "COMPLETE", outcome: Outcome = Outcome.COMPLETE, error: str = ""
) -> Reply:
    return Reply(message, outcome, finish, USAGE, error)


THOUGHT = done(said("Use 8080.", thinking="The port is 8080."))
TOOLS = done(said(tool_calls=CALLS, thinking="I will look at both."), "TOOL_CALL")
LENGTH = done(said("One two"), "MAX_TOKENS", Outcome.TRUNCATED)
HALF = said("Half an ")
REPLIES = {
    "text.sse": done(said(UNICODE)),
    "unnamed.sse": done(said(UNICODE)),
    "escapes.sse": done(said(UNICODE)),
    "thinking.sse": THOUGHT,
    "two_texts.sse": done(said("First.\nSecond.")),
    "tools.sse": TOOLS,
    "thinking_tools.sse": done(said(tool_calls=CALLS, thinking="Hm.\nI will look at both."), "TOOL_CALL"),
    "citations.sse": done(said("Grüße")),
    "debug.sse": done(said("Hi."), "STOP_SEQUENCE"),
    "length.sse": LENGTH,
    "error.sse": done(HALF, "ERROR", Outcome.ERROR, "the model failed"),
    "timeout.sse": done(HALF, "TIMEOUT", Outcome.ERROR),
    "empty.sse": done(said()),
    "cut.sse": Reply(said(UNICODE), Outcome.TRUNCATED),
    "failed.sse": Reply(HALF, Outcome.ERROR, error="lost"),
    "lines.ndjson": done(said(UNICODE)),
    "text.json": done(said(UNICODE)),
    "thinking.json": THOUGHT,
    "two_texts.json": done(said("First.\nSecond.")),
    "tools.json": TOOLS,
    "length.json": LENGTH,
    "error.json": Reply(None, Outcome.ERROR, error="invalid request: model 'x' not found"),
    "cut.json": Reply(None, Outcome.TRUNCATED),
}
STREAMS = sorted(name for name in REPLIES if name.endswith(".sse"))
BODIES = sorted(name for name in REPLIES if name.endswith(".json"))


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_every_golden_file_has_its_reply() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == REPLIES.keys()


@pytest.mark.parametrize("name", sorted(REPLIES))
@pytest.mark.parametrize("stream", [True, False])
def test_replies(name: str, stream: bool) -> None:
    assert COHERE.collect(golden(name), stream=stream) == REPLIES[name]
    assert COHERE.collect(b"\xef\xbb\xbf" + golden(name), stream=stream) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", STREAMS)
def test_every_split_gives_the_same_reply(name: str, every: bool) -> None:
    for line_end in LINE_ENDS:
        for pieces in chunkings(golden(name).replace(b"\n", line_end), every=every):
            assert replay(COHERE, REQUEST, pieces, SSE) == REPLIES[name]


@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 3_000), max_size=40))
def test_any_chunking_gives_the_same_reply(name: str, places: list[int]) -> None:
    content_type = TYPES[Path(name).suffix]
    assert replay(COHERE, REQUEST, cut_at(golden(name), places), content_type) == REPLIES[name]


@pytest.mark.parametrize("name", STREAMS)
def test_the_end_is_seen_wherever_the_stream_is_split(name: str) -> None:
    data = golden(name)
    for place in range(1, len(data)):
        first, second = data[:place], data[place:]
        seen = COHERE.ends(first) or COHERE.ends(first[-64:] + second)
        assert seen == (b"message-end" in data)


TAILS = [
    (b'data: {"type":"message-end","delta":{}}\n\n', True),
    (b'data:{"id":"x","type" : "message-end"}', True),
    (b"event: message-end\n", True),
    (b'data: {"type":"content-delta","delta":{"message":{"content":{"text":"a \\"message-end\\" b"}}}}', False),
    (b'data: {"type":"message-en', False),
    (b"", False),
]


@pytest.mark.parametrize(("tail", "expected"), TAILS)
def test_the_end_is_seen_in_a_tail(tail: bytes, expected: bool) -> None:
    assert COHERE.ends(tail) is expected


@pytest.mark.parametrize("name", sorted(set(STREAMS) - {"cut.sse", "failed.sse"}))
def test_a_stream_cut_anywhere_gives_what_came_and_is_complete_only_with_its_end(name: str) -> None:
    data, whole = golden(name), REPLIES[name].message
    end = data.rfind(b'"message-end", "delta"')
    assert whole is not None
    for place in range(len(data)):
        reply = COHERE.collect(data[:place], stream=True)
        assert reply.outcome is Outcome.TRUNCATED or place > end
        if reply.message is not None:
            assert whole.text.startswith(reply.message.text.rstrip("\ufffd"))


def client(data: bytes, content_type: bytes) -> cohere.ClientV2:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=data, headers={"content-type": content_type.decode()})

    return cohere.ClientV2(
        api_key="none", base_url="http://test", httpx_client=httpx.Client(transport=httpx.MockTransport(answer))
    )


def heard(name: str) -> tuple[str, str, list[tuple[str, str, str]], str]:
    """Text, thinking (the plan included), calls and finish reason of a stream, as the SDK tells them."""
    text, thinking, finish = "", "", ""
    calls: dict[int, list[str]] = {}
    with client(golden(name), SSE) as sdk:
        for event in sdk.chat_stream(model="command-a", messages=ASKED):
            if event.type == "content-delta":
                text += event.delta.message.content.text or ""
                thinking += event.delta.message.content.thinking or ""
            elif event.type == "tool-plan-delta":
                thinking += event.delta.message.tool_plan or ""
            elif event.type == "tool-call-start":
                call = event.delta.message.tool_calls
                calls[event.index] = [call.id, call.function.name, call.function.arguments]
            elif event.type == "tool-call-delta":
                calls[event.index][2] += event.delta.message.tool_calls.function.arguments
            elif event.type == "message-end":
                finish = event.delta.finish_reason
    return text, thinking, [(id, name, arguments) for id, name, arguments in calls.values()], finish


@pytest.mark.parametrize("name", sorted(set(STREAMS) - {"cut.sse", "failed.sse"}))
def test_the_sdk_hears_the_same(name: str) -> None:
    reply = REPLIES[name]
    assert reply.message is not None
    text, thinking, calls, finish = heard(name)
    assert (text, thinking) == (reply.message.text.replace("\n", ""), reply.message.thinking.replace("\n", ""))
    assert calls == [(call.id, call.name, call.arguments) for call in reply.message.tool_calls]
    assert finish == reply.finish_reason


def resent(message: Any) -> dict[str, Any]:
    """The body of the next request that the SDK sends with this message in it."""
    bodies: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, content=golden("text.json"), headers={"content-type": "application/json"})

    results = [{"role": "tool", "tool_call_id": call.id, "content": "42"} for call in message.tool_calls or ()]
    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        sdk = cohere.ClientV2(api_key="none", base_url="http://test", httpx_client=http)
        sdk.chat(model="command-a", messages=[*ASKED, message, *results, *ASKED])
    return bodies[0]


@pytest.mark.parametrize("name", sorted(set(BODIES) - {"error.json", "cut.json"}))
def test_a_reply_that_the_sdk_sends_back_is_the_same_message(name: str) -> None:
    reply = REPLIES[name].message
    assert reply is not None
    with client(golden(name), b"application/json") as sdk:
        response = sdk.chat(model="command-a", messages=ASKED)
    request = COHERE.read(json.dumps(resent(response.message)).encode())
    assert request.messages[1] == reply
    assert request.stand_down == ""
    for left_out in ("tool_plan", "citations"):
        spared = response.message.model_copy(update={left_out: None})
        read = COHERE.read(json.dumps(resent(spared)).encode())
        assert digest(read.messages[1]) == digest(reply)


@pytest.mark.parametrize("name", ["text.sse", "thinking.sse", "tools.sse"])
def test_a_streamed_reply_that_a_client_puts_together_is_the_same_message(name: str) -> None:
    reply = REPLIES[name].message
    assert reply is not None
    text, _, calls, _ = heard(name)
    tool_calls = [{"id": id, "type": "function", "function": {"name": n, "arguments": json.dumps(json.loads(a))}}
                  for id, n, a in calls]  # fmt: skip
    message = cohere.AssistantChatMessageV2(content=text or None, tool_calls=tool_calls or None)
    read = COHERE.read(json.dumps(resent(message)).encode())
    assert digest(read.messages[1]) == digest(reply)


ODD: list[tuple[object, Message | None, Outcome]] = [
    ({"type": "content-delta", "delta": {"message": {"content": "plain"}}}, said("plain"), Outcome.TRUNCATED),
    ({"type": "content-delta", "delta": {"message": {"content": [{"text": "a"}]}}}, said("a"), Outcome.TRUNCATED),
    ({"type": "content-delta", "index": "0", "delta": {"message": {"content": {"text": 7}}}}, None, Outcome.TRUNCATED),
    ({"type": "content-delta", "delta": {"message": {"tool_plan": 7, "tool_calls": 7}}}, None, Outcome.TRUNCATED),
    ({"type": "content-delta", "delta": None}, None, Outcome.TRUNCATED),
    ({"type": ["content-delta"], "delta": {"message": []}}, None, Outcome.TRUNCATED),
    ({"type": "message-end"}, said(), Outcome.COMPLETE),
    ({"type": "message-end", "delta": {"finish_reason": "ODD"}}, said(), Outcome.COMPLETE),
    ({"type": "message-end", "delta": {"finish_reason": 7, "usage": 7}}, said(), Outcome.COMPLETE),
    ({"type": "message-end", "delta": {"finish_reason": "ERROR"}}, None, Outcome.ERROR),
    ({"message": "overloaded"}, None, Outcome.ERROR),
    ({"error": {"message": "overloaded"}}, None, Outcome.ERROR),
    ([1], None, Outcome.TRUNCATED),
]


@pytest.mark.parametrize(("event", "message", "outcome"), ODD)
def test_odd_events(event: object, message: Message | None, outcome: Outcome) -> None:
    reply = COHERE.collect(b"data: %s\n\n" % json.dumps(event).encode(), stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)


BODIES_THAT_ARE_NONE = [
    (b"", Outcome.TRUNCATED),
    (b"<html>502 Bad Gateway</html>", Outcome.TRUNCATED),
    (b"data: not json\n\ndata: 1\n\n", Outcome.TRUNCATED),
    (b'{"a":' * 20_000, Outcome.TRUNCATED),
    (b"data: " + b"[" * 20_000 + b"\n\n", Outcome.TRUNCATED),
    (b'{"message":"invalid request"}', Outcome.ERROR),
    (b'{"message":7}', Outcome.ERROR),
    (b"{}", Outcome.ERROR),
]


@pytest.mark.parametrize(("data", "outcome"), BODIES_THAT_ARE_NONE)
@pytest.mark.parametrize("stream", [True, False])
def test_responses_without_a_message(data: bytes, outcome: Outcome, stream: bool) -> None:
    reply = COHERE.collect(data, stream=stream)
    assert (reply.message, reply.outcome) == (None, outcome)
    assert bool(reply.error) == (outcome is Outcome.ERROR)


def test_what_was_billed_counts_where_nothing_else_is_told() -> None:
    body = {"message": {}, "usage": {"billed_units": {"input_tokens": 3.0, "output_tokens": 1.5}, "tokens": None}}
    assert COHERE.collect(json.dumps(body).encode(), stream=False).usage == {"prompt_tokens": 3}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**60) | st.floats() | st.sampled_from(["", "text", "\ud83e", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=8,
)


@given(st.sampled_from([*STREAMS, *BODIES]), st.data())
def test_no_value_in_a_response_raises(name: str, data: st.DataObject) -> None:
    lines = golden(name).decode().removesuffix("\n").split("\n")
    spoken = [place for place, line in enumerate(lines) if line.removeprefix("data: ").startswith("{")]
    place = data.draw(st.sampled_from(spoken))
    try:
        event = json.loads(lines[place].removeprefix("data: "))
    except ValueError:
        return
    mark = "data: " * lines[place].startswith("data: ")
    lines[place] = mark + json.dumps(replaced(data.draw, event, JSON))
    reply = COHERE.collect("\n".join(lines).encode(), stream=True)
    if reply.message is not None:
        encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()
    f"{reply.error}{reply.finish_reason}".encode()
    assert all(type(count) is int for count in reply.usage.values())


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda data: b'data: {"type":"' + data), st.booleans())
def test_no_bytes_raise(data: bytes, stream: bool) -> None:
    COHERE.collect(data, stream=stream)
    COHERE.ends(data)


def test_a_stream_that_never_ends_a_line_is_read_in_linear_time(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        data = b'data: {"type":"message-end" ' * count
        return lambda: (COHERE.collect(data, stream=True), COHERE.ends(data))

    assert growth(work(20_000), work(40_000)) < 4


def test_collecting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        event = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "word "}}}}
        data = b"event: content-delta\ndata: %s\n\n" % json.dumps(event).encode() * count
        return lambda: COHERE.collect(data, stream=True)

    assert growth(work(1_000), work(2_000)) < 3
