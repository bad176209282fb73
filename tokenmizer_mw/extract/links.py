"""Edges: what a finding names as related, and what one sentence says of two things at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.model.node import EdgeType, Node, NodeType

from .finding import Finding
from .ledger import Ledger, is_open
from .matching import described, near

LINKS_MAX: Final = 40
"""Relations drawn from the sentences of one message."""

_NAMED: Final = 0.6

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
"""How two facts of one sentence relate."""

Placed = tuple[Finding, Node]


def link_all(ledger: Ledger, placed: Sequence[Placed]) -> None:
    """Draw the edges of one message's findings."""
    for finding, node in placed:
        if finding.implements or finding.fixes or finding.part_of or finding.blocks is not None:
            _link_named(ledger, finding, node)
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


def _partners(source: Node, nodes: Sequence[Node]) -> list[Node]:
    """The first node of each type that ``source`` relates to in its sentence."""
    found: dict[NodeType, Node] = {}
    for node in nodes:
        if (source.type, node.type) in _TOGETHER:
            found.setdefault(node.type, node)
    return list(found.values())


def _link_named(ledger: Ledger, finding: Finding, node: Node) -> None:
    for label, type_, kinds in (
        (finding.implements, EdgeType.IMPLEMENTS, (NodeType.DECISION,)),
        (finding.fixes, EdgeType.FIXES, (NodeType.ERROR,)),
        (finding.part_of, EdgeType.PART_OF, (NodeType.TASK, NodeType.FILE, NodeType.GOAL, NodeType.PROJECT)),
    ):
        target = _named(ledger, label, kinds) if label else None
        if target is not None:
            ledger.link(node, type_, target)
    if finding.blocks is not None:
        target = _named(ledger, finding.blocks, (NodeType.TASK,)) if finding.blocks else _work_in_hand(ledger)
        if target is not None:
            ledger.link(node, EdgeType.BLOCKS, target)


def _named(ledger: Ledger, label: str, kinds: Sequence[NodeType]) -> Node | None:
    for kind in kinds:
        found = ledger.graph.find(kind, label) or described(ledger.graph, label, kind, lambda _: True, _NAMED)
        if found is not None:
            return found
    return None


def _work_in_hand(ledger: Ledger) -> Node | None:
    return next(iter(near(ledger.graph, lambda node: node.type is NodeType.TASK and is_open(node))), None)
