import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import pytest
from anthropic.types.beta import BetaContentBlockParam
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import get_type_hints, is_typeddict

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.dialects.anthropic import Anthropic
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.messages import history
from tokenmizer_mw.wire.request import Dialect
from tokenmizer_mw.wire.spans import element_spans, read_object, value_start

from .golden_anthropic import FOUND, LIST, READ, REDACTED, SEARCH
from .replay import replaced

CHAT: Dialect = Anthropic()
USER = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Answer in French."}
RESULTS = [
    {"type": "tool_result", "tool_use_id": "toolu_a1", "content": "x = 1"},
    {"type": "tool_result", "tool_use_id": "toolu_b2", "content": [{"type": "text", "text": "none"}], "is_error": True},
]
RESULT = {"role": "user", "content": RESULTS}
THINKS = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
CALL = {"role": "assistant", "content": [READ, LIST]}
FIVE_MINUTES = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def request(*messages: object, **fields: object) -> ChatRequest:
    return CHAT.read(body(*messages, **fields))


def body(*messages: object, **fields: object) -> bytes:
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, **fields, "messages": messages}).encode()


def text(content: object) -> dict[str, object]:
    return {"type": "text", "text": content}


def image(**source: object) -> dict[str, object]:
    return {"type": "image", "source": source}


def user(*blocks: object) -> dict[str, object]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: object) -> dict[str, object]:
    return {"role": "assistant", "content": list(blocks)}


ANSWERED = (ToolResult("toolu_a1", "x = 1"), ToolResult("toolu_b2", "none", True))
CALLED = (ToolCall("toolu_a1", "read_file", '{"path":"a.py"}'), ToolCall("toolu_b2", "list_files", "{}"))
SEARCHED = ToolCall("srvtoolu_c3", "web_search", '{"query":"message_stop"}')
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "long"}, "title": "T"}
RETRIEVED = {"type": "search_result", "source": "s", "title": "T", "content": [text("found")]}
MESSAGES: list[tuple[object, Message]] = [
    (USER, Message(Role.USER, "Hello")),
    (SYSTEM, Message(Role.SYSTEM, "Answer in French.")),
    ({"role": "system", "content": [text("a"), text("b")]}, Message(Role.SYSTEM, "a\nb")),
    (user(text("a"), text("b")), Message(Role.USER, "a\nb")),
    (user({**text("a"), **FIVE_MINUTES}), Message(Role.USER, "a")),
    (user(text("look"), image(type="base64", media_type="image/png", data="AAAA"), DOCUMENT, RETRIEVED),
     Message(Role.USER, "look", attachments=("image", "document", "search_result"))),
    (user({"type": "container_upload", "file_id": "f"}), Message(Role.USER, attachments=("container_upload",))),
    (RESULT, Message(Role.TOOL, tool_results=ANSWERED)),
    (user(*RESULTS, text(" \n")), Message(Role.TOOL, " \n", tool_results=ANSWERED)),
    (user(*RESULTS, text("and now?")), Message(Role.USER, "and now?", tool_results=ANSWERED)),
    (user(*RESULTS, DOCUMENT), Message(Role.USER, tool_results=ANSWERED, attachments=("document",))),
    (user({**RESULTS[0], "content": [text("a"), image(), text("b"), RETRIEVED, {"type": "tool_reference"}]}),
     Message(Role.TOOL, tool_results=(ToolResult("toolu_a1", "a\nb"),),
             attachments=("image", "search_result", "tool_reference"))),
    (user({"type": "tool_result", "tool_use_id": 7, "content": {"a": 1}}, {"type": "tool_result"}),
     Message(Role.TOOL, tool_results=(ToolResult("", ""), ToolResult("", "")))),
    (ANSWER, Message(Role.ASSISTANT, "Hi")),
    (assistant(text("It is "), {**text("green"), "citations": []}, text(".")), Message(Role.ASSISTANT, "It is green.")),
    (assistant(THINKS, text("Both "), REDACTED, text("at once."), READ, LIST),
     Message(Role.ASSISTANT, "Both at once.", CALLED, thinking="Hm.")),
    (assistant(text("I look."), SEARCH, FOUND, text("Found.")),
     Message(Role.ASSISTANT, "I look.\nFound.", (SEARCHED,), attachments=("web_search_tool_result",))),
    (assistant({"type": "tool_use", "id": "1", "name": "f", "input": '{"a'}),
     Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "f", '{"a'),))),
    (assistant({"type": "tool_use"}, {"type": "tool_use", "id": 1, "name": [], "input": [1]}),
     Message(Role.ASSISTANT, tool_calls=(ToolCall("", "", "{}"), ToolCall("", "", "[1]")))),
    (assistant({"type": "compaction", "content": None}), Message(Role.ASSISTANT)),
    (assistant({"type": "tool_result", "tool_use_id": "1"}), Message(Role.ASSISTANT, attachments=("tool_result",))),
    (assistant({"type": "thinking", "thinking": 7}, {"type": "thinking"}), Message(Role.ASSISTANT, thinking="\n")),
    (user(READ, THINKS), Message(Role.USER, attachments=("tool_use",))),
    (user(text(None), text(7), {"type": 3}, 5, None, [], "b", {"type": "text"}),
     Message(Role.USER, "\n\nb\n", attachments=("unknown",))),
    (user({"type": "x" * 500}), Message(Role.USER, attachments=("x" * 64,))),
    (user(text("\ud83e"), text("\ud83e\udd89")), Message(Role.USER, "\ufffd\n🦉")),
    ({"role": "user", "content": None}, Message(Role.USER)),
    ({"role": "user", "content": []}, Message(Role.USER)),
    ({"role": "user", "content": {"type": "text", "text": "a"}}, Message(Role.USER)),
    ({"role": "user"}, Message(Role.USER)),
    ({"role": "tool", "content": RESULTS}, Message(Role.SYSTEM, tool_results=ANSWERED)),
    ({"role": ["user"], "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"content": "x"}, Message(Role.SYSTEM, "x")),
    ("user: hi", Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
    ([USER], Message(Role.SYSTEM)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), MESSAGES)
def test_every_kind_of_message(raw: object, expected: Message) -> None:
    for read in (request(raw), request(raw, 5)):
        assert read.messages[0] == expected
        assert read.messages.roles[0] is expected.role
        assert read.text[slice(*read.spans[0])] == json.dumps(raw)


def sdk_kinds() -> list[str]:
    """The kinds of all content blocks that the SDK's types know in a request."""
    return [
        get_args(get_type_hints(block)["type"])[0] for block in get_args(BetaContentBlockParam) if is_typeddict(block)
    ]


@pytest.mark.parametrize("kind", sdk_kinds())
def test_every_kind_of_block_that_the_sdk_knows(kind: str) -> None:
    asked, told = request(user({"type": kind})).messages[0], request(assistant({"type": kind})).messages[0]
    unspoken = ("text", "thinking", "redacted_thinking", "compaction", "fallback", "mcp_tool_listing")
    assert len(told.tool_calls) == kind.endswith("tool_use")
    assert len(asked.tool_results) == (kind == "tool_result")
    assert told.attachments == (() if told.tool_calls or kind in unspoken else (kind,))
    assert asked.attachments == (() if asked.tool_results or kind in unspoken else (kind,))


UNPAIRED: list[list[object]] = [
    [RESULT, ANSWER],
    [CALL, USER],
    [CALL, user(RESULTS[0]), ANSWER],
    [CALL, RESULT, RESULT, ANSWER],
    [CALL, user(*RESULTS, *RESULTS), ANSWER],
    [CALL, RESULT, CALL, RESULT, ANSWER],
    [assistant(READ, READ), user(RESULTS[0]), ANSWER],
]


@pytest.mark.parametrize("messages", UNPAIRED)
def test_calls_and_results_that_do_not_pair_are_read_as_they_are(messages: list[object]) -> None:
    read = request(USER, *messages, USER)
    assert (len(read.messages), read.stand_down) == (len(messages) + 2, "")
    assert rewritten(read, len(messages) + 1)["messages"] == [USER]
    calls = [block for raw in messages for block in blocks_of(raw) if block.get("type") == "tool_use"]
    results = [block for raw in messages for block in blocks_of(raw) if block.get("type") == "tool_result"]
    assert [call.id for each in read.messages for call in each.tool_calls] == [call["id"] for call in calls]
    assert [one.call_id for each in read.messages for one in each.tool_results] == [
        one["tool_use_id"] for one in results
    ]


def blocks_of(raw: Any) -> list[Any]:
    return raw["content"] if isinstance(raw["content"], list) else []


HANDED_OVER = [
    (raw, expected)
    for raw, expected in MESSAGES
    if isinstance(raw, dict)
    and raw.get("role") in ("user", "assistant", "system")
    and "content" in raw
    and not isinstance(raw["content"], dict)
    and (raw["role"] != "user" or raw["content"] is not None)  # handed over, that is an error
]


@pytest.mark.parametrize(("raw", "expected"), HANDED_OVER)
def test_messages_handed_over_and_sent_are_the_same(raw: dict[str, Any], expected: Message) -> None:
    assert digest(history([raw])[0]) == digest(request(raw).messages[0])


def test_the_rest_of_a_request() -> None:
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    read = request(USER, system="Be brief.", tools=tools, stream=True, session_id="s-1", temperature=1)
    assert (read.model, read.stream, read.prefix, read.stand_down) == ("claude-sonnet-4-5", True, 0, "")
    assert read.fields.keys() == {"model", "max_tokens", "system", "tools", "stream", "session_id", "temperature"}
    assert read.overhead == f'"system": "Be brief."\n"tools": {json.dumps(tools)}'


def test_where_it_is_spoken() -> None:
    assert ROUTES["/v1/messages"] == Anthropic()
    assert CHAT.models(body(USER)) == ("claude-sonnet-4-5",)
    linked = [
        image(type="url", url="http://x"),
        image(type="file", file_id="f"),
        {"type": "container_upload", "file_id": "f"},
    ]
    assert all(any(name in body(user(block)) for name in CHAT.linked) for block in linked)


COMPACTED = assistant({"type": "compaction", "content": "What was said.", "signature": "c2lnbmVk"})
TOOL_ADDED = {"role": "system", "content": [{"type": "tool_addition", "tool": {}}]}
KEEPS_THINKING = {"type": "clear_thinking_20251015", "keep": "all"}
CLEARS_TOOLS = {"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 30_000}}

STAND_DOWN: list[tuple[list[object], dict[str, object], str]] = [
    ([USER], {}, ""),
    ([USER, ANSWER, USER], {}, ""),
    ([USER, CALL, RESULT, ANSWER, USER], {}, ""),
    ([USER, SYSTEM], {}, ""),
    ([USER, CALL, RESULT], {}, "open_tool_loop"),
    ([USER, CALL, RESULT, SYSTEM], {}, "open_tool_loop"),
    ([USER, assistant(text("Searching."), SEARCH)], {}, "open_tool_loop"),
    ([USER, ANSWER], {}, "assistant_prefill"),
    ([], {}, "no_user_message"),
    ([USER, {"role": "tool", "content": "x"}, USER], {}, "unknown_role"),
    ([USER, "hello", USER], {}, "unknown_role"),
    ([USER, COMPACTED, USER], {}, "provider_compacts"),
    ([user(text("compaction"))], {}, ""),
    ([USER, TOOL_ADDED, ANSWER, USER], {}, "tools_change"),
    ([USER], {"context_management": {"edits": []}}, ""),
    ([USER], {"context_management": {"edits": None}}, ""),
    ([USER], {"context_management": {"edits": [KEEPS_THINKING]}}, ""),
    ([USER], {"context_management": {"edits": [{"type": "clear_thinking_20251015"}]}}, "provider_compacts"),
    ([USER], {"context_management": {"edits": [KEEPS_THINKING, CLEARS_TOOLS]}}, "provider_compacts"),
    ([USER], {"context_management": {"edits": [{"type": "compact_20260112"}]}}, "provider_compacts"),
    ([USER], {"context_management": {"edits": [{"type": "invented_20300101", "keep": "all"}]}}, "provider_compacts"),
    ([USER], {"context_management": {"edits": ["?"]}}, "provider_compacts"),
    ([USER], {"context_management": True}, "provider_compacts"),
    ([USER], {"compaction": {"type": "summarize"}}, "provider_compacts"),
    ([USER], {"thread": {"type": "continue", "previous_message_id": "msg_1"}}, "history_on_server"),
    ([USER], {"thread": None, "context_management": None, "diagnostics": {"previous_message_id": "msg_1"}}, ""),
]


@pytest.mark.parametrize(("messages", "fields", "reason"), STAND_DOWN)
def test_when_to_stand_down(messages: list[object], fields: dict[str, object], reason: str) -> None:
    assert request(*messages, **fields).stand_down == reason


CAUSES = [
    ({"context_management": {"edits": [KEEPS_THINKING, CLEARS_TOOLS]}}, "clear_tool_uses"),
    ({"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": {"value": 2}}]}}, "clear_thinking"),
    ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "compaction"),
    ({"context_management": {"edits": [{"type": "invented_20300101"}]}}, "unknown_edit"),
    ({"compaction": {"type": "summarize"}}, "compaction"),
    ({"thread": {"type": "continue"}}, "thread"),
    ({"context_management": {"edits": [KEEPS_THINKING]}}, ""),
]


@pytest.mark.parametrize(("fields", "cause"), CAUSES)
def test_which_part_of_a_request_leaves_the_history_to_the_provider(fields: dict[str, object], cause: str) -> None:
    assert request(USER, **fields).cause == cause


@pytest.mark.parametrize(
    "sent", [b"", b"[]", b"{}", b'{"messages":"hi"}', b'{"messages":[{"role":"user"}]', b"\x1f\x8b"]
)
def test_what_is_no_chat_request(sent: bytes) -> None:
    with pytest.raises(MalformedRequest):
        CHAT.read(sent)


BINDING: list[tuple[str, dict[str, object], int]] = [
    ("claude-opus-5-5", {}, 2),
    ("claude-fable-5-1@20260901", {}, 2),
    ("us.anthropic.claude-haiku-5-5-v1:0", {}, 2),
    ("anthropic/claude-opus-6", {}, 2),
    ("Claude-Opus-5.5", {}, 2),
    ("claude-opus-latest", {}, 2),
    ("claude-opus-5-20260601", {}, 0),
    ("claude-sonnet-4-5-20250929", {}, 0),
    ("claude-sonnet-4-20250514", {}, 0),
    ("claude-3-7-sonnet-latest", {}, 0),
    ("deepseek-reasoner", {}, 0),
    ("", {}, 0),
    ("claude-opus-5-5", {"thinking": {"type": "adaptive"}}, 2),
    ("claude-opus-5-5", {"thinking": {"block_binding": {"prefix_mismatch_behavior": "error"}}}, 2),
    ("claude-opus-5-5", {"thinking": {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}}, 0),
    ("claude-opus-5-5", {"thinking": {"block_binding": 7}}, 2),
]


@pytest.mark.parametrize(("model", "fields", "bound"), BINDING)
@pytest.mark.parametrize("block", [THINKS, REDACTED])
def test_models_that_bind_thinking_to_what_stands_before_it(
    model: str, fields: dict[str, object], bound: int, block: object
) -> None:
    assert request(USER, assistant(block, text("Hi")), USER, ANSWER, USER, **{"model": model, **fields}).bound == bound
    assert request(USER, ANSWER, USER, **{"model": model, **fields}).bound == 0


# -- rewriting ----------------------------------------------------------------------------------------------------


def rewritten(read: ChatRequest, keep_from: int, block: str = "B", chat: Dialect = CHAT) -> Any:
    return json.loads(chat.rewrite(read, keep_from=keep_from, block=block, role="developer"))


WHERE: list[tuple[str, str]] = [
    ('"a":1,"messages":', '"a":1,"system":[{"type":"text","text":"B"}],"messages":'),
    ('"system" : "Be \\u0062rief." , "messages":',
     '"system" : [{"type":"text","text":"Be \\u0062rief."},{"type":"text","text":"B"}] , "messages":'),
    ('"system":[ {"type":"text", "text":"s"} ],"messages":',
     '"system":[ {"type":"text", "text":"s"},{"type":"text","text":"B"} ],"messages":'),
    ('"system":[ ],"messages":', '"system":[ {"type":"text","text":"B"}],"messages":'),
    ('"system":"","messages":', '"system":[{"type":"text","text":"B"}],"messages":'),
    ('"system":" \\n","messages":', '"system":[{"type":"text","text":"B"}],"messages":'),
    ('"system":null,"messages":', '"system":[{"type":"text","text":"B"}],"messages":'),
    ('"system":"x","system":"s","messages":',
     '"system":"x","system":[{"type":"text","text":"s"},{"type":"text","text":"B"}],"messages":'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), WHERE)
def test_where_the_block_goes(before: str, after: str) -> None:
    messages = [json.dumps(part) for part in (USER, ANSWER, USER)]
    read = CHAT.read(f"{{{before}[{', '.join(messages)}]}}".encode())
    assert CHAT.rewrite(read, keep_from=2, block="B").decode() == f"{{{after}[{messages[2]}]}}"
    assert CHAT.rewrite(read, keep_from=0, block="B").decode() == f"{{{after}[{', '.join(messages)}]}}"
    assert CHAT.rewrite(read, keep_from=2).decode() == f"{{{before}[{messages[2]}]}}"
    assert CHAT.rewrite(read, keep_from=0).decode() == CHAT.rewrite(read).decode() == read.text


def test_the_system_behind_the_messages() -> None:
    sent = b'{"messages":[{"role":"user","content":"a"}], "system":"s","session_id":"1"}'
    block = b'{"type":"text","text":"B"}'
    after = b'{"messages":[{"role":"user","content":"a"}], "system":[{"type":"text","text":"s"},' + block + b"]}"
    assert CHAT.rewrite(CHAT.read(sent), drop=("session_id",), keep_from=0, block="B") == after


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_field_dropped_beside_the_new_member(place: int) -> None:
    members = ['"model":"m"', '"messages":[{"role":"user","content":"a"}]']
    members.insert(place, '"session_id":"1"')
    read = CHAT.read(f"{{{', '.join(members)}}}".encode())
    expected = '{"model":"m", "system":[{"type":"text","text":"B"}],"messages":[{"role":"user","content":"a"}]}'
    assert CHAT.rewrite(read, drop=("session_id",), keep_from=0, block="B").decode() == expected


SAID: list[tuple[object, list[object]]] = [
    (SYSTEM, [text("Answer in French.")]),
    ({"role": "system", "content": [{**text("a"), **HOUR}, text("b")]}, [{**text("a"), **HOUR}, text("b")]),
    ({"role": "system", "content": [text(" "), text(None), {"type": "odd"}, 5]}, []),
    ({"role": "system", "content": "  "}, []),
    ({"role": "system", "content": None}, []),
    ({"role": "system", "output_config": {"effort": "low"}}, []),
    ({"role": "system", "content": "for now", "clear_at": "next_user_message"}, []),
    ({"role": "system", "content": "for ever", "clear_at": "never"}, [text("for ever")]),
]


@pytest.mark.parametrize(("message", "said"), SAID)
def test_what_system_messages_say_stays_in_the_system_prompt(message: object, said: list[object]) -> None:
    read = request(USER, message, ANSWER, USER, SYSTEM, system="s")
    after = rewritten(read, 3)
    assert after["system"] == [text("s"), *said, text("B")]
    assert after["messages"] == [USER, SYSTEM]
    assert rewritten(read, 3, "").get("system") == ([text("s"), *said] if said else "s")
    assert rewritten(read, 0)["messages"] == [USER, message, ANSWER, USER, SYSTEM]


def test_system_messages_keep_their_spelling() -> None:
    told = '{"content": "no \\u00e9\\/", "content": [ {"text":"\\ud800",  "type":"text"} ], "role" :"system"}'
    sent = f'{{"messages":[{{"role":"user"}},{told},{{"role":"assistant"}},{{"role":"user"}}]}}'
    after = CHAT.rewrite(CHAT.read(sent.encode()), keep_from=3, block="B").decode()
    assert after.startswith(
        '{"system":[{"text":"\\ud800",  "type":"text"},{"type":"text","text":"B"}],"messages":[{"role"'
    )


def test_messages_of_unknown_roles_stay_where_they_are() -> None:
    read = request(USER, {"role": "critic", "content": "x"}, "hello", ANSWER, USER)
    assert rewritten(read, 4)["messages"] == [{"role": "critic", "content": "x"}, "hello", USER]
    assert rewritten(read, 4)["system"] == [text("B")]


@pytest.mark.parametrize("keep_from", [-1, 0, 5])
def test_a_cut_outside_the_messages_is_refused(keep_from: int) -> None:
    with pytest.raises(ValueError, match="no elements"):
        CHAT.rewrite(request(SYSTEM, USER, ANSWER, USER), keep_from=keep_from, block="B")


# -- markers for the prompt cache ------------------------------------------------------------------------------------

MARKED = {**text("a"), **HOUR}
IN_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [MARKED]}
TAIL = user({**text("new"), **FIVE_MINUTES})
TOOL = {"name": "f", "input_schema": {"properties": {"cache_control": {"type": "object"}}}}
LOST: list[tuple[list[object], dict[str, object]]] = [
    ([USER, ANSWER], {}),
    ([user(MARKED), ANSWER], HOUR),
    ([user(MARKED), assistant({**text("b"), **FIVE_MINUTES})], FIVE_MINUTES),
    ([user(IN_RESULT), ANSWER], HOUR),
    ([user({**IN_RESULT, **FIVE_MINUTES}), ANSWER], FIVE_MINUTES),
    ([user({"type": "document", "source": {"type": "content", "content": [MARKED]}}), ANSWER], HOUR),
    ([USER, assistant({**READ, "input": {"cache_control": {"type": "ephemeral"}}})], {}),
    ([user({**text("a"), "cache_control": None}), assistant({**text("a"), "cache_control": "x"})], {}),
    ([user({**text("a"), "cache_control": {"type": {"deep": 1}}}), ANSWER], {}),
]


@pytest.mark.parametrize(("taken", "marker"), LOST)
def test_a_marker_that_is_taken_out_stands_at_the_end_of_the_block(
    taken: list[object], marker: dict[str, object]
) -> None:
    read = request(*taken, TAIL, system=[{**text("s"), **HOUR}])
    assert rewritten(read, len(taken))["system"] == [{**text("s"), **HOUR}, {**text("B"), **marker}]
    assert rewritten(read, 0)["system"] == [{**text("s"), **HOUR}, text("B")]


ROOM: list[tuple[list[object], dict[str, object], dict[str, object]]] = [
    ([USER], {}, FIVE_MINUTES),
    ([TAIL], {"tools": [TOOL, {**TOOL, **HOUR}], "system": [{**text("s"), **HOUR}]}, FIVE_MINUTES),
    ([user({**text("a"), **HOUR})], {}, HOUR),
    ([USER], {"cache_control": HOUR["cache_control"]}, HOUR),
    ([TAIL, ANSWER, TAIL], {"tools": [{**TOOL, **HOUR}], "system": [{**text("s"), **HOUR}]}, {}),
    ([TAIL, ANSWER, TAIL, ANSWER, user(IN_RESULT, MARKED)], {}, {}),
    ([TAIL, ANSWER, TAIL, ANSWER, TAIL], {"cache_control": {"type": "ephemeral"}}, {}),
]


@pytest.mark.parametrize(("kept", "fields", "marker"), ROOM)
def test_a_marker_of_our_own_where_it_is_wanted_and_there_is_room(
    kept: list[object], fields: dict[str, object], marker: dict[str, object]
) -> None:
    sent = request(USER, ANSWER, *kept, **fields)
    assert rewritten(sent, 2, chat=Anthropic(mark_block=True))["system"][-1] == {**text("B"), **marker}
    assert rewritten(sent, 2)["system"][-1] == text("B")


def test_markers_that_move_in_the_tail_do_not_change_the_block() -> None:
    sent = []
    for marked in (2, 4, 6):
        talk = [user({**text("b"), **(FIVE_MINUTES if index == marked else {})}) for index in range(8)]
        sent.append(CHAT.rewrite(request(user(MARKED), ANSWER, *talk, system="s"), keep_from=2, block="B"))
    assert len({one[: one.index(b'"text": "b"')] for one in sent}) == 1


# -- properties ------------------------------------------------------------------------------------------------------

SPACES = st.sampled_from(["", "", " ", "\n  ", "\t\r\n", " " * 70])
LEAVES = st.sampled_from(
    [
        "1.0e5",
        "1E400",
        "-0",
        "true",
        "null",
        "[ ]",
        '{"a":1,"a" : 2}',
        '"\\u00e9\\/"',
        '"\\ud800"',
        '"é🦉\u2028"',
        '"]}"',
    ]
)
BLOCKS = st.sampled_from(
    [
        '{"type":"text","text":"a"}',
        '{ "text" : "\\ud83e" ,"type":"text","cache_control":{"type":"ephemeral"} }',
        '{"type":"thinking","thinking":"\\u00e9","signature":"x","n":1.0e5}',
        '{"type":"tool_use","id":"t","name":"f","input":{"n":1E400}}',
        '{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"]}"}]}',
        "1.50",
    ]
)
MARKS_MAX = 4


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """A request in an odd spelling."""

    def joined(items: list[str], opening: str, close: str) -> str:
        return opening + ",".join(draw(SPACES) + item + draw(SPACES) for item in items) + close

    def content() -> str:
        if draw(st.booleans()):
            return draw(LEAVES)
        return joined(draw(st.lists(BLOCKS, max_size=3)), "[", "]")

    def message() -> str:
        role = draw(st.sampled_from(["user", "assistant", "user", "assistant", "system"]))
        members = [
            f'"role"{draw(SPACES)}:"{role}"',
            f'"content" :{content()}',
            *draw(st.just([]) | st.just(['"x":1.0'])),
        ]
        return joined(draw(st.permutations(members)), "{", "}")

    members = [f'"messages":{draw(SPACES)}' + joined([message() for _ in range(draw(st.integers(0, 6)))], "[", "]")]
    members += [f'"{name}" :{draw(LEAVES)}' for name in draw(st.lists(st.sampled_from("abmé"), max_size=4))]
    if draw(st.booleans()):
        told = draw(st.sampled_from(['"s"', '" "', "null", '"\\ud800 \\u0061"']))
        blocks = joined(draw(st.lists(BLOCKS.filter(lambda block: '"text"' in block), max_size=2)), "[", "]")
        members.append(f'"system"{draw(SPACES)}:{draw(SPACES)}{draw(st.sampled_from([told, blocks]))}')
    return draw(SPACES) + joined(draw(st.permutations(members)), "{", "}")


def parts(sent: str) -> tuple[str, list[str], list[str]]:
    """A request's text without its messages and system prompt, and the spellings of both."""
    found = read_object(sent)
    spans = {name: (value_start(sent, span), span[1]) for name, span in found.members if name in ("messages", "system")}
    lists = {
        name: [sent[slice(*place)] for place in element_spans(sent, start)]
        for name, (start, _) in spans.items()
        if sent[start] == "["
    }
    for name, (start, end) in sorted(spans.items(), key=lambda item: -item[1][0]):
        sent = sent[:start] + f"<{name}>" + sent[end:]
    return sent, lists["messages"], lists.get("system", [])


def stands_in_front(read: ChatRequest, keep_from: int) -> bool:
    """Whether a cut leaves the assistant's message first: a conversation begins with a user's, so the block is one."""
    roles = read.messages.roles
    return keep_from < len(roles) and roles[keep_from] is Role.ASSISTANT


@given(spelled(), st.text(max_size=20), st.booleans(), st.data())
def test_only_what_is_asked_for_changes(sent: str, block: str, mark: bool, data: st.DataObject) -> None:
    chat = Anthropic(mark_block=mark)
    read = chat.read(sent.encode())
    assert chat.rewrite(read).decode() == sent
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    after = chat.rewrite(read, keep_from=keep_from, block=block).decode()
    json.loads(after)
    (around, messages, system), (around_after, kept, told) = parts(sent), parts(after)
    assert around_after.replace('"system":<system>,', "") == around.replace('"system":<system>,', "")
    assert told[: len(system)] == system
    if block and stands_in_front(read, keep_from):
        ours = json.loads(kept.pop(read.prefix))
        assert (ours["role"], ours["content"][0]["text"]) == ("user", block)
    elif block:
        assert json.loads(told[-1])["text"] == block
    assert kept == messages[: read.prefix] + messages[keep_from:]
    if block:
        marks, marks_after = (text.count('"cache_control"') for text in (sent, after))
        assert marks_after <= max(marks, MARKS_MAX)
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["text", "user", "", "\ud83e", "é"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)
WHOLE: Any = {
    "model": "claude-opus-5-5",
    "system": [{**text("s"), **HOUR}],
    "tools": [{**TOOL, **HOUR}],
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}},
    "messages": [USER, assistant(THINKS, text("a"), READ, LIST, SEARCH, FOUND), user(*RESULTS, text("b"), DOCUMENT),
                 {"role": "system", "content": [MARKED], "clear_at": "never"}, COMPACTED, USER, SYSTEM],
}  # fmt: skip


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    value = WHOLE
    for _ in range(draw(st.integers(1, 3))):
        value = replaced(draw, value, JSON)
    return value


@given(spoiled(), st.data())
def test_whatever_is_in_a_request_is_read_and_rewritten(sent: Any, data: st.DataObject) -> None:
    encoded = json.dumps(sent).encode()
    try:
        read = CHAT.read(encoded)
    except MalformedRequest:
        assert not isinstance(sent, dict) or not isinstance(sent.get("messages"), list)
        return
    assert len(read.messages) == len(read.spans) == len(sent["messages"])
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    after = Anthropic(mark_block=True).rewrite(read, drop=("model",), keep_from=keep_from, block="B")
    if stands_in_front(read, keep_from):
        assert {"role": "user", "content": [{"type": "text", "text": "B"}]} in map(
            _unmarked, json.loads(after)["messages"]
        )
    else:
        assert json.loads(after)["system"][-1]["text"] == "B"
    assert CHAT.rewrite(read) == encoded


def _unmarked(message: Any) -> Any:
    """A message without the marker of its only block."""
    content = message.get("content") if isinstance(message, dict) else None
    if not (isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict)):
        return message
    return {**message, "content": [{key: told for key, told in content[0].items() if key != "cache_control"}]}


@given(st.binary(max_size=100))
def test_any_bytes_are_a_request_or_malformed(sent: bytes) -> None:
    try:
        CHAT.read(sent)
    except MalformedRequest:
        return


def test_a_history_that_comes_again_is_read_on() -> None:
    known = KnownRequests(1_000_000)
    turn = [USER, assistant(THINKS, *CALL["content"]), RESULT, {**ANSWER, "content": "x" * 900}]
    for turns in range(1, 12):
        for last in ([USER], [USER, SYSTEM], [RESULT], [USER, TOOL_ADDED], [COMPACTED]):
            sent = body(*turn * turns, *last, model="claude-opus-5-5")
            told, alone = CHAT.read(sent, known), CHAT.read(sent)
            assert (told, list(told.messages), told.messages.roles) == (
                alone,
                list(alone.messages),
                alone.messages.roles,
            )
            if alone.stand_down != "provider_compacts":
                assert CHAT.rewrite(told, keep_from=4, block="B") == CHAT.rewrite(alone, keep_from=4, block="B")


def test_the_rewritten_prefix_is_the_same_from_call_to_call() -> None:
    talk = [USER, SYSTEM, ANSWER, USER, CALL, RESULT, ANSWER] * 4
    sent = [CHAT.rewrite(request(*talk[:end], system="s"), keep_from=3, block="frozen") for end in range(4, len(talk))]
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]}"))


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        turn = [user(MARKED), SYSTEM, assistant(THINKS, READ, LIST), RESULT, assistant(text('Some "words"\n' * 30))]
        sent = body(*turn * count, USER)
        return lambda: CHAT.rewrite(CHAT.read(sent), keep_from=5 * count, block="B")

    assert growth(work(500), work(1_000)) < 3
