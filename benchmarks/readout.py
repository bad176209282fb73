"""The final graph of a session as labels by category, as the corpus format has them.

A node counts as what a resume block would state it as. An offer that nobody accepted is neither a task nor a decision.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.context.resume.sections import Section, section_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType, Status

_BY_SECTION: Final = {
    (NodeType.TASK, Section.DONE): "tasks_done",
    (NodeType.TASK, Section.TO_DO): "tasks_pending",
    (NodeType.TASK, Section.DOING): "tasks_pending",
    (NodeType.DECISION, Section.DECISIONS): "decisions",
    (NodeType.DECISION, Section.RULES): "decisions",
    (NodeType.DECISION, Section.WARNINGS): "rejected",
    (NodeType.ERROR, Section.DONE): "errors",
    (NodeType.ERROR, Section.ERRORS): "errors",
}
_BY_TYPE: Final = {
    NodeType.GOAL: "goal",
    NodeType.FILE: "files",
    NodeType.ENVIRONMENT: "environment",
    NodeType.DEPENDENCY: "dependencies",
    NodeType.ENDPOINT: "endpoints",
    NodeType.API: "endpoints",
}


def category_of(node: Node) -> str | None:
    """Return the category of a node's label at the end of a session; ``None`` if it belongs to none, as a file that was
    only read."""
    section = section_of(node)
    if section is None:
        return None
    if node.type is NodeType.FILE and node.detail == "read":
        return None  # only looked at: the labels name files that were worked on or spoken of
    plain = _BY_TYPE.get(node.type) if node.current else None
    return plain or _BY_SECTION.get((node.type, section))


def labels_of(graph: SessionGraph) -> dict[str, list[str]]:
    """Return the labels of what holds at the end, by category. Replacements are "old -> new"; errors begin with
    "[open]" or "[resolved]"."""
    found: dict[str, list[str]] = {}
    for node in graph.nodes():
        category = category_of(node)
        if category is not None:
            found.setdefault(category, []).append(_label(node))
    pairs = [(graph.get(step.old), graph.get(step.new)) for step in graph.transitions()]
    found["superseded"] = [f"{old.label} -> {new.label}" for old, new in pairs if old is not None and new is not None]
    return found


def _label(node: Node) -> str:
    if node.type is not NodeType.ERROR:
        return node.label
    return f"[{'resolved' if node.status is Status.COMPLETED else 'open'}] {node.label}"
