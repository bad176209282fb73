"""The implementation of `AsyncDBChatStore`, the chat store behind `llama_index.core.memory.Memory`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from tokenmizer_mw import Settings
from tokenmizer_mw.model.message import Written
from tokenmizer_mw.runtime.offload import CALLS, offload

from .chats import IN_MEMORY, Chats, Choice, OnStore, Store
from .messages import chat_message


class TokenMizerAsyncChatStore(OnStore, AsyncDBChatStore):
    """The chats of ``TokenMizerChatStore`` for ``Memory.from_defaults(chat_store=...)``: same file, same keys.

    Replaces ``SQLAlchemyChatStore``, with these differences: no setup at first use, empty batches are accepted, and
    ``set_messages`` is atomic. Ids are the numbers of messages in their chat, from 1, and are never reused. Facts of
    archived messages stay. Raises the errors of ``TokenMizerChatStore``.
    """

    def __init__(
        self, store: Store = IN_MEMORY, *, tenant: str = "local", settings: Settings | None = None, **data: Any
    ) -> None:
        super().__init__(store, tenant=tenant, settings=settings)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in its serialised form."""
        return "TokenMizerAsyncChatStore"

    @property
    def chats(self) -> Chats:
        """The chats of this store by key, with the operations that both chat store classes share."""
        return Chats(self._memory, self.tenant)

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """Return the messages of a chat with this status (``None``: any), at most ``limit``, after skipping
        ``offset``."""
        found = of_status(await offload(partial(self.chats.messages_of, key), CALLS), status)
        start = max(0, offset or 0)
        return [chat_message(one) for one in found[start : None if limit is None else start + max(0, limit)]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """Return the number of messages of a chat with this status (``None``: any)."""
        return len(of_status(await offload(partial(self.chats.messages_of, key), CALLS), status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Append a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Append messages atomically."""
        await offload(partial(self.chats.add, key, messages, archived=status is MessageStatus.ARCHIVED), CALLS)

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Replace the messages of the chat atomically."""
        await offload(partial(self.chats.set, key, messages, archived=status is MessageStatus.ARCHIVED), CALLS)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the message with number ``idx`` and return it; ``None`` if there is none."""
        removed = await self._removed(key, lambda history: [one for one in history if one.number == idx])
        return next(iter(removed), None)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Delete all messages with this status. ``None`` erases the chat and all traces of it in the file."""
        if status is None:
            await offload(partial(self.chats.clear, key), CALLS)
        else:
            await self._removed(key, lambda history: of_status(history, status))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Delete the oldest ``n`` active messages and return them."""
        return await self._removed(key, lambda history: of_status(history, MessageStatus.ACTIVE)[: max(0, n)])

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest ``n`` active messages and return them."""

        def oldest(history: Sequence[Written]) -> Sequence[Written]:
            return of_status(history, MessageStatus.ACTIVE)[: max(0, n)]

        return await offload(partial(self.chats.archive, key, oldest), CALLS)

    async def get_keys(self) -> list[str]:
        """Return the keys of all chats, oldest chat first."""
        return await offload(self.chats.keys, CALLS)

    async def _removed(self, key: str, choice: Choice) -> list[ChatMessage]:
        return await offload(partial(self.chats.remove, key, choice), CALLS)


def of_status(history: Sequence[Written], status: MessageStatus | None) -> Sequence[Written]:
    """Return the messages with this status (``None``: any)."""
    return [one for one in history if status is None or one.archived is (status is MessageStatus.ARCHIVED)]
