"""A graph as a JSON Canvas (specification 1.0, as Obsidian reads it): cards in groups by type, laid out and coloured.

The format has no place for data about a card, so all of it stands in the card's text.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Edge, EdgeType, Node

from .appearance import EDGES, STATUSES, TYPES
from .layout import Box, Lane, Layout, Measures, arrange
from .markup import markdown
from .selection import NODES_MAX, select_facts
from .text import fit_text, label_of, said_by, words_of

_CARDS: Final = Measures(width=340, height=210, gap=30, padding=30, heading=10, between=110)
"""Room for a label of four lines, or of two and a quotation, and for a line more where the font at hand is a wide one;
the name of a group stands above its border."""

_LABEL_WIDTH: Final = 66.0
_QUOTE_MAX: Final = 60


def canvas(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """The file's text. Files of this kind have no title: ``title`` is not used. At most ``most`` facts, the most
    important ones."""
    chosen = select_facts(graph, most)
    layout = arrange(chosen.nodes, chosen.steps, measures=_CARDS)
    groups = [_group(lane) for lane in layout.lanes]
    cards = [_card(node, layout) for node in chosen.nodes]
    edges = [_edge(place, edge, layout) for place, edge in enumerate(chosen.edges)]
    return json.dumps({"nodes": groups + cards, "edges": edges}, ensure_ascii=False, indent=1) + "\n"


def _group(lane: Lane) -> dict[str, Any]:
    look = TYPES[lane.type]
    label = f"{look.title} ({lane.count})"
    return {"id": f"group-{lane.type.value}", "type": "group", **_place(lane.box), "color": look.light, "label": label}


def _card(node: Node, layout: Layout) -> dict[str, Any]:
    return {
        "id": node.id,
        "type": "text",
        **_place(layout.boxes[node.id]),
        "color": TYPES[node.type].light,
        "text": _text(node),
    }


def _text(node: Node) -> str:
    """The label, what it is, and the words that it comes from where they fit."""
    look = STATUSES[node.status]
    label = markdown(fit_text(label_of(node), _LABEL_WIDTH))
    shown = label if node.current else f"~~{label}~~"
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    lines = [f"**{shown}**\\\n{look.mark} {kind}{look.word}, {markdown(said_by(node.source))}"]
    if len(label) < _QUOTE_MAX and node.source.quote and node.source.quote != node.label:
        lines.append(f"> {markdown(words_of(node.source.quote, _QUOTE_MAX))}")
    return "\n\n".join(lines)


def _edge(place: int, edge: Edge, layout: Layout) -> dict[str, Any]:
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    leaving, arriving = _sides(source, target)
    drawn = {
        "id": f"edge-{place + 1}",
        "fromNode": edge.source,
        "fromSide": leaving,
        "toNode": edge.target,
        "toSide": arriving,
        "label": EDGES[edge.type].word,
    }
    return drawn | ({"toEnd": "none"} if edge.type is EdgeType.RELATED_TO else {})


def _sides(source: Box, target: Box) -> tuple[str, str]:
    """From which side of a card to which of another a line goes."""
    if source.right <= target.x:
        return "right", "left"
    if target.right <= source.x:
        return "left", "right"
    return ("bottom", "top") if source.y <= target.y else ("top", "bottom")


def _place(box: Box) -> dict[str, int]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
