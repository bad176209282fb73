"""What an async chat store does, as one table for the framework's SQL store and for ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore, TokenMizerChatStore

ACTIVE, ARCHIVED = MessageStatus.ACTIVE, MessageStatus.ARCHIVED
STOCK_FAILS = {"empty_batches", "setting_is_one_piece"}
STOCK_RACES = {"first_use_by_many_at_once"}
"""Rows that the framework's store passes or not, as its tasks happen to run."""
Row = Callable[[Any], Awaitable[None]]


def text(*texts: str) -> list[ChatMessage]:
    return [ChatMessage(each, role="user") for each in texts]


async def shown(store: Any, status: MessageStatus | None = ACTIVE, key: str = "k") -> list[str]:
    return [message.content for message in await store.get_messages(key, status=status)]


async def add_and_get(store: Any) -> None:
    await store.add_message("k", ChatMessage("a"))
    await store.add_messages("k", text("b", "c"))
    assert await shown(store) == ["a", "b", "c"]
    assert await store.get_messages("nobody") == []


async def count(store: Any) -> None:
    await store.add_messages("k", text("a", "b"))
    await store.add_message("k", ChatMessage("c"), status=ARCHIVED)
    found = [await store.count_messages("k", status=status) for status in (ACTIVE, ARCHIVED, None)]
    assert found == [2, 1, 3]
    assert await store.count_messages("k") == 2
    assert await store.count_messages("nobody") == 0


async def status_of_a_message(store: Any) -> None:
    await store.add_message("k", ChatMessage("old"), status=ARCHIVED)
    await store.add_message("k", ChatMessage("new"))
    assert [await shown(store, status) for status in (ACTIVE, ARCHIVED, None)] == [["new"], ["old"], ["old", "new"]]


async def set_replaces_whatever_there_was(store: Any) -> None:
    await store.add_messages("k", text("a", "b"))
    await store.archive_oldest_messages("k", 1)
    await store.set_messages("k", text("x", "y"))
    assert await shown(store, None) == ["x", "y"]
    await store.set_messages("k", text("z"), status=ARCHIVED)
    assert (await shown(store), await shown(store, ARCHIVED)) == ([], ["z"])


async def set_to_nothing(store: Any) -> None:
    await store.add_messages("k", text("a"))
    await store.set_messages("k", [])
    assert await shown(store, None) == []


async def delete_by_id(store: Any) -> None:
    await store.add_messages("k", text("a", "b", "c"))
    assert (await store.delete_message("k", 2)).content == "b"
    assert await store.delete_message("k", 2) is None
    assert await store.delete_message("k", 99) is None
    assert await shown(store) == ["a", "c"]


async def delete_all(store: Any) -> None:
    await store.add_messages("k", text("a"))
    await store.add_messages("other", text("b"))
    assert await store.delete_messages("k") is None
    assert await shown(store, None) == []
    assert await shown(store, key="other") == ["b"]
    await store.delete_messages("nobody")


async def delete_by_status(store: Any) -> None:
    await store.add_messages("k", text("a", "b"))
    await store.archive_oldest_messages("k", 1)
    await store.delete_messages("k", status=ACTIVE)
    assert await shown(store, None) == ["a"]
    await store.delete_messages("k", status=ARCHIVED)
    assert await shown(store, None) == []


async def delete_oldest(store: Any) -> None:
    await store.add_messages("k", text("a", "b", "c"))
    assert [message.content for message in await store.delete_oldest_messages("k", 2)] == ["a", "b"]
    assert await shown(store, None) == ["c"]
    assert [message.content for message in await store.delete_oldest_messages("k", 9)] == ["c"]
    assert await store.delete_oldest_messages("k", 1) == []


async def archive_oldest(store: Any) -> None:
    await store.add_messages("k", text("a", "b", "c"))
    assert [message.content for message in await store.archive_oldest_messages("k", 2)] == ["a", "b"]
    assert (await shown(store), await shown(store, ARCHIVED)) == (["c"], ["a", "b"])
    assert [message.content for message in await store.archive_oldest_messages("k", 9)] == ["c"]
    assert await store.archive_oldest_messages("k", 1) == []


async def limit_and_offset(store: Any) -> None:
    await store.add_messages("k", text("a", "b", "c", "d"))
    await store.archive_oldest_messages("k", 1)
    assert [one.content for one in await store.get_messages("k", limit=2)] == ["b", "c"]
    assert [one.content for one in await store.get_messages("k", limit=2, offset=1)] == ["c", "d"]
    assert [one.content for one in await store.get_messages("k", limit=5, offset=9)] == []


async def offset_without_limit(store: Any) -> None:
    await store.add_messages("k", text("a", "b", "c"))
    assert [one.content for one in await store.get_messages("k", offset=1)] == ["b", "c"]


async def keys(store: Any) -> None:
    assert await store.get_keys() == []
    await store.add_message("one", ChatMessage("a"))
    await store.add_message("two", ChatMessage("b"))
    assert sorted(await store.get_keys()) == ["one", "two"]
    await store.delete_messages("one")
    assert await store.get_keys() == ["two"]


async def what_stands_beside(store: Any) -> None:
    message = ChatMessage("x", role="tool", additional_kwargs={"tool_call_id": "1", "n": {"a": [1, None]}})
    await store.add_message("k", message)
    assert await store.get_messages("k") == [message]


async def many_tasks_on_a_warm_store(store: Any) -> None:
    await store.add_message("k", ChatMessage("first"))
    await asyncio.gather(*(store.add_message("k", ChatMessage(str(number))) for number in range(20)))
    assert sorted(await shown(store)) == sorted(["first", *map(str, range(20))])


async def serves_a_memory(store: Any) -> None:
    memory = Memory.from_defaults(session_id="k", chat_store=store, token_limit=60, token_flush_size=10)
    for number in range(12):
        await memory.aput(ChatMessage(f"question {number} about the weather", role="user"))
        await memory.aput(ChatMessage(f"answer {number}: fine", role="assistant"))
    told = await memory.aget()
    assert told[0].role == "user"
    assert told[-1].content == "answer 11: fine"
    assert len(told) < 24 == len(await memory.aget_all())
    assert await store.count_messages("k", status=None) == 24
    assert await store.count_messages("k", status=ARCHIVED) == 24 - len(told)


async def it_is_an_async_chat_store(store: Any) -> None:
    assert isinstance(store, AsyncDBChatStore)
    assert type(store).class_name() == type(store).__name__
    assert isinstance(store.model_dump(), dict)


# where the framework's own falls short


async def empty_batches(store: Any) -> None:
    await store.add_messages("k", [])
    assert await shown(store, None) == []


async def first_use_by_many_at_once(store: Any) -> None:
    await asyncio.gather(*(store.add_message("k", ChatMessage(str(number))) for number in range(20)))
    assert sorted(await shown(store)) == sorted(map(str, range(20)))


async def setting_is_one_piece(store: Any) -> None:
    await store.add_messages("k", text("a", "b"))
    with pytest.raises(Exception):  # noqa: B017
        await store.set_messages("k", [ChatMessage("c"), "no message"])
    assert await shown(store) == ["a", "b"]


ROWS: list[Row] = [
    add_and_get,
    count,
    status_of_a_message,
    set_replaces_whatever_there_was,
    set_to_nothing,
    delete_by_id,
    delete_all,
    delete_by_status,
    delete_oldest,
    archive_oldest,
    limit_and_offset,
    offset_without_limit,
    keys,
    what_stands_beside,
    many_tasks_on_a_warm_store,
    serves_a_memory,
    it_is_an_async_chat_store,
    empty_batches,
    first_use_by_many_at_once,
    setting_is_one_piece,
]


@pytest.fixture(params=["stock", "memory", "disk"])
async def store(request: pytest.FixtureRequest, path: Path, opened: Callable[..., Any]) -> AsyncIterator[Any]:
    if request.param == "stock":
        stock = SQLAlchemyChatStore(table_name="chat", async_database_uri=f"sqlite+aiosqlite:///{path}")
        yield stock
        if stock._async_engine is not None:
            await stock._async_engine.dispose()
        return
    yield TokenMizerAsyncChatStore(opened("memory://" if request.param == "memory" else path).memory)


@pytest.mark.anyio
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
async def test_an_async_chat_store(row: Row, store: Any, request: pytest.FixtureRequest) -> None:
    if isinstance(store, SQLAlchemyChatStore) and row.__name__ in STOCK_RACES:
        pytest.skip("the framework's store may not")
    if isinstance(store, SQLAlchemyChatStore) and row.__name__ in STOCK_FAILS:
        request.applymarker(pytest.mark.xfail(reason="the framework's store does not"))
    await row(store)


# -- ours alone ------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_both_interfaces_see_the_same_chats(path: Path, opened: Callable[..., TokenMizerChatStore]) -> None:
    plain = opened(path)
    store = TokenMizerAsyncChatStore(plain.memory)
    plain.add_message("k", ChatMessage("a"))
    await store.add_message("k", ChatMessage("b"))
    await store.archive_oldest_messages("k", 1)
    assert [one.content for one in plain.get_messages("k")] == ["a", "b"] == await shown(store, None)


@pytest.mark.anyio
async def test_what_is_archived_keeps_its_facts(opened: Callable[..., Any]) -> None:
    store = TokenMizerAsyncChatStore(opened().memory)
    await store.add_messages("k", text("Use SQLite for storage.", "What next?"))
    await store.archive_oldest_messages("k", 1)
    assert "SQLite" in store.memory.resume("k").text
    await store.delete_messages("k", status=ARCHIVED)
    assert store.memory.resume("k").text == ""


@pytest.mark.anyio
async def test_loops_may_come_and_go(path: Path, opened: Callable[..., Any]) -> None:
    store = TokenMizerAsyncChatStore(opened(path).memory)
    await store.add_message("k", ChatMessage("here"))
    await asyncio.to_thread(lambda: asyncio.run(store.add_message("k", ChatMessage("elsewhere"))))
    assert await shown(store) == ["here", "elsewhere"]


@pytest.mark.anyio
async def test_bad_input_is_a_value_error(opened: Callable[..., Any]) -> None:
    store = TokenMizerAsyncChatStore(opened().memory)
    await store.add_messages("k", text("a"))
    for use in (
        store.add_message("k", "text"),
        store.add_messages("k", [ChatMessage("b"), None]),
        store.set_messages("k", ["text"]),
        store.get_messages(""),
        store.delete_oldest_messages("\n", 1),
        store.add_message("k" * 300, ChatMessage("b")),
    ):
        with pytest.raises(ValueError, match=r"ChatMessage|session id"):
            await use
    assert await shown(store) == ["a"]
