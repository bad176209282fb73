"""Chats without a session id: kept in this process, and recognised by their own summaries."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain.agents.middleware import AgentState, SummarizationMiddleware
from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables.config import ensure_config
from langgraph.runtime import Runtime

from langchain_tokenmizer_mw.messages import chat
from langchain_tokenmizer_mw.sessions import checked, private, running_session, tokens
from tokenmizer_mw.context.resume import BUDGET_MIN
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

_HEAD_TOKENS: Final = 20
"""Tokens of the message around a summary."""

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
        kept = _find_kept(given, messages)
        if session is None:
            return self._summarize_unnamed(content, [message for message in given if _is_summary(message)])
        self.memory.record(session, chat(content), tenant=self.tenant)
        budget = self.budget
        if kept:
            room = count_tokens_approximately(given[: len(given) - len(kept)]) - _HEAD_TOKENS
            budget = min(budget, max(BUDGET_MIN, room))
        spoken = sum(not isinstance(one, SystemMessage) for one in kept)
        return self._summary(self.memory, session, self.tenant, budget, spoken)

    def _summary(self, memory: SessionMemory, session: str, tenant: str, budget: int, kept: int = 0) -> str:
        """The facts of a session whose newest messages, ``kept`` of them, stay in the thread."""
        try:
            count = memory.view(session, lambda state: len(state.transcript), tenant=tenant)
            before = count - kept + 1 if 0 < kept < count else None
            return memory.resume(session, budget=budget, before=before, tenant=tenant).text or NOTHING
        except UnknownSession:
            return NOTHING

    def _summarize_unnamed(self, content: Sequence[BaseMessage], summaries: Sequence[BaseMessage]) -> str:
        if self._unnamed is None:
            self._unnamed = UnnamedChats(private(self.memory.settings))
        session = self._unnamed.session(summaries)
        self._unnamed.memory.record(session, chat(content), excerpt=bool(summaries))
        summary = self._summary(self._unnamed.memory, session, LOCAL_TENANT, self.budget)
        if summary != NOTHING:
            self._unnamed.note(session, summary)
        return summary


class TokenMizerSummarization(SummarizationMiddleware):
    """LangChain's ``SummarizationMiddleware``, which leaves the thread as it is where the summary would be longer than
    the messages that it replaces."""

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Replace old messages by a summary if the trigger says so and the thread gets shorter."""
        return _if_shorter(state["messages"], super().before_model(state, runtime))

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async form of ``before_model``."""
        return _if_shorter(state["messages"], await super().abefore_model(state, runtime))


def _if_shorter(thread: Sequence[BaseMessage], update: dict[str, Any] | None) -> dict[str, Any] | None:
    """``update``, which replaces the messages of ``thread``; ``None`` if they would have no fewer tokens then."""
    if update is None:
        return None
    after = [message for message in update["messages"] if not isinstance(message, RemoveMessage)]
    return update if count_tokens_approximately(after) < count_tokens_approximately(thread) else None


_OWN: Final = frozenset({"self", "model", "summarizer", "deprecated_kwargs"})
_DEPRECATED: Final = frozenset({"max_tokens_before_summary", "messages_to_keep"})
"""Parameters of the stock middleware that are no options of ours; options that it takes without naming them."""


def _check_options(options: Iterable[str]) -> None:
    """Raise ``TypeError`` for an option that the stock middleware does not have; it ignores such options."""
    taken = inspect.signature(SummarizationMiddleware.__init__).parameters.keys() - _OWN
    unknown = sorted(set(options) - taken - _DEPRECATED)
    if unknown:
        known = ", ".join(sorted({*taken, "window", "budget", "session_id", "tenant"}))
        raise TypeError(f"tokenmizer_summarization has no option {', '.join(unknown)}: it has {known}")


def tokenmizer_summarization(
    model: Any,
    memory: SessionMemory | None = None,
    *,
    session_id: str | None = None,
    tenant: str = LOCAL_TENANT,
    budget: int = SUMMARY_TOKENS,
    window: int | None = None,
    **options: Any,
) -> TokenMizerSummarization:
    """Return LangChain's ``SummarizationMiddleware`` with a ``TokenMizerSummarizer``, at 85 % of the window of
    ``model``.

    ``window``: the model's context window in tokens; by default that of the settings, the model's profile, or else the
    table of models of ``memory``. ``options`` are those of the middleware, such as ``trigger`` (in place of 85 % of the
    window) and ``keep``. Raises ``TypeError`` for any other option, and for a LangChain version without the
    ``summarizer`` option; and ``ValueError`` for ``trim_tokens_to_summarize``, which would remove text from the
    summary's input.
    """
    if "summarizer" not in inspect.signature(SummarizationMiddleware.__init__).parameters:
        raise TypeError("this langchain has no summarizer= in SummarizationMiddleware: 1.4.7 and newer do")
    _check_options(options)
    if options.setdefault("trim_tokens_to_summarize", None) is not None:
        raise ValueError("trim_tokens_to_summarize must be None: what it trims would be in no summary")
    summarizer = TokenMizerSummarizer(memory, session_id=session_id, tenant=tenant, budget=budget)
    options.setdefault("trigger", _trigger(model, summarizer.memory, window))
    return TokenMizerSummarization(model, summarizer=summarizer, **options)


def _trigger(model: Any, memory: SessionMemory, window: int | None) -> tuple[str, float]:
    from tokenmizer_mw.context.window import budget_for

    if window is not None:
        return "tokens", int(budget_for("", memory.settings.with_window(window)) * TRIGGER)
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


def _find_kept(thread: Sequence[BaseMessage], replaced: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages of ``thread`` that follow the last one that is ``replaced``; none if that is not in it."""
    last = replaced[-1] if replaced else None
    for count, message in enumerate(reversed(thread)):
        if message is last or (last is not None and message.id is not None and message.id == last.id):
            return thread[len(thread) - count :]
    return ()


def _is_summary(message: BaseMessage) -> bool:
    return message.additional_kwargs.get("lc_source") == "summarization"
