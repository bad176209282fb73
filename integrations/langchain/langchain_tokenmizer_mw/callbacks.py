"""A callback handler that records the prompts and replies of chat models. It only observes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from langchain_tokenmizer_mw.messages import chat
from langchain_tokenmizer_mw.sessions import HANDLER_PLACES, checked, running_session
from tokenmizer_mw.model.session import LOCAL_TENANT

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

RUNS_MAX: Final = 1_000
"""The messages of at most this many running calls are held until the reply arrives; of older calls only the prompt is
recorded."""


class TokenMizerCallbackHandler(BaseCallbackHandler):
    """Records the chats of existing chains: ``chain.invoke(..., config={"callbacks": [handler]})``.

    A prompt is recorded when the call starts, the reply when it ends; tool results are part of the next call's
    messages. The session is ``session_id``, else the thread or session id in the run's metadata or configurable; a run
    without one is not recorded and counted as "no_session". If a model is called outside of a chain, only ``metadata``
    reaches the handler. LangChain logs exceptions of the handler and continues.
    """

    def __init__(self, memory: SessionMemory, *, session_id: str | None = None, tenant: str = LOCAL_TENANT) -> None:
        self.memory = checked(memory)
        self.session_id = session_id
        self.tenant = tenant
        self._runs: OrderedDict[UUID, tuple[str, list[BaseMessage]]] = OrderedDict()
        self._lock = threading.Lock()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Record the prompt of a chat model, ``messages[0]``."""
        self._asked(run_id, list(messages[0]) if messages else [], metadata)

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Record the prompt of a text completion model, ``prompts[0]``."""
        self._asked(run_id, [HumanMessage(prompt) for prompt in prompts[:1]], metadata)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Record the reply."""
        with self._lock:
            known = self._runs.pop(run_id, None)
        first = next((some[0] for some in response.generations if some), None)
        if known is None or first is None:
            return
        session, messages = known
        self.memory.record(session, chat([*messages, _answer(first)]), later=True, tenant=self.tenant)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """End a call without a reply; its prompt stays recorded."""
        with self._lock:
            self._runs.pop(run_id, None)

    def _asked(self, run_id: UUID, messages: list[BaseMessage], metadata: dict[str, Any] | None) -> None:
        session = self.session_id if self.session_id is not None else running_session(metadata)
        if session is None:
            self.memory.service.count("no_session", places=HANDLER_PLACES)
            return
        with self._lock:
            self._runs[run_id] = session, messages
            while len(self._runs) > RUNS_MAX:
                self._runs.popitem(last=False)
        self.memory.record(session, chat(messages), later=True, tenant=self.tenant)


def _answer(generation: Generation) -> BaseMessage:
    return generation.message if isinstance(generation, ChatGeneration) else AIMessage(generation.text)
