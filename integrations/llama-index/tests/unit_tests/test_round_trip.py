"""Every kind of message comes back exactly, and is read as what it says."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.schema import ImageDocument
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore
from llama_index.storage.chat_store.tokenmizer_mw.messages import chat_message, written
from pydantic import BaseModel

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written

PNG = base64.b64decode(
    b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NOISE = random.Random(5).randbytes(60_000)


class Call(BaseModel):
    """What SDKs put into ``additional_kwargs``: objects of their own."""

    id: str
    function: dict[str, str]


MESSAGES = {
    "text": ChatMessage("hello", role="user"),
    "no content": ChatMessage(role="assistant"),
    "an empty text": ChatMessage("", role="user"),
    "several texts": ChatMessage(blocks=[TextBlock(text="a"), TextBlock(text="b\n")], role="user"),
    "other scripts": ChatMessage('grüße 日本 \U0001f600 \u2028 \u0000 \\u0041 "quoted"', role="user"),
    "numbers beside": ChatMessage("x", additional_kwargs={"a": 1.0, "b": 1, "c": [None, True, 1e300], "d": {"é": {}}}),
    "image bytes": ChatMessage(blocks=[TextBlock(text="look"), ImageBlock(image=PNG, detail="high")], role="user"),
    "image url": ChatMessage(blocks=[ImageBlock(url="https://example.org/a.png")], role="user"),
    "audio": ChatMessage(blocks=[AudioBlock(audio=NOISE, format="wav")], role="user"),
    "video": ChatMessage(blocks=[VideoBlock(video=NOISE, video_mimetype="video/mp4")], role="user"),
    "document": ChatMessage(blocks=[DocumentBlock(data=NOISE, title="paper", document_mimetype="application/pdf")]),
    "citable": ChatMessage(blocks=[CitableBlock(title="t", source="s", content=[TextBlock(text="c")])]),
    "citation": ChatMessage(
        blocks=[
            CitationBlock(
                cited_content=TextBlock(text="c"), source="s", title="t", additional_location_info={"page": 1}
            )
        ]
    ),
    "cache point": ChatMessage(blocks=[TextBlock(text="a"), CachePoint(cache_control=CacheControl(type="ephemeral"))]),
    "thinking": ChatMessage(
        blocks=[ThinkingBlock(content="hm", num_tokens=2, additional_information={"signature": "abc"})],
        role="assistant",
    ),
    "a tool call": ChatMessage(
        blocks=[ToolCallBlock(tool_call_id="1", tool_name="f", tool_kwargs={"a": [1]})], role="assistant"
    ),
    "a tool call in pieces": ChatMessage(
        blocks=[ToolCallBlock(tool_name="f", tool_kwargs='{"a": [1')], role="assistant"
    ),
    "a tool result": ChatMessage("42", role="tool", additional_kwargs={"tool_call_id": "1"}),
    **{f"the role {role.value}": ChatMessage("x", role=role) for role in MessageRole},
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_comes_back_exactly(message: ChatMessage, path: Path, opened: Callable[..., Any]) -> None:
    store = opened(path)
    store.add_message("k", message)
    (back,) = store.get_messages("k")
    assert back == message
    assert back.model_dump() == message.model_dump()
    assert [type(block) for block in back.blocks] == [type(block) for block in message.blocks]
    store.set_messages("k", [back])
    assert [one.number for one in store.memory.messages("k")] == [1]  # the same message: nothing was set anew


ODD: dict[str, Any] = {"raw": b"\x00\xff", "pair": (1, 2), "endless": float("inf")}


def test_objects_beside_the_content_become_what_they_say(opened: Callable[..., Any]) -> None:
    call = Call(id="1", function={"name": "f", "arguments": "{}"})
    store = opened()
    store.add_message("k", ChatMessage(role="assistant", additional_kwargs={"tool_calls": [call], **ODD}))
    beside = store.get_messages("k")[0].additional_kwargs
    assert beside == {"tool_calls": [call.model_dump()], "raw": "AP8=", "pair": [1, 2], "endless": None}


def test_images_of_the_older_kind_are_not_doubled(opened: Callable[..., Any]) -> None:
    message = ChatMessage("look", additional_kwargs={"images": [ImageDocument(image=base64.b64encode(PNG).decode())]})
    store = opened()
    store.add_message("k", message)
    (back,) = store.get_messages("k")
    assert back.blocks == message.blocks
    assert isinstance(back.additional_kwargs["images"][0], ImageDocument)


def test_a_file_that_is_gone_hides_no_message(tmp_path: Path, opened: Callable[..., Any]) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(PNG)
    message = ChatMessage(blocks=[TextBlock(text="look"), ImageBlock(path=picture)], role="user")
    store = opened()
    store.add_message("k", message)
    assert store.get_messages("k") == [message]
    picture.unlink()
    (back,) = store.get_messages("k")
    assert (back.content, back.blocks[1].path) == ("look", picture)


def test_secrets_alone_do_not_come_back(opened: Callable[..., Any]) -> None:
    secret = "ghp_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
    store = opened()
    store.add_message("k", ChatMessage(f"the token is {secret}, keep it", additional_kwargs={"note": secret, "n": 1}))
    (back,) = store.get_messages("k")
    assert secret not in str(back)
    assert secret not in str(back.additional_kwargs)
    assert back.content.startswith("the token is ")
    assert back.content.endswith(", keep it")
    assert back.additional_kwargs["n"] == 1


CALL = ToolCallBlock(tool_call_id="1", tool_name="f", tool_kwargs={"a": 1})
OPENAI = {"id": "2", "function": {"name": "g", "arguments": '{"b": 2}'}}
FLAT = {"id": "3", "name": "h", "args": {"c": 3}}
CACHE = CachePoint(cache_control=CacheControl(type="ephemeral"))
ALL_CALLS = {"tool_calls": [OPENAI, FLAT, {"id": "1", "name": "f"}, "odd"]}
FIRST = ToolCall("1", "f", '{"a": 1}')


def assistant(*blocks: Any, **beside: Any) -> ChatMessage:
    return ChatMessage(role="assistant", blocks=list(blocks), additional_kwargs=beside)


READ: list[tuple[ChatMessage, Message]] = [
    (ChatMessage("x", role="user"), Message(Role.USER, "x")),
    (ChatMessage("x", role="developer"), Message(Role.SYSTEM, "x")),
    (ChatMessage("x", role="model"), Message(Role.ASSISTANT, "x")),
    (ChatMessage(blocks=[TextBlock(text="a"), TextBlock(text="b")]), Message(Role.USER, "a\nb")),
    (ChatMessage(blocks=[ImageBlock(image=PNG), CACHE]), Message(Role.USER, attachments=("image",))),
    (assistant(ThinkingBlock(content="hm"), TextBlock(text="x")), Message(Role.ASSISTANT, "x", thinking="hm")),
    (assistant(CALL), Message(Role.ASSISTANT, "", (FIRST,))),
    (
        assistant(CALL, **ALL_CALLS),
        Message(Role.ASSISTANT, "", (FIRST, ToolCall("2", "g", '{"b": 2}'), ToolCall("3", "h", '{"c": 3}'))),
    ),
    (
        ChatMessage("42", role="tool", additional_kwargs={"tool_call_id": "1"}),
        Message(Role.TOOL, "", (), (ToolResult("1", "42"),)),
    ),
    (ChatMessage("42", role="function"), Message(Role.TOOL, "", (), (ToolResult("", "42"),))),
]


@pytest.mark.parametrize(("message", "words"), READ, ids=range(len(READ)))
def test_a_message_is_read_as_what_it_says(message: ChatMessage, words: Message) -> None:
    assert written(message).message == words


@pytest.mark.parametrize(
    "words",
    [
        Message(Role.USER, "x"),
        Message(Role.ASSISTANT, "x", (ToolCall("1", "f", '{"a": 1}'),), thinking="hm"),
        Message(Role.TOOL, "", (), (ToolResult("1", "42"),)),
        Message(Role.ASSISTANT),
    ],
)
def test_messages_of_another_door_are_told_in_the_frameworks_words(words: Message) -> None:
    told = chat_message(Written(words))
    assert written(told).message == words


def test_a_session_of_a_middleware_is_a_chat(opened: Callable[..., TokenMizerChatStore]) -> None:
    store = opened()
    store.memory.record("k", [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
    assert [(one.role.value, one.content) for one in store.get_messages("k")] == [
        ("user", "hi"),
        ("assistant", "hello"),
    ]
    store.add_message("k", ChatMessage("more"))
    assert len(store.get_messages("k")) == 3
