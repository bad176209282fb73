"""How much a fact matters now: a view of the graph at a turn, never stored."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, Node, NodeType

from .fold import Life, SessionGraph

_TYPE_WEIGHT: Final[dict[NodeType, float]] = {
    NodeType.GOAL: 1.0,
    NodeType.DECISION: 0.9,
    NodeType.ERROR: 0.8,
    NodeType.TASK: 0.7,
    NodeType.SCHEMA: 0.6,
    NodeType.ENDPOINT: 0.6,
    NodeType.API: 0.6,
    NodeType.FILE: 0.5,
    NodeType.DEPENDENCY: 0.5,
    NodeType.ENVIRONMENT: 0.5,
    NodeType.TEST: 0.5,
    NodeType.PROJECT: 0.4,
    NodeType.CONCEPT: 0.3,
    NodeType.AGENT: 0.3,
}

HALF_LIFE: Final = 40
"""Turns after which the part of a fact's importance that is due to recency has halved."""


def importances(graph: SessionGraph, turn: int = 0) -> dict[str, float]:
    """The importance of every node at ``turn`` (0: at the last turn that touched any), by id. Positive numbers.

    It grows with the type's weight, with references (edges and repeated mentions) and with recency, and shrinks
    with doubt. Standing rules do not age.
    """
    lives = {node.id: graph.life(node.id) for node in graph.nodes()}
    now = turn or max((life.touched for life in lives.values()), default=0)
    degree: Counter[str] = Counter()
    for edge in graph.edges():
        degree.update((edge.source, edge.target))
    return {node.id: _importance(node, lives[node.id], degree[node.id], now) for node in graph.nodes()}


def importance(graph: SessionGraph, id: str, turn: int = 0) -> float:
    """The importance of one node, as ``importances`` has it. Raises ``KeyError`` for an unknown one."""
    return importances(graph, turn)[id]


def _importance(node: Node, life: Life, edges: int, now: int) -> float:
    references = 1.0 + math.log1p(edges + life.mentions - 1)
    age = 0 if node.kind is DecisionKind.RULE else max(0, now - life.touched)
    recency = 0.5 + 0.5 * math.exp2(-age / HALF_LIFE)
    return _TYPE_WEIGHT[node.type] * references * recency * (0.5 + 0.5 * node.confidence)
