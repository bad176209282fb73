"""Agent middleware: the thread stays as it is, the model sees a block of facts in the place of what is old."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ContextT, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage

from langchain_tokenmizer_mw.messages import chat, spoken
from langchain_tokenmizer_mw.overhead import Overhead
from langchain_tokenmizer_mw.prompt import question_in, shortened
from langchain_tokenmizer_mw.sessions import checked, private, running_session
from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.offload import CALLS, offload

if TYPE_CHECKING:
    from tokenmizer_mw.context.assembly import Shortened
    from tokenmizer_mw.memory import SessionMemory

Named = str | Callable[[ModelRequest[Any]], str]
"""A name, or what tells it for a model call, such as ``lambda request: request.runtime.context.user``."""

_TURNS_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class _Call:
    """A model call of a session. ``thread`` is the agent's whole chat."""

    session: str
    tenant: str
    request: ModelRequest[Any]
    thread: Sequence[BaseMessage]


class TokenMizerMiddleware(AgentMiddleware[AgentState[Any], ContextT, Any]):
    """Session memory for ``create_agent``.

    Every message of the thread is recorded in ``memory`` (``None``: one that ends with the process); the thread itself
    is never changed. When a model call would fill its window, the old messages give way to one message with what the
    session decided, did and left open, right behind the system prompt; from then on the prompt begins the same until
    the window fills again. Calls and results of tools stay together. What the newest question or result of a tool asks
    for and the cut took out comes back as a reminder behind it, in at most ``Settings.reminder_tokens`` tokens. A turn
    that fills the window by itself, with many calls of tools, loses its middle; the question stays. Where the settings
    switch compression on, old results of tools say less in the request before messages give way.

    The session is the thread id of the run, or ``session_id`` where that is given; a run with neither passes
    untouched and counts as "no_session". ``session_id`` and ``tenant`` may be functions of the request: agents that
    share a thread but not a chat, and users that share an agent but nothing else, are told apart by them. ``window`` is
    what the model takes in, in tokens: by default what the settings, the model's profile, or else the table of models
    say.

    Nothing of ours breaks a run, but for ``RequestBlocked`` where the settings let the guard refuse: when the store
    fails, the model gets the whole thread, and a counter and a line in the log say so. Put it before middleware that
    edits messages: what it records is the thread.
    """

    def __init__(
        self,
        memory: SessionMemory | None = None,
        *,
        session_id: Named | None = None,
        tenant: Named = LOCAL_TENANT,
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.memory = private() if memory is None else checked(memory)
        if window is not None:
            self.memory.settings.with_(context_window=window)
        self.session_id = session_id
        self.tenant = tenant
        self.window = window
        self._overhead = Overhead()
        self._turns: OrderedDict[tuple[str, str, str, tuple[int, ...]], str] = OrderedDict()
        self._lock = threading.Lock()

    def wrap_model_call(
        self, request: ModelRequest[ContextT], handler: Callable[[ModelRequest[ContextT]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model with the chat cut where that is due, and record what was said."""
        call = self._call(request)
        if call is None:
            return handler(request)
        shorter = self._cut(call)
        try:
            response = handler(shorter)
        except Exception:
            self._record(call)
            raise
        self._record(call, response)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """``wrap_model_call``, with the store asked off the event loop."""
        call = self._call(request)
        if call is None:
            return await handler(request)
        shorter = await offload(partial(self._cut, call), CALLS)
        try:
            response = await handler(shorter)
        except Exception:
            await offload(partial(self._record, call), CALLS)
            raise
        await offload(partial(self._record, call, response), CALLS)
        return response

    def _call(self, request: ModelRequest[Any]) -> _Call | None:
        session = running_session() if self.session_id is None else _named(self.session_id, request)
        tenant = _named(self.tenant, request)
        if session is None or not SessionKey(tenant, session).valid():
            self.memory.service.count("no_session" if session is None else "session_invalid")
            return None
        thread: Sequence[BaseMessage] = (request.state or {}).get("messages") or request.messages
        return _Call(session, tenant, request, thread)

    def _cut(self, call: _Call) -> ModelRequest[Any]:
        """The request as the model gets it."""
        request = call.request
        try:
            # Who stands before us may have emptied old results of tools: the same places, other words.
            planned = call.thread if len(call.thread) == len(request.messages) else request.messages
            cut = self.memory.shorten(
                call.session,
                chat(planned),
                model=_name(request.model),
                overhead=self._overhead.of(request),
                window=self._window(request.model),
                tenant=call.tenant,
            )
            if cut is None:
                return request
            cut = replace(cut, results=_unchanged(cut.results, planned, request.messages))
            return request.override(messages=shortened(request.messages, self._for_the_turn(call, cut)))
        except RequestBlocked:
            raise
        except Exception as error:
            self.memory.service.report_failure("cut_failed", error)
            return request

    def _record(self, call: _Call, response: object = None) -> None:
        try:
            said = chat([*call.thread, *_results(response)])
            self.memory.record(call.session, said, later=True, tenant=call.tenant)
        except Exception as error:
            self.memory.service.report_failure("record_failed", error)

    def _for_the_turn(self, call: _Call, cut: Shortened) -> Shortened:
        """``cut`` with the block that the turn began with: in all calls of a turn that drop the same messages it is the
        same, so that the prompt begins the same."""
        place = question_in(call.request.messages)
        question = spoken(call.request.messages[place]) if place is not None else Message(Role.USER)
        turn = (call.tenant, call.session, digest(question), _dropped(cut))
        with self._lock:
            block = self._turns.setdefault(turn, cut.block)
            if len(self._turns) > _TURNS_MAX:
                self._turns.popitem(last=False)
        return replace(cut, block=block)

    def _window(self, model: object) -> int | None:
        if self.window is not None or self.memory.settings.context_window is not None:
            return self.window
        profile = getattr(model, "profile", None) or {}
        taken = profile.get("max_input_tokens")
        return taken if isinstance(taken, int) and taken > 0 else None


def _named(name: Named, request: ModelRequest[Any]) -> str:
    return name(request) if callable(name) else name


def _unchanged(
    results: Mapping[int, tuple[str, ...]], planned: Sequence[BaseMessage], sent: Sequence[BaseMessage]
) -> dict[int, tuple[str, ...]]:
    """Those of ``results`` whose messages say in the request what they say in the chat that was planned with."""
    return {place: texts for place, texts in results.items() if planned[place].content == sent[place].content}


def _dropped(cut: Shortened) -> tuple[int, ...]:
    """Where the messages begin that ``cut`` keeps, and where they go on behind a gap."""
    return tuple(place for before, place in pairwise((-2, *cut.kept)) if place != before + 1)


def _name(model: object) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else ""


def _results(response: object) -> list[BaseMessage]:
    """The messages of whatever a handler may return."""
    if isinstance(response, BaseMessage):
        return [response]
    inner = getattr(response, "model_response", response)
    return list(getattr(inner, "result", ()))
