"""The table of export formats of a graph, and the functions that write files for other programs: JSON Canvas
(specification 1.0, as Obsidian reads it), JSON for D3, and Mermaid flowcharts.

JSON Canvas has no fields for data about a card, so all data is in the card's text. Mermaid refuses large texts, so it
gets only the part of the graph that it can draw.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.export.appearance import EDGES, STATUSES, TYPES, name_relation, name_status
from tokenmizer_mw.graph.export.documents import markdown_text
from tokenmizer_mw.graph.export.layout import Box, Lane, Layout, Measures, arrange
from tokenmizer_mw.graph.export.page import html_page
from tokenmizer_mw.graph.export.selection import NODES_MAX, Selection, select_facts
from tokenmizer_mw.graph.export.text import escape_markdown, fit_text, label_of, speaker_of, words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Transition

_CARDS: Final = Measures(width=340, height=210, gap=30, padding=30, heading=10, between=110)
"""Sizes of cards on a canvas: they have room for a label of four lines, or of two and a quotation, and for one line
more in a wide font. The name of a group stands above its border."""

_LABEL_WIDTH: Final = 66.0
_QUOTE_MAX: Final = 60


def canvas(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """Return the graph as the text of a JSON Canvas file, with at most ``most`` facts, the most important ones.
    ``title`` is not used, because the format has no title."""
    chosen = select_facts(graph, most)
    layout = arrange(chosen.nodes, chosen.steps, measures=_CARDS)
    groups = [_group(lane) for lane in layout.lanes]
    cards = [_card(node, layout) for node in chosen.nodes]
    words = _name_relations(chosen)
    edges = [_edge(place, edge, word, layout) for place, (edge, word) in enumerate(words.items())]
    return json.dumps({"nodes": groups + cards, "edges": edges}, ensure_ascii=False, indent=1) + "\n"


def _name_relations(chosen: Selection) -> dict[Edge, str]:
    """Return the relations of an export in order, each with the verb that names it, such as "replaces"."""
    nodes = {node.id: node for node in chosen.nodes}
    return {edge: name_relation(edge, nodes[edge.source]) for edge in chosen.edges}


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
    """Return the text of a card: the label, type and status of a fact, and its quote if that fits."""
    label = escape_markdown(fit_text(label_of(node), _LABEL_WIDTH))
    shown = label if node.current else f"~~{label}~~"
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    status = f"{STATUSES[node.status].mark} {kind}{name_status(node)}"
    lines = [f"**{shown}**\\\n{status}, {escape_markdown(speaker_of(node.source))}"]
    if len(label) < _QUOTE_MAX and node.source.quote and node.source.quote != node.label:
        lines.append(f"> {escape_markdown(words_of(node.source.quote, _QUOTE_MAX))}")
    return "\n\n".join(lines)


def _edge(place: int, edge: Edge, word: str, layout: Layout) -> dict[str, Any]:
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    leaving, arriving = _sides(source, target)
    drawn = {
        "id": f"edge-{place + 1}",
        "fromNode": edge.source,
        "fromSide": leaving,
        "toNode": edge.target,
        "toSide": arriving,
        "label": word,
    }
    return drawn | ({"toEnd": "none"} if edge.type is EdgeType.RELATED_TO else {})


def _sides(source: Box, target: Box) -> tuple[str, str]:
    """Return the sides of two cards (such as "right" and "left") at which a line leaves the first and reaches the
    second."""
    if source.right <= target.x:
        return "right", "left"
    if target.right <= source.x:
        return "left", "right"
    return ("bottom", "top") if source.y <= target.y else ("top", "bottom")


def _place(box: Box) -> dict[str, int]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}


_SMALLEST: Final = 5.0
_LARGEST: Final = 20.0
"""Radius of a node, in pixels."""

_STRONG: Final = frozenset({EdgeType.SUPERSEDES, EdgeType.DEPENDS_ON, EdgeType.BLOCKS})


def d3(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """Return the graph as JSON text for D3: an object with "title", "nodes", "links", "transitions" and "left_out". At
    most ``most`` facts, the most important ones.

    - A node has ``id``, ``group`` (its type), ``label``, ``status``, ``turn`` (number of the message that states it),
      ``color`` by type (``color_dark`` for dark backgrounds), ``importance`` (above 0 and at most 1), ``size`` (a
      radius in pixels) by importance, ``opacity`` by status, and a position (``x``, ``y``, in pixels) that does not
      overlap another's; ``kind``, ``detail``, ``quote``, ``role``, ``confidence``, ``valid_from`` and ``valid_until``
      if they are set.
    - A link has ``source``, ``target``, ``type``, ``label`` ("depends on"), ``value`` (its strength, 1 or 2) and
      ``turn``.
    - A transition has ``old``, ``new``, ``turn``, and ``reason`` if there is one.
    - ``left_out``: number of facts beyond ``most``.
    """
    chosen = select_facts(graph, most)
    layout = arrange(chosen.nodes, chosen.steps)
    fields = {
        "title": words_of(title),
        "nodes": [_d3_node(node, chosen, layout) for node in chosen.nodes],
        "links": [
            {
                "source": edge.source,
                "target": edge.target,
                "type": edge.type.value,
                "label": word,
                "value": 2 if edge.type in _STRONG else 1,
                "turn": edge.turn,
            }
            for edge, word in _name_relations(chosen).items()
        ],
        "transitions": [_transition(step) for step in chosen.steps],
        "left_out": chosen.left_out,
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def _d3_node(node: Node, chosen: Selection, layout: Layout) -> dict[str, Any]:
    look, box = TYPES[node.type], layout.boxes[node.id]
    fields: dict[str, Any] = {
        "id": node.id,
        "group": node.type.value,
        "label": label_of(node),
        "status": node.status.value,
        "turn": node.source.turn,
        "importance": chosen.weights[node.id],
        "size": round(_SMALLEST + (_LARGEST - _SMALLEST) * chosen.weights[node.id], 1),
        "color": look.light,
        "color_dark": look.dark,
        "opacity": STATUSES[node.status].opacity,
        "x": box.x + box.width // 2,
        "y": box.y + box.height // 2,
    }
    more: dict[str, Any] = {
        "kind": node.kind.value if node.kind is not None else "",
        "detail": words_of(node.detail),
        "quote": words_of(node.source.quote),
        "role": words_of(node.source.role),
        "confidence": round(node.confidence, 4),
        "valid_from": node.valid_from,
        "valid_until": node.valid_until,
    }
    return fields | {name: value for name, value in more.items() if value not in ("", None)}


def _transition(step: Transition) -> dict[str, Any]:
    fields = {"old": step.old, "new": step.new, "turn": step.trigger}
    return fields | ({"reason": words_of(step.reason)} if step.reason else {})


_TEXT_MAX: Final = 49_000
_EDGES_MAX: Final = 490
"""Mermaid draws nothing of a text beyond 50,000 characters, or with more than 500 relations."""

_LABEL_MAX: Final = 80

_PLAIN: Final = frozenset(" ,./-_+'()?!")
"""Characters that have no special meaning inside the quotation marks of a Mermaid label."""

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
    """Return the graph as a Mermaid flowchart. It has at most ``most`` facts, the most important ones, and no more than
    Mermaid accepts; a comment gives the number of facts left out."""
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
        yield from map(_mermaid_node, lane)
        yield "end"
    words = _name_relations(chosen)
    for edge in _select_edges(chosen):
        arrow = _ARROWS.get(edge.type, "-->")
        yield f'{_name(edge.source)} {arrow}|"{words[edge]}"| {_name(edge.target)}'
    yield from _classes(chosen)


def _select_edges(chosen: Selection) -> list[Edge]:
    """Return as many relations as Mermaid accepts; the kinds that tell least are left out first."""
    ranked = sorted(chosen.edges, key=lambda edge: list(EDGES).index(edge.type))[:_EDGES_MAX]
    kept = set(ranked)
    return [edge for edge in chosen.edges if edge in kept]


def _mermaid_node(node: Node) -> str:
    before, behind = _SHAPES[node.type]
    label = quote_text(words_of(label_of(node), _LABEL_MAX))
    text = f"{label}<br>{name_status(node)}, {node.source.place}"
    return f'{_name(node.id)}{before}"{text}"{behind}:::{node.status.value}'


def _name(id: str) -> str:
    """Return the name of a node in the chart: its id with a prefix, so that it does not begin with a keyword of
    Mermaid."""
    return f"n_{id.replace('-', '_')}"


def _classes(chosen: Selection) -> Iterator[str]:
    present = {node.status for node in chosen.nodes}
    for status, look in STATUSES.items():
        if status in present:
            dash = f",stroke-dasharray:{look.dash}" if look.dash else ""
            yield f"classDef {status.value} stroke-width:1.5px{dash}"


def quote_text(text: str) -> str:
    """Return ``text`` (one line) for use between quotation marks in Mermaid: ASCII characters that could have a meaning
    there become numbered entities such as "#34;"."""
    return "".join(
        char if char in _PLAIN or char.isalnum() or not char.isascii() else f"#{ord(char)};" for char in text
    )


class Write(Protocol):
    """A function that converts a graph to the text of a file."""

    def __call__(self, graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
        """Return ``graph`` as the text of a file, with at most ``most`` facts. ``title``: the name of the session, ""
        for none."""


@dataclass(frozen=True, slots=True)
class Format:
    """An export format.

    - ``write``: converts a graph to the text of a file.
    - ``suffix``: file ending with its dot, such as ".md".
    - ``media_type``: for HTTP.
    - ``about``: description in one line, for people.
    """

    write: Write
    suffix: str
    media_type: str
    about: str


FORMATS: Final[dict[str, Format]] = {
    "html": Format(html_page, ".html", "text/html; charset=utf-8", "a page that opens in any browser"),
    "markdown": Format(markdown_text, ".md", "text/markdown; charset=utf-8", "a document to read"),
    "d3": Format(d3, ".json", "application/json", "nodes and links as JSON"),
    "canvas": Format(canvas, ".canvas", "application/json", "a JSON Canvas, for Obsidian"),
    "mermaid": Format(mermaid, ".mmd", "text/plain; charset=utf-8", "a Mermaid flowchart"),
}


def format_named(name: str) -> Format:
    """Return the format with this name ("markdown"), or whose file ending it is, without the dot ("md"). Raises
    ``CallerError`` if there is none."""
    found = FORMATS.get(name) or next((one for one in FORMATS.values() if one.suffix == f".{name}"), None)
    if found is None:
        raise CallerError(f"unknown format {name[:40]!r}: one of {', '.join(FORMATS)}")
    return found
