"""Adds edges between nodes: from tasks to the choices and files that they name, and between two facts of the same
sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, EdgeType, Node, NodeType, Status

from .facts import is_asked_now
from .ledger import Ledger
from .node_search import find_nearest

LINKS_MAX: Final = 40
"""Most edges between facts of the same sentence that one message adds, and most findings of a message that are linked
to tasks, choices and files."""

_WORDS_MAX: Final = 12
_CHOICES_MAX: Final = 4

_TOGETHER: Final[dict[tuple[NodeType, NodeType], EdgeType]] = {
    (NodeType.FILE, NodeType.TASK): EdgeType.RELATED_TO,
    (NodeType.FILE, NodeType.ERROR): EdgeType.RELATED_TO,
    (NodeType.ENDPOINT, NodeType.TASK): EdgeType.RELATED_TO,
    (NodeType.TEST, NodeType.TASK): EdgeType.RELATED_TO,
    (NodeType.SCHEMA, NodeType.TASK): EdgeType.RELATED_TO,
    (NodeType.TASK, NodeType.DEPENDENCY): EdgeType.DEPENDS_ON,
    (NodeType.DECISION, NodeType.GOAL): EdgeType.PART_OF,
    (NodeType.DEPENDENCY, NodeType.GOAL): EdgeType.PART_OF,
}
"""Maps the types of two facts of the same sentence to the type of the edge between them. Other pairs get no edge."""

Placed = tuple[Finding, Node]


def link_all(ledger: Ledger, placed: Sequence[Placed]) -> None:
    """Add the edges for one message. ``placed``: each finding of the message with the node that states it."""
    _link_work(ledger, placed)
    if len(placed) < 2:
        return
    by_sentence: dict[tuple[int, int], list[Node]] = {}
    for finding, node in placed:
        if finding.span is not None:
            by_sentence.setdefault(finding.span, []).append(node)
    drawn = 0
    for nodes in by_sentence.values():
        for source in nodes:
            for target in _partners(source, nodes):
                if drawn == LINKS_MAX:
                    return
                ledger.link(source, _TOGETHER[(source.type, target.type)], target)
                drawn += 1


def _link_work(ledger: Ledger, placed: Sequence[Placed]) -> None:
    """Link changed files and active errors from tool calls to the task at hand (see ``_work_at_hand``), new tasks to
    the choices that they name, and tests and errors from tool calls to the files that they name."""
    task = _work_at_hand(ledger, placed)
    for finding, node in placed[:LINKS_MAX]:
        if finding.certain and task is not None and node.id != task.id:
            if node.type is NodeType.FILE and finding.detail != "read" and node.current:
                ledger.link(node, EdgeType.RELATED_TO, task)
            elif node.type is NodeType.ERROR and node.status is Status.ACTIVE:
                ledger.link(node, EdgeType.BLOCKS, task)
        if finding.certain and node.type in (NodeType.TEST, NodeType.ERROR):
            _link_paths(ledger, node)
        if node.type is NodeType.TASK and node.source.turn == ledger.turn:
            _link_choices(ledger, node)


def _work_at_hand(ledger: Ledger, placed: Sequence[Placed]) -> Node | None:
    """The task that the tool calls of the message belong to: the task that it finishes, else the one that the user's
    last message asked for, else the one in progress. ``None`` if no or several tasks are found, or the message has no
    tool calls."""
    if not any(finding.certain for finding, _ in placed):
        return None
    done = [node for _, node in placed if node.type is NodeType.TASK and node.status is Status.COMPLETED]
    if len(done) == 1:
        return done[0]
    tasks = find_nearest(ledger.graph, lambda node: node.type is NodeType.TASK and node.open)
    asked = [task for task in tasks if ledger.asked and task.source.turn == ledger.asked]
    begun = [task for task in tasks if task.status is Status.IN_PROGRESS and is_asked_now(ledger, task)]
    for sure in (asked, begun):
        if sure:
            return sure[0] if len(sure) == 1 else None
    return None


def _link_paths(ledger: Ledger, node: Node) -> None:
    """Link a test or an error to the files that its label names."""
    for word in node.label.split()[:_WORDS_MAX]:
        path = word.partition("::")[0].strip("'\"(),:")
        found = ledger.graph.find(NodeType.FILE, path) if "." in path else None
        if found is not None:
            ledger.link(node, EdgeType.RELATED_TO, found)


def _link_choices(ledger: Ledger, task: Node) -> None:
    """Link a task to the choices in force that it names ("Install PostgreSQL on the mini PC")."""
    about = content(task.label)
    for choice, _ in ledger.graph.sharing_words(task.label, NodeType.DECISION, _CHOICES_MAX):
        named = content(choice.label)
        if choice.status is Status.ACTIVE and choice.kind is DecisionKind.CHOICE and named and named <= about:
            ledger.link(task, EdgeType.IMPLEMENTS, choice)


def _partners(source: Node, nodes: Sequence[Node]) -> list[Node]:
    """The nodes to which an edge from ``source`` is added: for each type, the first node of that type in the
    sentence."""
    found: dict[NodeType, Node] = {}
    for node in nodes:
        if (source.type, node.type) in _TOGETHER:
            found.setdefault(node.type, node)
    return list(found.values())
