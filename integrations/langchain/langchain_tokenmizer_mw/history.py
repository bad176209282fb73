"""The messages of a session as a chat message history: verbatim, in a store, safe when runs overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

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

    With ``cut`` ``messages`` are those that a model should see, as in ``context_messages``: all while they fit, then a
    block of facts in the place of the old ones. That is what the handles of ``factory`` give, for what a run reads goes
    into its prompt. Otherwise they are all messages, to be shown to people. ``window`` and ``model`` are those of
    ``context_messages``.

    ``memory`` may be the address of a store, such as "sqlite:///chat.db": all handles of the process on one address
    share a memory, which is closed when the process ends.

    Raises ``InvalidSession`` for a session id or tenant that is empty, too long or not printable, and ``StoreError``
    when the store fails: then nothing was added.
    """

    def __init__(
        self,
        session_id: str,
        memory: SessionMemory | str,
        *,
        tenant: str = LOCAL_TENANT,
        cut: bool = False,
        window: int | None = None,
        model: str = "",
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self.memory = shared(memory) if isinstance(memory, str) else checked(memory)
        self.tenant = tenant
        self.cut = cut
        self.window = window
        self.model = model
        self._read: list[BaseMessage] | None = None

    @classmethod
    def factory(
        cls,
        memory: SessionMemory | str,
        *,
        tenant: str = LOCAL_TENANT,
        cut: bool = True,
        window: int | None = None,
        model: str = "",
    ) -> Callable[[str], TokenMizerChatMessageHistory]:
        """A ``get_session_history`` that gives every run a handle of its own, with what a prompt should hold of the
        session: see ``cut``, ``window`` and ``model`` above."""

        def get_session_history(session_id: str) -> TokenMizerChatMessageHistory:
            return cls(session_id, memory, tenant=tenant, cut=cut, window=window, model=model)

        return get_session_history

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, tenant={self.tenant!r})"

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages, oldest first, as this handle first saw them: all, or with ``cut`` those that a model should
        see. The list is the caller's own."""
        if self._read is None:
            self._read = self.context_messages() if self.cut else self._all()
        return list(self._read)

    async def aget_messages(self) -> list[BaseMessage]:
        """``messages``, off the event loop."""
        if self._read is None:
            said = unwritten(await self.memory.amessages(self.session_id, tenant=self.tenant))
            if self.cut:
                cut = await self.memory.ashorten(self.session_id, chat(said), **self._options())
                said = shortened(said, cut)
            self._read = said
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
        ones, the same in every call until the window fills again.

        - ``window``: tokens that the model takes in; without it that of the handle, else what the settings say, else
          what is known of the ``model``, else 128,000.
        - ``model``: its name, which also says how tokens are counted; without it that of the handle.
        - ``question``: what the person asks next. What was left out and it asks for ends the messages as a reminder.
        """
        messages = self._all()
        options = self._options(model=model, window=window)
        return shortened(messages, self.memory.shorten(self.session_id, chat(messages), question=question, **options))

    def _all(self) -> list[BaseMessage]:
        return unwritten(self.memory.messages(self.session_id, tenant=self.tenant))

    def _options(self, *, model: str = "", window: int | None = None) -> dict[str, Any]:
        size = self.window if window is None else window
        return {"model": model or self.model, "window": size, "tenant": self.tenant}
