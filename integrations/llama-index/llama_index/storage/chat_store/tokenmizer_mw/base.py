"""The implementation of `BaseChatStore`.

Its async methods run in worker threads of this package. `BaseChatStore` would use the event loop's thread pool, so that
the application's own work would wait for a slow store.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import fsspec
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import SerializerFunctionWrapHandler, model_serializer
from llama_index.core.storage.chat_store.base import BaseChatStore
from pydantic import SerializationInfo

from tokenmizer_mw import Settings
from tokenmizer_mw.model.message import Written
from tokenmizer_mw.runtime.offload import CALLS, offload

from .chats import IN_MEMORY, Chats, OnStore, Store
from .messages import chat_message


class TokenMizerChatStore(OnStore, BaseChatStore):
    """Chats in one SQLite file, safe for threads, tasks and processes; a session graph is derived from each.

    Replaces ``SimpleChatStore``: it returns the same, but messages are on disk when a call returns. Messages are
    returned exactly, except for secrets, which become placeholders (``Settings.redact``). ``store``: a path, an address
    or an open ``SessionMemory``; ``tenant``: separates the chats of users who share a store.

    Keys have 1 to 256 printable characters. Methods raise ``ValueError`` for other keys and for anything that is not a
    message, and ``tokenmizer_mw.StoreError`` if the store fails; nothing is changed then. A deleted message is no
    longer returned, and its facts are dropped, but only ``delete_messages`` removes its text from the file.
    """

    def __init__(
        self,
        store: Store = IN_MEMORY,
        *,
        tenant: str = "local",
        settings: Settings | None = None,
        chats: dict[str, list[Any]] | None = None,
        **data: Any,
    ) -> None:
        super().__init__(store, tenant=tenant, settings=settings)
        for key, messages in (chats or {}).items():
            self.set_messages(key, [ChatMessage.model_validate(message) for message in messages])

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in its serialised form."""
        return "TokenMizerChatStore"

    @property
    def chats(self) -> Chats:
        """The chats of this store by key, with the operations that both chat store classes share."""
        return Chats(self._memory, self.tenant)

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Replace the messages of the chat atomically."""
        self.chats.set(key, messages)

    def get_messages(self, key: str) -> list[ChatMessage]:
        """Return the messages of a chat in order; [] if the chat does not exist."""
        return [chat_message(one) for one in self.chats.messages_of(key)]

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Append a message, or insert it before index ``idx``."""
        if idx is None:
            self.chats.add(key, [message])
        else:
            self.chats.insert(key, message, idx)

    def add_messages(self, key: str, messages: Sequence[ChatMessage]) -> None:
        """Append messages atomically."""
        self.chats.add(key, messages)

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Erase a chat, its graph and all traces of it in the file. Returns its messages; ``None`` if it does not
        exist."""
        return self.chats.clear(key)

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the message at index ``idx`` (negative: from the end) and return it; ``None`` if there is none."""

        def choice(history: Sequence[Written]) -> Sequence[Written]:
            return [history[idx]] if -len(history) <= idx < len(history) else []

        return next(iter(self.chats.remove(key, choice)), None)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Delete the newest message and return it; ``None`` if there is none."""
        return self.delete_message(key, -1)

    def get_keys(self) -> list[str]:
        """Return the keys of all chats, oldest chat first."""
        return self.chats.keys()

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Async form of ``set_messages``, in a worker thread."""
        await offload(partial(self.set_messages, key, messages), CALLS)

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        """Async form of ``get_messages``, in a worker thread."""
        return await offload(partial(self.get_messages, key), CALLS)

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        """Async form of ``add_message``, in a worker thread."""
        await offload(partial(self.add_message, key, message), CALLS)

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """Async form of ``delete_messages``, in a worker thread."""
        return await offload(partial(self.delete_messages, key), CALLS)

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Async form of ``delete_message``, in a worker thread."""
        return await offload(partial(self.delete_message, key, idx), CALLS)

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """Async form of ``delete_last_message``, in a worker thread."""
        return await offload(partial(self.delete_last_message, key), CALLS)

    async def aget_keys(self) -> list[str]:
        """Async form of ``get_keys``, in a worker thread."""
        return await offload(self.get_keys, CALLS)

    def persist(self, persist_path: str = "chat_store.json", fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write all chats to a JSON file that ``SimpleChatStore`` can read too.

        Not needed for durability: a store with a path is always on disk.
        """
        files = fs or fsspec.filesystem("file")
        folder = persist_path.rpartition("/")[0]
        if folder:
            files.makedirs(folder, exist_ok=True)
        with files.open(persist_path, "w", encoding="utf-8") as file:
            json.dump({"store": self._chats_to_json(), "class_name": "SimpleChatStore"}, file, ensure_ascii=False)

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str = "chat_store.json",
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        store: Store = IN_MEMORY,
        tenant: str = "local",
        settings: Settings | None = None,
    ) -> TokenMizerChatStore:
        """Return a store with the chats of a file that ``persist`` of this class or of ``SimpleChatStore`` wrote.

        If the file does not exist, the store is unchanged. Existing chats with the same keys are replaced.
        """
        files = fs or fsspec.filesystem("file")
        found: dict[str, list[Any]] = {}
        if files.exists(persist_path):
            with files.open(persist_path, "r", encoding="utf-8") as file:
                data = json.load(file)
            found = (json.loads(data) if isinstance(data, str) else data)["store"]
        return cls(store, tenant=tenant, settings=settings, chats=found)

    @model_serializer(mode="wrap")
    def custom_model_dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Return what is needed to restore the store: its address, and its chats if they are not stored in a file."""
        data: dict[str, Any] = handler(self)
        data["class_name"] = self.class_name()
        return data | ({"chats": self._chats_to_json()} if self.store == IN_MEMORY else {})

    def _chats_to_json(self) -> dict[str, list[Any]]:
        return {
            key: [chat_message(one).model_dump(mode="json") for one in self.chats.messages_of(key)]
            for key in self.get_keys()
        }
