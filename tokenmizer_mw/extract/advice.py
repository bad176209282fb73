"""The headline of a message's advice, which a report of having done so takes up: "Split the folders" where the folders
follow in a list, "Raise it via HelmChartConfig" above the lines to put there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .finding import Segment, SegmentKind
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, without_lead
from .rules.verbs import BIDDING, WORK_VERBS
from .similar import content

ADVICE_MAX: Final = 60
"""Characters of a headline."""

_SHOWN: Final = frozenset({SegmentKind.CODE, SegmentKind.TABLE, SegmentKind.DIFF})
_BIDS: Final = PatternSet(rf"(?:{WORK_VERBS}|(?:put|raise|lower|keep|swap|turn|run|give|take|cut) )")
_PAUSE: Final = compiled(r"[,;:(.]\s|\s(?:--?|–|—)\s|[，；：、]")


def headline(segments: Sequence[Segment]) -> str:
    """What a message advises, in a few words of its own: what stands above what it shows, else its last sentence that
    bids somebody do something; "" where there is neither."""
    last = next(_above_shown(segments), "")
    if not last:
        bids = (said for segment in reversed(segments) if (said := _said(segment)) and _is_bid(said))
        last = next(bids, "")
    return _short(last)


def _above_shown(segments: Sequence[Segment]) -> Iterator[str]:
    """Sentences that end with a colon above code, a table or a list, the last first."""
    for at in range(len(segments) - 1, 0, -1):
        shown, above = segments[at], segments[at - 1]
        said = _said(above)
        leads = shown.kind in _SHOWN or (shown.kind is SegmentKind.LIST_ITEM and _is_bid(said))
        if leads and said.endswith((":", "：")) and len(content(said)) > 1 and (" " in said or not said.isascii()):
            yield said


def _said(segment: Segment) -> str:
    return without_lead(bounded(segment.text)) if segment.kind is SegmentKind.PROSE and not asks(segment.text) else ""


def _is_bid(said: str) -> bool:
    return said.partition(" ")[0].strip(".,;:!").casefold() in BIDDING or _BIDS.any(said)


def _short(said: str) -> str:
    said = said.rstrip(" .:：!。")
    if len(said) <= ADVICE_MAX:
        return said
    border = _PAUSE.search(said)
    head = said[: border.start()] if border is not None else said
    return head if len(head) <= ADVICE_MAX else ""
