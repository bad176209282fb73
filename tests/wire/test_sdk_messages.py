"""Messages as the real objects of SDKs and frameworks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import InvalidMessage
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.messages import history

CALL = {"id": "c1", "name": "read_file", "arguments": '{"path": "a.py"}'}


def openai() -> list[Any]:
    chat = pytest.importorskip("openai.types.chat")
    made = chat.ChatCompletionMessage(
        role="assistant",
        content="I look.",
        tool_calls=[
            {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": CALL["arguments"]}}
        ],
    )
    return [{"role": "user", "content": "Fix a.py"}, made, {"role": "tool", "tool_call_id": "c1", "content": "x = 1"}]


def anthropic() -> list[Any]:
    types = pytest.importorskip("anthropic.types")
    made = types.Message(
        id="m1",
        type="message",
        role="assistant",
        model="any",
        content=[
            types.TextBlock(type="text", text="I look."),
            types.ToolUseBlock(type="tool_use", id="c1", name="read_file", input={"path": "a.py"}),
        ],
        usage=types.Usage(input_tokens=1, output_tokens=1),
    )
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x = 1"}
    return [{"role": "user", "content": "Fix a.py"}, made, {"role": "user", "content": [result]}]


def langchain() -> list[Any]:
    core = pytest.importorskip("langchain_core.messages")
    call = {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}
    return [
        core.HumanMessage("Fix a.py"),
        core.AIMessage("I look.", tool_calls=[call]),
        core.ToolMessage("x = 1", tool_call_id="c1"),
    ]


def llama_index() -> list[Any]:
    llms = pytest.importorskip("llama_index.core.llms")
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": CALL["arguments"]}}
    return [
        llms.ChatMessage(role="user", content="Fix a.py"),
        llms.ChatMessage(role="assistant", content="I look.", additional_kwargs={"tool_calls": [call]}),
        llms.ChatMessage(role="tool", content="x = 1", additional_kwargs={"tool_call_id": "c1"}),
    ]


def langchain_saved() -> list[Any]:
    return pytest.importorskip("langchain_core.messages").messages_to_dict(langchain())  # type: ignore[no-any-return]


@pytest.mark.parametrize("made", [openai, anthropic, langchain, langchain_saved, llama_index])
def test_objects_of_libraries_say_what_plain_messages_say(made: Any) -> None:
    asked, answered, returned = history(made())
    assert (asked.role, asked.text) == (Role.USER, "Fix a.py")
    assert (answered.role, answered.text) == (Role.ASSISTANT, "I look.")
    assert [(call.id, call.name) for call in answered.tool_calls] == [("c1", "read_file")]
    assert "a.py" in answered.tool_calls[0].arguments
    assert [(result.call_id, result.text) for result in returned.tool_results] == [("c1", "x = 1")]


def test_any_object_with_a_role_and_a_content() -> None:
    assert list(history([SimpleNamespace(role="user", content="Hello")])) == [Message(Role.USER, "Hello")]


@pytest.mark.parametrize("wrong", [object(), 7, "hello", SimpleNamespace(text="no role")])
def test_what_is_no_message_is_named(wrong: object) -> None:
    with pytest.raises(InvalidMessage, match="message 1"):
        list(history([wrong]))


@pytest.mark.parametrize("made", [openai, anthropic, langchain, langchain_saved, llama_index])
def test_one_message_is_no_list_of_messages(made: Any) -> None:
    for message in made():
        with pytest.raises(InvalidMessage, match=r"^expected a list of messages, not one message \(an? \w+\): pass"):
            history(message)


def test_a_memory_is_closed_at_the_end_of_its_block() -> None:
    async def use() -> str:
        async with SessionMemory.open("memory://") as memory:
            await memory.arecord("s", [{"role": "user", "content": "We use Redis for the queue."}])
            return str(await memory.aresume("s"))

    assert "Redis" in anyio.run(use)
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": "user", "content": "We use Redis for the queue."}])
        now = datetime.now(UTC)
        assert len(memory.graph("s", recorded_at=now + timedelta(minutes=1)))
        assert not len(memory.graph("s", recorded_at=now - timedelta(days=1)))
        assert memory.forget_idle(now + timedelta(minutes=1)) == ["s"]
