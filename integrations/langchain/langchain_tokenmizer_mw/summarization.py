"""Chats without a session id: kept in this process, and recognised by their own summaries."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import ensure_config

from langchain_tokenmizer_mw.messages import chat
from langchain_tokenmizer_mw.sessions import checked, private, running_session, tokens
from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.model.session import LOCAL_TENANT

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

CHATS_MAX: Final = 256
"""Chats that are known again; of others a summary begins anew."""


class UnnamedChats:
    """Sessions for chats without a thread id, in a memory that ends with the process. Thread-safe."""

    def __init__(self, memory: SessionMemory) -> None:
        self.memory = memory
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def session(self, summaries: Sequence[BaseMessage]) -> str:
        """Return the session of the chat that contains one of ``summaries``; a new one if none is known."""
        texts = [message.content for message in summaries if isinstance(message.content, str)]
        with self._lock:
            for summary, session in reversed(self._sessions.items()):
                if any(summary in text for text in texts):
                    return session
        return uuid4().hex

    def note(self, session: str, summary: str) -> None:
        """Store the session's newest summary, by which the chat is recognised."""
        with self._lock:
            self._sessions[summary] = session
            self._sessions.move_to_end(summary)
            left = [self._sessions.popitem(last=False)[1] for _ in range(len(self._sessions) - CHATS_MAX)]
            gone = set(left) - set(self._sessions.values())
        for old in gone:
            self.memory.forget(old)


SUMMARY_TOKENS: Final = 600
"""Tokens of a summary, unless told otherwise."""

TRIGGER: Final = 0.85
"""Share of the model's window at which ``tokenmizer_summarization`` summarizes."""

NOTHING: Final = "Nothing was said so far that has to be carried on."
"""The summary of a chat without a fact in it."""

_READ: Final = "__pregel_read"
"""What LangGraph calls the reader of a running graph's state in a config, as its own tool node uses it."""


class TokenMizerSummarizer:
    """Summarises messages by the facts in them: ``SummarizationMiddleware(...,
    summarizer=TokenMizerSummarizer(memory))``.

    The whole thread is recorded before the middleware deletes its old part, even if ``trim_tokens_to_summarize`` passes
    only the last few messages; ``memory.messages`` and ``memory.restore`` return it. A summary has at most ``budget``
    tokens.

    The session is the run's thread id, or ``session_id`` if that is given. Without either, as in an agent without a
    checkpointer, the facts of the given messages are kept in this process only, because ``memory`` has no session for
    them. Such a chat is recognised by the summary that it contains.
    """

    def __init__(
        self,
        memory: SessionMemory | None = None,
        *,
        session_id: str | None = None,
        tenant: str = LOCAL_TENANT,
        budget: int = SUMMARY_TOKENS,
    ) -> None:
        self.memory = private() if memory is None else checked(memory)
        self.session_id = session_id
        self.tenant = tenant
        self.budget = tokens("budget", budget, 1)
        self._unnamed: UnnamedChats | None = None

    def __call__(self, messages: Sequence[BaseMessage]) -> str:
        """Return the facts of the session, including those of ``messages``."""
        session = self.session_id if self.session_id is not None else running_session()
        given = _thread() or messages
        content = [message for message in given if not _is_summary(message)]
        if session is None:
            return self._summarize_unnamed(content, [message for message in given if _is_summary(message)])
        self.memory.record(session, chat(content), tenant=self.tenant)
        return self._summary(self.memory, session, self.tenant)

    def _summary(self, memory: SessionMemory, session: str, tenant: str) -> str:
        try:
            return memory.resume(session, budget=self.budget, tenant=tenant).text or NOTHING
        except UnknownSession:
            return NOTHING

    def _summarize_unnamed(self, content: Sequence[BaseMessage], summaries: Sequence[BaseMessage]) -> str:
        if self._unnamed is None:
            self._unnamed = UnnamedChats(private(self.memory.settings))
        session = self._unnamed.session(summaries)
        self._unnamed.memory.record(session, chat(content), excerpt=bool(summaries))
        summary = self._summary(self._unnamed.memory, session, LOCAL_TENANT)
        if summary != NOTHING:
            self._unnamed.note(session, summary)
        return summary


def tokenmizer_summarization(
    model: Any,
    memory: SessionMemory | None = None,
    *,
    session_id: str | None = None,
    tenant: str = LOCAL_TENANT,
    budget: int = SUMMARY_TOKENS,
    **options: Any,
) -> SummarizationMiddleware:
    """Return LangChain's ``SummarizationMiddleware`` with a ``TokenMizerSummarizer``, at 85 % of the window of
    ``model``.

    ``options`` are those of the middleware. For a model without a profile, the window is taken from the table of models
    of ``memory``. Raises ``TypeError`` for a LangChain version without the ``summarizer`` option, and ``ValueError``
    for ``trim_tokens_to_summarize``, which would remove text from the summary's input.
    """
    if "summarizer" not in inspect.signature(SummarizationMiddleware.__init__).parameters:
        raise TypeError("this langchain has no summarizer= in SummarizationMiddleware: 1.4.7 and newer do")
    if options.setdefault("trim_tokens_to_summarize", None) is not None:
        raise ValueError("trim_tokens_to_summarize must be None: what it trims would be in no summary")
    summarizer = TokenMizerSummarizer(memory, session_id=session_id, tenant=tenant, budget=budget)
    options.setdefault("trigger", _trigger(model, summarizer.memory))
    return SummarizationMiddleware(model, summarizer=summarizer, **options)


def _trigger(model: Any, memory: SessionMemory) -> tuple[str, float]:
    from tokenmizer_mw.context.window import budget_for

    if memory.settings.context_window is None and (getattr(model, "profile", None) or {}).get("max_input_tokens"):
        return "fraction", TRIGGER
    name = model if isinstance(model, str) else getattr(model, "model_name", None) or getattr(model, "model", "")
    return "tokens", int(budget_for(str(name).rpartition(":")[2], memory.settings) * TRIGGER)


def _thread() -> list[BaseMessage] | None:
    """All messages of the running graph; ``None`` outside of one."""
    read = (ensure_config().get("configurable") or {}).get(_READ)
    if not callable(read):
        return None
    try:
        messages = read("messages")
    except (KeyError, ValueError):
        return None
    return messages if isinstance(messages, list) and messages else None


def _is_summary(message: BaseMessage) -> bool:
    return message.additional_kwargs.get("lc_source") == "summarization"
