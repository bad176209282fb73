"""A graph as GraphML, for Gephi, yEd, NetworkX and the like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Edge, Node

from .layout import Layout, arrange
from .selection import NODES_MAX, Selection, selected
from .text import label_of, words_of

_NODE: Final = {
    "label": "string",
    "type": "string",
    "status": "string",
    "kind": "string",
    "detail": "string",
    "quote": "string",
    "role": "string",
    "turn": "int",
    "confidence": "double",
    "importance": "double",
    "valid_from": "double",
    "valid_until": "double",
    "x": "int",
    "y": "int",
}
_EDGE: Final = {"relation": "string", "since": "int", "reason": "string"}


def graphml(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """The document as text: a directed graph, attributes typed, empty ones left out; ``title`` is its description. At
    most ``most`` facts, the most important ones."""
    chosen = selected(graph, most)
    return "\n".join(_document(chosen, arrange(chosen.nodes, chosen.steps), words_of(title))) + "\n"


def _document(chosen: Selection, layout: Layout, title: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for about, names in (("node", _NODE), ("edge", _EDGE)):
        for name, type_ in names.items():
            yield f'<key id="{about}-{name}" for="{about}" attr.name="{name}" attr.type="{type_}"/>'
    yield '<graph id="session" edgedefault="directed">'
    if title:
        yield f"<desc>{escape(title)}</desc>"
    for node in chosen.nodes:
        yield f"<node id={quoteattr(node.id)}>{_data('node', _about(node, chosen, layout))}</node>"
    reasons = {(step.new, step.old): step.reason for step in chosen.steps}
    for place, edge in enumerate(chosen.edges):
        ends = f"source={quoteattr(edge.source)} target={quoteattr(edge.target)}"
        reason = reasons.get((edge.source, edge.target), "") if edge.type.value == "supersedes" else ""
        yield f'<edge id="edge-{place + 1}" {ends}>{_data("edge", _between(edge, reason))}</edge>'
    yield "</graph>"
    yield "</graphml>"


def _about(node: Node, chosen: Selection, layout: Layout) -> dict[str, Any]:
    box = layout.boxes[node.id]
    return {
        "label": label_of(node),
        "type": node.type.value,
        "status": node.status.value,
        "kind": node.kind.value if node.kind is not None else "",
        "detail": words_of(node.detail),
        "quote": words_of(node.source.quote),
        "role": words_of(node.source.role),
        "turn": node.source.turn,
        "confidence": round(node.confidence, 4),
        "importance": chosen.weights[node.id],
        "valid_from": node.valid_from,
        "valid_until": node.valid_until,
        "x": box.x,
        "y": box.y,
    }


def _between(edge: Edge, reason: str) -> dict[str, Any]:
    return {"relation": edge.type.value, "since": edge.turn, "reason": words_of(reason)}


def _data(about: str, values: dict[str, Any]) -> str:
    told = ((name, value) for name, value in values.items() if value not in ("", None))
    return "".join(f'<data key="{about}-{name}">{escape(str(value))}</data>' for name, value in told)
