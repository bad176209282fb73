import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import ollama
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.dialects.ollama import Ollama
from tokenmizer_mw.wire.known import KnownRequests

from .golden_ollama import files
from .replay import LINE_ENDS, chunkings, cut_at, replaced, replay

GOLDEN = Path(__file__).parent / "golden" / "ollama"
OLLAMA = Ollama()
REQUEST = b'{"model": "llama3.2", "messages": [{"role": "user", "content": "Hello"}]}'
TYPES = {".ndjson": b"application/x-ndjson", ".json": b"application/json; charset=utf-8"}
UNICODE = "Grüße, <漢字> & 🦉\u2028 fin."
USAGE = {"prompt_tokens": 26, "completion_tokens": 237, "total_tokens": 263}
CALLS = (ToolCall("", "read_file", '{"path":"a.py"}'), ToolCall("", "run_tests", '{"k":"Grüße","n":1.5}'))


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def done(message: Message | None, finish: str = "stop", outcome: Outcome = Outcome.COMPLETE) -> Reply:
    return Reply(message, outcome, finish, USAGE)


TEXT = done(said(UNICODE))
THOUGHT = done(said("Use 8080.", thinking="The port is 8080."))
CALLED = done(said("Both at once.", tool_calls=CALLS))
LENGTH = done(said("One two"), "length", Outcome.TRUNCATED)
REPLIES = {
    "text.ndjson": TEXT,
    "last_line_open.ndjson": TEXT,
    "one.ndjson": done(said("Yes.")),
    "thinking.ndjson": THOUGHT,
    "calls.ndjson": CALLED,
    "calls_at_once.ndjson": CALLED,
    "spaced.ndjson": CALLED,
    "no_reason.ndjson": done(said("Done."), ""),
    "length.ndjson": LENGTH,
    "empty.ndjson": done(said()),
    "loaded.ndjson": done(None, "load"),
    "separators.ndjson": done(said("a\u2028b\u2029c\x85d")),
    "surrogates.ndjson": done(said("owl 🦉 and half \ufffd")),
    "failed.ndjson": Reply(
        said("Half an "), Outcome.ERROR, error="an error was encountered while running the model: CUDA error"
    ),
    "cut.ndjson": Reply(said(UNICODE), Outcome.TRUNCATED),
    "text.json": TEXT,
    "thinking.json": THOUGHT,
    "calls.json": CALLED,
    "indented.json": CALLED,
    "length.json": LENGTH,
    "error.json": Reply(None, Outcome.ERROR, error="model 'x' not found"),
    "cut.json": Reply(None, Outcome.TRUNCATED),
}
STREAMS = sorted(name for name in REPLIES if name.endswith(".ndjson"))
BODIES = ["text.json", "thinking.json", "calls.json", "length.json"]
OFF_SPEC = {"cut.ndjson", "surrogates.ndjson", "separators.ndjson", "spaced.ndjson"}
"""Streams that the SDK cannot read: torn, half a character, blank lines, line ends of Unicode in a line."""


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_every_golden_file_has_its_reply_and_is_what_the_types_of_the_sdk_say() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == REPLIES.keys()
    assert {name: golden(name) for name in REPLIES} == files()


@pytest.mark.parametrize("name", sorted(REPLIES))
@pytest.mark.parametrize("stream", [True, False])
def test_replies(name: str, stream: bool) -> None:
    assert OLLAMA.collect(golden(name), stream=stream) == REPLIES[name]
    assert OLLAMA.collect(b"\xef\xbb\xbf" + golden(name), stream=stream) == REPLIES[name]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", STREAMS)
def test_every_split_gives_the_same_reply(name: str, every: bool) -> None:
    for line_end in LINE_ENDS:
        for pieces in chunkings(golden(name).replace(b"\n", line_end), every=every):
            assert replay(OLLAMA, REQUEST, pieces, TYPES[".ndjson"]) == REPLIES[name]


@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 1_500), max_size=40))
def test_any_chunking_gives_the_same_reply(name: str, places: list[int]) -> None:
    assert replay(OLLAMA, REQUEST, cut_at(golden(name), places), TYPES[Path(name).suffix]) == REPLIES[name]


@pytest.mark.parametrize("name", STREAMS)
def test_the_end_is_seen_wherever_the_stream_is_split(name: str) -> None:
    data = golden(name)
    ended = b'"done":true' in data or b'"done": true' in data
    for place in range(1, len(data)):
        first, second = data[:place], data[place:]
        assert (OLLAMA.ends(first) or OLLAMA.ends(first[-64:] + second)) == ended


TAILS = [
    (b'{"done":true}', True),
    (b'"done" : \t true', True),
    (b'{"done":true,"message":{"tool_calls":[{"function":{"arguments":{"done":false}}}]}}', True),
    (b'{"done":false}\n{"done":true,"done_reason":"stop"}', True),
    (b'{"done":false}', False),
    (b'{"content":"\\"done\\":true"}', False),
    (b'"done":tru', False),
    (b'"done"', False),
    (b"", False),
]


@pytest.mark.parametrize(("tail", "expected"), TAILS)
def test_the_end_is_seen_in_a_tail(tail: bytes, expected: bool) -> None:
    assert OLLAMA.ends(tail) is expected


@pytest.mark.parametrize("name", ["text.ndjson", "thinking.ndjson", "calls.ndjson"])
def test_a_stream_cut_anywhere_gives_what_came_and_is_complete_only_with_its_end(name: str) -> None:
    data, whole = golden(name), REPLIES[name].message
    assert whole is not None
    for place in range(len(data)):
        reply = OLLAMA.collect(data[:place], stream=True)
        assert reply.outcome is Outcome.TRUNCATED or place == len(data) - 1
        if reply.message is not None:
            assert whole.text.startswith(reply.message.text)
            assert reply.message.tool_calls == whole.tool_calls[: len(reply.message.tool_calls)]


ODD = [
    (b"", None, Outcome.TRUNCATED),
    (b"\n\r\n\n", None, Outcome.TRUNCATED),
    (b"<html>502 Bad Gateway</html>", None, Outcome.TRUNCATED),
    (b'1\nnull\n[{"done":true}]\n"x"\n', None, Outcome.TRUNCATED),
    (b'{"message":7,"done":"true"}\n', None, Outcome.TRUNCATED),
    (b'{"message":{"content":7,"thinking":[],"tool_calls":{},"images":1}}', None, Outcome.TRUNCATED),
    (b'{"message":{"content":"a"}}\n\n{"done":true}\n', said("a"), Outcome.COMPLETE),
    (b'{"message":{"content":"a"},"done":true,"done_reason":7}', said("a"), Outcome.COMPLETE),
    (b'{"message":{"content":"a"},"done":true}\n{"message":{"content":"b"}}', said("a"), Outcome.COMPLETE),
    (b'{"message":{"content":"\xff"},"done":true}', said("\ufffd"), Outcome.COMPLETE),
    (b'{"message":{"images":["AAAA"]},"done":true}', said(attachments=("image",)), Outcome.COMPLETE),
    (b'{"message":{"content":"a"}}\nnot json\n{"done":true}', said("a"), Outcome.COMPLETE),
    (b'{"detail":"Not Found"}', None, Outcome.ERROR),
    (b'{"message":{"content":"a"}}\n{"error":{"code":1}}\n{"done":true}', said("a"), Outcome.ERROR),
    (b'{"error":true}', None, Outcome.ERROR),
    (b'{"a":' * 20_000, None, Outcome.TRUNCATED),
    (b"9" * 5_000, None, Outcome.TRUNCATED),
]


@pytest.mark.parametrize(("data", "message", "outcome"), ODD)
def test_odd_responses(data: bytes, message: Message | None, outcome: Outcome) -> None:
    reply = OLLAMA.collect(data, stream=True)
    assert (reply.message, reply.outcome) == (message, outcome)
    assert bool(reply.error) == (b'"error":' in data)


# -- the SDK -----------------------------------------------------------------------------------------------------

Client = Callable[..., tuple[ollama.Client, list[bytes]]]


@pytest.fixture
def client() -> Iterator[Client]:
    """The SDK's client before a server that answers with these golden files, and the bodies that it was sent."""
    made: list[ollama.Client] = []

    def make(*names: str) -> tuple[ollama.Client, list[bytes]]:
        bodies: list[bytes] = []
        left = iter(names)

        def answer(request: httpx.Request) -> httpx.Response:
            bodies.append(request.read())
            name = next(left)
            return httpx.Response(
                200, content=golden(name), headers={"content-type": TYPES[Path(name).suffix].decode()}
            )

        made.append(ollama.Client("http://test", transport=httpx.MockTransport(answer)))
        return made[-1], bodies

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("name", [name for name in STREAMS if name not in OFF_SPEC])
def test_the_sdk_reads_the_same_stream_and_its_message_comes_back_the_same(name: str, client: Client) -> None:
    sdk, bodies = client(name, "one.ndjson")
    text, thinking, calls, failed = "", "", [], ""
    try:
        for part in sdk.chat("llama3.2", [{"role": "user", "content": "Hello"}], stream=True):
            text += part.message.content or ""
            thinking += part.message.thinking or ""
            calls += part.message.tool_calls or []
    except ollama.ResponseError as error:
        failed = error.error
    reply = REPLIES[name]
    message = reply.message or said()
    assert (text, thinking, failed) == (message.text, message.thinking, reply.error)
    answer = ollama.Message(role="assistant", content=text, thinking=thinking or None, tool_calls=calls or None)
    list(sdk.chat("llama3.2", [ollama.Message(role="user", content="Hello"), answer], stream=True))
    read = OLLAMA.read(bodies[-1])
    assert (read.stream, read.model) == (True, "llama3.2")
    assert [digest(each) for each in read.messages] == [digest(Message(Role.USER, "Hello")), digest(message)]
    assert read.messages[1] == message


@pytest.mark.parametrize("name", BODIES)
def test_the_sdk_reads_the_same_body_and_its_message_comes_back_the_same(name: str, client: Client) -> None:
    sdk, bodies = client(name, "text.json")
    asked = ollama.Message(role="user", content="Hello")
    answer = sdk.chat("llama3.2", [asked]).message
    result = ollama.Message(role="tool", content="42", tool_name="read_file")
    sdk.chat("llama3.2", [asked, answer, result])
    read = OLLAMA.read(bodies[-1])
    assert read.stream is False
    assert read.messages[1] == REPLIES[name].message
    assert read.messages[2] == Message(Role.TOOL, tool_results=(ToolResult("", "42"),))


# -- requests ----------------------------------------------------------------------------------------------------

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
RESULT = {"role": "tool", "tool_name": "f", "content": "42"}


def request(*messages: object, **fields: object) -> ChatRequest:
    return OLLAMA.read(json.dumps({"model": "llama3.2", "messages": messages, **fields}).encode())


MESSAGES: list[tuple[object, Message]] = [
    (SYSTEM, Message(Role.SYSTEM, "Be brief.")),
    (USER, Message(Role.USER, "Hello")),
    ({**USER, "images": ["AAAA", "BBBB"]}, Message(Role.USER, "Hello", attachments=("image", "image"))),
    ({**USER, "images": "AAAA"}, Message(Role.USER, "Hello")),
    ({**USER, "images": []}, Message(Role.USER, "Hello")),
    ({**USER, "thinking": "Hm."}, Message(Role.USER, "Hello")),
    ({"role": "user"}, Message(Role.USER)),
    ({"role": "user", "content": 7}, Message(Role.USER)),
    ({**ANSWER, "thinking": "Hm."}, said("Hi", thinking="Hm.")),
    ({**ANSWER, "thinking": 7}, said("Hi")),
    ({"role": "assistant", "thinking": "Hm."}, said(thinking="Hm.")),
    (CALL, said(tool_calls=(ToolCall("", "f", '{"a":1}'),))),
    (
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"index": 0, "name": "f", "arguments": {}}}, 7]},
        said(tool_calls=(ToolCall("c1", "f", "{}"),)),
    ),
    (RESULT, Message(Role.TOOL, tool_results=(ToolResult("", "42"),))),
    ({**RESULT, "tool_call_id": "c1"}, Message(Role.TOOL, tool_results=(ToolResult("c1", "42"),))),
    ({**RESULT, "images": ["AAAA"]}, Message(Role.TOOL, tool_results=(ToolResult("", "42"),), attachments=("image",))),
    ({"role": "critic", "content": "x"}, Message(Role.SYSTEM, "x")),
    ("hello", Message(Role.SYSTEM)),
]


@pytest.mark.parametrize(("raw", "expected"), MESSAGES)
def test_every_kind_of_message(raw: object, expected: Message) -> None:
    read = request(raw)
    assert read.messages == (expected,)
    assert read.text[slice(*read.spans[0])] == json.dumps(raw)


@pytest.mark.parametrize(("fields", "stream"), [({}, True), ({"stream": True}, True), ({"stream": False}, False)])
def test_a_request_streams_unless_it_says_no(fields: dict[str, object], stream: bool) -> None:
    assert request(USER, **fields).stream is stream


def test_the_rest_of_a_request() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    read = request(SYSTEM, USER, tools=tools, format="json", options={"num_ctx": 4096})
    assert (read.model, read.prefix, read.stand_down) == ("llama3.2", 1, "")
    assert read.overhead == f'"tools": {json.dumps(tools)}\n"format": "json"'
    assert OLLAMA.models(read.text.encode(), "/api/chat") == ("llama3.2",)
    assert isinstance(ROUTES["/api/chat"], Ollama)


STAND_DOWN: list[tuple[list[object], str]] = [
    ([USER], ""),
    ([SYSTEM, USER, CALL, RESULT, RESULT, ANSWER, USER], ""),
    ([USER, CALL, RESULT], "open_tool_loop"),
    ([USER, CALL], "open_tool_loop"),
    ([USER, ANSWER], "assistant_prefill"),
    ([USER, {"role": "critic"}, USER], "unknown_role"),
    ([], "no_user_message"),
]


@pytest.mark.parametrize(("messages", "reason"), STAND_DOWN)
def test_when_to_stand_down(messages: list[object], reason: str) -> None:
    assert request(*messages).stand_down == reason


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"messages":null}', b'{"messages":{}}', b'{"messages":[]'])
def test_what_is_no_chat_request(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        OLLAMA.read(body)


ROLES = [("user", "user"), ("system", "system"), ("developer", "system")]


@pytest.mark.parametrize(("role", "spelled"), ROLES)
def test_the_block_is_a_message(role: str, spelled: str) -> None:
    read = request(SYSTEM, USER, CALL, RESULT, SYSTEM, ANSWER, USER)
    cut = json.loads(OLLAMA.rewrite(read, keep_from=6, block='Zeile "1"\n🦉', role=role))
    assert cut["messages"] == [SYSTEM, {"role": spelled, "content": 'Zeile "1"\n🦉'}, SYSTEM, USER]


SPACE = st.sampled_from(["", "", " ", "\n  ", "\t\r\n"])
TEXTS = st.sampled_from(['""', '"Gr\\u00fc\\u00dfe \\/ \\ud83e"', '"\u2028🦉"', '"]},{"', "null", "1.0e5", "1E400"])
SENT = st.builds(
    '{{ "x" :{}, "role":"{}" ,"content":{}}}'.format, TEXTS, st.sampled_from(["user", "assistant", "tool"]), TEXTS
)


@given(st.lists(st.tuples(SPACE, SENT, SPACE), min_size=1, max_size=6), TEXTS, SPACE, st.data())
def test_only_the_asked_bytes_change(
    given: list[tuple[str, str, str]], odd: str, space: str, data: st.DataObject
) -> None:
    before, behind = f'{{{space}"x" :{odd},"session_id":"s",{space}"messages" :{space}[', f']{space},"y":{odd} }}'
    body = before + ",".join("".join(each) for each in given) + behind
    read = OLLAMA.read(body.encode())
    assert OLLAMA.rewrite(read) == body.encode()
    assert OLLAMA.rewrite(read, drop=("session_id",)) == body.replace('"session_id":"s",' + space, "").encode()
    gone = data.draw(st.integers(1, len(given)))
    pieces = [given[0][0] + '{"role":"user","content":"B"}' + given[gone - 1][2], *map("".join, given[gone:])]
    assert OLLAMA.rewrite(read, keep_from=gone, block="B").decode() == before + ",".join(pieces) + behind


def test_a_history_that_is_known_is_read_the_same() -> None:
    known = KnownRequests(1_000_000)
    messages: list[dict[str, Any]] = [{**SYSTEM, "content": "x" * 5_000}]
    for number in range(12):
        messages += [{**USER, "content": f"{number}?"}, CALL, RESULT, {**ANSWER, "thinking": "Hm."}]
        body = json.dumps({"messages": [*messages, USER]}).encode()
        told, alone = OLLAMA.read(body, known), OLLAMA.read(body)
        assert (told, list(told.messages), told.spans) == (alone, list(alone.messages), alone.spans)


NAMES = ("message", "messages", "role", "content", "thinking", "tool_calls", "function", "name", "arguments", "images",
         "tool_name", "done", "done_reason", "error", "eval_count")  # fmt: skip
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "user", "tool", "\ud800", "é"])
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)
WHOLE = {"model": "m", "messages": [SYSTEM, {**USER, "images": ["AAAA"]}, CALL, RESULT, RESULT, ANSWER, USER]}


@given(st.data())
def test_whatever_is_in_a_request_is_read_and_can_be_stored(data: st.DataObject) -> None:
    body = json.dumps(replaced(data.draw, WHOLE, JSON)).encode()
    try:
        read = OLLAMA.read(body)
    except MalformedRequest:
        return
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    assert OLLAMA.rewrite(read) == body
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    assert Message(Role.USER, "B") in OLLAMA.read(OLLAMA.rewrite(read, keep_from=keep_from, block="B")).messages


@given(st.sampled_from([name for name in STREAMS if name != "cut.ndjson"]), st.data())
def test_nothing_in_a_response_raises(name: str, data: st.DataObject) -> None:
    lines = [json.loads(line) for line in golden(name).split(b"\n") if line]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = replaced(data.draw, lines[place], JSON)
    reply = OLLAMA.collect("".join(f"{json.dumps(line)}\n" for line in lines).encode(), stream=True)
    if reply.message is not None:
        encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()
    f"{reply.error}{reply.finish_reason}".encode()


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, stream: bool) -> None:
    OLLAMA.collect(data, stream=stream)
    OLLAMA.ends(data)


@pytest.mark.parametrize("unit", ['{"message":{"content":"word "}}\n', "x", '{"a":"', '"done":', "\n"])
def test_collecting_is_linear(unit: str, growth: Callable[..., float]) -> None:
    def work(size: int) -> Callable[[], object]:
        data = (unit * (size // len(unit))).encode()
        return lambda: (OLLAMA.collect(data, stream=True), OLLAMA.ends(data))

    assert growth(work(500_000), work(1_000_000)) < 3


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        history = [USER, CALL, RESULT, {**ANSWER, "content": 'Some "words"\n' * 30}] * count
        body = json.dumps({"messages": [*history, USER]}).encode()
        return lambda: OLLAMA.rewrite(OLLAMA.read(body), keep_from=4, block="B")

    assert growth(work(1_000), work(2_000)) < 3


def test_an_application_of_its_own_may_answer_in_the_shape_of_openai() -> None:
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi!"}, "finish_reason": "stop"}]}
    piece = {"choices": [{"index": 0, "delta": {"content": "Hi!"}, "finish_reason": "stop"}]}
    stream = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n"
    for data, streamed in ((json.dumps(whole), False), (stream, True)):
        reply = Ollama().collect(data.encode(), stream=streamed)
        assert reply.message == Message(Role.ASSISTANT, "Hi!")
        assert reply.outcome is Outcome.COMPLETE
