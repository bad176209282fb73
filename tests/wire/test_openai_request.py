import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.dialects.openai_message import read_message
from tokenmizer_mw.wire.request import Dialect

CHAT: Dialect = OpenAIChat()
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42"}


def request(*messages: object, **fields: object) -> ChatRequest:
    return CHAT.read(json.dumps({"model": "gpt-5", "messages": messages, **fields}).encode())


def text(content: object) -> dict[str, object]:
    return {"type": "text", "text": content}


MESSAGES: list[tuple[object, Message]] = [
    (SYSTEM, Message(Role.SYSTEM, "Be brief.")),
    ({"role": "developer", "content": "Be brief."}, Message(Role.SYSTEM, "Be brief.")),
    (USER, Message(Role.USER, "Hello")),
    ({"role": "user", "content": "Hello", "name": "ann"}, Message(Role.USER, "Hello")),
    ({"role": "user", "content": [text("a"), text("b")]}, Message(Role.USER, "a\nb")),
    ({"role": "user", "content": [{**text("a"), "prompt_cache_breakpoint": {}}]}, Message(Role.USER, "a")),
    (
        {
            "role": "user",
            "content": [
                text("look"),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "hologram", "hologram": {}},
            ],
        },
        Message(Role.USER, "look", attachments=("image_url", "input_audio", "file", "hologram")),
    ),
    ({"role": "user", "content": [{"type": "image_url"}]}, Message(Role.USER, attachments=("image_url",))),
    ({"role": "user", "content": [text(None), text(7), {"type": 3}, 5, None, [], "b", {"type": "text"}]},
     Message(Role.USER, "\n\nb\n", attachments=("unknown",))),
    ({"role": "user", "content": [{"type": "x" * 500}]}, Message(Role.USER, attachments=("x" * 64,))),
    ({"role": "user", "content": None}, Message(Role.USER)),
    ({"role": "user", "content": ""}, Message(Role.USER)),
    ({"role": "user", "content": []}, Message(Role.USER)),
    ({"role": "user", "content": {"a": 1}}, Message(Role.USER)),
    ({"role": "user", "content": 7}, Message(Role.USER)),
    ({"role": "user"}, Message(Role.USER)),
    ({"role": "user", "content": "x", "tool_calls": CALL["tool_calls"]}, Message(Role.USER, "x")),
    ({"role": "user", "content": "half \ud83e and \ud83e\udd89"}, Message(Role.USER, "half \ufffd and 🦉")),
    ({"role": "user", "content": [text("\ud83e"), text("\udd89")]}, Message(Role.USER, "\ufffd\n\ufffd")),
    (ANSWER, Message(Role.ASSISTANT, "Hi")),
    ({"role": "assistant", "content": [text("no"), {"type": "refusal", "refusal": "I can't"}]},
     Message(Role.ASSISTANT, "no", refusal="I can't")),
    ({"role": "assistant", "content": None, "refusal": "I can't"}, Message(Role.ASSISTANT, refusal="I can't")),
    ({"role": "assistant", "content": None, "audio": {"id": "a1"}}, Message(Role.ASSISTANT, attachments=("audio",))),
    ({"role": "assistant", "content": "x", "reasoning_content": "why"}, Message(Role.ASSISTANT, "x", thinking="why")),
    ({"role": "assistant", "content": "x", "reasoning": "why"}, Message(Role.ASSISTANT, "x", thinking="why")),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": [text("a"), text("b"), 1]}, text("x")]},
     Message(Role.ASSISTANT, "x", thinking="a\nb")),
    (CALL, Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "f", "{}"),))),
    (
        {"role": "assistant", "tool_calls": [{"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("c2", "sh", "ls"),)),
    ),
    (
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("", "f", "{}"),)),
    ),
    (
        {**CALL, "function_call": {"name": "f", "arguments": "{}"}},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "f", "{}"),)),
    ),
    (
        {"role": "assistant", "tool_calls": [{"id": "é\ud800", "function": {"name": "f", "arguments": "\ud800"}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("é\ufffd", "f", "\ufffd"),)),
    ),
    (
        {"role": "assistant", "tool_calls": [1, None, {"id": 5}, {"function": {"name": None, "arguments": {"a": 1}}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("", "", ""), ToolCall("", "", '{"a":1}'))),
    ),
    ({**ANSWER, "tool_calls": None, "refusal": 1, "audio": None}, Message(Role.ASSISTANT, "Hi")),
    (RESULT, Message(Role.TOOL, tool_results=(ToolResult("c1", "42"),))),
    ({"role": "tool", "tool_call_id": "c1", "content": [text("a"), text("b"), {"type": "image_url"}]},
     Message(Role.TOOL, tool_results=(ToolResult("c1", "a\nb"),), attachments=("image_url",))),
    ({"role": "tool", "content": None, "tool_call_id": 5}, Message(Role.TOOL, tool_results=(ToolResult("", ""),))),
    ({"role": "function", "name": "f", "content": "42"}, Message(Role.TOOL, tool_results=(ToolResult("", "42"),))),
    ({"role": "ipython", "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"role": ["user"], "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"role": {}, "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"content": "x"}, Message(Role.SYSTEM, "x")),
    ({}, Message(Role.SYSTEM)),
    ("user: hi", Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
    ([USER], Message(Role.SYSTEM)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), MESSAGES)
def test_every_kind_of_message(raw: object, expected: Message) -> None:
    read = request(raw)
    assert read.messages == (expected,)
    assert read.text[slice(*read.spans[0])] == json.dumps(raw)


def test_the_rest_of_a_request() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    read = request(
        SYSTEM,
        {"role": "developer", "content": "Rules."},
        USER,
        stream=True,
        tools=tools,
        response_format={"type": "json_object"},
        session_id="s-1",
        seed=7,
    )
    assert (read.model, read.stream, read.prefix, read.stand_down) == ("gpt-5", True, 2, "")
    assert read.fields.keys() == {"model", "stream", "tools", "response_format", "session_id", "seed"}
    assert read.fields["session_id"] == "s-1"
    assert read.overhead == f'"tools": {json.dumps(tools)}\n"response_format": {{"type": "json_object"}}'


@pytest.mark.parametrize(("field", "value"), [("model", None), ("model", ["m"]), ("stream", "true"), ("stream", 1)])
def test_fields_of_the_wrong_type_count_as_absent(field: str, value: object) -> None:
    read = request(USER, **{field: value})
    assert (read.model, read.stream) == ("gpt-5" if field == "stream" else "", False)


STAND_DOWN: list[tuple[list[object], dict[str, object], str]] = [
    ([USER], {}, ""),
    ([SYSTEM, USER, ANSWER, USER], {}, ""),
    ([USER, CALL, RESULT, ANSWER, USER], {}, ""),
    ([USER, ANSWER, USER, SYSTEM], {}, ""),
    ([USER, CALL, RESULT], {}, "open_tool_loop"),
    ([USER, CALL, RESULT, SYSTEM], {}, "open_tool_loop"),
    ([USER, CALL], {}, "open_tool_loop"),
    ([USER, {"role": "function", "name": "f", "content": "1"}], {}, "open_tool_loop"),
    ([USER, ANSWER], {}, "assistant_prefill"),
    ([SYSTEM], {}, "no_user_message"),
    ([], {}, "no_user_message"),
    ([USER, {"role": "ipython", "content": "x"}, USER], {}, "unknown_role"),
    ([USER, "hello", USER], {}, "unknown_role"),
    ([USER, CALL, {**RESULT, "tool_call_id": None}, USER], {}, ""),
    ([USER, {"role": "assistant", "function_call": {"name": "f"}}, {"role": "function", "content": "1"}, USER], {}, ""),
    ([USER], {"previous_response_id": "r1"}, "history_on_server"),
    ([USER], {"previous_response_id": None}, ""),
    ([USER], {"conversation": {"id": "c"}}, "history_on_server"),
    ([USER], {"context_management": [{"type": "compaction"}]}, "provider_compacts"),
]


@pytest.mark.parametrize(("messages", "fields", "reason"), STAND_DOWN)
def test_when_to_stand_down(messages: list[object], fields: dict[str, object], reason: str) -> None:
    assert request(*messages, **fields).stand_down == reason


def test_a_body_with_two_lists_of_messages_is_read_by_the_last_and_left_alone() -> None:
    read = CHAT.read(b'{"messages":[],"messages":[{"role":"user","content":"x"}]}')
    assert (read.messages, read.stand_down) == ((Message(Role.USER, "x"),), "messages_twice")


BAD = [
    b"",
    b"{}",
    b"[]",
    b'{"messages":null}',
    b'{"messages":"hi"}',
    b'{"messages":{"role":"user"}}',
    b'{"messages":[],"messages":1}',
    b'{"messages":[{"role":"user","content":"x"}]',
    b'{"messages":[' + b"[" * 20_000 + b"]" * 20_000 + b"]}",
    b'{"messages":[],"n":' + b"1" * 5_000 + b"}",
    b"\x1f\x8b\x08\x00",
]


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_chat_request(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        CHAT.read(body)


def body(fields_first: str = '"n": 1.0,', fields_last: str = ', "seed" : 1E2') -> str:
    parts = (SYSTEM, USER, {**ANSWER, "content": "Grüße \u2028 🦉"}, USER, ANSWER, USER)
    messages = ",\n ".join(json.dumps(part, ensure_ascii=False) for part in parts)
    return f'{{ {fields_first} "session_id":"s", "messages" : [ {messages} ]{fields_last} }}'


def test_nothing_to_rewrite_gives_the_same_bytes() -> None:
    for sent in (body().encode(), b"\xef\xbb\xbf" + body().encode(), b' {"messages":[],"a":"\\ud800\\/"}\n'):
        read = CHAT.read(sent)
        assert CHAT.rewrite(read) == sent
        assert CHAT.rewrite(read, drop=("absent",)) == sent
        assert CHAT.rewrite(read, keep_from=read.prefix) == sent


def test_a_dropped_field_keeps_every_other_byte() -> None:
    assert (
        CHAT.rewrite(CHAT.read(body().encode()), drop=("session_id",))
        == body().replace('"session_id":"s", ', "").encode()
    )
    assert CHAT.rewrite(CHAT.read(body().encode()), drop=("seed", "n")) == body("", "").replace("{  ", "{ ", 1).encode()


def test_messages_are_replaced_by_the_block() -> None:
    read = CHAT.read(body().encode())
    sent = CHAT.rewrite(read, keep_from=3, block='Zeile "1"\n🦉', role="developer", drop=("session_id",)).decode()
    start, end = read.spans[1][0], read.spans[2][1]
    block = '{"role":"developer","content":"Zeile \\"1\\"\\n🦉"}'
    assert sent == (body()[:start] + block + body()[end:]).replace('"session_id":"s", ', "")
    again = CHAT.read(sent.encode())
    assert again.messages[1:] == (Message(Role.SYSTEM, 'Zeile "1"\n🦉'), *read.messages[3:])


EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
EXPLICIT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
MARKED: list[tuple[list[dict[str, object]], object]] = [
    ([text("a")], {}),
    ([{**text("a"), **EPHEMERAL}], EPHEMERAL),
    ([{**text("a"), **HOUR}, {**text("b"), **EXPLICIT}, text("c")], EXPLICIT),
    ([{**text("a"), **HOUR, **EXPLICIT}], {**HOUR, **EXPLICIT}),
    ([{**text("a"), "cache_control": None}], {}),
    ([{**text("a"), "cache_control": {"type": {}}}], {}),
    ([{**text("a"), "cache_control": "ephemeral"}], {}),
]


@pytest.mark.parametrize(("parts", "marker"), MARKED)
def test_a_marker_that_is_taken_out_stands_at_the_end_of_the_block(
    parts: list[dict[str, object]], marker: dict[str, object]
) -> None:
    kept = {"role": "user", "content": [{**text("new"), **EPHEMERAL}]}
    read = request({**SYSTEM, "content": [{**text("s"), **HOUR}]}, {**USER, "content": parts}, ANSWER, SYSTEM, kept)
    messages = json.loads(CHAT.rewrite(read, keep_from=4, block="B"))["messages"]
    assert messages[1] == {"role": "user", "content": [{**text("B"), **marker}] if marker else "B"}
    assert messages[2:] == [SYSTEM, kept]
    assert CHAT.read(json.dumps({"messages": messages}).encode()).messages[1] == Message(Role.USER, "B")


def test_markers_that_move_in_the_tail_do_not_change_the_block() -> None:
    first = {**USER, "content": [{**text("a"), **HOUR}]}
    sent = []
    for marked in (2, 4, 6):
        talk = [{**USER, "content": [{**text("b"), **(EPHEMERAL if index == marked else {})}]} for index in range(8)]
        sent.append(CHAT.rewrite(request(SYSTEM, first, ANSWER, *talk), keep_from=3, block="B"))
    assert len({body[: body.index(b'"text": "b"')] for body in sent}) == 1


PLACES = [(1, "", [0, 1, 2, 3, 4, 5]), (3, "", [0, 3, 4, 5]), (6, "", [0]), (1, "B", [0, "B", 1, 2, 3, 4, 5]),
          (2, "B", [0, "B", 2, 3, 4, 5]), (5, "B", [0, "B", 5]), (6, "B", [0, "B"])]  # fmt: skip


@pytest.mark.parametrize(("keep_from", "block", "expected"), PLACES)
def test_where_the_block_goes(keep_from: int, block: str, expected: list[Any]) -> None:
    read = CHAT.read(body().encode())
    after = CHAT.read(CHAT.rewrite(read, keep_from=keep_from, block=block))
    assert list(after.messages) == [Message(Role.USER, "B") if p == "B" else read.messages[p] for p in expected]


@pytest.mark.parametrize("spelling", ['{"messages":[]}', '{"messages" : [ ] }'])
def test_a_block_in_an_empty_list(spelling: str) -> None:
    sent = CHAT.rewrite(CHAT.read(spelling.encode()), keep_from=0, block="B")
    assert CHAT.read(sent).messages == (Message(Role.USER, "B"),)


@pytest.mark.parametrize("keep_from", [-1, 0, 7])
def test_a_cut_outside_the_messages_is_refused(keep_from: int) -> None:
    with pytest.raises(ValueError, match="no elements"):
        CHAT.rewrite(CHAT.read(body().encode()), keep_from=keep_from, block="B")


def test_the_rewritten_prefix_is_the_same_from_call_to_call() -> None:
    turn = [json.dumps(part) for part in (USER, ANSWER)]
    sent = []
    for turns in range(3, 8):
        history = ",".join([json.dumps(SYSTEM), *turn * turns, turn[0]])
        read = CHAT.read(f'{{"messages":[{history}]}}'.encode())
        sent.append(CHAT.rewrite(read, keep_from=3, block="frozen"))
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]}"))


FIELDS = st.sampled_from(
    [
        *("role", "content", "type", "text", "refusal", "tool_calls", "id", "function", "name", "arguments", "custom"),
        *("input", "function_call", "audio", "tool_call_id", "reasoning_content", "reasoning", "thinking", "image_url"),
    ]
)
WORDS = st.sampled_from(
    ["user", "assistant", "tool", "system", "developer", "function", "text", "refusal", "thinking", "", "\ud800", "é"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=6),
    max_leaves=25,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "function", "critic"])


@given(st.lists(st.tuples(ROLES, JSON, st.dictionaries(FIELDS, JSON, max_size=3)) | JSON, max_size=5), st.data())
def test_whatever_is_in_the_messages_is_read_and_can_be_stored(sent: list[Any], data: st.DataObject) -> None:
    raw = [{"content": m[1], **m[2], "role": m[0]} if isinstance(m, tuple) else m for m in sent]
    encoded = json.dumps({"messages": raw}).encode()
    read = CHAT.read(encoded)
    assert len(read.messages) == len(read.spans) == len(raw)
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    assert CHAT.rewrite(read) == encoded
    keep_from = data.draw(st.integers(read.prefix, len(raw)))
    after = CHAT.read(CHAT.rewrite(read, keep_from=keep_from, block="B"))
    stays = [message for message in read.messages[read.prefix : keep_from] if message.role is Role.SYSTEM]
    expected = (*read.messages[: read.prefix], Message(Role.USER, "B"), *stays, *read.messages[keep_from:])
    assert after.messages == expected


@given(st.binary(max_size=100))
def test_any_bytes_are_a_request_or_malformed(sent: bytes) -> None:
    try:
        CHAT.read(sent)
    except MalformedRequest:
        return


def test_arguments_too_deep_to_write_are_left_out() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    message = read_message({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": deep}}]})
    assert message.tool_calls == (ToolCall("", "f", ""),)


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        history = [USER, CALL, RESULT, {**ANSWER, "content": 'Some "words"\n' * 30}] * count
        sent = json.dumps({"messages": [*history, USER]}).encode()
        return lambda: CHAT.rewrite(CHAT.read(sent), keep_from=4, block="B")

    assert growth(work(1_000), work(2_000)) < 3
