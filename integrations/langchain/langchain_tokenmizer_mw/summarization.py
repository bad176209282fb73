"""Summaries for LangChain's summarization middleware, made of the facts of a session.

Chats without a session id are kept in this process, and recognised by their own summaries.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from langchain.agents.middleware import AgentState, SummarizationMiddleware
from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage, ToolMessage
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
"""At most this many chats without a session id are remembered; the summary of an older one starts anew."""


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
"""Default maximum of tokens of a summary."""

_HEAD_TOKENS: Final = 20
"""Tokens of the message around a summary."""

TRIGGER: Final = 0.85
"""Share of the model's window at which ``tokenmizer_summarization`` summarizes."""

_SUMMARY_SHARE: Final = 0.4
"""A summary has at most this share of the tokens that the thread is to have after it."""

NOTHING: Final = "Nothing was said so far that has to be carried on."
"""The summary of a chat without a fact in it."""

_READ: Final = "__pregel_read"
"""Key of a run's config under which LangGraph stores the function that reads the running graph's state. LangGraph's own
tool node uses it, too."""


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
        """Return the resume block of a session as a summary. ``kept``: number of its newest messages that stay in the
        thread, so that the block need not contain their facts."""
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
    """LangChain's ``SummarizationMiddleware`` with two changes: it keeps fewer messages than ``keep`` says if these do
    not fit, and it does not change the thread if the summary would be longer than the messages that it replaces.

    ``limit``: tokens that the thread should not exceed after a summary; ``None``: those of the trigger. If the messages
    that ``keep`` names and a summary would exceed it, the newest messages that fit into about 60 % of it are kept: at
    least one, and tool calls with their results. A summary then has at most two fifths of that.
    """

    def __init__(self, model: Any, summarizer: TokenMizerSummarizer, limit: int | None = None, **options: Any) -> None:
        super().__init__(model, summarizer=summarizer, **options)
        self._summary = summarizer
        limits = [*self._trigger_limits(), *([limit] if limit is not None else [])]
        self._limit = min(limits, default=None)
        if self._limit is not None:
            self._target = int(self._limit * summarizer.memory.settings.cut_to / TRIGGER)
            most = max(BUDGET_MIN, int(_SUMMARY_SHARE * self._target))
            summarizer.budget = min(summarizer.budget, most)

    def _trigger_limits(self) -> list[int]:
        """Return the numbers of tokens at which the trigger fires; fractions are those of the model's window."""
        window = self._get_profile_limits() or 0
        found = [
            int(cast("float", value) if kind == "tokens" else window * cast("float", value))
            for clause in self._trigger_clauses
            for kind, value in clause.items()
            if kind != "messages"
        ]
        return [limit for limit in found if limit > 0]

    def _determine_cutoff_index(self, messages: list[Any]) -> int:
        """Return the index of the first message that stays. LangChain's middleware calls this once the trigger is
        reached."""
        cutoff = super()._determine_cutoff_index(messages)
        if self._limit is None or not messages:
            return cutoff
        around = self._summary.budget + _HEAD_TOKENS
        counts = [self._partial_token_counter([message]) for message in messages]
        scale = max(1.0, self.token_counter(messages) / max(1, sum(counts)))  # the model reported more tokens
        sizes = [scale * count for count in counts]
        if sum(sizes[cutoff:]) + around < self._limit:
            return cutoff
        starts = [at for at in range(max(cutoff, 1), len(messages)) if not isinstance(messages[at], ToolMessage)]
        fitting = (at for at in starts if sum(sizes[at:]) + around <= self._target)
        return next(fitting, starts[-1] if starts else cutoff)

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Replace old messages by a summary if the trigger says so and the thread gets shorter."""
        return _if_shorter(state["messages"], super().before_model(state, runtime))

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async form of ``before_model``."""
        return _if_shorter(state["messages"], await super().abefore_model(state, runtime))


def _if_shorter(thread: Sequence[BaseMessage], update: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return ``update``, which replaces the messages of ``thread``; ``None`` if the thread would have no fewer tokens
    then."""
    if update is None:
        return None
    after = [message for message in update["messages"] if not isinstance(message, RemoveMessage)]
    return update if count_tokens_approximately(after) < count_tokens_approximately(thread) else None


_OWN: Final = frozenset({"self", "model", "summarizer", "deprecated_kwargs"})
_DEPRECATED: Final = frozenset({"max_tokens_before_summary", "messages_to_keep"})
"""Parameters of LangChain's middleware that are no options of ``tokenmizer_summarization``; deprecated options that it
accepts without naming them."""


def _check_options(options: Iterable[str]) -> None:
    """Raise ``TypeError`` for an option that LangChain's middleware does not have, because it would ignore it."""
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
    """Return a ``TokenMizerSummarization``, a subclass of LangChain's ``SummarizationMiddleware``, with a
    ``TokenMizerSummarizer``. It summarizes when the thread fills 85 % of the window of ``model``.

    ``window``: the model's context window in tokens; by default that of the settings, the model's profile, or else the
    table of models of ``memory``. ``options`` are those of the middleware, such as ``trigger`` (in place of 85 % of the
    window) and ``keep``; ``keep=4`` is ``("messages", 4)``, ``trigger=900`` is ``("tokens", 900)``. Fewer messages stay
    where those of ``keep`` do not fit.

    Raises ``TypeError`` for any other option, and for a LangChain version without the ``summarizer`` option; and
    ``ValueError`` for ``trim_tokens_to_summarize``, which would remove text from the summary's input.
    """
    if "summarizer" not in inspect.signature(SummarizationMiddleware.__init__).parameters:
        raise TypeError("this langchain has no summarizer= in SummarizationMiddleware: 1.4.7 and newer do")
    _check_options(options)
    if options.setdefault("trim_tokens_to_summarize", None) is not None:
        raise ValueError("trim_tokens_to_summarize must be None: what it trims would be in no summary")
    summarizer = TokenMizerSummarizer(memory, session_id=session_id, tenant=tenant, budget=budget)
    for name, kind in (("keep", "messages"), ("trigger", "tokens")):
        if name in options:
            options[name] = _read_size(name, kind, options[name])
    filled = _trigger(model, summarizer.memory, window)
    options.setdefault("trigger", filled)
    limit = int(filled[1]) if window is not None else None
    return TokenMizerSummarization(model, summarizer, limit, **options)


def _read_size(name: str, kind: str, value: Any) -> Any:
    """Return the option ``name`` in the form that LangChain's middleware takes; a plain number is a number of ``kind``.
    Raises ``TypeError`` for anything else that is no size."""
    if isinstance(value, int) and not isinstance(value, bool):
        return kind, value
    if value is None or isinstance(value, bool | str | float):
        raise TypeError(f"{name} is a number of {kind}, or a pair such as ({kind!r}, 8), not {value!r}")
    return value


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
    """Return the messages of ``thread`` after the last message of ``replaced``; none if ``thread`` does not contain
    that message."""
    last = replaced[-1] if replaced else None
    for count, message in enumerate(reversed(thread)):
        if message is last or (last is not None and message.id is not None and message.id == last.id):
            return thread[len(thread) - count :]
    return ()


def _is_summary(message: BaseMessage) -> bool:
    return message.additional_kwargs.get("lc_source") == "summarization"
