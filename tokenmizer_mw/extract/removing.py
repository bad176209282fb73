"""What an assistant takes out of its own earlier work: finished work, and what stood before is gone.

Nothing comes in its place, so no choice is in force that somebody would have to keep: the work itself is what the
earlier one is replaced by.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status

from .facts import PRECISE
from .finding import Finding
from .ledger import Ledger
from .matching import described
from .working import close

_OLD_CONFIDENCE: Final = 0.6


def take_away(ledger: Ledger, finding: Finding) -> Node | None:
    """The work that ``finding`` reports is done, and takes the place of what its ``target`` describes; ``None`` for a
    detail of other work."""
    gone = described(ledger.graph, finding.target, NodeType.DECISION, _in_force, PRECISE)
    task = close(ledger, finding)
    if task is None:
        return task
    if gone is None:
        gone = ledger.add(
            finding,
            type=NodeType.DECISION,
            label=finding.target,
            confidence=_OLD_CONFIDENCE,
            kind=DecisionKind.CHOICE,
            detail="",
            status=Status.ACTIVE,
        )
    ledger.replace(gone, task, finding)
    return task


def _in_force(node: Node) -> bool:
    return node.status is Status.ACTIVE and node.kind is DecisionKind.CHOICE
