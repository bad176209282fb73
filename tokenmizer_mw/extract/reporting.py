"""Points of the report that an agent gives at the end of its work: under a heading that sums up, or in a message that
does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.model.node import NodeType, Trust

from .finding import Finding, Segment, SegmentKind
from .hit import Hit
from .rules import MEANINGS, Act, Speaker
from .rules.headings import sums_up
from .said import paths_in
from .situation import Situation

_CONFIDENCE: Final = 0.65
_HEAD_MIN: Final = 12
"""Characters of a point, at least, that stay when a bracket behind them is cut off."""


class Report:
    """One message, read sentence by sentence. Points under a point are details of it."""

    __slots__ = ("_detailed", "_heading", "_speaks", "_sums_up")

    def __init__(self, situation: Situation) -> None:
        self._speaks = situation.tooled and situation.speaker is Speaker.ASSISTANT
        self._sums_up = False
        self._heading = self._detailed = ""

    def point(self, segment: Segment, read: Sequence[Hit]) -> Finding | None:
        """The finished work that a point of the report tells and nothing else reads, ``None`` for all else."""
        if not self._speaks:
            return None
        if segment.kind is not SegmentKind.LIST_ITEM or not segment.info:
            self._sums_up = self._sums_up or sums_up(segment.text)
            return None
        if self._is_detail(segment) or any(_TYPES[hit.rule.act] in _TOLD for hit in read):
            return None
        heading = segment.heading
        told = sums_up(heading) or (self._sums_up and (not heading or bool(paths_in(heading))))
        return _finished(segment) if told else None

    def _is_detail(self, segment: Segment) -> bool:
        sort = segment.info[-1]
        if segment.heading != self._heading:
            self._heading, self._detailed = segment.heading, ""
        detail = bool(self._detailed) and (sort in "-*+" or sort != self._detailed)
        if not detail:
            self._detailed = sort if segment.text.endswith(":") else ""
        return detail


_TYPES: Final = {act: meaning.type for act, meaning in MEANINGS.items()}
_TOLD: Final = frozenset({NodeType.TASK, NodeType.ERROR, NodeType.TEST})


def _finished(segment: Segment) -> Finding | None:
    head, bracket, _ = segment.text.partition(" (")
    label = head if bracket and len(head) >= _HEAD_MIN else segment.text
    meaning = MEANINGS[Act.CLAIM]
    span = (segment.start, segment.end)
    return Finding(
        meaning.type, label, meaning.status, Trust.CLAIMED, _CONFIDENCE, meaning.move, quote=segment.text, span=span
    )
