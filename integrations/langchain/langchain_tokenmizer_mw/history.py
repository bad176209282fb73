"""The messages of a session as a chat message history: verbatim, in a store, safe when runs overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_tokenmizer_mw.messages import chat, unwritten, written
from langchain_tokenmizer_mw.prompt import shortened
from langchain_tokenmizer_mw.sessions import checked, shared
from tokenmizer_mw.model.session import LOCAL_TENANT

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory


class TokenMizerChatMessageHistory(BaseChatMessageHistory):
    """A handle on the messages of one session.

    ``messages`` is read once and then stays as it is until the handle itself adds or clears: a run of
    ``RunnableWithMessageHistory`` compares what it finds at its end with what it found at its start. Hence one handle
    a run: hand ``factory(memory)`` over as ``get_session_history``. Handles of other runs, threads and processes add
    beside this one, and nothing of it is lost.

    ``memory`` may be the address of a store, such as "sqlite:///chat.db": all handles of the process on one address
    share a memory, which is closed when the process ends.

    Raises ``InvalidSession`` for a session id or tenant that is empty, too long or not printable, and ``StoreError``
    when the store fails: then nothing was added.
    """

    def __init__(self, session_id: str, memory: SessionMemory | str, *, tenant: str = LOCAL_TENANT) -> None:
        super().__init__()
        self.session_id = session_id
        self.memory = shared(memory) if isinstance(memory, str) else checked(memory)
        self.tenant = tenant
        self._read: list[BaseMessage] | None = None

    @classmethod
    def factory(
        cls, memory: SessionMemory | str, *, tenant: str = LOCAL_TENANT
    ) -> Callable[[str], TokenMizerChatMessageHistory]:
        """A ``get_session_history`` that gives every run a handle of its own."""

        def get_session_history(session_id: str) -> TokenMizerChatMessageHistory:
            return cls(session_id, memory, tenant=tenant)

        return get_session_history

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, tenant={self.tenant!r})"

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first, as this handle first saw them; the list is the caller's own."""
        if self._read is None:
            self._read = unwritten(self.memory.messages(self.session_id, tenant=self.tenant))
        return list(self._read)

    async def aget_messages(self) -> list[BaseMessage]:
        """``messages``, off the event loop."""
        if self._read is None:
            self._read = unwritten(await self.memory.amessages(self.session_id, tenant=self.tenant))
        return list(self._read)

    def add_message(self, message: BaseMessage) -> None:
        """Append one message."""
        self.add_messages([message])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages in one piece; they are durable when the call returns.

        Raises what LangChain raises for what is no message, ``ValueError`` for messages of classes that it cannot read
        back, and ``TypeError`` for contents that are no JSON; then none is added.
        """
        self.memory.add(self.session_id, written(messages), tenant=self.tenant)
        self._read = None

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """``add_messages``, off the event loop."""
        await self.memory.aadd(self.session_id, written(messages), tenant=self.tenant)
        self._read = None

    def clear(self) -> None:
        """Erase the session for good, with all that was drawn from it."""
        self.memory.forget(self.session_id, tenant=self.tenant)
        self._read = None

    async def aclear(self) -> None:
        """``clear``, off the event loop."""
        await self.memory.aforget(self.session_id, tenant=self.tenant)
        self._read = None

    def context_messages(self, *, model: str = "", window: int | None = None, question: str = "") -> list[BaseMessage]:
        """The messages as a model should see them: all while they fit, then a block of facts in the place of the old
        ones, the same in every call until the window fills again. ``window``: tokens that the model takes in, where
        the settings and the name of the ``model`` do not tell. ``question`` is what the person asks next: what was left
        out and it asks for ends the messages as a reminder."""
        messages = self.messages
        cut = self.memory.shorten(
            self.session_id, chat(messages), model=model, window=window, question=question, tenant=self.tenant
        )
        return shortened(messages, cut)
