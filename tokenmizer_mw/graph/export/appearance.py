"""Colours, shapes and words for types, statuses and relations in drawings. Nothing is expressed by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.explanation import qualify_replacement
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Status


@dataclass(frozen=True, slots=True)
class TypeLook:
    """How nodes of a type are drawn.

    - ``word``, ``title``: names for one node and for many.
    - ``light``, ``dark``: colours ("#rrggbb") for a light and a dark background, with a contrast of at least 4.5 on it.
    - ``icon``: data of an SVG path for the icon, in a square of size 20; ``tick``: path that is added to it for a
      completed node, "" for none.
    """

    word: str
    title: str
    light: str
    dark: str
    icon: str
    tick: str = ""

    def shape(self, done: bool) -> str:
        """Return the SVG path of the icon of a node; ``done``: whether the node is completed."""
        return self.icon + self.tick if done else self.icon


@dataclass(frozen=True, slots=True)
class StatusLook:
    """How a status is drawn. ``mark``: a character such as a tick; ``word``: its meaning in words; ``dash``: the border
    as an SVG dash array, "" for a solid line; ``opacity``: 0 to 1."""

    mark: str
    word: str
    dash: str
    opacity: float


@dataclass(frozen=True, slots=True)
class EdgeLook:
    """How a relation is drawn. ``word``: the verb between source and target in a sentence; ``dash``: the line as an SVG
    dash array, "" for a solid line."""

    word: str
    dash: str


# fmt: off
TYPES: Final[dict[NodeType, TypeLook]] = {
    NodeType.GOAL: TypeLook("goal", "Goals", "#9a3412", "#fdba74",
        "M18 10A8 8 0 1 1 2 10A8 8 0 0 1 18 10ZM13 10A3 3 0 1 1 7 10A3 3 0 0 1 13 10Z"),
    NodeType.DECISION: TypeLook("decision", "Decisions", "#6d28d9", "#c4b5fd",
        "M10 1.5 18.5 10 10 18.5 1.5 10Z"),
    NodeType.TASK: TypeLook("task", "Tasks", "#1d4ed8", "#93c5fd",
        "M3 3H17V17H3Z", "M6 10l3 3 5-6"),
    NodeType.ERROR: TypeLook("error", "Errors", "#b91c1c", "#fca5a5",
        "M7 2H13L18 7V13L13 18H7L2 13V7ZM10 6v5M10 14v.1"),
    NodeType.TEST: TypeLook("test", "Tests", "#15803d", "#86efac",
        "M7 2h6M8.5 2v6L3 17.5h14L11.5 8V2M6 13h8"),
    NodeType.FILE: TypeLook("file", "Files", "#475569", "#cbd5e1",
        "M4 2h8l4 4v12H4ZM12 2v4h4"),
    NodeType.ENDPOINT: TypeLook("endpoint", "Endpoints", "#0e7490", "#67e8f9",
        "M2 10h12M10 5l5 5-5 5M18 3v14"),
    NodeType.API: TypeLook("API", "APIs", "#0f766e", "#5eead4",
        "M8 2C4 2 7 9 3 10C7 11 4 18 8 18M12 2c4 0 1 7 5 8c-4 1-1 8-5 8"),
    NodeType.SCHEMA: TypeLook("schema", "Schemas", "#a21caf", "#f0abfc",
        "M2 3H18V17H2ZM2 8H18M8 8V17"),
    NodeType.DEPENDENCY: TypeLook("dependency", "Dependencies", "#854d0e", "#fde047",
        "M10 1.5 17.5 6v8L10 18.5 2.5 14V6ZM2.5 6 10 10l7.5-4M10 10v8.5"),
    NodeType.ENVIRONMENT: TypeLook("environment", "Environment", "#3f6212", "#bef264",
        "M3 5h14M3 10h14M3 15h14M7 3v4M13 8v4M6 13v4"),
    NodeType.PROJECT: TypeLook("project", "Projects", "#92400e", "#fcd34d",
        "M2 4h6l2 2h8v11H2Z"),
    NodeType.CONCEPT: TypeLook("concept", "Concepts", "#4338ca", "#a5b4fc",
        "M8 18h4M10 2a6 6 0 0 0-3.5 10.5V15h7v-2.5A6 6 0 0 0 10 2Z"),
    NodeType.AGENT: TypeLook("agent", "Agents", "#be185d", "#f9a8d4",
        "M13.5 6.5a3.5 3.5 0 1 1-7 0a3.5 3.5 0 0 1 7 0ZM3 18c0-4 3-6 7-6s7 2 7 6"),
}
"""How each type is drawn. Exports show the types in this order."""

STATUSES: Final[dict[Status, StatusLook]] = {
    Status.ACTIVE: StatusLook("\u25cf", "active", "", 1.0),
    Status.IN_PROGRESS: StatusLook("\u25d0", "in progress", "10 3", 1.0),
    Status.PENDING: StatusLook("\u25cb", "pending", "5 4", 0.9),
    Status.FAILED: StatusLook("\u2717", "failed", "2 2", 1.0),
    Status.COMPLETED: StatusLook("\u2713", "completed", "", 0.8),
    Status.SUPERSEDED: StatusLook("\u21b7", "replaced", "1 4", 0.45),
    Status.INVALIDATED: StatusLook("\u2298", "rejected", "6 3 1 3", 0.45),
    Status.ARCHIVED: StatusLook("\u25a3", "archived", "1 6", 0.3),
}

EDGES: Final[dict[EdgeType, EdgeLook]] = {
    EdgeType.SUPERSEDES: EdgeLook("replaces", ""),
    EdgeType.DEPENDS_ON: EdgeLook("depends on", "8 3"),
    EdgeType.BLOCKS: EdgeLook("blocks", "2 2"),
    EdgeType.FIXES: EdgeLook("fixes", "12 3 2 3"),
    EdgeType.IMPLEMENTS: EdgeLook("implements", "6 3"),
    EdgeType.PART_OF: EdgeLook("is part of", "3 3"),
    EdgeType.RELATED_TO: EdgeLook("is related to", "1 4"),
}
# fmt: on


def name_status(node: Node) -> str:
    """Return the word for the status of a fact, such as "replaced", or "withdrawn" for one that never was true."""
    return node.status_word if node.is_withdrawn else STATUSES[node.status].word


def name_relation(edge: Edge, source: Node) -> str:
    """Return the verb between ``source`` and the target of ``edge``, such as "fixes"; "perhaps replaces" if it is
    uncertain that ``source`` replaced the other fact. ``source``: the node of ``edge.source``."""
    word = EDGES[edge.type].word
    return qualify_replacement(source, word) if edge.type is EdgeType.SUPERSEDES else word
