"""What a chat store does, as one table for the framework's own store and for ours, sync and async."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore

from tokenmizer_mw import SessionMemory, StoreUnavailable

STOCK_FAILS = {
    "model_dump_keeps_everything",
    "persist_and_load",
    "negative_index_out_of_range_is_none",
    "popping_an_empty_chat_is_none",
    "what_comes_out_is_a_copy",
}
"""Rows that the framework's store does not pass with every pydantic and release in the supported range."""


def text(*texts: str) -> list[ChatMessage]:
    return [ChatMessage(each, role="user") for each in texts]


def shown(store: Any, key: str = "k") -> list[str]:
    return [message.content for message in store.get_messages(key)]


def order(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b"))
    store.add_message("k", ChatMessage("c"))
    assert shown(store) == ["a", "b", "c"]


def keys(store: Any, folder: Path) -> None:
    assert store.get_keys() == []
    for key in ("one", "two", "three"):
        store.add_message(key, ChatMessage(key))
    assert store.get_keys() == ["one", "two", "three"]
    assert shown(store, "two") == ["two"]


def unknown_key(store: Any, folder: Path) -> None:
    assert store.get_messages("nobody") == []
    assert store.delete_messages("nobody") is None
    assert store.delete_message("nobody", 0) is None
    assert store.delete_last_message("nobody") is None
    assert store.get_keys() == []


def the_same_twice(store: Any, folder: Path) -> None:
    for _ in range(3):
        store.add_message("k", ChatMessage("yes"))
    assert shown(store) == ["yes"] * 3


def insert_at_an_index(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b", "c"))
    store.add_message("k", ChatMessage("x"), idx=1)
    store.add_message("k", ChatMessage("y"), idx=-1)
    store.add_message("k", ChatMessage("z"), idx=99)
    assert shown(store) == ["a", "x", "b", "y", "c", "z"]


def set_replaces(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b", "c"))
    store.set_messages("k", text("a", "x"))
    assert shown(store) == ["a", "x"]
    store.set_messages("k", text("a", "x", "y"))
    assert shown(store) == ["a", "x", "y"]
    store.set_messages("k", text("x"))
    assert shown(store) == ["x"]


def set_to_nothing(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b"))
    store.set_messages("k", [])
    assert shown(store) == []


def delete_one(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b", "c", "d"))
    assert store.delete_message("k", 1).content == "b"
    assert store.delete_message("k", -1).content == "d"
    assert shown(store) == ["a", "c"]


def index_out_of_range_is_none(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a"))
    assert store.delete_message("k", 1) is None
    assert store.delete_message("k", 99) is None
    assert shown(store) == ["a"]


def negative_index_out_of_range_is_none(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a"))
    assert store.delete_message("k", -2) is None
    assert shown(store) == ["a"]


def delete_last(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b"))
    assert store.delete_last_message("k").content == "b"
    assert shown(store) == ["a"]


def popping_an_empty_chat_is_none(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a"))
    store.delete_last_message("k")
    assert store.delete_last_message("k") is None
    assert store.delete_message("k", 0) is None


def delete_all(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "b"))
    store.set_messages("other", text("c"))
    assert [message.content for message in store.delete_messages("k")] == ["a", "b"]
    assert store.get_messages("k") == []
    assert store.get_keys() == ["other"]
    store.add_message("k", ChatMessage("anew"))
    assert shown(store) == ["anew"]


def roles_and_what_stands_beside(store: Any, folder: Path) -> None:
    messages = [
        ChatMessage("be brief", role="system"),
        ChatMessage("héllo \U0001f600", role="user", additional_kwargs={"name": "Ann"}),
        ChatMessage(role="assistant", additional_kwargs={"tool_calls": [{"id": "1", "nested": {"a": [1, None, 2.5]}}]}),
        ChatMessage("42", role="tool", additional_kwargs={"tool_call_id": "1"}),
    ]
    store.set_messages("k", messages)
    assert store.get_messages("k") == messages


def model_dump_keeps_everything(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a", "ü"))
    again = type(store).from_dict(json.loads(json.dumps(store.to_dict())))
    assert again.get_messages("k") == text("a", "ü")
    if isinstance(again, TokenMizerChatStore):
        again.memory.close()


def persist_and_load(store: Any, folder: Path) -> None:
    store.set_messages("k", text("grüße \U0001f600"))
    file = folder / "new" / "chats.json"
    store.persist(persist_path=str(file))
    assert "grüße \U0001f600" in file.read_text(encoding="utf-8")
    assert shown(type(store).from_persist_path(persist_path=str(file))) == ["grüße \U0001f600"]
    assert type(store).from_persist_path(persist_path=str(folder / "none.json")).get_keys() == []


def what_comes_out_is_a_copy(store: Any, folder: Path) -> None:
    store.set_messages("k", text("a"))
    store.get_messages("k").append(ChatMessage("smuggled"))
    store.get_messages("k")[0].additional_kwargs["session_id"] = "smuggled"
    assert store.get_messages("k") == text("a")


def serves_a_buffer(store: Any, folder: Path) -> None:
    buffer = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="k", token_limit=1_000)
    buffer.put(ChatMessage("a"))
    assert [message.content for message in buffer.get()] == ["a"]
    buffer.reset()
    assert buffer.get_all() == []


def the_async_face_does_the_same(store: Any, folder: Path) -> None:
    async def use() -> None:
        await store.aset_messages("k", text("a", "b"))
        await store.async_add_message("k", ChatMessage("c"))
        assert [message.content for message in await store.aget_messages("k")] == ["a", "b", "c"]
        assert (await store.adelete_message("k", 0)).content == "a"
        assert (await store.adelete_last_message("k")).content == "c"
        assert await store.aget_keys() == ["k"]
        assert [message.content for message in await store.adelete_messages("k")] == ["b"]
        assert await store.aget_messages("k") == []

    asyncio.run(use())


def it_is_a_chat_store(store: Any, folder: Path) -> None:
    assert BaseChatStore.__name__ in [base.__name__ for base in type(store).__mro__]
    assert type(store).class_name() == type(store).__name__


ROWS: list[Callable[[Any, Path], None]] = [
    order,
    keys,
    unknown_key,
    the_same_twice,
    insert_at_an_index,
    set_replaces,
    set_to_nothing,
    delete_one,
    index_out_of_range_is_none,
    negative_index_out_of_range_is_none,
    delete_last,
    popping_an_empty_chat_is_none,
    delete_all,
    roles_and_what_stands_beside,
    model_dump_keeps_everything,
    persist_and_load,
    what_comes_out_is_a_copy,
    serves_a_buffer,
    the_async_face_does_the_same,
    it_is_a_chat_store,
]


@pytest.fixture(params=["stock", "memory", "disk"])
def store(request: pytest.FixtureRequest, path: Path, opened: Callable[..., Any]) -> Iterator[Any]:
    if request.param == "stock":
        return SimpleChatStore()
    return opened("memory://" if request.param == "memory" else path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_a_chat_store(row: Callable[[Any, Path], None], store: Any, tmp_path: Path, request: Any) -> None:
    if isinstance(store, SimpleChatStore) and row.__name__ in STOCK_FAILS:
        request.applymarker(pytest.mark.xfail(strict=False, reason="the framework's store does not"))
    row(store, tmp_path)


# -- ours alone ------------------------------------------------------------------------------------------------


def test_a_restart_finds_everything(path: Path, opened: Callable[..., TokenMizerChatStore]) -> None:
    first = opened(path)
    first.set_messages("k", text("a", "b"))
    first.memory.close()
    assert shown(opened(str(path))) == ["a", "b"]
    assert shown(opened(f"sqlite:///{path}")) == ["a", "b"]


def test_a_file_of_the_framework_is_taken_over(path: Path, tmp_path: Path, opened: Callable[..., Any]) -> None:
    file = tmp_path / "chat_store.json"
    kept = {"k": [message.model_dump(mode="json") for message in text("a", "ü")]}
    file.write_text(json.dumps({"store": kept, "class_name": "SimpleChatStore"}), encoding="utf-8")
    memory = opened(path).memory
    taken = TokenMizerChatStore.from_persist_path(str(file), store=memory)
    assert shown(taken) == ["a", "ü"]
    assert SimpleChatStore.from_persist_path(str(file)).get_messages("k") == taken.get_messages("k")


def test_our_file_is_read_by_the_framework(tmp_path: Path, opened: Callable[..., Any]) -> None:
    store = opened()
    store.set_messages("k", text("a", "ü"))
    store.persist(str(tmp_path / "chats.json"))
    assert SimpleChatStore.from_persist_path(str(tmp_path / "chats.json")).get_messages("k") == text("a", "ü")


def test_tenants_share_a_file_and_nothing_else(path: Path, opened: Callable[..., Any]) -> None:
    ann, bob = opened(path, tenant="ann"), opened(path, tenant="bob")
    ann.add_message("k", ChatMessage("mine"))
    assert (shown(bob), bob.get_keys()) == ([], [])
    assert bob.delete_messages("k") is None
    assert bob.delete_last_message("k") is None
    assert shown(ann) == ["mine"]


def test_facts_are_drawn_from_what_is_kept(path: Path, opened: Callable[..., Any]) -> None:
    store = opened(path)
    store.add_message("k", ChatMessage("Use SQLite for storage."))
    store.add_message("k", ChatMessage("Switch from SQLite to PostgreSQL because of concurrent writes."))
    assert "PostgreSQL for storage (was SQLite for storage: concurrent writes)" in store.memory.resume("k").text
    store.delete_last_message("k")
    assert "PostgreSQL" not in store.memory.resume("k").text
    store.delete_messages("k")
    assert store.memory.sessions() == []
    assert b"SQLite for storage" not in path.read_bytes()


def test_a_memory_that_is_open_serves_too(path: Path, opened: Callable[..., Any]) -> None:
    memory = opened(path).memory
    store = opened(memory)
    store.add_message("k", ChatMessage("a"))
    assert store.memory is memory
    with pytest.raises(ValueError, match="SessionMemory has to be given"):
        TokenMizerChatStore.from_dict(store.to_dict())


def test_settings_travel_with_the_store(path: Path, opened: Callable[..., Any]) -> None:
    from tokenmizer_mw import Settings

    store = opened(path, settings=Settings(redact=False), tenant="ann")
    again = TokenMizerChatStore.from_dict(json.loads(json.dumps(store.to_dict())))
    assert (again.settings, again.tenant, again.store) == (Settings(redact=False), "ann", f"sqlite:///{path}")
    again.memory.close()


MESSAGE = ChatMessage("x")
BAD: list[tuple[str, Callable[[TokenMizerChatStore], Any], str]] = [
    ("a text", lambda store: store.add_message("k", "hello"), "expected a ChatMessage, not a str"),
    ("a dict", lambda store: store.add_message("k", {"role": "user"}), "expected a ChatMessage, not a dict"),
    ("nothing", lambda store: store.add_message("k", None), "expected a ChatMessage, not a NoneType"),
    ("an int", lambda store: store.add_message("k", 7), "expected a ChatMessage, not an int"),
    ("one bad of two", lambda store: store.set_messages("k", [MESSAGE, "x"]), "expected a ChatMessage"),
    ("one bad of a batch", lambda store: store.add_messages("k", [MESSAGE, 7]), "expected a ChatMessage"),
    (
        "what JSON cannot hold",
        lambda store: store.add_message("k", ChatMessage("x", additional_kwargs={"o": object()})),
        "cannot be written as JSON",
    ),
    ("an empty key", lambda store: store.add_message("", MESSAGE), "session id"),
    ("a long key", lambda store: store.get_messages("k" * 300), "session id"),
    ("a key with a line break", lambda store: store.delete_messages("a\nb"), "session id"),
    ("a key that is no text", lambda store: store.set_messages(7, [MESSAGE]), "session"),
]


@pytest.mark.parametrize(("use", "says"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_input_is_a_value_error_and_loses_nothing(
    use: Callable[[Any], Any], says: str, opened: Callable[..., Any]
) -> None:
    store = opened()
    store.set_messages("k", text("a", "b"))
    with pytest.raises(ValueError, match=says):
        use(store)
    assert shown(store) == ["a", "b"]
    assert store.get_keys() == ["k"]


def test_empty_batches_are_nothing(opened: Callable[..., Any]) -> None:
    store = opened()
    store.add_messages("k", [])
    store.set_messages("k", [])
    assert (store.get_messages("k"), store.get_keys()) == ([], [])


@pytest.mark.parametrize("where", ["", "mysql://user@host/db", "postgres://host/db?pool=none", 7])
def test_an_address_that_is_none_is_a_value_error(where: Any) -> None:
    with pytest.raises(ValueError, match=r"store|pool"):
        TokenMizerChatStore(where)


def test_a_path_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable):
        TokenMizerChatStore(tmp_path / "file" / "chat.db")


def test_a_store_that_was_closed_says_so(path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{path}")
    store = TokenMizerChatStore(memory)
    memory.close()
    with pytest.raises(StoreUnavailable):
        store.add_message("k", ChatMessage("a"))
