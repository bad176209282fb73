"""The asynchronous methods of a chat store, in threads of this package: `BaseChatStore` takes those of the event loop,
so that the application's own work would wait behind a store that does not answer."""

from __future__ import annotations

from functools import partial

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base import BaseChatStore

from tokenmizer_mw.runtime.offload import CALLS, offload


class OffLoopChatStore(BaseChatStore):
    """A chat store each of whose asynchronous methods is the other one in a worker thread."""

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """``set_messages`` off the event loop."""
        await offload(partial(self.set_messages, key, messages), CALLS)

    async def aget_messages(self, key: str) -> list[ChatMessage]:
        """``get_messages`` off the event loop."""
        return await offload(partial(self.get_messages, key), CALLS)

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        """``add_message`` off the event loop."""
        await offload(partial(self.add_message, key, message), CALLS)

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """``delete_messages`` off the event loop."""
        return await offload(partial(self.delete_messages, key), CALLS)

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """``delete_message`` off the event loop."""
        return await offload(partial(self.delete_message, key, idx), CALLS)

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """``delete_last_message`` off the event loop."""
        return await offload(partial(self.delete_last_message, key), CALLS)

    async def aget_keys(self) -> list[str]:
        """``get_keys`` off the event loop."""
        return await offload(self.get_keys, CALLS)
