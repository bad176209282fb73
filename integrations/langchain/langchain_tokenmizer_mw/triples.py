"""A session's facts as triples of LangChain's knowledge graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import search
from tokenmizer_mw.model.node import Node

FACTS_MAX: Final = 20
"""Facts that a text brings forward at most."""


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
        found = [_fact(node) for node in graph.nodes() if node.current]
        found += _relations(graph)
        return [(one.subject, one.object_, one.predicate) for one in found]

    def about(self, text: str) -> list[str]:
        """Return the labels of the facts that share words with ``text``, best first."""
        return [hit.node.label for hit in search(self._graph(), text, k=FACTS_MAX)]

    def triples(self, text: str) -> list[KnowledgeTriple]:
        """Return the current facts among these, as triples."""
        return [_fact(hit.node) for hit in search(self._graph(), text, k=FACTS_MAX) if hit.node.current]


def _fact(node: Node) -> KnowledgeTriple:
    if node.slot and node.value:
        return KnowledgeTriple(node.slot, "is", node.value)
    return KnowledgeTriple("session", f"{node.status.value} {node.type.value}", node.label)


def _relations(graph: SessionGraph) -> list[KnowledgeTriple]:
    relations = []
    for edge in graph.edges():
        source, target = graph.get(edge.source), graph.get(edge.target)
        if source is not None and target is not None and source.current and target.current:
            relations.append(KnowledgeTriple(source.label, edge.type.value, target.label))
    return relations
