"""A graph as a Mermaid flowchart, for READMEs, issues and wikis: the part of it that Mermaid agrees to draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType

from .appearance import EDGES, STATUSES, TYPES
from .selection import NODES_MAX, Selection, select_facts
from .text import label_of, words_of

_TEXT_MAX: Final = 49_000
_EDGES_MAX: Final = 490
"""Mermaid draws nothing of a text beyond 50,000 characters, or with more than 500 relations."""

_LABEL_MAX: Final = 80

_PLAIN: Final = frozenset(" ,./-_+'()?!")
"""Marks that mean nothing inside the quotation marks of a label."""

# fmt: off
_SHAPES: Final[dict[NodeType, tuple[str, str]]] = {
    NodeType.GOAL: ("([", "])"), NodeType.DECISION: ("{{", "}}"), NodeType.TASK: ("[", "]"),
    NodeType.ERROR: (">", "]"), NodeType.TEST: ("[/", "/]"), NodeType.FILE: ("[[", "]]"),
    NodeType.ENDPOINT: ("[\\", "\\]"), NodeType.API: ("[/", "\\]"), NodeType.SCHEMA: ("[(", ")]"),
    NodeType.DEPENDENCY: ("[[", "]]"), NodeType.ENVIRONMENT: ("[\\", "/]"), NodeType.PROJECT: ("[", "]"),
    NodeType.CONCEPT: ("(", ")"), NodeType.AGENT: ("([", "])"),
}

_ARROWS: Final[dict[EdgeType, str]] = {
    EdgeType.SUPERSEDES: "==>", EdgeType.RELATED_TO: "-.-", EdgeType.PART_OF: "-.->",
}
# fmt: on


def mermaid(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """The flowchart as text. At most ``most`` facts and as many as Mermaid takes, the most important ones; a comment
    says how many were left out."""
    room = min(most, _EDGES_MAX)
    while True:
        chosen = select_facts(graph, room)
        text = "\n".join(_chart(chosen, words_of(title, _LABEL_MAX))) + "\n"
        if len(text) <= _TEXT_MAX or room <= 1:
            return text
        room = min(room - 1, room * _TEXT_MAX // len(text))


def _chart(chosen: Selection, title: str) -> Iterator[str]:
    yield "flowchart LR"
    if title:
        yield f"%% {quote_text(title)}"
    if chosen.left_out:
        yield f"%% {chosen.left_out} less important facts are left out"
    for type_, lane in chosen.by_type().items():
        yield f'subgraph {type_.value}_nodes["{TYPES[type_].title}"]'
        yield "direction LR"
        yield from map(_node, lane)
        yield "end"
    for edge in _select_edges(chosen):
        arrow = _ARROWS.get(edge.type, "-->")
        yield f'{_name(edge.source)} {arrow}|"{EDGES[edge.type].word}"| {_name(edge.target)}'
    yield from _classes(chosen)


def _select_edges(chosen: Selection) -> list[Edge]:
    """The relations that Mermaid takes; those that say least go first."""
    ranked = sorted(chosen.edges, key=lambda edge: list(EDGES).index(edge.type))[:_EDGES_MAX]
    kept = set(ranked)
    return [edge for edge in chosen.edges if edge in kept]


def _node(node: Node) -> str:
    before, behind = _SHAPES[node.type]
    look = STATUSES[node.status]
    label = quote_text(words_of(label_of(node), _LABEL_MAX))
    return f'{_name(node.id)}{before}"{label}<br>{look.word}, message {node.source.turn}"{behind}:::{node.status.value}'


def _name(id: str) -> str:
    """An id that no word of Mermaid's begins."""
    return f"n_{id.replace('-', '_')}"


def _classes(chosen: Selection) -> Iterator[str]:
    present = {node.status for node in chosen.nodes}
    for status, look in STATUSES.items():
        if status in present:
            dash = f",stroke-dasharray:{look.dash}" if look.dash else ""
            yield f"classDef {status.value} stroke-width:1.5px{dash}"


def quote_text(text: str) -> str:
    """One line of harmless text for between quotation marks: what could mean anything is a numbered entity."""
    return "".join(
        char if char in _PLAIN or char.isalnum() or not char.isascii() else f"#{ord(char)};" for char in text
    )
