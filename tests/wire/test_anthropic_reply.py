import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, digest
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.anthropic import Anthropic
from tokenmizer_mw.wire.messages import history

from .golden_anthropic import BETA, BODIES, STREAMS
from .replay import LINE_ENDS, chunkings, cut_at, replaced, replay

GOLDEN = Path(__file__).parent / "golden" / "anthropic"
ANTHROPIC = Anthropic()
ASKED: Any = [{"role": "user", "content": "Hello"}]
REQUEST = json.dumps({"model": "claude-opus-5-5", "max_tokens": 9, "stream": True, "messages": ASKED}).encode()
SSE = b"text/event-stream"
UNICODE = "Grüße, 漢字 🦉\u2028\x85 fin."
INPUT = {"prompt_tokens": 4320, "cached_tokens": 4000, "cache_write_tokens": 300}
USAGE = {**INPUT, "completion_tokens": 50, "total_tokens": 4370, "reasoning_tokens": 7}
BEGUN = {**INPUT, "completion_tokens": 1, "total_tokens": 4321}
READ = ToolCall("toolu_a1", "read_file", '{"path": "a.py"}')
LIST = ToolCall("toolu_b2", "list_files", "{}")
SEARCH = ToolCall("srvtoolu_c3", "web_search", '{"query": "message_stop"}')
SERVED = ("web_search_tool_result", "bash_code_execution_tool_result", "container_upload")


def said(text: str = "", *calls: ToolCall, **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, calls, **more)


def done(message: Message, finish: str = "end_turn", outcome: Outcome = Outcome.COMPLETE, **usage: int) -> Reply:
    return Reply(message, outcome, finish, usage or USAGE)


def compact(call: ToolCall) -> ToolCall:
    return ToolCall(call.id, call.name, json.dumps(json.loads(call.arguments), separators=(",", ":")))


LENGTH = said("One two")
HALF = said("Half an ")
REPLIES = {
    "text.sse": done(said(UNICODE)),
    "unnamed.sse": done(said(UNICODE)),
    "escapes.sse": done(said(UNICODE)),
    "spaced.sse": done(said(UNICODE)),
    "thinking.sse": done(said("Use 8080.", thinking="The port is 8080.")),
    "interleaved.sse": done(said("First and second.", READ, thinking="Hm.\nSo."), "tool_use"),
    "tools.sse": done(said("Both at once.", READ, LIST), "tool_use"),
    "citations.sse": done(said("The text says that grass is green.")),
    "server.sse": done(said("I look it up.\nIt ends a stream.", SEARCH, attachments=SERVED)),
    "pause.sse": done(said("Searching.", SEARCH), "pause_turn"),
    "stop_sequence.sse": done(said("One, two"), "stop_sequence"),
    "refusal.sse": done(said("First you "), "refusal"),
    "length.sse": done(LENGTH, "max_tokens", Outcome.TRUNCATED),
    "length_in_call.sse": done(
        said("", ToolCall("toolu_a1", "read_file", '{"path": "a.')), "max_tokens", Outcome.TRUNCATED
    ),
    "window.sse": done(LENGTH, "model_context_window_exceeded", Outcome.TRUNCATED),
    "empty.sse": done(said()),
    "mcp.sse": done(
        said("I ask.\n42.", ToolCall("mcptoolu_e5", "ask", '{"q": "x"}'), attachments=("mcp_tool_result",))
    ),
    "compaction.sse": done(said(), "compaction"),
    "surrogates.sse": done(
        said("owl 🦉 and half \ufffd", ToolCall("toolu_a1", "read_file", '{"path": "\\ud83e\\udd89"}')), "tool_use"
    ),
    "error_midway.sse": Reply(HALF, Outcome.ERROR, "", BEGUN, "Overloaded"),
    "error_first.sse": Reply(None, Outcome.ERROR, error="Overloaded"),
    "cut.sse": Reply(HALF, Outcome.TRUNCATED, "", BEGUN),
    "no_stop.sse": done(said("All of it.")),
    "text.json": done(said(UNICODE), **BEGUN),
    "thinking.json": done(said("Use 8080.", thinking="The port is 8080."), **BEGUN),
    "tools.json": done(said("Both at once.", compact(READ), LIST), "tool_use", **BEGUN),
    "server.json": done(said("I look it up.\nIt ends a stream.", compact(SEARCH), attachments=SERVED), **BEGUN),
    "length.json": done(LENGTH, "max_tokens", Outcome.TRUNCATED, **BEGUN),
    "refusal.json": done(said(), "refusal", **BEGUN),
    "error.json": Reply(None, Outcome.ERROR, error="Overloaded"),
    "cut.json": Reply(None, Outcome.TRUNCATED),
}
STREAMED = sorted(name for name in REPLIES if name.endswith(".sse"))
UNENDED = {"cut.sse", "error_midway.sse", "error_first.sse", "no_stop.sse"}


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_every_golden_file_has_its_reply() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == REPLIES.keys()


@pytest.mark.parametrize("name", sorted(REPLIES))
@pytest.mark.parametrize("stream", [True, False])
def test_replies(name: str, stream: bool) -> None:
    assert ANTHROPIC.collect(golden(name), stream=stream) == REPLIES[name]
    assert ANTHROPIC.collect(b"\xef\xbb\xbf" + golden(name), stream=stream) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", STREAMED)
def test_every_split_gives_the_same_reply(name: str, every: bool) -> None:
    for line_end in LINE_ENDS:
        for pieces in chunkings(golden(name).replace(b"\n", line_end), every=every):
            assert replay(ANTHROPIC, REQUEST, pieces, SSE) == REPLIES[name]


@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 3_000), max_size=40))
def test_any_chunking_gives_the_same_reply(name: str, places: list[int]) -> None:
    content_type = SSE if name in STREAMED else b"application/json"
    assert replay(ANTHROPIC, REQUEST, cut_at(golden(name), places), content_type) == REPLIES[name]


@pytest.mark.parametrize("name", STREAMED)
def test_the_end_is_seen_wherever_the_stream_is_split(name: str) -> None:
    data = golden(name)
    for place in range(1, len(data)):
        first, second = data[:place], data[place:]
        assert (ANTHROPIC.ends(first) or ANTHROPIC.ends(first[-64:] + second)) == (name not in UNENDED)


TAILS = [
    (b'data: {"type":"message_stop"}\n\n', True),
    (b'data:{ "type" : "message_stop" , "x":1}', True),
    (b"event: message_stop\n", True),
    (b"\r\revent:message_stop\r", True),
    (b'data: {"delta":{"text":"say \\"message_stop\\""}}\n', False),
    (b'data: {"delta":{"text":"event: message_stop"}}\n', False),
    (b'data: {"delta":{"text":"\\nevent: message_stop\\n"}}\n', False),
    (b'data: {"type":"message_sto', False),
    (b"", False),
]


@pytest.mark.parametrize(("tail", "expected"), TAILS)
def test_the_end_is_seen_in_a_tail(tail: bytes, expected: bool) -> None:
    assert ANTHROPIC.ends(tail) is expected


@pytest.mark.parametrize("name", sorted(set(STREAMED) - UNENDED))
def test_a_stream_cut_anywhere_gives_what_came_and_is_complete_only_with_its_end(name: str) -> None:
    data, whole = golden(name), REPLIES[name].message
    stopped = data.rfind(b'"message_delta"')
    assert whole is not None
    for place in range(len(data)):
        reply = ANTHROPIC.collect(data[:place], stream=True)
        assert reply.outcome is Outcome.TRUNCATED or place > stopped
        if reply.message is not None:
            assert whole.text.startswith(reply.message.text.rstrip("\ufffd"))


# -- the real SDK -------------------------------------------------------------------------------------------------


class Upstream:
    """A local upstream for the SDK: answers with golden bytes, and remembers what it was sent."""

    def __init__(self, name: str) -> None:
        self._body = golden(name)
        self._type = "text/event-stream" if name.endswith(".sse") else "application/json"
        self.seen: list[bytes] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request.read())
        return httpx2.Response(200, content=self._body, headers={"content-type": self._type})

    def client(self) -> anthropic.Anthropic:
        transport = httpx2.MockTransport(self)
        return anthropic.Anthropic(
            api_key="none", base_url="http://test", max_retries=0, http_client=httpx2.Client(transport=transport)
        )


SDK_READS = sorted(set(REPLIES) - {"unnamed.sse", "surrogates.sse", "error.json", "cut.json", "length_in_call.sse",
                                   "error_midway.sse", "error_first.sse", "cut.sse"})  # fmt: skip


def answer(client: anthropic.Anthropic, name: str) -> Any:
    """What the SDK hands to its user."""
    resource: Any = client.beta.messages if name.removesuffix(".sse") in BETA else client.messages
    if name.endswith(".json"):
        return resource.create(model="m", max_tokens=9, messages=ASKED)
    with resource.stream(model="m", max_tokens=9, messages=ASKED) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("name", SDK_READS)
def test_the_sdk_reads_the_same(name: str) -> None:
    with Upstream(name).client() as client:
        message = answer(client, name)
    expected = REPLIES[name]
    assert expected.message is not None
    texts = "".join(block.text for block in message.content if block.type == "text")
    calls = [
        (block.id, block.name, block.input)
        for block in message.content
        if block.type in ("tool_use", "server_tool_use", "mcp_tool_use")
    ]
    assert texts == expected.message.text.replace("\n", "")
    assert calls == [(call.id, call.name, json.loads(call.arguments)) for call in expected.message.tool_calls]
    assert message.stop_reason == expected.finish_reason


def spellings(message: Any) -> Iterator[dict[str, Any]]:
    """How users of the SDK put an answer into the next request."""
    blocks = list(message.content)
    yield message.to_param()
    yield {"role": "assistant", "content": blocks}
    yield {"role": "assistant", "content": [block.model_dump() for block in blocks]}
    yield {"role": "assistant", "content": [json.loads(block.model_dump_json(exclude_none=True)) for block in blocks]}
    yield {"role": "assistant", "content": [b for b in blocks if b.type not in ("thinking", "redacted_thinking")]}
    if all(block.type in ("text", "thinking", "redacted_thinking") for block in blocks):
        yield {"role": "assistant", "content": "".join(block.text for block in blocks if block.type == "text")}


@pytest.mark.parametrize("name", sorted(set(SDK_READS) - {"compaction.sse"}))
def test_an_answer_that_is_sent_back_is_the_same_message(name: str) -> None:
    upstream = Upstream(name)
    with upstream.client() as client:
        message = answer(client, name)
        expected = REPLIES[name].message
        assert expected is not None
        for spelling in spellings(message):
            more: Any = client.beta.messages if name.removesuffix(".sse") in BETA else client.messages
            stream = {"stream": True} if name.endswith(".sse") else {}
            sent = more.create(model="m", max_tokens=9, messages=[*ASKED, spelling, *ASKED], **stream)
            if stream:
                sent.close()
            assert digest(ANTHROPIC.read(upstream.seen[-1]).messages[1]) == digest(expected)
            assert digest(history([spelling])[0]) == digest(expected)


@pytest.mark.parametrize("name", ["error_midway.sse", "error_first.sse"])
def test_the_sdk_fails_where_the_reply_does(name: str) -> None:
    with Upstream(name).client() as client, pytest.raises(anthropic.APIError) as caught:
        answer(client, name)
    assert REPLIES[name].error in str(caught.value)


# -- odd responses ------------------------------------------------------------------------------------------------


def stream(*events: object) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def delta(index: object, **members: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": members}


def start(index: object, **members: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": members}


STOP = {"type": "message_stop"}
SAYS = delta(0, type="text_delta", text="a")
ODD: list[tuple[bytes, Message | None, Outcome]] = [
    (b"", None, Outcome.TRUNCATED),
    (b"<html>502 Bad Gateway</html>", None, Outcome.TRUNCATED),
    (b"data: not json\n\ndata: 1\n\ndata: [1]\n\ndata: null\n\n", None, Outcome.TRUNCATED),
    (b'{"detail":"Not Found"}', None, Outcome.ERROR),
    (b'{"type":"error","error":null}', None, Outcome.ERROR),
    (b'{"error":"bad key","content":[]}', None, Outcome.ERROR),
    (b'{"content":[{"type":"text","text":"a"}]}', said("a"), Outcome.TRUNCATED),
    (b'{"content":[1,null,"x",{}],"stop_reason":7}', said(attachments=("unknown",)), Outcome.TRUNCATED),
    (b'{"a":' * 20_000, None, Outcome.TRUNCATED),
    (stream(STOP), None, Outcome.COMPLETE),
    (stream(SAYS), said("a"), Outcome.TRUNCATED),
    (stream(SAYS, STOP, SAYS), said("a"), Outcome.COMPLETE),
    (stream(SAYS, {"type": "error"}, SAYS), said("a"), Outcome.ERROR),
    (stream(SAYS, {"error": {"message": "x"}}, SAYS), said("a"), Outcome.ERROR),
    (b"event: error\ndata: overloaded\n\n", None, Outcome.ERROR),
    (b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"a"}}\n\n', said("a"), Outcome.TRUNCATED),
    (b"event: message_stop\ndata: {}\n\n", None, Outcome.COMPLETE),
    (stream(delta(0, type="thinking_delta", thinking="a"), STOP), said(thinking="a"), Outcome.COMPLETE),
    (stream(delta(0, type="input_json_delta", partial_json="{}")), said("", ToolCall("", "", "{}")), Outcome.TRUNCATED),
    (stream(delta(0, type="odd_delta", text="a"), delta(0, type="text_delta", text=1)), None, Outcome.TRUNCATED),
    (stream(delta({}, type="text_delta", text="a"), delta([], type="text_delta", text="b")), said("ab"),
     Outcome.TRUNCATED),
    (stream(start(0, type="text", text="a"), SAYS, start(0, type="text", text="b"), SAYS), said("aaba"),
     Outcome.TRUNCATED),
    (stream(start(1, type="text", text="a"), start(0, type="image"), delta(0, type="text_delta", text="b")),
     said("a", attachments=("image",)), Outcome.TRUNCATED),
    (stream(start(0), start(1, type=5), start(2, type="tool_use", id=1, name=[], input=[1])),
     said("", ToolCall("", "", "[1]"), attachments=("unknown", "unknown")), Outcome.TRUNCATED),
    (stream({"type": "message_start", "message": 1}, {"type": "message_delta", "delta": 1, "usage": 1}), None,
     Outcome.TRUNCATED),
    (stream({"type": "message_start", "message": {"content": [{"type": "text", "text": "a"}]}}, SAYS), said("aa"),
     Outcome.TRUNCATED),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message", "outcome"), ODD)
def test_odd_responses(data: bytes, message: Message | None, outcome: Outcome) -> None:
    reply = ANTHROPIC.collect(data, stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)
    told = b'"error"' in data and b"null" not in data
    assert bool(reply.error) == (told or data.startswith(b"event: error"))


USAGES: list[tuple[list[object], dict[str, int]]] = [
    ([{"input_tokens": 5}], {"prompt_tokens": 5}),
    ([{"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 3}],
     {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}),
    ([{"input_tokens": 5, "cache_read_input_tokens": 2}, {"input_tokens": 6, "cache_read_input_tokens": None}],
     {"prompt_tokens": 8, "cached_tokens": 2}),
    ([{"cache_read_input_tokens": 2, "output_tokens": -1}], {"cached_tokens": 2}),
    ([{"input_tokens": "5", "output_tokens": True}, None, [], {"output_tokens_details": 1}], {}),
]  # fmt: skip


@pytest.mark.parametrize(("usages", "expected"), USAGES)
def test_counts_are_those_of_the_whole_message_so_far(usages: list[object], expected: dict[str, int]) -> None:
    data = stream(*({"type": "message_delta", "delta": {}, "usage": usage} for usage in usages))
    assert ANTHROPIC.collect(data, stream=True).usage == expected


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["text", "", "\ud83e", "\udd89", "é"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A golden stream or body with some of its values replaced."""
    streams = {**STREAMS, **BETA}
    name = draw(st.sampled_from(sorted(streams) + sorted(BODIES)))
    value: Any = streams.get(name) or BODIES[name]
    for _ in range(draw(st.integers(1, 3))):
        value = replaced(draw, value, JSON)
    return stream(*value) if isinstance(value, list) else json.dumps(value).encode()


@given(spoiled(), st.booleans())
def test_nothing_in_a_response_raises(data: bytes, asked: bool) -> None:
    reply = ANTHROPIC.collect(data, stream=asked)
    if reply.message is not None:
        encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()
    f"{reply.error}{reply.finish_reason}{reply.usage}".encode()


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, asked: bool) -> None:
    ANTHROPIC.collect(data, stream=asked)
    ANTHROPIC.ends(data)


@pytest.mark.parametrize("content_type", [b"application/json", SSE])
def test_a_response_that_lies_about_what_it_is(content_type: bytes) -> None:
    for name in ("text.sse", "text.json"):
        assert replay(ANTHROPIC, REQUEST, [golden(name)], content_type) == REPLIES[name]


@pytest.mark.parametrize(
    "unit",
    [
        b"data: x",
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{}}}\n\n',
        b"event: ping\n",
    ],
)
def test_collecting_is_linear(unit: bytes, growth: Callable[..., float]) -> None:
    small, large = unit * 4_000, unit * 8_000
    assert growth(lambda: ANTHROPIC.collect(small, stream=True), lambda: ANTHROPIC.collect(large, stream=True)) < 3
