"""A LangChain memory with the facts of a session, as text and as triples of LangChain's knowledge graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, NamedTuple, Self
from uuid import uuid4

from langchain_classic.memory.chat_memory import BaseChatMemory
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, PrivateAttr, model_validator

from langchain_tokenmizer_mw.history import TokenMizerChatMessageHistory
from langchain_tokenmizer_mw.messages import chat
from langchain_tokenmizer_mw.sessions import private
from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.offload import CALLS, offload

FACTS_MAX: Final = 20
"""At most this many facts are returned for a text."""


class KnowledgeTriple(NamedTuple):
    """A triple with the fields of ``langchain_community.graphs.networkx_graph.KnowledgeTriple``."""

    subject: str
    predicate: str
    object_: str


class Knowledge:
    """The interface of ``ConversationKGMemory.kg``, backed by a session's graph."""

    def __init__(self, graph: Callable[[], SessionGraph]) -> None:
        self._graph = graph

    def get_triples(self) -> list[tuple[str, str, str]]:
        """Return all current facts and relations as (subject, object, predicate), the order of LangChain's graphs."""
        graph = self._graph()
        found = [_fact_triple(node) for node in graph.nodes() if node.current]
        found += _relation_triples(graph)
        return [(one.subject, one.object_, one.predicate) for one in found]

    def about(self, text: str) -> list[str]:
        """Return the labels of the facts that share words with ``text``, best first."""
        return [hit.node.label for hit in search(self._graph(), text, k=FACTS_MAX)]

    def triples(self, text: str) -> list[KnowledgeTriple]:
        """Return the current facts that share words with ``text`` as triples, best first."""
        return [_fact_triple(hit.node) for hit in search(self._graph(), text, k=FACTS_MAX) if hit.node.current]


def _fact_triple(node: Node) -> KnowledgeTriple:
    if node.slot and node.value:
        return KnowledgeTriple(node.slot, "is", node.value)
    return KnowledgeTriple("session", f"{node.status.value} {node.type.value}", node.label)


def _relation_triples(graph: SessionGraph) -> list[KnowledgeTriple]:
    relations = []
    for edge in graph.edges():
        source, target = graph.get(edge.source), graph.get(edge.target)
        if source is not None and target is not None and source.current and target.current:
            relations.append(KnowledgeTriple(source.label, edge.type.value, target.label))
    return relations


UNUSED: Final = ("llm", "k", "kg", "knowledge_extraction_prompt", "entity_extraction_prompt")
"""Arguments of ``ConversationKGMemory`` that are accepted and have no effect."""


class TokenMizerMemory(BaseChatMemory):
    """Provides a session's decisions, changes and open work under ``memory_key``, in at most ``budget`` tokens.

    No model is called. Takes the arguments of ``ConversationKGMemory``; those in ``UNUSED`` and unknown ones have no
    effect and are reported once. Without ``memory`` the session lasts as long as this object, as in LangChain's
    classes; with ``memory`` and a ``session_id`` it survives restarts, and all objects with the same session share it.
    ``chat_memory`` may be a history of another class; its messages are recorded too.

    Facts that match the input come first. Matching messages that the facts do not cover follow as a reminder, in at
    most ``Settings.reminder_tokens`` more tokens. As text, both are delimited as data; ``return_messages`` gives one
    message of ``summary_message_cls``, or in the role that the settings name.
    """

    memory: SessionMemory = Field(default_factory=private, exclude=True, repr=False)
    session_id: str = Field(default_factory=lambda: uuid4().hex)
    tenant: str = LOCAL_TENANT
    budget: int = 300
    memory_key: str = "history"
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    summary_message_cls: type[BaseMessage] | None = None
    llm: Any = Field(default=None, exclude=True, repr=False)
    k: int | None = None
    kg: Any = Field(default=None, exclude=True, repr=False)
    knowledge_extraction_prompt: Any = Field(default=None, exclude=True, repr=False)
    entity_extraction_prompt: Any = Field(default=None, exclude=True, repr=False)
    _foreign: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _own_history(cls, values: Any) -> Any:
        """Use the session itself as ``chat_memory`` if none is given; if a ``TokenMizerChatMessageHistory`` is given,
        take memory, session and tenant from it."""
        if not isinstance(values, dict):
            return values
        if unknown := tuple(sorted(values.keys() - cls.model_fields.keys())):
            _say_once(unknown)
        given = values.get("chat_memory")
        if isinstance(given, TokenMizerChatMessageHistory):
            return values | {"memory": given.memory, "session_id": given.session_id, "tenant": given.tenant}
        if given is not None:
            return values
        memory = values.get("memory") or private()
        session, tenant = values.get("session_id") or uuid4().hex, values.get("tenant", LOCAL_TENANT)
        history = TokenMizerChatMessageHistory(session, memory, tenant=tenant)
        return values | {"memory": memory, "session_id": session, "chat_memory": history}

    @model_validator(mode="after")
    def _unused(self) -> Self:
        given = tuple(name for name in UNUSED if getattr(self, name) is not None)
        if given:
            _say_once(given)
        self._foreign = not isinstance(self.chat_memory, TokenMizerChatMessageHistory)
        self.kg = Knowledge(self._graph)
        return self

    @property
    def memory_variables(self) -> list[str]:
        """The key of the result of ``load_memory_variables``."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the session's facts, those that match ``inputs`` first; "" or [] for a session without facts."""
        self._take_over()
        return {self.memory_key: self._shown(self._known_about(self._asked(inputs)))}

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Async form of ``load_memory_variables``, in a worker thread."""
        await self._atake_over()
        text = await offload(partial(self._known_about, self._asked(inputs)), CALLS)
        return {self.memory_key: self._shown(text)}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Record an input and its output. Raises ``ValueError`` if there are several inputs or outputs and no key
        selects one."""
        super().save_context(inputs, outputs)
        self._take_over()

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Async form of ``save_context``, in a worker thread."""
        await super().asave_context(inputs, outputs)
        await self._atake_over()

    def clear(self) -> None:
        """Erase the session permanently."""
        super().clear()
        self.memory.forget(self.session_id, tenant=self.tenant)

    async def aclear(self) -> None:
        """Async form of ``clear``, in a worker thread."""
        await super().aclear()
        await self.memory.aforget(self.session_id, tenant=self.tenant)

    def get_current_entities(self, input_string: str) -> list[str]:
        """Return the labels of the facts that share words with ``input_string``, best first. Calls no model."""
        return self.kg.about(input_string)  # type: ignore[no-any-return]

    def get_knowledge_triplets(self, input_string: str) -> list[KnowledgeTriple]:
        """Return the current facts that share words with ``input_string``, as triples. Calls no model."""
        return self.kg.triples(input_string)  # type: ignore[no-any-return]

    def _known_about(self, question: str | None) -> str:
        """The resume block, followed by what it leaves out about ``question``; "" for a session without facts."""
        try:
            resume = self.memory.resume(self.session_id, budget=self.budget, query=question, tenant=self.tenant)
            reminder = self.memory.remind(self.session_id, question or "", beside=resume, tenant=self.tenant)
        except UnknownSession:
            return ""
        return "\n\n".join(filter(None, (resume.text, reminder.text)))

    def _graph(self) -> SessionGraph:
        try:
            return self.memory.graph(self.session_id, tenant=self.tenant)
        except UnknownSession:
            return SessionGraph()

    def _asked(self, inputs: dict[str, Any]) -> str | None:
        key = self.input_key
        named = [name for name in inputs if name not in (*self.memory_variables, "stop")]
        content = inputs.get(key) if key is not None else inputs[named[0]] if len(named) == 1 else None
        return content if isinstance(content, str) else None

    def _shown(self, text: str) -> Any:
        if not self.return_messages:
            return text
        role = HumanMessage if self.memory.settings.block_role == "user" else SystemMessage
        return [(self.summary_message_cls or role)(content=text)] if text else []

    def _take_over(self) -> None:
        """Record the messages of a ``chat_memory`` of another class in the session."""
        if self._foreign and (messages := self.chat_memory.messages):
            self.memory.record(self.session_id, chat(messages), tenant=self.tenant)

    async def _atake_over(self) -> None:
        if self._foreign and (messages := await self.chat_memory.aget_messages()):
            await self.memory.arecord(self.session_id, chat(messages), tenant=self.tenant)


@cache
def _say_once(names: tuple[str, ...]) -> None:
    listed = ", ".join(names)
    warnings.warn(f"TokenMizerMemory calls no model: {listed} are accepted and do nothing", UserWarning, stacklevel=2)
