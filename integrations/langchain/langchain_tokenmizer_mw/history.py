"""A LangChain chat message history on a session: stored word for word, safe for overlapping runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_tokenmizer_mw.messages import chat, unwritten, written
from langchain_tokenmizer_mw.prompt import shortened
from langchain_tokenmizer_mw.sessions import checked, shared, tokens
from tokenmizer_mw.errors import InvalidSession
from tokenmizer_mw.model.session import LOCAL_TENANT, SESSION_ID_MAX, SessionKey

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory


class TokenMizerChatMessageHistory(BaseChatMessageHistory):
    """The message history of one session.

    ``messages`` is read once and then changes only when this object adds or clears messages, because
    ``RunnableWithMessageHistory`` compares the history at the end of a run with that at its start. So use one object
    per run: pass ``factory(memory)`` as ``get_session_history``. Other runs, threads and processes can add messages at
    the same time; nothing is lost.

    With ``cut``, ``messages`` are those that a model should see, as in ``context_messages``: all while they fit the
    window, then a resume block in place of the old ones. The objects of ``factory`` do that, because a run puts them
    into its prompt. Without ``cut`` they are all messages, for display. ``window``, ``model`` and ``reserve``: see
    ``context_messages``.

    ``memory`` may be the address of a store, such as "sqlite:///chat.db": all objects of the process with the same
    address share a memory, which is closed when the process ends.

    Raises ``ConfigError`` for a ``reserve`` below 0, ``InvalidSession`` for a session id or tenant that is empty, too
    long or not printable, and ``StoreError`` if the store fails; no message is added then.
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
        reserve: int = 0,
    ) -> None:
        super().__init__()
        if hasattr(session_id, "settings"):
            raise TypeError("the session id comes first: TokenMizerChatMessageHistory(session_id, memory)")
        if not SessionKey(tenant, session_id).valid():
            raise InvalidSession(f"a session id and a tenant are 1 to {SESSION_ID_MAX} printable characters")
        self.session_id = session_id
        self.memory = shared(memory) if isinstance(memory, str) else checked(memory)
        self.tenant = tenant
        self.cut = cut
        self.window = window
        self.model = model
        self.reserve = tokens("reserve", reserve, 0)
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
        reserve: int = 0,
    ) -> Callable[[str], TokenMizerChatMessageHistory]:
        """Return a ``get_session_history`` function that gives every run an object of its own.

        Its ``messages`` are those for a prompt; ``window``, ``model`` and ``reserve``: see ``context_messages``. Pass
        the size of system prompt, tools and question as ``reserve``: the history is read before they are known.
        """

        def get_session_history(session_id: str) -> TokenMizerChatMessageHistory:
            return cls(session_id, memory, tenant=tenant, cut=cut, window=window, model=model, reserve=reserve)

        return get_session_history

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, tenant={self.tenant!r})"

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages when this object first read them, oldest first: all, or with ``cut`` those that a model should
        see.

        Returns a new list, which the caller may change.
        """
        if self._read is None:
            self._read = self.context_messages() if self.cut else self._all()
        return list(self._read)

    async def aget_messages(self) -> list[BaseMessage]:
        """Return ``messages``, read in a worker thread."""
        if self._read is None:
            messages = unwritten(await self.memory.amessages(self.session_id, tenant=self.tenant))
            if self.cut:
                cut = await self.memory.ashorten(self.session_id, chat(messages), **self._options())
                messages = shortened(messages, cut)
            self._read = messages
        return list(self._read)

    def add_message(self, message: BaseMessage) -> None:
        """Append one message."""
        self.add_messages([message])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages atomically; they are durable when the call returns.

        Raises LangChain's errors for anything that is not a message, ``ValueError`` for message classes that LangChain
        cannot load again, and ``TypeError`` for content that is not JSON; no message is added then.
        """
        self.memory.add(self.session_id, written(messages), tenant=self.tenant)
        self._read = None

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Async form of ``add_messages``, in a worker thread."""
        await self.memory.aadd(self.session_id, written(messages), tenant=self.tenant)
        self._read = None

    def clear(self) -> None:
        """Erase the session permanently, with all facts derived from it."""
        self.memory.forget(self.session_id, tenant=self.tenant)
        self._read = None

    async def aclear(self) -> None:
        """Async form of ``clear``, in a worker thread."""
        await self.memory.aforget(self.session_id, tenant=self.tenant)
        self._read = None

    def context_messages(
        self, *, model: str = "", window: int | None = None, reserve: int | None = None, question: str = ""
    ) -> list[BaseMessage]:
        """Return the messages that a model should see: all while they fit the window, then a resume block in place of
        the old ones.

        The block stays the same in every call until the window fills again.

        - ``window``: the model's context window in tokens; by default that of this object, else that of the settings,
          else the known window of ``model``, else 128,000.
        - ``model``: its name, which also selects the tokenizer; by default that of this object.
        - ``reserve``: tokens of the window that the rest of the prompt takes (system prompt, tools, question); by
          default that of this object. Only the history itself is measured.
        - ``question``: the user's next message. What was cut and matches it is appended as a reminder.
        """
        messages = self._all()
        options = self._options(model=model, window=window, reserve=reserve)
        return shortened(messages, self.memory.shorten(self.session_id, chat(messages), question=question, **options))

    def _all(self) -> list[BaseMessage]:
        return unwritten(self.memory.messages(self.session_id, tenant=self.tenant))

    def _options(self, *, model: str = "", window: int | None = None, reserve: int | None = None) -> dict[str, Any]:
        size = self.window if window is None else window
        reserved = self.reserve if reserve is None else tokens("reserve", reserve, 0)
        return {"model": model or self.model, "window": size, "reserved": reserved, "tenant": self.tenant}
