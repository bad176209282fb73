"""What a cut took out of the context: facts of dropped messages that the resume block does not carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.node import Node


@dataclass(frozen=True, slots=True)
class LossReport:
    """The facts that are no longer in the context, oldest first, each with the turn that it stems from.

    ``checkpoint`` is the id of the cut ("" when there was none), ``dropped`` the number of messages that the block
    stands for, ``before_turn`` the number of the first message that stayed. All of them can be restored.
    """

    checkpoint: str = ""
    dropped: int = 0
    before_turn: int = 0
    items: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """One line a fact, for a person; "" when nothing was lost."""
        return "\n".join(f"[{node.source.turn}] {node.type.value}: {node.label}" for node in self.items)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "checkpoint": self.checkpoint,
            "dropped": self.dropped,
            "before_turn": self.before_turn,
            "items": [
                {"id": n.id, "type": n.type.value, "status": n.status.value, "label": n.label, "turn": n.source.turn}
                for n in self.items
            ],
        }


def loss_report(graph: SessionGraph, cut: Checkpointed | None) -> LossReport:
    """What the cut in force lost; an empty report without a cut. A fact that a message after it mentions again is
    still in the context."""
    if cut is None:
        return LossReport()
    carried = frozenset(cut.carried)
    dropped = (node for node in graph.nodes() if graph.life(node.id).touched < cut.anchor_turn)
    lost = (node for node in dropped if node.id not in carried)
    items = sorted(lost, key=lambda node: (node.source.turn, node.id))
    return LossReport(cut.id, cut.dropped, cut.anchor_turn, tuple(items))
