"""The chat store for `BaseChatStore`: memory buffers and whoever keeps chats by a key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import fsspec
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr, SerializerFunctionWrapHandler, model_serializer
from pydantic import SerializationInfo

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.message import Written

from .chats import Chats
from .messages import chat_message
from .off_loop import OffLoopChatStore
from .opening import IN_MEMORY, Store, address, opened


class TokenMizerChatStore(OffLoopChatStore):
    """Chats in one SQLite file, safe for threads, tasks and processes; a session graph is drawn from each.

    Takes the place of ``SimpleChatStore``: the same answers, but what was added is on disk when the call returns.
    Messages come back exactly, secrets in them excepted, which become placeholders (``Settings.redact``). ``store`` is
    a path, an address or an open ``SessionMemory``; ``tenant`` separates the chats of those who share a store.

    Keys are 1 to 256 printable characters. Methods raise ``ValueError`` for others and for what is no message, and
    ``tokenmizer_mw.StoreError`` when the store fails; nothing is changed then. What is deleted singly is no longer
    given back and no fact of it is believed, but it leaves the file only with ``delete_messages``.
    """

    store: str = Field(default=IN_MEMORY, description="Path or address of the store.")
    tenant: str = Field(default="local", description="Whose chats these are.")
    settings: Settings | None = Field(default=None, description="Settings of the memory.")

    _memory: SessionMemory = PrivateAttr()

    def __init__(
        self,
        store: Store = IN_MEMORY,
        *,
        tenant: str = "local",
        settings: Settings | None = None,
        chats: dict[str, list[Any]] | None = None,
        **data: Any,
    ) -> None:
        super().__init__(**{"store": address(store), "tenant": tenant, "settings": settings})
        self._memory = opened(store, self.settings)
        for key, messages in (chats or {}).items():
            self.set_messages(key, [ChatMessage.model_validate(message) for message in messages])

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in its serialised form."""
        return "TokenMizerChatStore"

    @property
    def memory(self) -> SessionMemory:
        """The memory behind the store: resumes, recall and the graph of each chat."""
        return self._memory

    @property
    def chats(self) -> Chats:
        """What is done with the chats."""
        return Chats(self._memory, self.tenant)

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Make these the messages of the chat, in one piece."""
        self.chats.set(key, messages)

    def get_messages(self, key: str) -> list[ChatMessage]:
        """The messages of a chat in order; [] for one that is not there."""
        return [chat_message(one) for one in self.chats.kept(key)]

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Put a message behind the others, or before the one at ``idx``."""
        if idx is None:
            self.chats.add(key, [message])
        else:
            self.chats.insert(key, message, idx)

    def add_messages(self, key: str, messages: Sequence[ChatMessage]) -> None:
        """Put messages behind the others, in one piece."""
        self.chats.add(key, messages)

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Erase a chat, its graph and all traces of it in the file. Returns its messages, ``None`` when it is not
        there."""
        return self.chats.clear(key)

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Take out the message at ``idx``, counted from the end when negative. ``None`` when there is none."""

        def choice(history: Sequence[Written]) -> Sequence[Written]:
            return [history[idx]] if -len(history) <= idx < len(history) else []

        return next(iter(self.chats.remove(key, choice)), None)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Take out the newest message; ``None`` when there is none."""
        return self.delete_message(key, -1)

    def get_keys(self) -> list[str]:
        """The keys of all chats, the oldest chat first."""
        return self.chats.keys()

    def persist(self, persist_path: str = "chat_store.json", fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write all chats to a file of JSON that ``SimpleChatStore`` reads too. Nothing needs it: a store with a path
        is on disk already."""
        files = fs or fsspec.filesystem("file")
        folder = persist_path.rpartition("/")[0]
        if folder:
            files.makedirs(folder, exist_ok=True)
        with files.open(persist_path, "w", encoding="utf-8") as file:
            json.dump({"store": self._told(), "class_name": "SimpleChatStore"}, file, ensure_ascii=False)

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
        """A store with the chats of a file that ``persist``, or that of ``SimpleChatStore``, has written. Without the
        file the store is as it is. Chats that the store has already are replaced."""
        files = fs or fsspec.filesystem("file")
        found: dict[str, list[Any]] = {}
        if files.exists(persist_path):
            with files.open(persist_path, "r", encoding="utf-8") as file:
                data = json.load(file)
            found = (json.loads(data) if isinstance(data, str) else data)["store"]
        made = cls(store, tenant=tenant, settings=settings)
        for key, messages in found.items():
            made.set_messages(key, [ChatMessage.model_validate(message) for message in messages])
        return made

    @model_serializer(mode="wrap")
    def custom_model_dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """What makes the store again: its address, and its chats where they are nowhere else."""
        data: dict[str, Any] = handler(self)
        data["class_name"] = self.class_name()
        return data | ({"chats": self._told()} if self.store == IN_MEMORY else {})

    def _told(self) -> dict[str, list[Any]]:
        return {
            key: [chat_message(one).model_dump(mode="json") for one in self.chats.kept(key)] for key in self.get_keys()
        }
