"""The graph as an indented outline for people: one line per fact, its history underneath."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Transition

from .fold import SessionGraph

_SECTIONS: Final[tuple[tuple[str, NodeType], ...]] = (
    ("goal", NodeType.GOAL),
    ("decisions", NodeType.DECISION),
    ("tasks", NodeType.TASK),
    ("errors", NodeType.ERROR),
    ("tests", NodeType.TEST),
    ("files", NodeType.FILE),
    ("endpoints", NodeType.ENDPOINT),
    ("apis", NodeType.API),
    ("schemas", NodeType.SCHEMA),
    ("dependencies", NodeType.DEPENDENCY),
    ("environment", NodeType.ENVIRONMENT),
    ("projects", NodeType.PROJECT),
    ("concepts", NodeType.CONCEPT),
    ("agents", NodeType.AGENT),
)

_MARKS: Final[dict[Status, str]] = {
    Status.PENDING: "[ ]",
    Status.IN_PROGRESS: "[~]",
    Status.COMPLETED: "[x]",
    Status.FAILED: "[!]",
    Status.ACTIVE: " * ",
    Status.SUPERSEDED: " - ",
    Status.INVALIDATED: " - ",
    Status.ARCHIVED: " - ",
}


def outline(graph: SessionGraph) -> list[str]:
    """The lines of the outline: a heading for every type that has nodes, indented facts with the number of the
    message that they come from, and indented further what each one replaced, and why. Empty for an empty graph."""
    return [line for title, type_ in _SECTIONS for line in _section(graph, title, graph.nodes(type_))]


def _section(graph: SessionGraph, title: str, nodes: Sequence[Node]) -> Iterator[str]:
    steps = graph.transitions()
    into = {step.old: step for step in steps}
    past: dict[str, list[Transition]] = {}
    for step in reversed(steps):
        past.setdefault(step.new, []).append(step)
    shown = [node for node in nodes if not _told_elsewhere(graph, into, node)]
    if shown:
        yield f"{title} ({len(nodes)})"
    for node in sorted(shown, key=lambda node: (not node.current, node.order or 0)):
        yield f"  {_MARKS[node.status]} {_fact(graph, node)}"
        yield from _iter_replaced_lines(graph, past, node.id)


def _told_elsewhere(graph: SessionGraph, into: Mapping[str, Transition], node: Node) -> bool:
    """Whether the outline shows ``node`` as the past of the one that replaced it."""
    step = into.get(node.id)
    heir = graph.get(step.new) if step is not None and not node.current else None
    return heir is not None and heir.type is node.type


def _fact(graph: SessionGraph, node: Node) -> str:
    kind = f"{node.kind.value}: " if node.kind not in (None, DecisionKind.CHOICE) else ""
    if node.current:
        ended = ""
    else:
        reason = graph.life(node.id).reason
        ended = f", {node.status.value}{': ' + reason if reason else ''}"
    return f"{kind}{node.label}{_detail(node)} (#{node.source.turn}){ended}"


def _detail(node: Node) -> str:
    return f" - {node.detail}" if node.detail and node.detail != node.label else ""


def _iter_replaced_lines(graph: SessionGraph, past: Mapping[str, Sequence[Transition]], id: str) -> Iterator[str]:
    """What a fact replaced, and what that had replaced, newest first; each is told once."""
    told, waiting = {id}, list(reversed(past.get(id, ())))
    while waiting:
        step = waiting.pop()
        if step.old in told:
            continue
        told.add(step.old)
        old = graph.get(step.old)
        label = old.label if old is not None else step.old
        yield f"       replaced {label} (#{step.trigger}){': ' + step.reason if step.reason else ''}"
        waiting.extend(reversed(past.get(step.old, ())))
