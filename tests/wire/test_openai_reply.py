import json
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, digest
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat, collect_chunks
from tokenmizer_mw.wire.dialects.openai_message import read_message
from tokenmizer_mw.wire.sse import SSEDecoder

GOLDEN = Path(__file__).parent / "golden"
UNICODE = "Grüße, 漢字 🦉\u2028\x85 fin."
USAGE = {
    "prompt_tokens": 1200,
    "completion_tokens": 34,
    "total_tokens": 1234,
    "cached_tokens": 1024,
    "cache_write_tokens": 100,
    "reasoning_tokens": 20,
}
READ = ToolCall("call_a1", "read_file", '{"path":"src/app.py"}')
PATCH = ToolCall("call_c", "apply_patch", "*** Begin Patch")
WEATHER = ToolCall("", "get_weather", '{"city":"Oslo"}')
REFUSAL = "I can't help with that."


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def done(message: Message, finish: str = "stop", **more: Any) -> Reply:
    return Reply(message, Outcome.COMPLETE, finish, **more)


STREAMED = {
    "text": done(said(UNICODE)),
    "text_ascii_escapes": done(said(UNICODE)),
    "surrogates": done(said("owl 🦉 and half \ufffd")),
    "tool_call": done(said(tool_calls=(READ,)), "tool_calls"),
    "parallel_tools": done(
        said(
            "Both at once.",
            tool_calls=(
                ToolCall("call_a1", "read_file", '{"path":"a.py"}'),
                ToolCall("call_b2", "run_tests", '{"k":"auth"}'),
            ),
        ),
        "tool_calls",
    ),
    "same_index": done(
        said(
            tool_calls=(
                ToolCall("call_1", "write_file", '{"path":"hello.py"}'),
                ToolCall("call_2", "write_file", '{"path":"world.py"}'),
            )
        ),
        "tool_calls",
    ),
    "custom_tool": done(said(tool_calls=(PATCH,)), "tool_calls"),
    "refusal": done(said(refusal=REFUSAL)),
    "two_choices": done(said("first answer")),
    "legacy_function": done(said(tool_calls=(WEATHER,)), "function_call"),
    "usage": done(said("Done."), usage=USAGE),
    "error_midway": Reply(said("Half an "), Outcome.ERROR, error="Provider disconnected"),
    "error_first": Reply(None, Outcome.ERROR, error="model is overloaded"),
    "reasoning": done(
        said("Use 8080.", thinking="The port is 8080."),
        usage={"prompt_tokens": 10, "completion_tokens": 8, "total_tokens": 18},
    ),
    "reasoning_twice": done(said("Yes.", thinking="Think.")),
    "cut": Reply(said("This will be "), Outcome.TRUNCATED),
    "length": Reply(said("One two three"), Outcome.TRUNCATED, "length"),
    "filtered": done(said("So far"), "content_filter"),
    "no_done": done(said("No marker.")),
    "no_finish": done(said("No reason."), ""),
    "crlf": done(said("Line one\r\nlínea dos")),
    "cr": done(said("bare CR")),
    "comments": done(said("kept alive")),
    "multiline": done(said("über mehrere Zeilen")),
    "audio": done(said("Hello.")),
    "parts": done(said("So: yes", thinking="Hm.")),
    "last_blank_missing": done(said("Abrupt")),
    "empty_answer": done(said()),
}
WHOLE = {
    "text": done(said("Grüße 🦉"), usage=USAGE),
    "tools": done(
        said(tool_calls=(ToolCall("call_a1", "read_file", '{"path":"a.py"}'), PATCH)), "tool_calls", usage=USAGE
    ),
    "two_choices": done(said("first"), usage=USAGE),
    "refusal": done(said(refusal=REFUSAL), usage=USAGE),
    "legacy_function": done(said(tool_calls=(WEATHER,)), "function_call", usage=USAGE),
    "length": Reply(said("One two"), Outcome.TRUNCATED, "length", USAGE),
    "audio": done(said("Hello."), usage=USAGE),
    "reasoning": done(said("Use 8080.", thinking="The port is 8080."), usage=USAGE),
    "error": Reply(None, Outcome.ERROR, error="You exceeded your current quota"),
    "cut": Reply(None, Outcome.TRUNCATED),
}
OFF_SPEC = {"error_midway", "error_first", "cut", "custom_tool", "parts"}
"""Streams that the SDK's own types do not describe, or whose last event is torn."""


def streamed(name: str) -> bytes:
    return (GOLDEN / f"{name}.sse").read_bytes()


def test_every_golden_file_has_its_reply() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sse")} == STREAMED.keys()
    assert {path.stem for path in GOLDEN.glob("*.json")} == WHOLE.keys()


@pytest.mark.parametrize(("name", "expected"), STREAMED.items(), ids=STREAMED.keys())
def test_streamed_replies(name: str, expected: Reply) -> None:
    assert OpenAIChat().collect(streamed(name), stream=True) == expected
    assert OpenAIChat().collect(streamed(name), stream=False) == expected


@pytest.mark.parametrize(("name", "expected"), WHOLE.items(), ids=WHOLE.keys())
def test_whole_replies(name: str, expected: Reply) -> None:
    body = (GOLDEN / f"{name}.json").read_bytes()
    assert OpenAIChat().collect(body, stream=False) == expected
    assert OpenAIChat().collect(b"\xef\xbb\xbf \r\n" + body, stream=True) == expected


@given(st.sampled_from(sorted(STREAMED)), st.lists(st.integers(0, 3000), max_size=30))
def test_any_chunking_gives_the_same_reply(name: str, cuts: list[int]) -> None:
    data, decoder = streamed(name), SSEDecoder()
    places = sorted({cut % len(data) for cut in cuts})
    chunks = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    events = [event for chunk in filter(None, chunks) for event in decoder.receive_data(chunk)]
    events += decoder.receive_data(b"")
    assert collect_chunks([event.data for event in events]) == STREAMED[name]


@pytest.mark.parametrize("name", sorted(STREAMED.keys() - {"error_first", "two_choices"}))
def test_a_stream_cut_anywhere_gives_what_came_and_is_complete_only_with_its_end(name: str) -> None:
    data, whole = streamed(name), STREAMED[name].message
    assert whole is not None
    end = data.rfind(f'"{STREAMED[name].finish_reason}"'.encode() if STREAMED[name].finish_reason else b"[DONE]")
    for place in range(0, len(data), 7):
        reply = OpenAIChat().collect(data[:place], stream=True)
        assert reply.outcome is not Outcome.COMPLETE or place > end
        if reply.message is not None:
            assert whole.text.startswith(reply.message.text.rstrip("\ufffd"))


@pytest.mark.parametrize("name", sorted(STREAMED.keys() - OFF_SPEC))
def test_the_golden_streams_are_what_the_sdk_expects(name: str) -> None:
    events = SSEDecoder().receive_data(streamed(name) + b"\n\n")
    chunks = [ChatCompletionChunk.model_validate(json.loads(e.data)) for e in events if e.data != "[DONE]"]
    first = [choice for chunk in chunks for choice in chunk.choices if choice.index == 0]
    text = "".join(choice.delta.content or "" for choice in first)
    heard = "".join((choice.delta.audio and choice.delta.audio.transcript) or "" for choice in first)
    message = STREAMED[name].message
    assert message is not None
    if name != "surrogates":
        assert (text or heard) == message.text


@pytest.mark.parametrize("name", sorted(WHOLE.keys() - {"error", "cut"}))
def test_the_golden_bodies_are_what_the_sdk_expects(name: str) -> None:
    completion = ChatCompletion.model_validate_json((GOLDEN / f"{name}.json").read_bytes())
    message = WHOLE[name].message
    assert message is not None
    sent_back = completion.choices[0].message.model_dump(exclude_none=True)
    if name != "audio":
        assert digest(read_message(sent_back)) == digest(message)


@pytest.mark.parametrize("name", ["text", "parallel_tools", "usage", "crlf", "cr", "multiline", "error_midway"])
def test_the_sdk_reads_the_same_text(name: str) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=streamed(name), headers={"content-type": "text/event-stream"})

    pieces: list[str] = []
    failed = ""
    with openai.OpenAI(
        api_key="none", base_url="http://test", http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
    ) as client:
        try:
            for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
                pieces += [choice.delta.content or "" for choice in chunk.choices if choice.index == 0]
        except openai.APIError as error:
            failed = error.message
    reply = STREAMED[name]
    assert reply.message is not None
    assert ("".join(pieces), failed) == (reply.message.text, reply.error)


ODD = [
    (b"", None, Outcome.TRUNCATED),
    (b"data: [DONE]\n\n", None, Outcome.COMPLETE),
    (b"<html>502 Bad Gateway</html>", None, Outcome.TRUNCATED),
    (b"data: not json\n\ndata: 1\n\ndata: [1]\n\ndata: null\n\n", None, Outcome.TRUNCATED),
    (b'data: {"choices":"x"}\n\ndata: {"choices":[1,null,{}]}\n\n', None, Outcome.TRUNCATED),
    (
        b'data: {"choices":[{"delta":{"content":7,"refusal":[],"tool_calls":{},"audio":1}}]}\n\n',
        None,
        Outcome.TRUNCATED,
    ),
    (b'data: {"choices":[{"delta":{"content":"a"},"index":"0"}]}\n\n', said("a"), Outcome.TRUNCATED),
    (b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":7}]}\n\n', said("a"), Outcome.TRUNCATED),
    (b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"error"}]}\n\n', said("a"), Outcome.ERROR),
    (b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"odd"}]}\n\n', said("a"), Outcome.COMPLETE),
    (b'data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}\n\n', said("a"), Outcome.COMPLETE),
    (b'data: {"choices":[{"delta":null,"finish_reason":"stop"}]}\n\n', said(), Outcome.COMPLETE),
    (
        b'data: {"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
        said("a"),
        Outcome.COMPLETE,
    ),
    (b'data: {"error":{"code":1}}\n\n', None, Outcome.ERROR),
    (b'data: {"error":true}\n\n', None, Outcome.ERROR),
    (b"data: " + b"[" * 20_000 + b"\n\n", None, Outcome.TRUNCATED),
    (b"data: " + b"9" * 5_000 + b"\n\n", None, Outcome.TRUNCATED),
    (b'{"detail":"Not Found"}', None, Outcome.ERROR),
    (b'{"choices":[]}', None, Outcome.ERROR),
    (b'{"error":"bad key","choices":null}', None, Outcome.ERROR),
    (b'{"choices":[{"message":{"content":"a"}}]}', said("a"), Outcome.TRUNCATED),
    (b'{"choices":[{"message":{"content":"\xff"},"finish_reason":"stop"}]}', said("\ufffd"), Outcome.COMPLETE),
    (b'{"a":' * 20_000, None, Outcome.TRUNCATED),
]


@pytest.mark.parametrize(("data", "message", "outcome"), ODD)
def test_odd_responses(data: bytes, message: Message | None, outcome: Outcome) -> None:
    reply = OpenAIChat().collect(data, stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)
    assert bool(reply.error) == (b'"error":' in data and b'"error":null' not in data)


CALLS = [
    (
        [[{"id": "a", "function": {"name": "f", "arguments": "1"}}, {"id": "b", "function": {"name": "g"}}]],
        "a f 1|b g ",
    ),
    ([[{"id": "a", "function": {"name": "f"}}], [{"id": "b", "function": {"name": "g"}}]], "a f |b g "),
    ([[{"id": "a", "function": {"name": "f"}}], [{"function": {"arguments": "{}"}}]], "a f {}"),
    ([[{"id": "a", "function": {"name": "f"}}], [{"id": "a", "function": {"name": "f", "arguments": "1"}}]], "a f 1"),
    ([[{"id": "a", "function": {"name": "f"}}], [{"id": "x", "function": {"arguments": "1"}}]], "a f 1"),
    ([[{"function": {"name": "f"}, "index": 0}], [{"id": "a", "function": {"arguments": "1"}, "index": 0}]], "a f 1"),
    (
        [[{"index": 1, "id": "b", "function": {"name": "g"}}], [{"index": 0, "id": "a", "function": {"name": "f"}}]],
        "a f |b g ",
    ),
    ([[{"index": 10**9, "id": "a", "function": {"name": "f", "arguments": {"k": [1, "é"]}}}]], 'a f {"k":[1,"é"]}'),
    ([[{"index": 0, "id": 7, "function": "x"}, 5, None]], "  "),
    ([[{"id": "a", "type": "mcp"}]], "a  "),
]


@pytest.mark.parametrize(("fragments", "expected"), CALLS)
def test_fragments_of_calls(fragments: list[list[object]], expected: str) -> None:
    chunks = [{"choices": [{"delta": {"tool_calls": calls}}]} for calls in fragments]
    data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    message = OpenAIChat().collect(data, stream=True).message
    assert message is not None
    assert "|".join(f"{call.id} {call.name} {call.arguments}" for call in message.tool_calls) == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 1, "completion_tokens": True, "total_tokens": -1}, {"prompt_tokens": 1}),
        ({"prompt_tokens": 1.5, "total_tokens": "3", "prompt_tokens_details": None}, {}),
        ({"prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 2}}, {"cached_tokens": 0}),
        ({"prompt_tokens": 10**30}, {}),
        ([], {}),
        (None, {}),
    ],
)
def test_usage(usage: object, expected: dict[str, int]) -> None:
    data = json.dumps({"choices": [], "usage": usage}).encode()
    assert OpenAIChat().collect(data, stream=False).usage == expected


def test_the_newest_usage_counts_and_nothing_behind_the_end_does() -> None:
    chunks = ['{"usage":{"total_tokens":1}}', '{"usage":{"total_tokens":2}}', "[DONE]", '{"usage":{"total_tokens":3}}']
    data = "".join(f"data: {chunk}\n\n" for chunk in chunks).encode()
    assert OpenAIChat().collect(data, stream=True).usage == {"total_tokens": 2}


TAILS = [
    (b"data: [DONE]\n\n", True),
    (b"data:[DONE]", True),
    (b'{"x":1}\n\ndata: [DONE]\n\n', True),
    (b"}\r\rdata:[DONE]\r\r", True),
    (b'data: {"content":"data: [DONE]"}\n\n', False),
    (b'data: {"content":"\\ndata: [DONE]"}\n\n', False),
    (b"data:  [DONE]\n\n", False),
    (b": [DONE]\n\n", False),
    (b'data: {"x":"[DONE]"}\n\n', False),
    (b"", False),
]


@pytest.mark.parametrize(("tail", "expected"), TAILS)
def test_the_end_is_seen_in_a_tail(tail: bytes, expected: bool) -> None:
    assert OpenAIChat().ends(tail) is expected


@pytest.mark.parametrize("name", sorted(STREAMED))
def test_the_end_is_seen_wherever_the_stream_is_split(name: str) -> None:
    data = streamed(name)
    ends = OpenAIChat().ends
    for place in range(1, len(data)):
        first, second = data[:place], data[place:]
        assert (ends(first) or ends(first[-12:] + second)) == (b"[DONE]" in data)


KEYS = st.sampled_from(
    [
        *("choices", "index", "delta", "message", "content", "refusal", "tool_calls", "id", "type", "function", "name"),
        *("arguments", "custom", "input", "function_call", "audio", "transcript", "finish_reason", "usage", "error"),
        *("prompt_tokens_details", "cached_tokens", "text", "thinking", "reasoning", "reasoning_content", "role"),
    ]
)
TYPES = ["text", "image_url", "refusal", "thinking", "function", "custom", "user", "assistant", "tool", "system"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([*TYPES, "", "\ud83e", "\udd89", "é"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


def assert_storable(message: Message | None) -> None:
    if message is not None:
        encode(MessageRecorded(1, digest(message), message))[2].encode()


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=4), max_size=4), st.lists(JSON, max_size=3))
def test_nothing_in_a_response_raises(chunks: list[dict[str, Any]], deltas: list[object]) -> None:
    chunks += [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    for reply in (
        OpenAIChat().collect(data, stream=True),
        *(OpenAIChat().collect(json.dumps(chunk).encode(), stream=False) for chunk in chunks),
    ):
        assert_storable(reply.message)
        f"{reply.error}{reply.finish_reason}".encode()


CHUNKS = st.builds(
    lambda text, index, before, behind, chunk: (
        {"id": "c", "choices": [{"index": index, **before, "delta": {"content": text}, **behind}]} | chunk
    ),
    st.sampled_from(["a", ' "content": "b"', "\\", '"', "\n", "é🦉", ""]),
    st.sampled_from([0, 0, 0, 0, 1]),
    st.sampled_from([{}, {}, {}, {"logprobs": {"content": "x"}}]),
    st.sampled_from([{}, {}, {}, {"logprobs": {"content": "x"}}, {"finish_reason": "stop"}]),
    st.sampled_from([{}, {}, {}, {"usage": {"total_tokens": 3}}, {"note": "content"}, {"choices": []}, {"error": "e"}]),
)


@given(CHUNKS, st.lists(CHUNKS, max_size=22), st.sampled_from([(", ", ": "), (",", ":")]), st.booleans())
def test_chunks_of_one_form_are_parsed_as_each_by_itself(
    first: dict[str, Any], rest: list[dict[str, Any]], separators: tuple[str, str], ascii_only: bool
) -> None:
    """Eight chunks alike come first, so that a form is looked for. An escape in the name of the member keeps the second
    stream from being read by its form."""
    chunks = [first] * 8 + rest
    data = [json.dumps(chunk, separators=separators, ensure_ascii=ascii_only) for chunk in chunks]
    spelled = [text.replace('"content"', '"cont\\u0065nt"') for text in data]
    assert collect_chunks(data) == collect_chunks(spelled)


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, stream: bool) -> None:
    OpenAIChat().collect(data, stream=stream)
    OpenAIChat().ends(data)
