"""LangChain's messages as words and back."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_tokenmizer_mw.messages import chat, spoken, unwritten, written

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written

CALL: Any = {"name": "look", "args": {"at": "x", "n": 1.5}, "id": "c1", "type": "tool_call"}
BROKEN: Any = {"name": "look", "args": '{"at": ', "id": "c2", "error": "cut", "type": "invalid_tool_call"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
USAGE: Any = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}

EXACT: list[BaseMessage] = [
    HumanMessage("héllo \U0001f600\n  twice  "),
    HumanMessage("named", name="Ann", id="m-1", additional_kwargs={"nested": {"a": [1, None, 2.5, True]}}),
    HumanMessage([{"type": "text", "text": "what is this?"}, IMAGE, "and that?"]),
    SystemMessage("Be brief."),
    AIMessage("text", response_metadata={"finish_reason": "stop"}, usage_metadata=USAGE),
    AIMessage("", tool_calls=[CALL], invalid_tool_calls=[BROKEN]),
    AIMessage([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "so"}]),
    AIMessageChunk("streamed", tool_call_chunks=[]),
    ToolMessage("seen", tool_call_id="c1", status="error", artifact={"rows": [1, 2]}),
    ToolMessage([{"type": "text", "text": "seen"}, IMAGE], tool_call_id="c1", name="look"),
    FunctionMessage("seen", name="look"),
    ChatMessage("hear", role="narrator"),
    HumanMessage(""),
]


@pytest.mark.parametrize("message", EXACT, ids=lambda message: f"{type(message).__name__}")
def test_a_message_comes_back_exactly(message: BaseMessage) -> None:
    (kept,) = written([message])
    (again,) = unwritten([kept])
    assert again == message
    assert type(again) is type(message)
    assert again.model_dump() == message.model_dump()


WORDS: list[tuple[BaseMessage, Message]] = [
    (HumanMessage("x"), Message(Role.USER, "x")),
    (
        HumanMessage([{"type": "text", "text": "a"}, IMAGE, "b"]),
        Message(Role.USER, "ab", attachments=("image_url",)),
    ),
    (SystemMessage("x"), Message(Role.SYSTEM, "x")),
    (
        AIMessage("", tool_calls=[CALL]),
        Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "look", '{"at": "x", "n": 1.5}'),)),
    ),
    (
        AIMessage("", invalid_tool_calls=[BROKEN]),
        Message(Role.ASSISTANT, tool_calls=(ToolCall("c2", "look", '{"at": '),)),
    ),
    (
        AIMessage(
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}, {"type": "tool_use", "id": "c"}]
        ),
        Message(Role.ASSISTANT, "so", thinking="hm"),
    ),
    (
        AIMessage([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]),
        Message(Role.ASSISTANT, thinking="hm"),
    ),
    (
        AIMessage("", additional_kwargs={"refusal": "no", "reasoning_content": "hm"}),
        Message(Role.ASSISTANT, thinking="hm", refusal="no"),
    ),
    (AIMessageChunk("x"), Message(Role.ASSISTANT, "x")),
    (
        ToolMessage("seen", tool_call_id="c1", status="error"),
        Message(Role.TOOL, tool_results=(ToolResult("c1", "seen", True),)),
    ),
    (FunctionMessage("seen", name="look"), Message(Role.TOOL, tool_results=(ToolResult("", "seen"),))),
    (ChatMessage("x", role="assistant"), Message(Role.ASSISTANT, "x")),
    (ChatMessage("x", role="narrator"), Message(Role.USER, "x")),
    (HumanMessage([{"odd": 1}]), Message(Role.USER, attachments=("unknown",))),
]


@pytest.mark.parametrize(("message", "words"), WORDS)
def test_what_a_message_says(message: BaseMessage, words: Message) -> None:
    assert spoken(message) == words
    assert list(chat([message])) == [words]


def test_what_langchain_takes_for_messages_is_taken() -> None:
    told: list[Any] = ["plain", ("ai", "pair"), {"role": "system", "content": "dict"}]
    assert [type(one) for one in unwritten(written(told))] == [HumanMessage, AIMessage, SystemMessage]


class Foreign(BaseMessage):
    type: str = "foreign"


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (7, NotImplementedError, "Unsupported message type"),
    ({"content": "no role"}, ValueError, "Message dict must contain"),
    (("martian", "x"), ValueError, "Unexpected message type"),
    (Foreign("x"), ValueError, "Got unexpected message type: foreign"),
    (
        HumanMessage("x", additional_kwargs={"at": datetime.datetime(2026, 1, 1)}),
        TypeError,
        "message 2, a HumanMessage",
    ),
    (ToolMessage("x", tool_call_id="c", artifact=object()), TypeError, "message 2, a ToolMessage"),
]


@pytest.mark.parametrize(("message", "error", "told"), REFUSED)
def test_what_cannot_be_kept_is_refused_by_name(message: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        written([HumanMessage("first"), message])


def test_documents_as_artifacts_are_kept() -> None:
    (again,) = unwritten(written([ToolMessage("x", tool_call_id="c", artifact=[Document("page", metadata={"n": 1})])]))
    assert isinstance(again, ToolMessage)
    assert again.artifact[0]["page_content"] == "page"


FOREIGN_DOOR: list[tuple[Message, BaseMessage]] = [
    (Message(Role.USER, "x"), HumanMessage("x")),
    (Message(Role.SYSTEM, "x"), SystemMessage("x")),
    (
        Message(Role.ASSISTANT, "x", (ToolCall("c1", "look", '{"at": "x"}'),)),
        AIMessage("x", tool_calls=[CALL | {"args": {"at": "x"}}]),
    ),
    (
        Message(Role.ASSISTANT, "", (ToolCall("c1", "look", "{cut"),)),
        AIMessage("", tool_calls=[CALL | {"args": {"arguments": "{cut"}}]),
    ),
    (
        Message(Role.TOOL, tool_results=(ToolResult("c1", "no", True),)),
        ToolMessage("no", tool_call_id="c1", status="error"),
    ),
]


@pytest.mark.parametrize(("words", "message"), FOREIGN_DOOR)
def test_messages_of_another_door_come_in_langchains_shape(words: Message, message: BaseMessage) -> None:
    assert unwritten([Written(words)]) == [message]
