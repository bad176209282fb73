"""Messages in the shapes that libraries hand over."""

from __future__ import annotations

import pytest
from anthropic.types import TextBlock, ToolUseBlock
from openai.types.chat import ChatCompletionMessageFunctionToolCall
from openai.types.chat.chat_completion_message_function_tool_call import Function

from tokenmizer_mw.errors import InvalidMessage
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.history import history_of
from tokenmizer_mw.wire.messages import history

SHAPES = [
    ({"role": "user", "content": "hello"}, Message(Role.USER, "hello")),
    ({"role": "assistant", "content": None}, Message(Role.ASSISTANT)),
    ({"role": "assistant", "content": None, "annotations": []}, Message(Role.ASSISTANT)),
    ({"role": "assistant", "reasoning": "hm", "weight": 1}, Message(Role.ASSISTANT, thinking="hm")),
    ({"role": "user", "content": [{"text": "a"}, {"text": "b"}]}, Message(Role.USER, "a\nb")),
    (
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "run", "arguments": '{"a":1}'}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "run", '{"a":1}'),)),
    ),
    (
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "run", "arguments": {"a": 1}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "run", '{"a":1}'),)),
    ),
    (
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "run", "args": {"a": 1}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "run", '{"a":1}'),)),
    ),
    (
        {"role": "tool", "tool_call_id": "1", "content": "no such file", "is_error": True},
        Message(Role.TOOL, tool_results=(ToolResult("1", "no such file", True),)),
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": "I write it"},
                {"type": "tool_use", "id": "t1", "name": "write", "input": {"path": "a.py"}},
            ],
        },
        Message(Role.ASSISTANT, "I write it", (ToolCall("t1", "write", '{"path":"a.py"}'),), thinking="hm"),
    ),
    (
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]},
        Message(Role.TOOL, tool_results=(ToolResult("t1", "done"),)),
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "done"}]},
                {"type": "text", "text": "and now?"},
                {"type": "image", "source": {}},
            ],
        },
        Message(Role.USER, "and now?", tool_results=(ToolResult("t1", "done"),), attachments=("image",)),
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "image"}], "is_error": True},
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "text", "text": " "},
            ],
        },
        Message(
            Role.TOOL, " ", tool_results=(ToolResult("t1", "", True), ToolResult("t2", "")), attachments=("image",)
        ),
    ),
    (
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]},
        Message(Role.TOOL, tool_results=(ToolResult("t1", "done"),)),
    ),
    (
        {"role": "assistant", "content": [{"type": "text", "text": "It is "}, {"type": "text", "text": "green."}]},
        Message(Role.ASSISTANT, "It is green."),
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
            ],
        },
        Message(Role.ASSISTANT, "a\nb", thinking="hm"),
    ),
    (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"at": object()}}]},
        Message(Role.ASSISTANT, tool_calls=(ToolCall("t1", "f", ""),)),
    ),
    (
        {
            "role": "assistant",
            "content": [
                TextBlock(type="text", text="I write it"),
                ToolUseBlock(type="tool_use", id="t1", name="write", input={"path": "a.py"}),
            ],
        },
        Message(Role.ASSISTANT, "I write it", (ToolCall("t1", "write", '{"path":"a.py"}'),)),
    ),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                ChatCompletionMessageFunctionToolCall(
                    id="1", type="function", function=Function(name="run", arguments="{}")
                )
            ],
        },
        Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "run", "{}"),)),
    ),
    (Message(Role.USER, "as it is"), Message(Role.USER, "as it is")),
]


@pytest.mark.parametrize(("given", "expected"), SHAPES)
def test_shapes(given: object, expected: Message) -> None:
    assert list(history([given])) == [expected]  # type: ignore[list-item]


NOT_MESSAGES = [
    (["hello"], "message 1 is a str"),
    ([{"role": "user", "content": "ok"}, {"content": "no role"}], "message 2 has no role"),
    ([{"role": "narrator", "content": "x"}], "narrator"),
    ([{"role": "user", "content": "ok"}, {"who": "x"}, {"who": "y"}], "message 2 has no role .*has 'who'$"),
    ([{}], "message 1 has no role .*has nothing$"),
    ([{"role": "user", "content": 7}], "content of type int"),
    ([{"role": "user", "text": "x"}], "message 1 has no 'content'.*: 'text'"),
    ([{"role": "user", "id": "1", "parts": ["x"], "at": 3}], "no 'content'.*: 'at', 'parts'$"),
    ([{"role": "assistant", "message": "x"}], "no 'content'.*: 'message'"),
    ([{"role": "tool", "tool_call_id": "1", "output": "x"}], "no 'content'.*: 'output'"),
    ([{"title": "a chat", "mapping": {}}], "tokenmizer-mw import"),
    ([{"name": "a chat", "chat_messages": []}], "tokenmizer-mw import"),
    ({"role": "user"}, "expected a list of messages, not one message .a dict.: pass"),
    (Message(Role.USER, "x"), "not one message .a Message."),
    (5, "expected a list of messages, not an int"),
    ([5], "message 1 is an int"),
    ("hello", "expected a list"),
]


@pytest.mark.parametrize(("given", "message"), NOT_MESSAGES)
def test_what_is_no_message_is_refused(given: object, message: str) -> None:
    with pytest.raises(InvalidMessage, match=message):
        list(history(given))  # type: ignore[arg-type]


def test_only_what_is_looked_at_is_read() -> None:
    sent = [{"role": "system"}, "unreadable", {"role": "developer"}, {"role": "user", "content": "hello"}]
    spoken = history(sent).without_system()  # type: ignore[arg-type]
    assert len(spoken) == 2
    assert spoken[-1].text == "hello"
    assert [message.text for message in spoken[1:]] == ["hello"]
    more = spoken.with_messages(Message(Role.ASSISTANT, "hi"))
    assert [message.text for message in more[1:]] == ["hello", "hi"]
    assert more.roles == [Role.USER, Role.USER, Role.ASSISTANT]
    with pytest.raises(InvalidMessage, match="message 2"):
        more[0]
    with pytest.raises(IndexError):
        more[3]
    assert history_of(more[1:]) == more[1:]
    assert list(more.sent) == ["unreadable", {"role": "user", "content": "hello"}, more[2]]
