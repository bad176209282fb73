"""The chat store for `AsyncDBChatStore`: what stands behind `llama_index.core.memory.Memory`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.message import Written
from tokenmizer_mw.runtime.offload import CALLS, offload

from .chats import Chats, Choice
from .messages import chat_message
from .opening import IN_MEMORY, Store, address, opened


class TokenMizerAsyncChatStore(AsyncDBChatStore):
    """The chats of ``TokenMizerChatStore`` for ``Memory.from_defaults(chat_store=...)``: the same file, the same keys.

    Takes the place of ``SQLAlchemyChatStore``. Nothing is set up at first use, an empty batch is none, and
    ``set_messages`` is one piece. Ids are the numbers of messages in their chat, from 1; they are never used again.
    What is archived keeps its facts. Raises what ``TokenMizerChatStore`` does.
    """

    store: str = Field(default=IN_MEMORY, description="Path or address of the store.")
    tenant: str = Field(default="local", description="Whose chats these are.")
    settings: Settings | None = Field(default=None, description="Settings of the memory.")

    _memory: SessionMemory = PrivateAttr()

    def __init__(
        self, store: Store = IN_MEMORY, *, tenant: str = "local", settings: Settings | None = None, **data: Any
    ) -> None:
        super().__init__(**{"store": address(store), "tenant": tenant, "settings": settings})
        self._memory = opened(store, self.settings)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in its serialised form."""
        return "TokenMizerAsyncChatStore"

    @property
    def memory(self) -> SessionMemory:
        """The memory behind the store: resumes, recall and the graph of each chat."""
        return self._memory

    @property
    def chats(self) -> Chats:
        """What is done with the chats."""
        return Chats(self._memory, self.tenant)

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """The messages of a chat with this status, ``None``: with any; ``limit`` at most, behind ``offset``."""
        found = of_status(await offload(partial(self.chats.kept, key), CALLS), status)
        start = max(0, offset or 0)
        return [chat_message(one) for one in found[start : None if limit is None else start + max(0, limit)]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """How many messages of a chat have this status; ``None``: any."""
        return len(of_status(await offload(partial(self.chats.kept, key), CALLS), status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Put a message behind the others."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Put messages behind the others, in one piece."""
        await offload(partial(self.chats.add, key, messages, archived=status is MessageStatus.ARCHIVED), CALLS)

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Make these the messages of the chat, whatever it held, in one piece."""
        await offload(partial(self.chats.set, key, messages, archived=status is MessageStatus.ARCHIVED), CALLS)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Take out the message with the number ``idx``; ``None`` when there is none."""
        removed = await self._removed(key, lambda history: [one for one in history if one.number == idx])
        return next(iter(removed), None)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Take out all messages with this status. ``None``: erase the chat and all traces of it in the file."""
        if status is None:
            await offload(partial(self.chats.clear, key), CALLS)
        else:
            await self._removed(key, lambda history: of_status(history, status))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Take out the oldest ``n`` active messages. Returns them."""
        return await self._removed(key, lambda history: of_status(history, MessageStatus.ACTIVE)[: max(0, n)])

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest ``n`` active messages. Returns them."""

        def oldest(history: Sequence[Written]) -> Sequence[Written]:
            return of_status(history, MessageStatus.ACTIVE)[: max(0, n)]

        return await offload(partial(self.chats.archive, key, oldest), CALLS)

    async def get_keys(self) -> list[str]:
        """The keys of all chats, the oldest chat first."""
        return await offload(self.chats.keys, CALLS)

    async def _removed(self, key: str, choice: Choice) -> list[ChatMessage]:
        return await offload(partial(self.chats.remove, key, choice), CALLS)


def of_status(history: Sequence[Written], status: MessageStatus | None) -> Sequence[Written]:
    """The messages with this status; ``None``: with any."""
    return [one for one in history if status is None or one.archived is (status is MessageStatus.ARCHIVED)]
