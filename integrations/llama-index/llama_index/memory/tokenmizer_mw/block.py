"""A memory block: what left the short-term memory of `Memory` comes back as a resume of the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from llama_index.storage.chat_store.tokenmizer_mw.messages import written
from llama_index.storage.chat_store.tokenmizer_mw.opening import IN_MEMORY, Store, address, opened, plain_errors

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.message import Message, Role


class TokenMizerMemoryBlock(BaseMemoryBlock[str]):
    """A block for ``Memory(memory_blocks=[...])``: decisions with what they replaced, rules, tasks, files, errors.

    It reads what it is shown, without a call to a model, and says nothing as long as the short-term memory still holds
    the whole session (``always``: it does). Its text takes ``budget`` tokens at most, facts that the newest question
    asks for first. With ``priority`` above 0, ``Memory`` may ask it to be shorter: the least important lines go.

    ``store`` may be that of a ``TokenMizerAsyncChatStore`` in the same ``Memory``: then the messages are there already,
    and nothing is kept twice. ``session_id`` is the session's where ``Memory`` does not say which one it is.
    """

    name: str = Field(default="session_record", description="Name of the block, and of the tag around it.")
    store: str = Field(default=IN_MEMORY, description="Path or address of the store.")
    tenant: str = Field(default="local", description="Whose sessions these are.")
    settings: Settings | None = Field(default=None, description="Settings of the memory.")
    session_id: str | None = Field(default=None, description="The session, where nobody says which.")
    budget: int = Field(default=600, ge=1, description="Tokens that the block may take.")
    always: bool = Field(default=False, description="Whether it speaks of what the short-term memory still holds.")
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)

    _memory: SessionMemory = PrivateAttr()

    def __init__(self, store: Store = IN_MEMORY, **data: Any) -> None:
        super().__init__(**{"store": address(store), **data})
        self._memory = opened(store, self.settings)

    @property
    def memory(self) -> SessionMemory:
        """The memory behind the block."""
        return self._memory

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        session = block_kwargs.get("session_id") or self.session_id
        return await asyncio.to_thread(self._resume, self._session(session), messages or [])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if not messages:
            return
        session = messages[0].additional_kwargs.get("session_id") or self.session_id
        await asyncio.to_thread(self._record, self._session(session), [written(one).message for one in messages])

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """``content`` shorter by at least so many tokens, without its last lines; ``None`` when nothing would be left.
        The fence around it stays whole."""
        opening, *lines, closing = content.split("\n")
        wanted = len(self.tokenizer_fn(content)) - tokens_to_truncate
        while lines[1:]:  # the first one says what the block is
            lines.pop()
            shorter = "\n".join([opening, *lines, closing])
            if lines[1:] and len(self.tokenizer_fn(shorter)) <= wanted:
                return shorter
        return None

    def _session(self, session: object) -> str:
        if not isinstance(session, str) or not session:
            raise ValueError("the block does not know its session: give it a session_id, or use it inside a Memory")
        return session

    def _record(self, session: str, messages: Sequence[Message]) -> None:
        with plain_errors():
            self._memory.record(session, messages, excerpt=True, tenant=self.tenant)

    def _resume(self, session: str, messages: Sequence[ChatMessage]) -> str:
        shown = [one.message for one in map(written, messages) if one.message.role is not Role.SYSTEM]
        self._record(session, shown)
        with plain_errors():
            kept = self._memory.messages(session, tenant=self.tenant)
            told = sum(one.message.role is not Role.SYSTEM for one in kept)
            if not told or (told <= len(shown) and not self.always):
                return ""
            query = next((one.text for one in reversed(shown) if one.opens_turn), None)
            return self._memory.resume(session, budget=self.budget, query=query, tenant=self.tenant).text
