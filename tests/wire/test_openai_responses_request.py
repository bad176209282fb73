import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.dialects.openai_responses import OpenAIResponses
from tokenmizer_mw.wire.dialects.openai_responses_item import read_message, role_of
from tokenmizer_mw.wire.known import KnownRequests

from . import golden_openai_responses as made
from .replay import replaced

RESPONSES = OpenAIResponses()
SYSTEM = {"role": "developer", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}
PARTS = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
ANSWER = made.whole(made.said("Hi"))
THOUGHT = made.whole(made.thought("Hm."))
CALL = made.whole(made.called("call_a1", "f", "{}"))
RESULT = {"type": "function_call_output", "call_id": "call_a1", "output": "42"}
REFERENCE = {"type": "item_reference", "id": "msg_1"}
OWN_SHELL = {**made.SHELL, "environment": {"type": "local"}}


def request(*items: object, **fields: object) -> ChatRequest:
    return RESPONSES.read(json.dumps({"model": "gpt-5", "input": items, **fields}).encode())


def said(text: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, text, **more)


def returned(call_id: str, text: str, *, failed: bool = False, attachments: tuple[str, ...] = ()) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult(call_id, text, failed),), attachments=attachments)


def output(kind: str, value: object, **more: object) -> dict[str, object]:
    return {"type": f"{kind}_call_output", "call_id": "c", "output": value, **more}


def test_the_route() -> None:
    assert isinstance(ROUTES["/responses"], OpenAIResponses)


ITEMS: list[tuple[object, Message]] = [
    (SYSTEM, Message(Role.SYSTEM, "Be brief.")),
    ({"role": "system", "content": "x", "type": "message"}, Message(Role.SYSTEM, "x")),
    (USER, Message(Role.USER, "Hello")),
    ({**USER, "type": None}, Message(Role.USER, "Hello")),
    (PARTS, Message(Role.USER, "Hello")),
    (
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"},
                {"type": "input_file", "file_id": "file_1"},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {"type": "input_text", "text": "b"},
            ],
        },
        Message(Role.USER, "a\nb", attachments=("input_image", "input_file", "input_audio")),
    ),
    ({"role": "assistant", "content": "Hi"}, said("Hi")),
    ({"role": "assistant", "content": "Hi", "phase": "final_answer"}, said("Hi")),
    (ANSWER, said("Hi")),
    (made.whole(made.refused("No.")), said(refusal="No.")),
    (THOUGHT, said(thinking="Hm.")),
    (CALL, said(tool_calls=(ToolCall("call_a1", "f", "{}"),))),
    ({**CALL, "arguments": {"a": None, "b": "é"}}, said(tool_calls=(ToolCall("call_a1", "f", '{"b":"é"}'),))),
    ({"type": "function_call", "call_id": 7, "name": [], "arguments": None}, said(tool_calls=(ToolCall("", "", ""),))),
    (RESULT, returned("call_a1", "42")),
    (output("function", [{"type": "input_text", "text": "a"}, {"type": "input_image"}]),
     returned("c", "a", attachments=("input_image",))),
    (output("function", None), returned("c", "")),
    (output("custom_tool", "x"), returned("c", "x")),
    (output("local_shell", "{}", id="l", call_id=None), Message(Role.TOOL, tool_results=(ToolResult("l", "{}"),))),
    (output("apply_patch", "no such file", status="failed"), returned("c", "no such file", failed=True)),
    (output("apply_patch", None, status="completed"), returned("c", "")),
    (output("computer", {"type": "computer_screenshot", "image_url": "http://test/"}),
     returned("c", "", attachments=("computer_screenshot",))),
    (output("computer", {}), returned("c", "", attachments=("unknown",))),
    (output("shell", [{"stdout": "ok", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}, 7, {"outcome": 1}]),
     returned("c", "ok\nexit code: 0\n")),
    (output("shell", "odd"), returned("c", "")),
    (output("hologram", "x"), returned("c", "x")),
    ({"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}, returned("r", "approved")),
    ({"type": "mcp_approval_response", "approval_request_id": "r", "approve": False, "reason": "too much"},
     returned("r", "denied\ntoo much")),
    ({"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"q": 1}},
     said(tool_calls=(ToolCall("c", "tool_search", '{"q":1}'),))),
    ({"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": [{"name": "f"}]},
     returned("c", '[{"name":"f"}]')),
    (made.TOOLS_SEARCHED, said()),
    (made.TOOLS_FOUND, said()),
    (made.SEARCHED, said()),
    (made.FOUND, said()),
    (made.IMAGE, said(attachments=("image_generation_call",))),
    ({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "error": "no"},
     said(tool_calls=(ToolCall("m", "f", "{}"),), tool_results=(ToolResult("m", "no", True),))),
    ({"type": "additional_tools", "role": "developer", "tools": [{"name": "f"}]},
     Message(Role.SYSTEM, '[{"name":"f"}]')),
    ({"type": "configuration_update", "reasoning": {"effort": "low"}}, Message(Role.SYSTEM)),
    ({"type": "hologram_call", "x": 1}, said()),
    (made.COMPACTION, Message(Role.SYSTEM)),
    ({"type": "compaction_trigger"}, Message(Role.SYSTEM)),
    (REFERENCE, Message(Role.SYSTEM)),
    ({"id": "msg_1"}, Message(Role.SYSTEM)),
    ({"role": "critic", "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"role": "tool", "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"role": ["user"], "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"type": "message", "content": "x"}, Message(Role.SYSTEM, "x")),
    ({"type": ["message"]}, Message(Role.SYSTEM)),
    ({}, Message(Role.SYSTEM)),
    ("hi", Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
    ([USER], Message(Role.SYSTEM)),
    ({"role": "user", "content": "half \ud83e and \ud83e\udd89"}, Message(Role.USER, "half \ufffd and 🦉")),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), ITEMS)
def test_every_kind_of_item(raw: object, expected: Message) -> None:
    read = request(raw)
    assert read.messages == (expected,)
    assert read.messages.roles[0] is expected.role
    assert read.text[slice(*read.spans[0])] == json.dumps(raw)


U, A, T, S = Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM
GROUPS: list[tuple[list[object], list[Role], tuple[int, ...]]] = [
    ([USER, ANSWER, USER], [U, A, U], ()),
    ([USER, THOUGHT, ANSWER, USER], [U, A, U], (1, 2, 1)),
    ([USER, THOUGHT, CALL, RESULT, THOUGHT, ANSWER], [U, A, T, A], (1, 2, 1, 2)),
    ([USER, ANSWER, CALL, CALL, RESULT, RESULT, ANSWER], [U, A, T, T, A], (1, 3, 1, 1, 1)),
    ([USER, made.SHELL, made.SHELL_RAN, ANSWER, USER], [U, A, U], (1, 3, 1)),
    ([USER, OWN_SHELL, made.SHELL_RAN, ANSWER, USER], [U, A, T, A, U], ()),
    ([USER, made.SHELL, RESULT, made.SHELL_RAN, ANSWER], [U, A, T, T, A], ()),
    ([USER, made.PROGRAM, CALL, RESULT, made.PROGRAM_RAN, ANSWER], [U, A, T, A], (1, 2, 1, 2)),
    ([USER, made.TOOLS_SEARCHED, made.TOOLS_FOUND, CALL, RESULT], [U, A, T], (1, 3, 1)),
    ([SYSTEM, USER, SYSTEM, ANSWER, SYSTEM, ANSWER], [S, U, S, A, S, A], ()),
    ([USER, made.COMPACTION, ANSWER, USER], [U, A, U], (1, 2, 1)),
    ([made.COMPACTION, USER], [S, U], ()),
    ([USER, REFERENCE, REFERENCE, USER], [U, S, U], (1, 2, 1)),
    ([USER, REFERENCE, CALL, RESULT], [U, A, T], (1, 2, 1)),
    ([USER, ANSWER, None, ANSWER], [U, A, S, A], ()),
    ([], [], ()),
]


@pytest.mark.parametrize(("items", "roles", "sizes"), GROUPS)
def test_items_of_one_reply_are_one_message(items: list[object], roles: list[Role], sizes: tuple[int, ...]) -> None:
    read = request(*items)
    assert (list(read.messages.roles), read.sizes) == (roles, sizes)
    assert [message.role for message in read.messages] == roles
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))] or range(1, len(items) + 1)
    for (start, end), last, size in zip(read.spans, ends, sizes or [1] * len(items), strict=True):
        assert json.loads(f"[{read.text[start:end]}]") == items[last - size : last]


def test_what_is_said_in_one_reply() -> None:
    read = request(USER, THOUGHT, made.whole(made.said("One.")), made.whole(made.said("Two.")), CALL, made.IMAGE)
    call = ToolCall("call_a1", "f", "{}")
    expected = said("One.\nTwo.", thinking="Hm.", tool_calls=(call,), attachments=("image_generation_call",))
    assert read.messages[1] == expected


def test_the_rest_of_a_request() -> None:
    tools = [{"type": "function", "name": "f"}]
    read = request(SYSTEM, USER, stream=True, tools=tools, instructions="Rules.", text={"format": 1}, seed=1, user="u")
    assert (read.model, read.stream, read.prefix, read.stand_down, read.messages.part) == ("gpt-5", True, 1, "", False)
    assert read.fields.keys() == {"model", "stream", "tools", "instructions", "text", "seed", "user"}
    assert read.overhead == f'"tools": {json.dumps(tools)}\n"instructions": "Rules."\n"text": {{"format": 1}}'


def test_a_text_in_the_place_of_the_list() -> None:
    sent = b'{"model":"gpt-5", "input" : "Hello \\"you\\"\\n", "session_id":"s"}'
    read = RESPONSES.read(sent)
    assert read.messages == (Message(Role.USER, 'Hello "you"\n'),)
    assert [read.text[start:end] for start, end in read.spans] == ['"Hello \\"you\\"\\n"']
    assert read.stand_down == "no_list"
    assert RESPONSES.rewrite(read) == sent
    assert RESPONSES.rewrite(read, drop=("session_id",)) == sent.replace(b', "session_id":"s"', b"")
    with pytest.raises(ValueError, match="one text"):
        RESPONSES.rewrite(read, keep_from=0, block="B")


STAND_DOWN: list[tuple[list[object], dict[str, object], str]] = [
    ([USER], {}, ""),
    ([SYSTEM, USER, THOUGHT, ANSWER, USER], {}, ""),
    ([USER, CALL, RESULT, ANSWER, USER], {}, ""),
    ([USER, made.SEARCHED, ANSWER, USER, SYSTEM], {"truncation": "auto", "store": True}, ""),
    ([USER, THOUGHT, CALL, RESULT], {}, "open_tool_loop"),
    ([USER, THOUGHT, CALL], {}, "open_tool_loop"),
    ([USER, made.APPROVAL, {"type": "mcp_approval_response"}], {}, "open_tool_loop"),
    ([USER, ANSWER], {}, "assistant_prefill"),
    ([USER, THOUGHT], {}, "assistant_prefill"),
    ([SYSTEM], {}, "no_user_message"),
    ([], {}, "no_user_message"),
    ([USER, {"role": "critic", "content": "x"}, USER], {}, "unknown_role"),
    ([USER, "hello", USER], {}, "unknown_role"),
    ([USER, {"type": "hologram_call"}, USER], {}, "unknown_role"),
    ([USER], {"previous_response_id": "r1"}, "history_on_server"),
    ([USER], {"previous_response_id": None}, ""),
    ([USER], {"conversation": "conv_1"}, "history_on_server"),
    ([USER], {"conversation": {"id": "conv_1"}}, "history_on_server"),
    ([USER, REFERENCE, USER], {}, "history_on_server"),
    ([USER, {"id": "rs_1"}, CALL, RESULT, USER], {}, "history_on_server"),
    ([USER], {"context_management": [{"type": "compaction"}]}, "provider_compacts"),
    ([USER], {"context_management": [{"type": "compaction", "compact_threshold": 1_000}]}, "provider_compacts"),
    ([USER], {"context_management": []}, ""),
    ([made.COMPACTION, USER], {}, "provider_compacts"),
    ([USER, THOUGHT, made.COMPACTION, ANSWER, USER], {}, "provider_compacts"),
    ([USER, {"type": "compaction_trigger"}], {}, "provider_compacts"),
]


@pytest.mark.parametrize(("items", "fields", "reason"), STAND_DOWN)
def test_when_to_stand_down(items: list[object], fields: dict[str, object], reason: str) -> None:
    assert request(*items, **fields).stand_down == reason


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"previous_response_id": "r1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"context_management": [{"type": "compaction"}]}, "compaction"),
        ({"context_management": [{"type": "truncation"}]}, "unknown_edit"),
        ({}, ""),
    ],
)
def test_which_part_of_a_request_leaves_the_history_to_the_provider(fields: dict[str, object], cause: str) -> None:
    assert request(USER, **fields).cause == cause


def test_two_inputs_are_read_by_the_last_and_left_alone() -> None:
    read = RESPONSES.read(b'{"input":[],"input":[{"role":"user","content":"x"}]}')
    assert (read.messages, read.stand_down) == ((Message(Role.USER, "x"),), "messages_twice")
    assert RESPONSES.read(b'{"input":[],"input":"x"}').stand_down == "messages_twice"


BAD = [
    b"",
    b"{}",
    b"[]",
    b'{"messages":[]}',
    b'{"input":null}',
    b'{"input":{"role":"user"}}',
    b'{"input":7}',
    b'{"input":[{"role":"user","content":"x"}]',
    b'{"input":[' + b"[" * 20_000 + b"]" * 20_000 + b"]}",
    b"\x1f\x8b\x08\x00",
]


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_request(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        RESPONSES.read(body)


def test_odd_tool_traffic_is_read() -> None:
    read = request(USER, RESULT, USER, CALL, CALL, RESULT, RESULT, {**RESULT, "output": "43"}, USER)
    assert list(read.messages.roles) == [U, T, U, A, T, T, T, U]
    assert read.stand_down == ""


# -- rewriting -----------------------------------------------------------------------------------------------------

MORE = ['"n":1.0e5', '"n" : 1E400', '"x":"\\ud800\\/\\u00e9"', '"x":{"b":1,"a":-0.0,"b":2}', '"id" : null', '"z":[ ]']
SPELLED = [
    ('{"role":"user","content":"Q"%s}', U),
    ('{ "content" : [ {"type":"input_text","text":"Gr\\u00fc\\u00dfe 🦉"} ],\n "role":"user"%s}', U),
    ('{"role":"developer","content":"D"%s}', S),
    ('{"type":"reasoning","summary":[],"encrypted_content":"AAAA"%s}', A),
    ('{"role":"assistant","content":"A"%s}', A),
    ('{"type":"function_call","call_id":"c","name":"f","arguments":"{ \\"a\\": 1e2 }"%s}', A),
    ('{"type":"function_call_output","call_id":"c","output":"R"%s}', T),
]
SPACES = st.sampled_from(["", " ", "\n\t", "  \r\n "])


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, list[tuple[str, Role]], str, str]:
    """A body: what stands before the items, the items with their roles, what stands behind, what separates them."""
    chosen = draw(st.lists(st.tuples(st.sampled_from(SPELLED), st.sampled_from(["", *MORE])), min_size=1, max_size=12))
    items = [(form % ("," + more if more else ""), role) for (form, role), more in chosen]
    before = draw(st.sampled_from(["{", "{ " + MORE[0] + " ,", '{"model":"m",']))
    behind = draw(st.sampled_from(["}", " , " + MORE[1] + "\n}", ',"session_id":"s","stream":true}']))
    return (
        f'{before} "input"{draw(SPACES)}:{draw(SPACES)}[{draw(SPACES)}',
        items,
        f"{draw(SPACES)}]{behind}",
        draw(SPACES),
    )


@given(bodies(), st.data())
def test_a_rewrite_changes_what_was_asked_and_nothing_else(
    body: tuple[str, list[tuple[str, Role]], str, str], data: st.DataObject
) -> None:
    before, items, behind, space = body
    comma = f"{space},{space}"
    sent = before + comma.join(text for text, _ in items) + behind
    read = RESPONSES.read(sent.encode())
    assert RESPONSES.rewrite(read) == sent.encode()
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    sizes = read.sizes or (1,) * len(items)
    kept, prefix = sum(sizes[:keep_from]), sum(sizes[: read.prefix])
    block = '{"role":"user","content":"B"}'
    rewritten = RESPONSES.rewrite(read, keep_from=keep_from, block="B").decode()
    inner = rewritten.removeprefix(before).removesuffix(behind)
    assert before + inner + behind == rewritten
    head = "".join(text + comma for text, _ in items[:prefix]).removesuffix(comma)
    assert inner.startswith(head)
    middle = [block, *(text for text, role in items[prefix:kept] if role is S)]
    tail = [text for text, _ in items[kept:]]
    spaced = inner.removeprefix(head)
    for text in [*middle, *tail]:
        separator, _, spaced = spaced.partition(text)
        assert separator in ("", ",", comma)
    assert spaced == ""
    after = RESPONSES.read(rewritten.encode()).messages
    assert [m for m in after if m.role is not S][-1:] == [m for m in read.messages[keep_from:] if m.role is not S][
        -1:
    ] or [Message(Role.USER, "B")]


def test_the_rewritten_prefix_is_the_same_from_call_to_call() -> None:
    turn = [json.dumps(item) for item in (USER, THOUGHT, CALL, RESULT, ANSWER)]
    sent = []
    for turns in range(3, 8):
        read = RESPONSES.read(f'{{"input":[{",".join([json.dumps(SYSTEM), *turn * turns, turn[0]])}]}}'.encode())
        sent.append(RESPONSES.rewrite(read, keep_from=5, block="frozen", role="developer"))
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]}"))


@pytest.mark.parametrize("keep_from", [-1, 0, 7])
def test_a_cut_outside_the_messages_is_refused(keep_from: int) -> None:
    with pytest.raises(ValueError, match="no elements"):
        RESPONSES.rewrite(request(SYSTEM, USER, THOUGHT, ANSWER, USER), keep_from=keep_from, block="B")


# -- what is known of the request before -----------------------------------------------------------------------------

LONG = {"role": "user", "content": "x" * 3_000}
HISTORIES = st.lists(
    st.sampled_from([LONG, USER, ANSWER, THOUGHT, CALL, RESULT, REFERENCE, made.COMPACTION]), max_size=9
)


@given(HISTORIES, st.lists(HISTORIES, max_size=3), st.booleans())
def test_the_same_comes_out_when_the_beginning_is_known(
    first: list[Any], more: list[list[Any]], continued: bool
) -> None:
    known = KnownRequests(1_000_000)
    items = [LONG, LONG, *first]
    for news in ([], *more):
        items = [*items, *news]
        fields = {"previous_response_id": "r"} if continued and news else {}
        sent = json.dumps({"input": items, **fields}).encode()
        read, anew = RESPONSES.read(sent, known), RESPONSES.read(sent)
        assert read == anew
        assert (read.spans, list(read.messages.roles)) == (anew.spans, list(anew.messages.roles))
        assert (list(read.messages), read.messages.part) == (list(anew.messages), anew.messages.part)


# -- sessions --------------------------------------------------------------------------------------------------------

KEY = SessionKey(LOCAL_TENANT, "s")
QUESTIONS = ["Hello", "Use port 8080.", "continue", "continue", "Hello", "yes"]


def turn(memory: SessionMemory, items: list[Any] | str, output: list[Any], **fields: Any) -> None:
    """One call through the exchange: the request, and a stream that is committed at its end."""
    body = json.dumps({"model": "gpt-5", "stream": True, "input": items, **fields}).encode()
    forwarding = open_exchange(RESPONSES, (), body, Settings(), session_id="s", known=memory.service.known).forward()
    forwarding.start_reply(200, [(b"content-type", b"text/event-stream")])
    forwarding.receive(made.as_stream(made.events(*output)))
    closed = forwarding.close()
    memory.service.turns.commit_turn(KEY, closed.request.messages, closed.reply)


def answers(number: int, text: str) -> tuple[list[Any], dict[str, Any], list[Any]]:
    """A turn with a tool: the first reply, the result, and the second reply."""
    call = {**made.called(f"call_{number}", "f", '{"n":', f"{number}}}"), "id": f"fc_{number}"}
    result = {"type": "function_call_output", "call_id": f"call_{number}", "output": f"{number}"}
    return [made.thought("Hm."), call], result, [made.said(text)]


def expected(number: int, question: str, text: str) -> list[Message]:
    return [
        Message(Role.USER, question),
        said(tool_calls=(ToolCall(f"call_{number}", "f", f'{{"n":{number}}}'),), thinking="Hm."),
        returned(f"call_{number}", f"{number}"),
        said(text),
    ]


def recorded(memory: SessionMemory) -> list[Message]:
    return memory.restore("s", range(1, 1_000))


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
def test_a_history_on_the_server_accumulates(field: str) -> None:
    memory = SessionMemory.open()
    everything: list[Message] = []
    for number, question in enumerate(QUESTIONS):
        first, result, second = answers(number, "OK.")
        turn(
            memory, question if number % 2 else [USER | {"content": question}], first, **{field: "x"} if number else {}
        )
        turn(memory, [result], second, **{field: "x"})
        everything += expected(number, question, "OK.")
        assert recorded(memory) == everything
    assert memory.counters() == {"turn_complete": 2 * len(QUESTIONS)}
    memory.close()


@pytest.mark.parametrize("trimmed", [False, True])
def test_a_history_that_is_resent_is_recorded_once(trimmed: bool) -> None:
    memory = SessionMemory.open()
    items: list[Any] = []
    everything: list[Message] = []
    for number, question in enumerate(QUESTIONS):
        text = f"Answer {number}."
        first, result, second = answers(number, text)
        items = [*(items[-10:] if trimmed else items), {"role": "user", "content": question}]
        turn(memory, items, first)
        items += [*map(made.whole, first), result]
        turn(memory, items, second)
        items += map(made.whole, second)
        everything += expected(number, question, text)
        assert recorded(memory) == everything
    memory.close()


def test_a_client_may_change_from_one_to_the_other() -> None:
    memory = SessionMemory.open()
    items: list[Any] = []
    everything: list[Message] = []
    for number, question in enumerate(QUESTIONS):
        first, result, second = answers(number, f"Answer {number}.")
        asked = {"role": "user", "content": question}
        if number % 2:
            turn(memory, [asked], first, previous_response_id="x")
        else:
            turn(memory, [*items, asked], first)
        items += [asked, *map(made.whole, first), result]
        turn(memory, items, second)
        items += map(made.whole, second)
        everything += expected(number, question, f"Answer {number}.")
        assert recorded(memory) == everything
    memory.close()


def test_references_to_items_hide_nothing_else() -> None:
    memory = SessionMemory.open()
    items: list[Any] = []
    everything: list[Message] = []
    for number in range(4):
        items = [*items, {"role": "user", "content": f"Question {number}"}]
        turn(memory, items, [made.thought("Hm."), made.said(f"Answer {number}.")])
        items += [{"type": "item_reference", "id": f"rs_{number}"}, {"type": "item_reference", "id": f"msg_{number}"}]
        everything += [Message(Role.USER, f"Question {number}"), said(f"Answer {number}.", thinking="Hm.")]
        assert recorded(memory) == everything
    memory.close()


# -- anything ----------------------------------------------------------------------------------------------------

FIELDS = st.sampled_from(
    [
        *("role", "content", "type", "text", "refusal", "id", "call_id", "name", "arguments", "input", "output"),
        *("summary", "action", "operation", "environment", "tools", "execution", "result", "error", "outputs", "logs"),
    ]
)
KINDS = sorted(
    {str(item["type"]) for items in made.REPLIES.values() for item in items} | {"user", "assistant", "developer"}
)
WORDS = st.sampled_from([*KINDS, "input_text", "shell_call_output", "container_reference", "", "\ud800", "é"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=6),
    max_leaves=25,
)
CONVERSATION = [
    SYSTEM,
    *(item for items in made.REPLIES.values() for item in (USER, *map(made.whole, items), RESULT)),
    *(raw for raw, _ in ITEMS[:30]),
]


def assert_read(sent: bytes, data: st.DataObject, count: int | None) -> None:
    try:
        read = RESPONSES.read(sent)
    except MalformedRequest:
        return
    assert len(read.messages) == len(read.spans) == len(read.messages.roles)
    assert count is None or sum(read.sizes or (1,) * count) == count
    for message, role in zip(read.messages, read.messages.roles, strict=True):
        assert message.role is role
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    assert RESPONSES.rewrite(read) == sent
    if read.text.startswith("[", read.array):
        keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
        RESPONSES.read(RESPONSES.rewrite(read, keep_from=keep_from, block="B"))


@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=5) | JSON, max_size=6), st.data())
def test_whatever_is_in_the_items_is_read_and_can_be_stored(sent: list[Any], data: st.DataObject) -> None:
    assert_read(json.dumps({"input": sent}).encode(), data, len(sent))


@given(st.data())
def test_any_value_anywhere_in_a_request_is_survived(data: st.DataObject) -> None:
    body = {"model": "m", "stream": True, "instructions": "x", "tools": [], "input": CONVERSATION}
    changed = replaced(data.draw, body, JSON)
    if isinstance(changed, dict):
        assert_read(json.dumps(changed).encode(), data, None)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_request_or_malformed(sent: bytes) -> None:
    try:
        RESPONSES.read(sent)
    except MalformedRequest:
        return


def test_values_too_deep_to_write_are_left_out() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    assert read_message({**CALL, "arguments": deep}).tool_calls == (ToolCall("call_a1", "f", ""),)
    assert role_of({**CALL, "arguments": deep}) is Role.ASSISTANT


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        items = [USER, THOUGHT, CALL, RESULT, made.SHELL, made.SHELL_RAN, made.whole(made.said("words\n" * 60))] * count
        sent = json.dumps({"input": [*items, USER]}).encode()
        return lambda: RESPONSES.rewrite(RESPONSES.read(sent), keep_from=4, block="B")

    assert growth(work(500), work(1_000)) < 3
