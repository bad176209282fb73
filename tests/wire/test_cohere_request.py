import json
from collections.abc import Callable
from typing import Any

import pytest
from cohere import types as co
from cohere.core.serialization import convert_and_respect_annotation_metadata
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.dialects.cohere import Cohere
from tokenmizer_mw.wire.known import KnownRequests

from .replay import replaced

COHERE = Cohere()
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}
CALL = {
    "role": "assistant",
    "tool_plan": "I will look.",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42"}
CALLED = (ToolCall("c1", "f", "{}"),)


def request(*messages: object, **fields: object) -> ChatRequest:
    return COHERE.read(json.dumps({"model": "command-a", "messages": messages, **fields}).encode())


def text(content: object) -> dict[str, object]:
    return {"type": "text", "text": content}


def document(document: object) -> dict[str, object]:
    return {"type": "document", "document": document}


def resulted(text: str, **more: Any) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult("c1", text),), **more)


MESSAGES: list[tuple[object, Message]] = [
    (SYSTEM, Message(Role.SYSTEM, "Be brief.")),
    (USER, Message(Role.USER, "Hello")),
    ({"role": "user", "content": [text("a"), {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
     Message(Role.USER, "a", attachments=("image_url",))),
    ({"role": "user", "content": text("one part without its list")}, Message(Role.USER, "one part without its list")),
    ({"role": "user", "content": [document({"data": {"a": 1}})]}, Message(Role.USER, attachments=("document",))),
    (ANSWER, Message(Role.ASSISTANT, "Hi")),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, text("Hi")]},
     Message(Role.ASSISTANT, "Hi", thinking="Hm.")),
    ({**ANSWER, "citations": [{"start": 0, "end": 1, "text": "H", "sources": []}]}, Message(Role.ASSISTANT, "Hi")),
    (CALL, Message(Role.ASSISTANT, tool_calls=CALLED, thinking="I will look.")),
    ({**CALL, "content": [{"type": "thinking", "thinking": "Hm."}]},
     Message(Role.ASSISTANT, tool_calls=CALLED, thinking="Hm.\nI will look.")),
    ({**CALL, "content": None, "tool_plan": None}, Message(Role.ASSISTANT, tool_calls=CALLED)),
    ({**CALL, "tool_plan": 7}, Message(Role.ASSISTANT, tool_calls=CALLED)),
    ({**USER, "tool_plan": "mine"}, Message(Role.USER, "Hello")),
    (RESULT, resulted("42")),
    ({**RESULT, "content": [text("a"), text("b")]}, resulted("a\nb")),
    ({**RESULT, "content": [document({"data": {"port": 8080, "name": "é"}, "id": "d1"})]},
     resulted('{"port":8080,"name":"é"}')),
    ({**RESULT, "content": [document({"data": "port: 8080"}), text("b")]}, resulted("port: 8080\nb")),
    ({**RESULT, "content": [document("as it is"), document(None), document(7), document({}), {"type": "document"}, 5]},
     resulted("as it is\n7\n", attachments=("document", "document"))),
    ({**RESULT, "content": [document({"data": "\ud83e"})]}, resulted("\ufffd")),
    ({**RESULT, "content": None, "tool_call_id": 5}, Message(Role.TOOL, tool_results=(ToolResult("", ""),))),
    ({"role": "chatbot", "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"role": None}, Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
    ([USER], Message(Role.SYSTEM)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), MESSAGES)
def test_every_kind_of_message(raw: object, expected: Message) -> None:
    read = request(raw)
    assert read.messages == (expected,)
    assert read.text[slice(*read.spans[0])] == json.dumps(raw)


def test_what_the_sdk_makes_of_its_types_is_read() -> None:
    found = co.DocumentToolContent(document=co.Document(data={"a": "b"}))
    typed = [
        co.SystemChatMessageV2(content="Be brief."),
        co.UserChatMessageV2(
            content=[co.TextContent(text="Look."), co.ImageUrlContent(image_url=co.ImageUrl(url="u"))]
        ),
        co.AssistantChatMessageV2(
            tool_plan="I will look.",
            tool_calls=[co.ToolCallV2(id="c1", function=co.ToolCallV2Function(name="f", arguments="{}"))],
        ),
        co.ToolChatMessageV2(tool_call_id="c1", content=[found]),
        co.UserChatMessageV2(content="And now?"),
    ]
    sent = convert_and_respect_annotation_metadata(object_=typed, annotation=co.ChatMessages, direction="write")
    read = request(*(message.dict() for message in sent))
    assert read.stand_down == ""
    assert read.messages == (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "Look.", attachments=("image_url",)),
        Message(Role.ASSISTANT, tool_calls=CALLED, thinking="I will look."),
        resulted('{"a":"b"}'),
        Message(Role.USER, "And now?"),
    )


def test_the_rest_of_a_request() -> None:
    documents = ["Ports: 8080", {"data": {"a": "b"}}]
    read = request(SYSTEM, USER, stream=True, documents=documents, tools=[], response_format={"type": "text"}, seed=7)
    assert (read.model, read.stream, read.prefix, read.stand_down) == ("command-a", True, 1, "")
    assert read.overhead == (
        f'"documents": {json.dumps(documents)}\n"tools": []\n"response_format": {{"type": "text"}}'
    )
    assert ROUTES["/v2/chat"].name == COHERE.name


STAND_DOWN: list[tuple[list[object], str]] = [
    ([SYSTEM, USER, ANSWER, USER], ""),
    ([USER, CALL, RESULT, ANSWER, USER], ""),
    ([USER, CALL, RESULT], "open_tool_loop"),
    ([USER, CALL], "open_tool_loop"),
    ([USER, ANSWER], "assistant_prefill"),
    ([SYSTEM], "no_user_message"),
    ([USER, {"role": "chatbot", "content": "x"}, USER], "unknown_role"),
    ([USER, RESULT, USER], ""),
    ([USER, CALL, RESULT, RESULT, USER], ""),
]


@pytest.mark.parametrize(("messages", "reason"), STAND_DOWN)
def test_when_to_stand_down(messages: list[object], reason: str) -> None:
    assert request(*messages).stand_down == reason


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages":"hi"}', b'{"messages":[{"role":"us', b"\xff"])
def test_what_is_no_chat_request(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        COHERE.read(body)


SENT = (
    b' {\t"model":"command-a", "p" : 1.0e-5,"k":1E400, "session_id":"s","messages":[ {"role":"system","content":"S"},\n'
    b'{"content":"\\u00e9 \\ud800 \\/","role":"user"} ,{"role":"assistant","content":"A","content":"B"},'
    b'{"role":"user","content":"Q2"}, {"role":"assistant","content":"A2"},{"role":"user","content":"Q3"}], "p":0.75 }\n'
)


def test_every_other_byte_is_kept() -> None:
    read = COHERE.read(SENT)
    assert COHERE.rewrite(read) == SENT
    assert COHERE.rewrite(read, drop=("session_id",)) == SENT.replace(b' "session_id":"s",', b" ", 1)
    start, end = SENT.index(b'{"content":"\\u00e9'), SENT.index(b', {"role":"assistant","content":"A2"}')
    cut = COHERE.rewrite(read, keep_from=4, block='Zeile "1"\n🦉')
    assert cut == SENT[:start] + '{"role":"user","content":"Zeile \\"1\\"\\n🦉"}'.encode() + SENT[end:]


@pytest.mark.parametrize(("role", "sent"), [("user", "user"), ("system", "system"), ("developer", "system")])
def test_the_block_has_a_role_that_cohere_knows(role: str, sent: str) -> None:
    read = COHERE.read(SENT)
    after = json.loads(COHERE.rewrite(read, keep_from=5, block="B", role=role))
    assert after["messages"][1] == {"role": sent, "content": "B"}
    assert [message["role"] for message in after["messages"][2:]] == ["user"]


PARTS = st.sampled_from([SYSTEM, USER, ANSWER, CALL, RESULT, {**RESULT, "content": [document({"data": {"a": 1}})]}])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "tool", "\ud83e", "é"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "document", "data"]), inner)
    ),
    max_leaves=8,
)


@given(st.lists(PARTS, min_size=1, max_size=6), st.data())
def test_whatever_is_in_a_request_is_read_and_rewritten_where_asked_only(sent: list[Any], data: st.DataObject) -> None:
    body = replaced(data.draw, {"model": "m", "messages": sent, "tools": [{"type": "function"}]}, JSON)
    encoded = json.dumps(body).encode()
    try:
        read = COHERE.read(encoded)
    except MalformedRequest:
        assert not isinstance(body, dict) or not isinstance(body.get("messages"), list)
        return
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    assert COHERE.rewrite(read) == encoded
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    after = COHERE.read(COHERE.rewrite(read, keep_from=keep_from, block="B"))
    stays = [message for message in read.messages[read.prefix : keep_from] if message.role is Role.SYSTEM]
    assert after.messages == (
        *read.messages[: read.prefix],
        Message(Role.USER, "B"),
        *stays,
        *read.messages[keep_from:],
    )


def test_a_history_that_comes_again_is_read_on() -> None:
    known = KnownRequests(1_000_000)
    history = [USER, CALL, RESULT, {**ANSWER, "content": "word " * 200}] * 8  # long enough to be kept
    for turns in (16, 24, 32):
        body = json.dumps({"model": "m", "messages": [*history[:turns], USER]}).encode()
        read = COHERE.read(body, known)
        again = COHERE.read(body)
        assert (read.messages, read.spans, read.stand_down) == (again.messages, again.spans, again.stand_down)


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        history = [USER, CALL, RESULT, {**ANSWER, "content": 'Some "words"\n' * 30}] * count
        sent = json.dumps({"messages": [*history, USER]}).encode()
        return lambda: COHERE.rewrite(COHERE.read(sent), keep_from=4, block="B")

    assert growth(work(500), work(1_000)) < 3
