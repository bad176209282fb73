from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tokenmizer_mw.context.tokens import TokenCounter, counter_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import NodeAdded
from tokenmizer_mw.model.node import Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for

Row = tuple[NodeType, str, Status, int, dict[str, Any]]
GraphOf = Callable[[Iterable[Row]], SessionGraph]


def _graph_of(rows: Iterable[Row]) -> SessionGraph:
    graph = SessionGraph()
    for type_, label, status, turn, more in rows:
        graph.apply(NodeAdded(Node(graph.next_id(type_), type_, label, status, Source(turn, "user"), **more)))
    return graph


@pytest.fixture(scope="session")
def graph_of() -> GraphOf:
    return _graph_of


@pytest.fixture(scope="session")
def nonce() -> str:
    return nonce_for(b"secret", SessionKey("local", "s"), "checkpoint-1")


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    return counter_for("gpt-4o")
