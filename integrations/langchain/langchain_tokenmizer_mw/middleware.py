"""Agent middleware for LangChain: records the thread of a run and cuts prompts that would fill the model's window."""

from __future__ import annotations

import json
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
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_tokenmizer_mw.messages import chat, spoken
from langchain_tokenmizer_mw.prompt import question_in, shortened
from langchain_tokenmizer_mw.sessions import PLACES, checked, private, running_session
from tokenmizer_mw.errors import RequestBlocked
from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.offload import CALLS, offload

if TYPE_CHECKING:
    from tokenmizer_mw.context.assembly import Shortened
    from tokenmizer_mw.memory import SessionMemory

_TOOLS_MAX: Final = 512


class Overhead:
    """Returns the text of a model call besides its messages (system prompt and tool definitions), to count its tokens.
    The definition of each tool object is cached."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[object, str]] = OrderedDict()

    def of(self, request: ModelRequest[Any]) -> str:
        """Return the text of ``request`` besides its messages."""
        system = request.system_message.text if request.system_message is not None else ""
        return "\n".join([str(system), *map(self._definition, request.tools or ())])

    def _definition(self, tool: Any) -> str:
        known = self._known.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        definition = _tool_definition(tool)
        self._known[id(tool)] = (tool, definition)
        while len(self._known) > _TOOLS_MAX:
            self._known.popitem(last=False)
        return definition


def _tool_definition(tool: Any) -> str:
    try:
        return json.dumps(tool if isinstance(tool, dict) else convert_to_openai_tool(tool), default=str)
    except (TypeError, ValueError):
        return str(getattr(tool, "description", ""))


Named = str | Callable[[ModelRequest[Any]], str]
"""A session id or tenant, or a function that returns it for a model call, such as ``lambda request:
request.runtime.context.user``."""

_TURNS_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class _Call:
    """A model call of a session. ``thread``: all messages of the agent's chat; ``request`` may contain fewer or changed
    ones."""

    session: str
    tenant: str
    request: ModelRequest[Any]
    thread: Sequence[BaseMessage]


class TokenMizerMiddleware(AgentMiddleware[AgentState[Any], ContextT, Any]):
    """Session memory for ``create_agent``.

    Every message of the thread is recorded in ``memory`` (``None``: a memory that ends with the process); the thread
    itself is never changed. When a prompt would fill the model's window, the old messages are replaced by one message
    with the session's decisions, changes and open work, directly after the system prompt; from then on the prompt
    begins the same until the window fills again. Tool calls stay together with their results. What was cut and matches
    the newest question or tool result follows it as a reminder, in at most ``Settings.reminder_tokens`` tokens. If one
    turn with many tool calls fills the window, its middle is cut and its question stays. If the settings switch
    compression on, old tool results are shortened before messages are cut.

    The session is the run's thread id, or ``session_id`` if that is given; a run with neither passes unchanged and is
    counted as "no_session". ``session_id`` and ``tenant`` may be functions of the request, for agents that share a
    thread but not a chat, and for users that share an agent only. ``window``: the model's context window in tokens; by
    default that of the settings, the model's profile, or else the table of models.

    Failures never break a run, except ``RequestBlocked`` if the settings let the guard refuse requests: when the store
    fails, the model gets the whole thread, and a counter and a log line report it. Put it before middleware that edits
    messages, because it records the thread.
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
            self.memory.settings.with_window(window)
        self.session_id = session_id
        self.tenant = tenant
        self.window = window
        self._overhead = Overhead()
        self._turns: OrderedDict[tuple[str, str, str, tuple[int, ...]], str] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        named = "" if self.session_id is None else f", session_id={self.session_id!r}"
        return f"{type(self).__name__}({self.memory!r}{named}, tenant={self.tenant!r})"

    def wrap_model_call(
        self, request: ModelRequest[ContextT], handler: Callable[[ModelRequest[ContextT]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model with the transcript cut if necessary, and record prompt and reply."""
        call = self._call(request)
        if call is None:
            return handler(request)
        shorter = self._cut(call)
        try:
            response = handler(shorter)
        except (
            Exception
        ):  # whatever the model or its client raises: the question is recorded, the error stays the host's
            self._record(call)
            raise
        self._record(call, response)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Async form of ``wrap_model_call``; the store is used in a worker thread."""
        call = self._call(request)
        if call is None:
            return await handler(request)
        shorter = await offload(partial(self._cut, call), CALLS)
        try:
            response = await handler(shorter)
        except Exception:  # as above; a cancelled run waits for no store, and its next call records the thread
            await offload(partial(self._record, call), CALLS)
            raise
        await offload(partial(self._record, call, response), CALLS)
        return response

    def _call(self, request: ModelRequest[Any]) -> _Call | None:
        session = running_session() if self.session_id is None else _named(self.session_id, request)
        tenant = _named(self.tenant, request)
        if session is None or not SessionKey(tenant, session).valid():
            reason = "no_session" if session is None else "session_invalid"
            self.memory.service.count(reason, places=PLACES)
            return None
        thread: Sequence[BaseMessage] = (request.state or {}).get("messages") or request.messages
        return _Call(session, tenant, request, thread)

    def _cut(self, call: _Call) -> ModelRequest[Any]:
        """Return the request as the model gets it: cut if necessary; unchanged if that fails."""
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
        except Exception as error:  # of the store, of a foreign message or tool, or a bug of ours: the agent goes on
            self.memory.service.report_failure("cut_failed", error)
            return request

    def _record(self, call: _Call, response: object = None) -> None:
        try:
            content = chat([*call.thread, *_results(response)])
            self.memory.record(call.session, content, later=True, tenant=call.tenant)
        except Exception as error:  # as in _cut; counted and logged, and the next call sends the thread again
            self.memory.service.report_failure("record_failed", error)

    def _for_the_turn(self, call: _Call, cut: Shortened) -> Shortened:
        """Return ``cut`` with the block of the turn's first call. All calls of a turn that drop the same messages then
        have the same block, so that the prompt begins the same."""
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
    """Return those shortened tool results whose messages have the same content in the request (``sent``) as in the chat
    for which they were shortened (``planned``)."""
    return {place: texts for place, texts in results.items() if planned[place].content == sent[place].content}


def _dropped(cut: Shortened) -> tuple[int, ...]:
    """Return the indexes at which a run of kept messages begins. They are equal for cuts that drop the same
    messages."""
    return tuple(place for before, place in pairwise((-2, *cut.kept)) if place != before + 1)


def _name(model: object) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else ""


def _results(response: object) -> list[BaseMessage]:
    """Return the messages in whatever a handler may return; [] for anything without messages."""
    if isinstance(response, BaseMessage):
        return [response]
    inner = getattr(response, "model_response", response)
    return list(getattr(inner, "result", ()))
