"""The importance of facts, computed at a message and never stored."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Final

from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType

_TYPE_WEIGHT: Final[dict[NodeType, float]] = {
    NodeType.GOAL: 1.0, NodeType.DECISION: 0.9, NodeType.ERROR: 0.8, NodeType.TASK: 0.7, NodeType.SCHEMA: 0.6,
    NodeType.ENDPOINT: 0.6, NodeType.API: 0.6, NodeType.FILE: 0.5, NodeType.DEPENDENCY: 0.5, NodeType.ENVIRONMENT: 0.5,
    NodeType.TEST: 0.5, NodeType.PROJECT: 0.4, NodeType.CONCEPT: 0.3, NodeType.AGENT: 0.3,
}  # fmt: skip

HALF_LIFE: Final = 40
"""Messages after which the part of a fact's importance that is due to recency has halved."""


def importances(graph: SessionGraph, message: int = 0) -> dict[str, float]:
    """Return the importance of each node at the message with the number ``message`` (0: the last one that mentioned a
    node), by id. Positive numbers.

    It grows with the weight of the type, with references (edges and repeated mentions) and recency, and shrinks with
    doubt. Standing rules do not age.
    """
    lives = {node.id: graph.life(node.id) for node in graph.nodes()}
    now = message or max((life.touched for life in lives.values()), default=0)
    degree: defaultdict[str, int] = defaultdict(int)
    for edge in graph.edges():
        degree[edge.source] += 1
        degree[edge.target] += 1
    return {node.id: _importance(node, lives[node.id], degree[node.id], now) for node in graph.nodes()}


def _importance(node: Node, life: Life, edges: int, now: int) -> float:
    references = 1.0 + math.log1p(edges + life.mentions - 1)
    age = 0 if node.kind is DecisionKind.RULE or now <= life.touched else now - life.touched
    recency = 0.5 + 0.5 * math.exp2(-age / HALF_LIFE)
    return _TYPE_WEIGHT[node.type] * references * recency * (0.5 + 0.5 * node.confidence)
