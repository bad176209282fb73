"""Report which facts a cut removed from the model's context: facts of removed messages that the resume block neither
states nor quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.context.resume.layout import read_quotes
from tokenmizer_mw.context.resume.sentences import words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.node import Node


@dataclass(frozen=True, slots=True)
class LossReport:
    """The facts that a cut removed from the model's context.

    - ``checkpoint``: id of the cut; "" without one.
    - ``dropped``: number of messages that the block replaces; ``before_turn``: number of the first message that stayed.
    - ``items``: the facts, oldest first.
    - ``returned``: ids of those facts that a later reminder stated; ``quoted``: numbers of the removed messages that
      reminders quoted.
    """

    checkpoint: str = ""
    dropped: int = 0
    before_turn: int = 0
    items: tuple[Node, ...] = ()
    returned: tuple[str, ...] = ()
    quoted: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The report for people, one line per fact, such as "[12] decision: PostgreSQL" (12: number of the fact's
        message); "" when nothing was lost."""
        return "\n".join(self._line(node) for node in self.items)

    def __repr__(self) -> str:
        cut = f"cut {self.checkpoint}, {self.dropped} messages" if self.checkpoint else "no cut"
        labels = f": {', '.join(node.label for node in self.items)}" if self.items else ""
        return short_repr(self, f"{cut}, {len(self.items)} facts lost{labels}")

    def __str__(self) -> str:
        return self.text

    def _line(self, node: Node) -> str:
        mark = " (brought back by a reminder)" if node.id in self.returned else ""
        return f"[{node.source.turn}] {node.type.value}: {node.label}{mark}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of JSON values with the keys "checkpoint", "dropped", "before_turn", "returned" and
        "quoted", and "items": for each fact a dictionary with "id", "type", "status", "label" and "turn" (the number of
        its message)."""
        return {
            "checkpoint": self.checkpoint,
            "dropped": self.dropped,
            "before_turn": self.before_turn,
            "returned": list(self.returned),
            "quoted": list(self.quoted),
            "items": [
                {"id": n.id, "type": n.type.value, "status": n.status.value, "label": n.label, "turn": n.source.turn}
                for n in self.items
            ],
        }


def loss_report(graph: SessionGraph, cut: Checkpointed | None, reminders: Iterable[Reminded] = ()) -> LossReport:
    """Report which facts the current cut ``cut`` removed from the model's context; an empty report if ``cut`` is
    ``None``.

    A fact is not reported if the resume block states or quotes it, if a message that the cut kept (or a later one)
    mentions it, or if it was declared wrong. ``reminders``: the reminders that later requests contained; those of
    other cuts are ignored.
    """
    if cut is None:
        return LossReport()
    carried, quotes = frozenset(cut.carried), read_quotes(cut.block)
    dropped = (node for node in graph.nodes() if graph.life(node.id).touched < cut.anchor_turn)
    shown = (node for node in dropped if not node.is_dropped)
    lost = (node for node in shown if node.id not in carried and not _is_quoted(node, quotes))
    items = sorted(lost, key=lambda node: (node.source.turn, node.id))
    since = [reminder for reminder in reminders if reminder.cut == cut.id]
    reminded = {id for reminder in since for id in reminder.nodes}
    returned = tuple(node.id for node in items if node.id in reminded)
    quoted = sorted({number for reminder in since for number in reminder.messages})
    return LossReport(cut.id, cut.dropped, cut.anchor_turn, tuple(items), returned, tuple(quoted))


def _is_quoted(node: Node, quotes: Mapping[int, str]) -> bool:
    """Whether the block quotes the message of a fact, and the quotation has all words and numbers of the fact's
    label."""
    quote = quotes.get(node.source.turn, "")
    return bool(quote) and _terms(node.label) <= _terms(quote)


def _terms(text: str) -> frozenset[str]:
    return words_of(text).union(_NUMBER.findall(text))


_NUMBER: Final = re.compile(r"\d+")
