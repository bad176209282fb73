"""The session graphs as a read-only LangGraph store for the nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from langchain_tokenmizer_mw.sessions import checked
from tokenmizer_mw.errors import InvalidSession, UnknownSession
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.model.event import node_to_dict
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.offload import CALLS, offload

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

SESSIONS_MAX: Final = 1_000
"""A search across all sessions reads at most this many, the most recently updated ones."""

Namespace = tuple[str, ...]


class TokenMizerStore(BaseStore):
    """A read-only view of session graphs: namespace ``(session id, node type)``, key: the node's id, value: the node.

    Pass it to ``graph.compile(store=TokenMizerStore(memory))``. In a node, ``store.search((thread_id,), query="...")``
    finds facts by their words, without embeddings, and ``store.search((thread_id, "decision"), filter={"status":
    "active"})`` finds those of a type. A value contains ``label``, ``type``, ``status``, ``current``, ``source`` and
    the node's other members.

    Writing raises ``NotImplementedError``: facts are derived from messages, not written with ``put``.
    """

    __slots__ = ("_memory", "_tenant")

    supports_ttl = False

    def __init__(self, memory: SessionMemory, *, tenant: str = LOCAL_TENANT) -> None:
        self._memory = checked(memory)
        self._tenant = tenant

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute read operations and return their results in order. Raises ``NotImplementedError`` if one of them
        writes, before any is executed."""
        given = list(ops)
        for op in given:
            if isinstance(op, PutOp):
                raise NotImplementedError("TokenMizerStore is read-only: facts come from what was said in a session")
        return [self._answer(op) for op in given]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async form of ``batch``, in a worker thread."""
        return await offload(partial(self.batch, list(ops)), CALLS)

    def _answer(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case _:
                raise ValueError(f"unknown operation: {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        if len(op.namespace) != 2:
            return None
        session, kind = op.namespace
        graph = self._graph(session)
        node = graph.get(op.key)
        return _item(graph, session, node) if node is not None and node.type.value == kind else None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found: list[SearchItem] = []
        for session in self._sessions(op.namespace_prefix):
            graph = self._graph(session)
            items = (_found(graph, session, node, score) for node, score in _ranked(graph, op.query))
            found += [item for item in items if _within(item.namespace, op.namespace_prefix) and _passes(item, op)]
        if op.query:
            found.sort(key=lambda item: -(item.score or 0.0))
        return found[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        known = {(session, node.type.value) for session in self._sessions(()) for node in self._graph(session).nodes()}
        matching = [one for one in known if all(_matches(rule, one) for rule in op.match_conditions or ())]
        cut = sorted({one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]

    def _sessions(self, prefix: Namespace) -> list[str]:
        if prefix:
            return [prefix[0]]
        return [info.key.id for info in self._memory.sessions(tenant=self._tenant)[:SESSIONS_MAX]]

    def _graph(self, session: str) -> SessionGraph:
        try:
            return self._memory.graph(session, tenant=self._tenant)
        except (UnknownSession, InvalidSession):
            return SessionGraph()


def _ranked(graph: SessionGraph, query: str | None) -> list[tuple[Node, float | None]]:
    if query:
        return [(hit.node, hit.score) for hit in search(graph, query, k=len(graph.nodes()) or 1)]
    return [(node, None) for node in graph.nodes()]


def _value(node: Node) -> dict[str, Any]:
    return node_to_dict(node) | {"current": node.current}


def _times(graph: SessionGraph, node: Node) -> tuple[datetime, datetime]:
    life = graph.life(node.id)
    last = life.moves[-1][0] if life.moves else life.added
    return datetime.fromtimestamp(life.added, UTC), datetime.fromtimestamp(max(last, life.added), UTC)


def _item(graph: SessionGraph, session: str, node: Node) -> Item:
    created, updated = _times(graph, node)
    place = (session, node.type.value)
    return Item(value=_value(node), key=node.id, namespace=place, created_at=created, updated_at=updated)


def _found(graph: SessionGraph, session: str, node: Node, score: float | None) -> SearchItem:
    created, updated = _times(graph, node)
    return SearchItem((session, node.type.value), node.id, _value(node), created, updated, score)


def _within(namespace: Namespace, prefix: Namespace) -> bool:
    return namespace[: len(prefix)] == prefix


_COMPARE: Final = {
    "$eq": lambda value, wanted: value == wanted,
    "$ne": lambda value, wanted: value != wanted,
    "$gt": lambda value, wanted: value > wanted,
    "$gte": lambda value, wanted: value >= wanted,
    "$lt": lambda value, wanted: value < wanted,
    "$lte": lambda value, wanted: value <= wanted,
}


def _passes(item: SearchItem, op: SearchOp) -> bool:
    return all(_holds(item.value.get(name), wanted) for name, wanted in (op.filter or {}).items())


def _holds(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    for name, operand in wanted.items():
        if name.startswith("$"):
            if name not in _COMPARE:
                raise ValueError(f"Unsupported operator: {name}")
            if value is None or not _COMPARE[name](value, operand):
                return False
        elif not isinstance(value, dict) or not _holds(value.get(name), operand):
            return False
    return True


def _matches(rule: MatchCondition, namespace: Namespace) -> bool:
    path: Sequence[str] = rule.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if rule.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", given) for wanted, given in zip(path, part, strict=True))
