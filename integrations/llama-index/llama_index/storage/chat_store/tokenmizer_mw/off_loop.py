"""Async methods of a chat store that run in worker threads of this package.

`BaseChatStore` would use the event loop's thread pool, so that the application's own work would wait for a slow store.
"""

from __future__ import annotations

from functools import partial

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base import BaseChatStore

from tokenmizer_mw.runtime.offload import CALLS, offload


class OffLoopChatStore(BaseChatStore):
    """A chat store whose async methods call the synchronous ones in a worker thread."""

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
