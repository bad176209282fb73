import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, digest
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects.gemini import Gemini

from .golden_gemini import files
from .replay import LINE_ENDS, chunkings, cut_at, replaced, replay

GOLDEN = Path(__file__).parent / "golden" / "gemini"
GEMINI = Gemini()
PATH = "/v1beta/models/gemini-3.8-flash:streamGenerateContent"
REQUEST = b'{"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}'
TYPES = {".sse": b"text/event-stream", ".json": b"application/json"}
UNICODE = "Grüße, 漢字 🦉\u2028\x85 fin."
USAGE = {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234, "cached_tokens": 1024}
CALLS = (ToolCall("call_a1", "read_file", '{"path":"a.py"}'), ToolCall("call_b2", "run_tests", '{"k":"Grüße","n":1.5}'))
OVERLOADED = 'The model is overloaded {try} "later"'


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def done(message: Message, finish: str = "STOP", usage: dict[str, int] | None = None) -> Reply:
    return Reply(message, Outcome.COMPLETE, finish, usage or USAGE)


def cut(message: Message, finish: str) -> Reply:
    return Reply(message, Outcome.TRUNCATED, finish, USAGE)


def refused(reason: str, error: str) -> Reply:
    return Reply(None, Outcome.ERROR, reason, USAGE, error)


TEXT = done(said(UNICODE))
THOUGHT = done(said("Use 8080.", thinking="The port is 8080."), usage=USAGE | {"reasoning_tokens": 20})
CALLED = done(said("Both at once.", tool_calls=CALLS))
CODE = done(
    said("Let me see. It is 42.", attachments=("executableCode", "codeExecutionResult")),
    usage=USAGE | {"prompt_tokens": 1205, "total_tokens": 1239},
)
LENGTH = cut(said("One two"), "MAX_TOKENS")
REFUSED = refused("SAFETY", "It was not safe.")
BLOCKED = refused("PROHIBITED_CONTENT", "The prompt was blocked.")
FAILED = Reply(said("Half an "), Outcome.ERROR, usage=USAGE, error=OVERLOADED)
ERROR = Reply(None, Outcome.ERROR, error=OVERLOADED)
REPLIES = {
    "text.sse": TEXT,
    "comments.sse": TEXT,
    "one.sse": done(said("Yes.")),
    "thinking.sse": THOUGHT,
    "snake.sse": THOUGHT,
    "calls.sse": CALLED,
    "snake_calls.sse": CALLED,
    "no_ids.sse": done(
        said(tool_calls=(ToolCall("", "read_file", '{"path":"a.py"}'), ToolCall("", "list_files", "{}")))
    ),
    "code.sse": CODE,
    "image.sse": done(said("Here: ", attachments=("inlineData",))),
    "length.sse": LENGTH,
    "no_room.sse": cut(said(), "MAX_TOKENS"),
    "continued.sse": cut(said("Once upon a time"), "CONTINUATION"),
    "filtered.sse": done(said("So far"), "SAFETY"),
    "refused.sse": REFUSED,
    "malformed_call.sse": refused("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    "blocked.sse": BLOCKED,
    "two_candidates.sse": done(said("first answer")),
    "empty.sse": done(said()),
    "surrogates.sse": done(said("owl 🦉 and half \ufffd")),
    "failed.sse": FAILED,
    "failed_bare.sse": FAILED,
    "cut.sse": cut(said(UNICODE), ""),
    "text_array.json": TEXT,
    "thinking_array.json": THOUGHT,
    "calls_array.json": CALLED,
    "length_array.json": LENGTH,
    "refused_array.json": REFUSED,
    "failed_array.json": FAILED,
    "error_array.json": ERROR,
    "cut_array.json": cut(said(UNICODE), ""),
    "text.json": TEXT,
    "thinking.json": THOUGHT,
    "calls.json": CALLED,
    "code.json": CODE,
    "length.json": LENGTH,
    "refused.json": REFUSED,
    "blocked.json": BLOCKED,
    "two_candidates.json": done(said("first answer")),
    "error.json": ERROR,
    "cut.json": Reply(None, Outcome.TRUNCATED),
}
STREAMS = sorted(name for name in REPLIES if name.endswith(".sse") or "array" in name)
SENT_BACK = ["text", "one", "thinking", "calls", "no_ids", "code", "image", "length", "two_candidates", "empty"]
SENT_BACK_WHOLE = ["text", "thinking", "calls", "code", "length", "two_candidates"]


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_every_golden_file_has_its_reply_and_is_what_the_types_of_the_sdk_say() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == REPLIES.keys()
    assert {name: golden(name) for name in REPLIES} == files()


@pytest.mark.parametrize("name", sorted(REPLIES))
@pytest.mark.parametrize("stream", [True, False])
def test_replies(name: str, stream: bool) -> None:
    assert GEMINI.collect(golden(name), stream=stream) == REPLIES[name]
    assert GEMINI.collect(b"\xef\xbb\xbf" + golden(name), stream=stream) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", STREAMS)
def test_every_split_gives_the_same_reply(name: str, every: bool) -> None:
    for line_end in LINE_ENDS:
        for pieces in chunkings(golden(name).replace(b"\n", line_end), every=every):
            assert replay(GEMINI, REQUEST, pieces, TYPES[Path(name).suffix], PATH) == REPLIES[name]


@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 3_000), max_size=40))
def test_any_chunking_gives_the_same_reply(name: str, places: list[int]) -> None:
    pieces = cut_at(golden(name), places)
    assert replay(GEMINI, REQUEST, pieces, TYPES[Path(name).suffix], PATH) == REPLIES[name]


def _chunk(text: str, finish: str | None) -> bytes:
    candidate = {"content": {"role": "model", "parts": [{"text": text}] if text else []}, "finishReason": finish}
    return b"data: " + json.dumps({"candidates": [candidate]}).encode() + b"\n\n"


@pytest.mark.parametrize("finishes", ["SSSS", "S--S", "SS--", "---S"])
def test_what_comes_behind_a_reason_to_stop_belongs_to_the_turn(finishes: str) -> None:
    said_by_chunk = ["", "one ", "two", ""]
    chunks = [_chunk(text, "STOP" if at == "S" else None) for text, at in zip(said_by_chunk, finishes, strict=True)]
    reply = replay(GEMINI, REQUEST, chunks, TYPES[".sse"], PATH)
    assert (reply.message, reply.outcome, reply.finish_reason) == (said("one two"), Outcome.COMPLETE, "STOP")
    assert not any(GEMINI.ends(chunk) for chunk in chunks)


@pytest.mark.parametrize("name", ["text.sse", "thinking.sse", "calls.sse", "text_array.json", "calls_array.json"])
def test_a_stream_cut_anywhere_gives_what_came_and_is_complete_only_with_its_end(name: str) -> None:
    data, whole = golden(name), REPLIES[name].message
    end = data.rfind(b'"finishReason"')
    assert whole is not None
    for place in range(len(data)):
        reply = GEMINI.collect(data[:place], stream=True)
        assert reply.outcome is Outcome.TRUNCATED or place > end
        if reply.message is not None:
            assert whole.text.startswith(reply.message.text.rstrip("\ufffd"))
            assert reply.message.tool_calls == whole.tool_calls[: len(reply.message.tool_calls)]


# -- the SDK -----------------------------------------------------------------------------------------------------


class Upstream:
    """The SDK's client before a server that answers with golden files, one after the other."""

    def __init__(self, *names: str) -> None:
        self.requests: list[tuple[str, bytes]] = []
        self._names = iter(names)
        http_client = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        options = types.HttpOptions(httpx_client=http_client, base_url="http://test")
        self.client = genai.Client(api_key="none", http_options=options)

    def chat(self) -> Any:
        no_calling = types.AutomaticFunctionCallingConfig(disable=True)
        config = types.GenerateContentConfig(automatic_function_calling=no_calling, automatic_continuation=False)
        return self.client.chats.create(model="gemini-3.8-flash", config=config)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append((request.url.path, request.read()))
        name = next(self._names)
        return httpx2.Response(200, content=golden(name), headers={"content-type": TYPES[Path(name).suffix].decode()})


@pytest.fixture
def upstream() -> Iterator[Callable[..., Upstream]]:
    made: list[Upstream] = []

    def make(*names: str) -> Upstream:
        made.append(Upstream(*names))
        return made[-1]

    yield make
    for each in made:
        each.client.close()


OFF_SPEC = {"snake.sse", "snake_calls.sse", "surrogates.sse", "comments.sse", "cut.sse"}
"""Streams that the SDK's own types do not describe, or whose last event is torn."""


@pytest.mark.parametrize("name", sorted({name for name in STREAMS if name.endswith(".sse")} - OFF_SPEC))
def test_the_sdk_reads_the_same_stream(name: str, upstream: Callable[..., Upstream]) -> None:
    text, calls, failed = "", [], ""
    try:
        for chunk in upstream(name).chat().send_message_stream("Hello"):
            text += chunk.text or ""
            calls += [(call.id or "", call.name, call.args) for call in chunk.function_calls or ()]
    except errors.APIError as error:
        failed = error.message or ""
    reply = REPLIES[name]
    message = reply.message or said()
    assert text == message.text
    assert calls == [(call.id, call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert failed == (reply.error if not reply.finish_reason else "")


@pytest.mark.parametrize("name", [f"{name}.json" for name in SENT_BACK_WHOLE])
def test_the_sdk_reads_the_same_body(name: str, upstream: Callable[..., Upstream]) -> None:
    response = upstream(name).chat().send_message("Hello")
    message = REPLIES[name].message
    assert message is not None
    assert response.text == message.text
    assert [call.name for call in response.function_calls or ()] == [call.name for call in message.tool_calls]


@pytest.mark.parametrize("name", [*(f"{name}.sse" for name in SENT_BACK), *(f"{n}.json" for n in SENT_BACK_WHOLE)])
def test_a_reply_is_the_message_that_the_sdk_sends_back(name: str, upstream: Callable[..., Upstream]) -> None:
    server = upstream(name, "one.sse", "one.sse")
    chat = server.chat()
    if name.endswith(".sse"):
        list(chat.send_message_stream("Hello"))
    else:
        chat.send_message("Hello")
    for question in ("And?", "Then?"):
        list(chat.send_message_stream(question))
    path, body = server.requests[-1]
    read = GEMINI.read(body, path=path)
    message = REPLIES[name].message
    assert message is not None
    yes = said("Yes.")
    expected = [Message(Role.USER, "Hello"), message, Message(Role.USER, "And?"), yes, Message(Role.USER, "Then?")]
    assert [digest(each) for each in read.messages] == [digest(each) for each in expected]
    assert (read.model, read.stream) == ("gemini-3.8-flash", True)
    cut_short = json.loads(GEMINI.rewrite(read, keep_from=4, block="B"))
    assert cut_short["contents"] == [
        {"role": "user", "parts": [{"text": "B"}]},
        {"role": "user", "parts": [{"text": "Then?"}]},
    ]


# -- odd responses -----------------------------------------------------------------------------------------------

ODD = [
    (b"", None, Outcome.TRUNCATED),
    (b"[", None, Outcome.TRUNCATED),
    (b"[]", None, Outcome.TRUNCATED),
    (b"data: [DONE]\n\n", None, Outcome.TRUNCATED),
    (b"<html>502 Bad Gateway</html>", None, Outcome.TRUNCATED),
    (b"data: not json\n\ndata: 1\n\ndata: [1]\n\ndata: null\n\n", None, Outcome.TRUNCATED),
    (b'data: {"candidates":"x"}\n\ndata: {"candidates":[1,null,{}]}\n\n', None, Outcome.TRUNCATED),
    (b'data: {"candidates":[{"content":7,"finishReason":3}]}\n\n', None, Outcome.TRUNCATED),
    (b'data: {"candidates":[{"content":{"parts":{"text":"a"}}}]}\n\n', said("a"), Outcome.TRUNCATED),
    (b'[{"candidates":[{"content":{"parts":[1,{"text":"a"},{"text":2}]},"index":"0"}]}', said("a"), Outcome.TRUNCATED),
    (
        b'[{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}},{"content":{"parts":[{"text":"a"}]}}]}',
        said("a"),
        Outcome.TRUNCATED,
    ),
    (b'{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"NEW"}]}', said("a"), Outcome.COMPLETE),
    (b'{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}', said("a"), Outcome.TRUNCATED),
    (b'{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}', None, Outcome.TRUNCATED),
    (b'{"candidates":[{"content":{"parts":[{"text":"\xff"}]},"finishReason":"A"}]}', said("\ufffd"), Outcome.COMPLETE),
    (b'{"detail":"Not Found"}', None, Outcome.ERROR),
    (b'{"candidates":[]}', None, Outcome.ERROR),
    (b'{"error":"bad key"}', None, Outcome.ERROR),
    (b'[{"error":{"code":1}}]', None, Outcome.ERROR),
    (b'data: {"error":true}\n\n', None, Outcome.ERROR),
    (b"data: " + b"[" * 20_000 + b"\n\n", None, Outcome.TRUNCATED),
    (b"[" * 20_000, None, Outcome.TRUNCATED),
    (b'{"a":' * 20_000, None, Outcome.TRUNCATED),
    (b"[" + b"9" * 5_000, None, Outcome.TRUNCATED),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message", "outcome"), ODD)
def test_odd_responses(data: bytes, message: Message | None, outcome: Outcome) -> None:
    reply = GEMINI.collect(data, stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)
    assert bool(reply.error) == (b'"error":' in data)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"promptTokenCount": 1, "candidatesTokenCount": True, "totalTokenCount": -1}, {"prompt_tokens": 1}),
        ({"promptTokenCount": 1.5, "totalTokenCount": "3"}, {}),
        ({"thoughtsTokenCount": 7}, {"completion_tokens": 7, "reasoning_tokens": 7}),
        ({"cachedContentTokenCount": 0, "candidates_token_count": 2}, {"cached_tokens": 0, "completion_tokens": 2}),
        ([], {}),
        (None, {}),
    ],
)
def test_usage(counts: object, expected: dict[str, int]) -> None:
    assert GEMINI.collect(json.dumps({"usageMetadata": counts}).encode(), stream=False).usage == expected


PARTS: list[tuple[list[object], Message]] = [
    ([{"functionCall": {"name": "f"}}], said(tool_calls=(ToolCall("", "f", "{}"),))),
    ([{"functionCall": {"name": "f", "args": None}}], said(tool_calls=(ToolCall("", "f", "{}"),))),
    ([{"function_call": {"name": "f", "args": '{"a":1}'}}], said(tool_calls=(ToolCall("", "f", '{"a":1}'),))),
    ([{"functionCall": {"args": {"a": 1}}}, {"functionCall": {}}, {"functionCall": 1}], said()),
    (
        [{"functionCall": {"id": 7, "name": "é\ud800", "args": [1]}}],
        said(tool_calls=(ToolCall("", "é\ufffd", "[1]"),)),
    ),
    ([{"text": "a", "thought": 1}, {"text": "b", "thought": True}], said("a", thinking="b")),
    ([{"text": "a", "thoughtSignature": "c2ln", "videoMetadata": {}}], said("a")),
    ([{"hologram_data": {}}, {"x" * 99: {}}], said(attachments=("hologramData", "x" * 64))),
    ([{"functionResponse": {"name": "f", "response": {}}}], said()),
]


@pytest.mark.parametrize(("parts", "expected"), PARTS)
def test_parts_of_the_model(parts: list[object], expected: Message) -> None:
    body = json.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}).encode()
    assert GEMINI.collect(body, stream=False).message == expected
    sent = json.dumps({"contents": [{"role": "model", "parts": parts}]}).encode()
    assert GEMINI.read(sent).messages == (expected,)


NAMES = ("candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "finishReason", "error",
         "index", "promptFeedback", "blockReason", "usageMetadata", "inlineData")  # fmt: skip
VALUES = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "STOP", "\ud83e", "\udd89", "é", 1e400])
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)


@given(st.sampled_from([name for name in sorted(REPLIES) if name.endswith(".sse")]), st.data())
def test_nothing_in_a_response_raises(name: str, data: st.DataObject) -> None:
    lines = golden(name).decode().split("\n\n")
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {") and line.endswith("}")]
    place = data.draw(st.integers(0, len(chunks) - 1))
    chunks[place] = replaced(data.draw, chunks[place], JSON)
    for body in ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), json.dumps(chunks)):
        reply = GEMINI.collect(body.encode(), stream=True)
        if reply.message is not None:
            encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()
        f"{reply.error}{reply.finish_reason}".encode()


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, stream: bool) -> None:
    GEMINI.collect(data, stream=stream)
    GEMINI.ends(data)


CHUNK = json.dumps({"candidates": [{"content": {"parts": [{"text": "word "}]}}]})
ENDLESS = [
    f"data: {CHUNK}\n\n",
    CHUNK + ",\n",
    "[" + CHUNK + "]" + " " * 300,
    "x",
    "data:",
    '{"error',
    '"finishReason":null',
]


@pytest.mark.parametrize("unit", ENDLESS)
def test_collecting_is_linear(unit: str, growth: Callable[..., float]) -> None:
    def work(size: int) -> Callable[[], object]:
        data = (unit * (size // len(unit))).encode()
        return lambda: (GEMINI.collect(data, stream=True), GEMINI.ends(data))

    assert growth(work(500_000), work(1_000_000)) < 3
