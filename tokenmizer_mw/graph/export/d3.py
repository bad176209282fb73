"""A graph as the JSON that D3's examples read: nodes and links, with looks and places for those who want them."""

from __future__ import annotations

import json
from typing import Any, Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import EdgeType, Node, Transition

from .appearance import EDGES, STATUSES, TYPES
from .layout import Layout, arrange
from .selection import NODES_MAX, Selection, select_facts
from .text import label_of, words_of

_SMALLEST: Final = 5.0
_LARGEST: Final = 20.0
"""Radius of a node, in pixels."""

_STRONG: Final = frozenset({EdgeType.SUPERSEDES, EdgeType.DEPENDS_ON, EdgeType.BLOCKS})


def d3(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """``{"title", "nodes", "links", "transitions", "left_out"}`` as text.

    A node has ``id``, ``group`` (its type), ``label``, ``status``, ``turn``, ``color`` by type (``color_dark`` on a
    dark ground), ``size`` (a radius in pixels) by importance, ``opacity`` by status, and a place (``x``, ``y``) that
    does not overlap another's; ``kind``, ``detail``, ``quote``, ``role`` and ``confidence`` where there are any. A link
    has ``source``, ``target``, ``type``, ``value`` (how strong it is) and ``turn``. ``left_out`` counts what ``most``
    cut off.
    """
    chosen = select_facts(graph, most)
    layout = arrange(chosen.nodes, chosen.steps)
    told = {
        "title": words_of(title),
        "nodes": [_node(node, chosen, layout) for node in chosen.nodes],
        "links": [
            {
                "source": edge.source,
                "target": edge.target,
                "type": edge.type.value,
                "label": EDGES[edge.type].word,
                "value": 2 if edge.type in _STRONG else 1,
                "turn": edge.turn,
            }
            for edge in chosen.edges
        ],
        "transitions": [_transition(step) for step in chosen.steps],
        "left_out": chosen.left_out,
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"


def _node(node: Node, chosen: Selection, layout: Layout) -> dict[str, Any]:
    look, box = TYPES[node.type], layout.boxes[node.id]
    told: dict[str, Any] = {
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
    return told | {name: value for name, value in more.items() if value not in ("", None)}


def _transition(step: Transition) -> dict[str, Any]:
    told = {"old": step.old, "new": step.new, "turn": step.trigger}
    return told | ({"reason": words_of(step.reason)} if step.reason else {})
