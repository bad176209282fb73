import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import ConfigError, MalformedRequest
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.dialects.custom import CustomChat
from tokenmizer_mw.wire.known import KnownRequests

from .replay import LINE_ENDS, chunkings, cut_at, replay

ROLES = {"human": "user", "bot": "assistant", "rules": "system", "person": "user"}
TURNS = CustomChat(messages="turns", role="from", content="body", roles=ROLES, reply="answer")
STANDARD = CustomChat(messages="messages", reply="answer")
NESTED = CustomChat(messages="chat.turns", role="author.kind", content="author.said", reply="answer")
ASKS = CustomChat(question="prompt", reply="answer", delta="token", done="[DONE]")
REQUEST = b'{"prompt": "Hello"}'
SSE, NDJSON, JSON_TYPE, PLAIN = b"text/event-stream", b"application/x-ndjson", b"application/json", b"text/plain"


def human(text: object) -> dict[str, object]:
    return {"from": "human", "body": text}


def bot(text: object) -> dict[str, object]:
    return {"from": "bot", "body": text}


def said(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def read(custom: CustomChat, /, **members: object) -> ChatRequest:
    return custom.read(json.dumps(members).encode())


ELEMENTS: list[tuple[object, Message]] = [
    (human("Hello"), Message(Role.USER, "Hello")),
    ({"from": "person", "body": "Hello", "at": 17}, Message(Role.USER, "Hello")),
    ({"from": "user", "body": "Hello"}, Message(Role.USER, "Hello")),
    (bot("Hi"), Message(Role.ASSISTANT, "Hi")),
    ({"from": "rules", "body": "Be brief."}, Message(Role.SYSTEM, "Be brief.")),
    (human(["a", {"type": "text", "text": "b"}, {"type": "image_url"}]),
     Message(Role.USER, "a\nb", attachments=("image_url",))),
    (human(None), Message(Role.USER)),
    (human(7), Message(Role.USER)),
    ({"from": "human", "role": "assistant", "content": "x"}, Message(Role.USER)),
    ({"from": "bot", "body": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
     Message(Role.ASSISTANT, tool_calls=(ToolCall("c", "f", "{}"),))),
    ({"from": "tool", "body": "42", "tool_call_id": "c"}, Message(Role.TOOL, tool_results=(ToolResult("c", "42"),))),
    ({"from": "robot", "body": "x"}, Message(Role.SYSTEM, "x")),
    ({"from": ["bot"], "body": "x"}, Message(Role.SYSTEM, "x")),
    ({"body": "\ud800"}, Message(Role.SYSTEM, "\ufffd")),
    ("Hello", Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), ELEMENTS)
def test_elements(raw: object, expected: Message) -> None:
    request = read(TURNS, turns=[raw])
    assert request.messages == (expected,)
    assert request.text[slice(*request.spans[0])] == json.dumps(raw)


def test_roles_may_be_told_by_a_flag_and_lie_deeper() -> None:
    flags = CustomChat(
        messages="log", role="by.me", content="by.text", roles={True: "user", False: "assistant"}, reply="r"
    )
    request = read(flags, log=[{"by": {"me": True, "text": "a"}}, {"by": {"me": False, "text": "b"}}])
    assert request.messages == (Message(Role.USER, "a"), said("b"))


def test_the_rest_of_a_request() -> None:
    request = read(TURNS, turns=[human("a")], model="m", stream=True, session_id="s")
    assert (request.model, request.stream, request.stand_down, request.prefix) == ("m", True, "", 0)
    assert request.fields["session_id"] == "s"
    assert TURNS.models(b'{"model":"m"}') == ("m",)


STAND_DOWN: list[tuple[list[object], str]] = [
    ([human("a")], ""),
    ([human("a"), bot("b"), human("c")], ""),
    ([human("a"), bot("b")], "assistant_prefill"),
    ([human("a"), {"from": "tool", "body": "1"}], "open_tool_loop"),
    ([human("a"), {"from": "robot"}, human("b")], "unknown_role"),
    ([], "no_user_message"),
]


@pytest.mark.parametrize(("turns", "reason"), STAND_DOWN)
def test_when_to_stand_down(turns: list[object], reason: str) -> None:
    assert read(TURNS, turns=turns).stand_down == reason


def test_a_history_that_lies_deeper_is_read_only() -> None:
    body = b'{"session_id":"s", "chat":{"turns":[{"author":{"kind":"user","said":"a"}}]}}'
    request = NESTED.read(body)
    assert (request.messages, request.stand_down) == ((Message(Role.USER, "a"),), "not_rewritable")
    assert not request.messages.part
    assert NESTED.rewrite(request) == body
    assert NESTED.rewrite(request, drop=("session_id",)) == body.replace(b'"session_id":"s", ', b"")
    with pytest.raises(ValueError, match="deeper"):
        NESTED.rewrite(request, keep_from=1, block="B")


def test_a_callable_takes_the_history_from_the_body() -> None:
    def turns(body: dict[str, Any]) -> list[dict[str, str]]:
        pairs = [({"role": "user", "content": a}, {"role": "assistant", "content": b}) for a, b in body["past"]]
        return [*(turn for pair in pairs for turn in pair), {"role": "user", "content": body["text"]}]

    chat = CustomChat(messages=turns, reply="answer")
    request = read(chat, past=[["a", "b"]], text="c")
    assert request.messages == (Message(Role.USER, "a"), said("b"), Message(Role.USER, "c"))
    assert request.stand_down == "not_rewritable"
    for members in ({}, {"past": 7, "text": "c"}, {"past": [["a"]], "text": "c"}):
        with pytest.raises(MalformedRequest):
            read(chat, **members)


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("prompt", {"prompt": "Hello"}),
        ("chat.-1.text", {"chat": [{"text": "old"}, {"text": "Hello"}]}),
        (lambda body: body["prompt"].strip(), {"prompt": " Hello "}),
    ],
)
def test_the_newest_text_alone(question: Any, body: dict[str, Any]) -> None:
    chat = CustomChat(question=question, reply="answer")
    request = read(chat, **body, session_id="s")
    assert (request.messages, request.stand_down) == ((Message(Role.USER, "Hello"),), "history_on_server")
    assert request.messages.part
    assert json.loads(chat.rewrite(request, drop=("session_id",))) == body


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"turns":1,"prompt":1,"chat":[]}', b'{"turns":[', b'"x"', b"\xff"]
)
@pytest.mark.parametrize("chat", [TURNS, NESTED, ASKS])
def test_what_is_no_chat_request(chat: CustomChat, body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        chat.read(body)


SENT = (
    b'{ "id" : 1.0e5, "turns":[ {"from":"rules","body":"R"},\n{"body":"\\ud800","from":"human"} ,'
    b'{"from":"bot","body":"b"},'
    b' {"from":"human","body":"c"}], "id":1E400}'
)


def test_the_block_is_an_element_and_every_other_byte_is_kept() -> None:
    request = TURNS.read(SENT)
    assert TURNS.rewrite(request) == SENT
    start, end = SENT.index(b'{"body":"\\ud800"'), SENT.index(b', {"from":"human","body":"c"}')
    assert (
        TURNS.rewrite(request, keep_from=3, block="B 🦉")
        == SENT[:start] + '{"from":"human","body":"B 🦉"}'.encode() + SENT[end:]
    )


BLOCKS: list[tuple[CustomChat, str, object, object]] = [
    (TURNS, "user", human("c"), {"from": "human", "body": "B"}),
    (TURNS, "system", human("c"), {"from": "rules", "body": "B"}),
    (TURNS, "developer", human("c"), {"from": "rules", "body": "B"}),
    (TURNS, "user", human(["c"]), {"from": "human", "body": ["B"]}),
    (TURNS, "user", human([{"type": "text", "text": "c"}]), {"from": "human", "body": [{"type": "text", "text": "B"}]}),
    (
        CustomChat(messages="turns", role="from", content="body", roles={"me": "user", "you": "assistant"}, reply="r"),
        "system",
        {"from": "me", "body": "c"},
        {"from": "me", "body": "B"},
    ),
    (
        CustomChat(messages="turns", reply="r", extra={"id": "memory", "meta": {"hidden": True}}),
        "developer",
        {"role": "user", "content": "c"},
        {"id": "memory", "meta": {"hidden": True}, "role": "developer", "content": "B"},
    ),
    (
        CustomChat(messages="turns", role="by.kind", content="by.text", extra={"by": {"id": 1}}, reply="r"),
        "user",
        {"by": {"kind": "user", "text": "c"}},
        {"by": {"id": 1, "kind": "user", "text": "B"}},
    ),
]


@pytest.mark.parametrize(("chat", "role", "last", "expected"), BLOCKS)
def test_the_block_is_spelled_as_the_application_does(
    chat: CustomChat, role: str, last: object, expected: object
) -> None:
    request = read(chat, turns=[last, last])
    assert request.stand_down == ""
    assert json.loads(chat.rewrite(request, keep_from=1, block="B", role=role))["turns"] == [expected, last]


def test_the_rewritten_prefix_is_the_same_from_call_to_call() -> None:
    sent = []
    for turns in range(3, 8):
        request = read(TURNS, turns=[human("a"), bot("b")] * turns + [human("z")])
        sent.append(TURNS.rewrite(request, keep_from=2, block="frozen"))
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(json.dumps(human("z")).encode() + b"]}"))


def test_known_requests_are_not_mixed_up_between_configurations() -> None:
    known = KnownRequests(1_000_000)
    other = CustomChat(
        messages="turns", role="from", content="body", roles={"human": "assistant", "bot": "user"}, reply="r"
    )
    history: list[object] = [human("a " * 2_000), bot("b")] * 2
    for turns in ([*history, human("c")], [*history, human("c"), bot("d"), human("e")]):
        for chat in (TURNS, other):
            body = json.dumps({"turns": turns}).encode()
            assert chat.read(body, known).messages == chat.read(body).messages


def sse(*data: object, name: str = "") -> bytes:
    lines = [piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in data]
    return "".join(f"event: {name}\n" * bool(name) + f"data: {line}\n\n" for line in lines).encode()


def lines(*data: object) -> bytes:
    return "".join(json.dumps(piece) + "\n" for piece in data).encode()


def token(text: str, **more: object) -> dict[str, object]:
    return {"token": text, **more}


PATH = CustomChat(question="prompt", delta="token", done="finished")
ENDED = CustomChat(question="prompt", reply="answer", delta="token", done="finished")
OPEN_END = CustomChat(question="prompt", delta="token")
TEXT = CustomChat(question="prompt", reply="")
TEXT_DONE = CustomChat(question="prompt", reply="answer", delta="", done="[DONE]")
NAMED = CustomChat(question="prompt", delta="", event="token", done="end")
VALUE = CustomChat(question="prompt", reply="$", delta="$")
DEEP = CustomChat(question="prompt", reply="choices.0.text", delta="choices.0.delta", done="choices.0.finish_reason")
COMPLETE, TRUNCATED, ERROR = Outcome.COMPLETE, Outcome.TRUNCATED, Outcome.ERROR
HELLO = Reply(said("Hé, 🦉"), COMPLETE)
REPLIES: list[tuple[CustomChat, bytes, bytes, Reply]] = [
    (ASKS, JSON_TYPE, b'{"id": 1, "answer": "H\\u00e9, \xf0\x9f\xa6\x89"}', HELLO),
    (ASKS, JSON_TYPE, b'{"answer": ""}', Reply(said(""), COMPLETE)),
    (ASKS, JSON_TYPE, b'{"answer": [{"type": "text", "text": "a"}, "b"]}', Reply(said("a\nb"), COMPLETE)),
    (ASKS, JSON_TYPE, b'{"answer": 7}', Reply(None, ERROR, error="unspecified error")),
    (ASKS, JSON_TYPE, b'{"detail": "too long"}', Reply(None, ERROR, error="too long")),
    (ASKS, JSON_TYPE, b'{"answer": "", "error": {"message": "no"}}', Reply(None, ERROR, error="no")),
    (ASKS, JSON_TYPE, b'{"answer": "torn', Reply(None, TRUNCATED)),
    (ASKS, SSE, sse(token("Hé"), token(", 🦉"), "[DONE]"), HELLO),
    (ASKS, SSE, sse(token("Hé"), token(", 🦉"), '"[DONE]"'), HELLO),
    (ASKS, SSE, sse(token("Hé"), {"meta": 1}, "not json", token(7), token(", 🦉"), "[DONE]", token("!")), HELLO),
    (ASKS, SSE, sse(token("Hé"), token(", 🦉")), Reply(said("Hé, 🦉"), TRUNCATED)),
    (ASKS, SSE, sse(token("Hé"), {"error": "overloaded"}, token("!")), Reply(said("Hé"), ERROR, error="overloaded")),
    (ASKS, SSE, sse(token("a")) + sse("lost", name="error"), Reply(said("a"), ERROR, error="lost")),
    (ASKS, SSE, sse(token("a")) + sse({"message": "lost"}, name="error"), Reply(said("a"), ERROR, error="lost")),
    (ASKS, SSE, sse("[DONE]"), Reply(said(""), COMPLETE)),
    (ASKS, SSE, b"", Reply(None, TRUNCATED)),
    (ASKS, SSE, b": ping\n\n" + sse(token("Hé"), token(", 🦉")) + b"data: [DONE]", HELLO),
    (ASKS, PLAIN, sse(token("Hé"), token(", 🦉"), "[DONE]"), HELLO),
    (ASKS, NDJSON, lines(token("Hé"), token(", 🦉"), "[DONE]"), HELLO),
    (ASKS, JSON_TYPE, lines(token("Hé"), token(", 🦉"), "[DONE]"), HELLO),
    (ASKS, NDJSON, lines({"answer": "Hé, 🦉"}), HELLO),
    (PATH, NDJSON, lines(token("Hé", finished=False), token(", 🦉", finished=True), token("!")), HELLO),
    (PATH, PLAIN, lines(token("Hé", finished=False), token(", 🦉", finished=True)), HELLO),
    (PATH, SSE, sse(token("Hé", finished=""), token(", 🦉", finished=0), {"finished": 0.5}), HELLO),
    (PATH, SSE, sse(token("Hé"), token(", 🦉"), {"finished": "length"}), Reply(said("Hé, 🦉"), COMPLETE, "length")),
    (PATH, SSE, sse(token("Hé"), token(", 🦉")) + sse({"seconds": 1}, name="finished"), HELLO),
    (PATH, NDJSON, lines(token("Hé", finished=False)), Reply(said("Hé"), TRUNCATED)),
    (PATH, JSON_TYPE, b'{"token": "all of it"}', Reply(said("all of it"), COMPLETE)),
    (PATH, JSON_TYPE, b'{"token": "part", "finished": false}', Reply(said("part"), TRUNCATED)),
    (ENDED, PLAIN, lines({"id": 1, "finished": False}, token("Hé"), token(", 🦉", finished=True)), HELLO),
    (OPEN_END, NDJSON, lines(token("Hé"), token(", 🦉")), HELLO),
    (OPEN_END, SSE, sse(token("Hé"), token(", 🦉")), HELLO),
    (OPEN_END, SSE, sse({"other": 1}), Reply(None, TRUNCATED)),
    (OPEN_END, b"application/jsonlines", lines(token("Hé"), token(", 🦉")), HELLO),
    (TEXT, PLAIN, "Hé, 🦉".encode(), HELLO),
    (TEXT, PLAIN, b"data: is what I say\n", Reply(said("data: is what I say\n"), COMPLETE)),
    (TEXT, PLAIN, b"", Reply(None, COMPLETE)),
    (TEXT, SSE, sse("Hé", ", 🦉"), HELLO),
    (TEXT_DONE, SSE, "data: Hé\n\ndata: ,\ndata:\n\ndata:  🦉\n\ndata: [DONE]\n\n".encode(),
     Reply(said("Hé,\n 🦉"), COMPLETE)),
    (TEXT_DONE, JSON_TYPE, '{"answer": "Hé, 🦉"}'.encode(), HELLO),
    (NAMED, SSE, sse("{}", name="meta") + sse("Hé", ", 🦉", name="token") + sse("", name="end"), HELLO),
    (NAMED, SSE, sse("Hé", ", 🦉", name="token") + sse("end"), HELLO),
    (NAMED, SSE, sse("Hé", ", 🦉", name="token"), Reply(said("Hé, 🦉"), TRUNCATED)),
    (VALUE, JSON_TYPE, '"Hé, 🦉"'.encode(), HELLO),
    (VALUE, SSE, sse('"Hé"', '", 🦉"'), HELLO),
    (VALUE, NDJSON, lines("Hé", ", 🦉"), HELLO),
    (DEEP, JSON_TYPE, '{"choices": [{"text": "Hé, 🦉"}]}'.encode(), HELLO),
    (
        DEEP,
        SSE,
        sse(*({"choices": [{"delta": d, "finish_reason": f}]} for d, f in (("Hé", None), (", 🦉", "stop")))),
        Reply(said("Hé, 🦉"), COMPLETE, "stop"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("chat", "content_type", "data", "expected"), REPLIES)
def test_replies_in_any_chunking(chat: CustomChat, content_type: bytes, data: bytes, expected: Reply) -> None:
    assert replay(chat, REQUEST, [data], content_type) == expected
    for pieces in chunkings(data):
        assert replay(chat, REQUEST, pieces, content_type) == expected


@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize(
    ("chat", "content_type", "data", "expected"), [row for row in REPLIES if row[1] in (SSE, NDJSON)]
)
def test_streams_with_any_line_end(
    chat: CustomChat, content_type: bytes, data: bytes, expected: Reply, line_end: bytes
) -> None:
    assert chat.collect(b"\xef\xbb\xbf" + data.replace(b"\n", line_end), stream=True) == expected


@given(st.sampled_from(REPLIES), st.lists(st.integers(0, 300), max_size=20))
def test_random_chunkings(row: tuple[CustomChat, bytes, bytes, Reply], places: list[int]) -> None:
    chat, content_type, data, expected = row
    assert replay(chat, REQUEST, cut_at(data, places), content_type) == expected


@pytest.mark.parametrize(
    ("chat", "tail", "expected"),
    [
        (ASKS, b"data: [DONE]\n\n", True),
        (ASKS, b'data: {"token": "done"}\n\n', False),
        (PATH, b'data: {"finished": true}', True),
        (PATH, b'{"finished"\t:  "stop"', True),
        (PATH, b'{"finished": 0.5}', True),
        (PATH, b'{"finished": false, "a": {"finished" : null}, "b": {"finished":0}, "c": {"finished":""}}', False),
        (PATH, b'{"finished": ', False),
        (PATH, b'{"token": "it is finished"}', False),
        (PATH, b'{"token": "\\"finished\\": true"}', False),
        (PATH, b"event: finished\n", True),
        (PATH, b'data: "finished"\n', True),
        (OPEN_END, b"data: [DONE]\n\n", False),
        (TEXT, b"", False),
    ],
)
def test_the_end_is_seen_in_a_tail(chat: CustomChat, tail: bytes, expected: bool) -> None:
    assert chat.ends(tail) is expected


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "either messages or a question"),
    ({"messages": "m", "question": "q", "reply": "r"}, "either messages or a question"),
    ({"messages": "m"}, "a reply, a delta, or both"),
    ({"messages": "a..b", "reply": "r"}, "messages is a dotted path"),
    ({"messages": "", "reply": "r"}, "messages is a dotted path"),
    ({"question": 7, "reply": "r"}, "question is a dotted path"),
    ({"question": "x" * 200, "reply": "r"}, "question is a dotted path"),
    ({"question": "q", "reply": 7}, "reply is a dotted path"),
    ({"question": "q", "reply": "r."}, "reply is a dotted path"),
    ({"question": "q", "delta": ".r"}, "delta is a dotted path"),
    ({"question": "q", "reply": "r", "done": None}, "done is text"),
    ({"question": "q", "reply": "r", "done": "a..b"}, "done is a dotted path"),
    ({"question": "q", "reply": "r", "event": 7}, "event is text"),
    ({"messages": "m", "reply": "r", "role": ""}, "role is a dotted path"),
    ({"messages": "m", "reply": "r", "role": "$"}, "lead through members"),
    ({"messages": "m", "reply": "r", "content": "parts.0"}, "name the list"),
    ({"messages": "m", "reply": "r", "role": "a", "content": "a.b"}, "no element can be made"),
    ({"messages": "m", "reply": "r", "role": "a", "content": "a"}, "no element can be made"),
    ({"messages": "m", "reply": "r", "extra": {"role": "x"}}, "no element can be made"),
    ({"messages": "m", "reply": "r", "extra": {"at": object()}}, "no element can be made"),
    ({"messages": "m", "reply": "r", "extra": ["id"]}, "extra holds members"),
    ({"messages": "m", "reply": "r", "roles": {"bot": "robot"}}, "roles maps a word"),
    ({"messages": "m", "reply": "r", "roles": {"bot": None}}, "roles maps a word"),
    ({"messages": "m", "reply": "r", "roles": {None: "user"}}, "roles maps a word"),
    ({"messages": "m", "reply": "r", "roles": ["bot"]}, "roles maps words"),
]


@pytest.mark.parametrize(("options", "complaint"), WRONG)
def test_a_configuration_that_cannot_be_meant(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        CustomChat(**options)


WORDS = st.sampled_from(["human", "bot", "text", "", "a", "\ud83e", "é"])
MEMBERS = st.sampled_from(
    ["from", "body", "turns", "chat", "author", "said", "kind", "prompt", "answer", "token", "type", "text"]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(MEMBERS, inner, max_size=5),
    max_leaves=20,
)


@given(st.sampled_from([TURNS, NESTED, ASKS, STANDARD]), ANY, st.lists(st.dictionaries(MEMBERS, ANY, max_size=3)))
def test_whatever_is_in_a_request_is_read_or_malformed(chat: CustomChat, body: object, turns: list[object]) -> None:
    for sent in (body, {"turns": turns}, {"chat": {"turns": turns}}):
        encoded = json.dumps(sent).encode()
        try:
            request = chat.read(encoded)
        except MalformedRequest:
            continue
        for message in request.messages:
            encode(MessageRecorded(1, digest(message), message))[2].encode()
        assert chat.rewrite(request) == encoded


@given(
    st.sampled_from([ASKS, PATH, TEXT, NAMED, VALUE, DEEP]),
    st.lists(ANY, max_size=4),
    st.binary(max_size=100),
    st.booleans(),
)
def test_nothing_in_a_response_raises(chat: CustomChat, values: list[object], data: bytes, stream: bool) -> None:
    for sent in (lines(*values), sse(*map(json.dumps, values)), json.dumps(values).encode(), data, b"data: " + data):
        reply = chat.collect(sent, stream=stream)
        if reply.message is not None:
            encode(MessageRecorded(1, digest(reply.message), reply.message))[2].encode()
        f"{reply.error}{reply.finish_reason}".encode()
        chat.ends(sent)


def test_reading_and_collecting_are_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        sent = json.dumps({"turns": [human("words " * 20), bot("more")] * count + [human("z")]}).encode()
        reply = lines(*[token("finished", finished=False)] * count)
        endless = b'{"finished": false ' * count
        return lambda: (
            TURNS.rewrite(TURNS.read(sent), keep_from=4, block="B"),
            PATH.collect(reply, stream=True),
            PATH.ends(endless),
            PATH.collect(endless, stream=True),
        )

    assert growth(work(1_000), work(2_000)) < 3
