"""The read-only store of the sessions' graphs, under a real graph of LangGraph too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_tokenmizer_mw import TokenMizerStore
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, SearchOp
from langgraph.store.memory import InMemoryStore

from tokenmizer_mw import SessionMemory

CHATS = {
    "one": ["Use SQLite for storage in the invoice service.", "Never push to main without review."],
    "two": ["Use Redis for the cache of the shop."],
}


@pytest.fixture
def ours(memory: SessionMemory) -> TokenMizerStore:
    for session, said in CHATS.items():
        for text in said:
            chat = [{"role": "user", "content": text}, {"role": "assistant", "content": "Understood."}]
            memory.record(session, [*_known(memory, session), *chat])
    return TokenMizerStore(memory)


def _known(memory: SessionMemory, session: str) -> list[Any]:
    return [one.message for one in memory.messages(session)]


@pytest.fixture(params=["stock", "ours"])
def store(request: pytest.FixtureRequest, ours: TokenMizerStore) -> BaseStore:
    """Ours, and a stock store with the same items."""
    if request.param == "ours":
        return ours
    stock = InMemoryStore()
    for item in ours.search((), limit=100):
        stock.put(item.namespace, item.key, item.value)
    return stock


# -- what every store must do when it is read --------------------------------------------------------------------


def gets(store: BaseStore) -> None:
    found = store.search(("one", "decision"))[0]
    item = store.get(("one", "decision"), found.key)
    assert item is not None
    assert (item.key, item.namespace, item.value) == (found.key, ("one", "decision"), found.value)
    assert isinstance(item.created_at, datetime)


def misses(store: BaseStore) -> None:
    assert store.get(("one", "decision"), "no such key") is None
    assert store.get(("no such session", "decision"), "x") is None
    assert store.get(("one",), "x") is None
    assert store.search(("no such session",)) == []


def searches_by_prefix(store: BaseStore) -> None:
    assert {item.namespace[0] for item in store.search((), limit=100)} == {"one", "two"}
    assert {item.namespace[0] for item in store.search(("one",), limit=100)} == {"one"}
    assert {item.namespace for item in store.search(("one", "decision"), limit=100)} == {("one", "decision")}


def filters(store: BaseStore) -> None:
    active = store.search(("one",), filter={"status": "active"}, limit=100)
    assert active
    assert all(item.value["status"] == "active" for item in active)
    assert store.search(("one",), filter={"status": {"$ne": "active"}, "type": "decision"}) == []
    assert store.search(("one",), filter={"status": "active", "label": "no such"}) == []
    assert len(store.search((), filter={"confidence": {"$gte": 0.1}}, limit=100)) == len(store.search((), limit=100))


def limits(store: BaseStore) -> None:
    everything = [item.key for item in store.search((), limit=100)]
    assert len(store.search((), limit=1)) == 1
    assert len(store.search((), limit=100, offset=1)) == len(everything) - 1


def lists_namespaces(store: BaseStore) -> None:
    assert ("two", "decision") in store.list_namespaces()
    assert store.list_namespaces(max_depth=1) == [("one",), ("two",)]
    assert {namespace[0] for namespace in store.list_namespaces(prefix=("one",))} == {"one"}
    assert store.list_namespaces(suffix=("decision",)) == [("one", "decision"), ("two", "decision")]
    assert store.list_namespaces(prefix=("*", "decision")) == [("one", "decision"), ("two", "decision")]
    assert store.list_namespaces(prefix=("a", "b", "c")) == []
    assert len(store.list_namespaces(limit=1, offset=1)) == 1


def batches(store: BaseStore) -> None:
    ops: list[Any] = [GetOp(("one", "decision"), "x"), SearchOp(("two",)), ListNamespacesOp(max_depth=1)]
    nothing, found, namespaces = store.batch(ops)
    assert nothing is None
    assert {item.namespace[0] for item in found} == {"two"}
    assert namespaces == [("one",), ("two",)]
    assert store.batch([]) == []


def is_async(store: BaseStore) -> None:
    async def run() -> Any:
        return await store.asearch(("one",), limit=100), await store.alist_namespaces(max_depth=1)

    found, namespaces = asyncio.run(run())
    assert [item.key for item in found] == [item.key for item in store.search(("one",), limit=100)]
    assert namespaces == [("one",), ("two",)]


def refuses_unknown_operators(store: BaseStore) -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator|\$near"):
        store.search(("one",), filter={"label": {"$near": "x"}})


MUST = [
    gets,
    misses,
    searches_by_prefix,
    filters,
    limits,
    lists_namespaces,
    batches,
    is_async,
    refuses_unknown_operators,
]


@pytest.mark.parametrize("check", MUST, ids=lambda check: check.__name__)
def test_must(store: BaseStore, check: Callable[[BaseStore], None]) -> None:
    check(store)


# -- what only ours does -----------------------------------------------------------------------------------------


def test_facts_are_found_by_their_words(ours: TokenMizerStore) -> None:
    best = ours.search((), query="which cache does the shop use?", limit=3)[0]
    assert best.namespace[0] == "two"
    assert "Redis" in best.value["label"]
    assert best.score is not None


def test_the_best_of_all_sessions_comes_first(ours: TokenMizerStore) -> None:
    found = ours.search((), query="SQLite for storage in the invoice service, or Redis?", limit=5)
    scores = [item.score or 0.0 for item in found]
    assert scores == sorted(scores, reverse=True)
    assert [item.namespace[0] for item in found] == ["one", "two"]


def test_a_replaced_value_is_not_current(ours: TokenMizerStore, memory: SessionMemory) -> None:
    switch = {"role": "user", "content": "Switch from SQLite to PostgreSQL because of concurrent writes."}
    memory.record("one", [*_known(memory, "one"), switch])
    current = ours.search(("one", "decision"), filter={"current": True}, limit=100)
    labels = " | ".join(item.value["label"] for item in current)
    assert "PostgreSQL" in labels
    old = next(item for item in ours.search(("one", "decision"), limit=100) if item.value["status"] == "superseded")
    assert old.updated_at >= old.created_at
    assert old.created_at.tzinfo is UTC


@pytest.mark.parametrize("write", ["put", "delete"])
def test_writing_is_refused_and_changes_nothing(ours: TokenMizerStore, write: str) -> None:
    before = ours.search((), limit=100)
    with pytest.raises(NotImplementedError, match="read-only"):
        if write == "put":
            ours.put(("one", "decision"), "k", {"label": "x"})
        else:
            ours.delete(("one", "decision"), before[0].key)
    with pytest.raises(InvalidNamespaceError):
        ours.put(("", "x"), "k", {})
    assert [item.key for item in ours.search((), limit=100)] == [item.key for item in before]


def test_another_tenant_sees_nothing(ours: TokenMizerStore, memory: SessionMemory) -> None:
    other = TokenMizerStore(memory, tenant="other")
    assert other.search((), limit=100) == other.search(("one",)) == other.list_namespaces() == []


def test_nodes_of_a_graph_read_it(scripted: Any, ours: TokenMizerStore) -> None:
    from langgraph.graph import START, MessagesState, StateGraph

    def node(state: MessagesState, *, store: BaseStore) -> Any:
        facts = store.search(("one",), query=state["messages"][-1].text)
        return {"messages": [("ai", facts[0].value["label"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", node)
    graph.add_edge(START, "answer")
    compiled = graph.compile(store=ours)
    told = {"messages": [("human", "Which storage does the invoice service use?")]}
    assert "SQLite" in compiled.invoke(told)["messages"][-1].text
    assert "SQLite" in asyncio.run(compiled.ainvoke(told))["messages"][-1].text


def test_what_is_no_operation_is_refused(ours: TokenMizerStore) -> None:
    wrong: Any = "get"
    with pytest.raises(ValueError, match="unknown operation: str"):
        ours.batch([wrong])
