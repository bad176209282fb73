"""What a reply adopts or refuses of the assistant's last message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .choices import CHOICE_MAKERS
from .finding import Finding, Move, Segment
from .offers import chosen_by_name, read_answer
from .phrases import asks, bounded, order_in, split_reason, supposes, without_lead
from .reading import hits
from .reports import REPORT_MAKERS
from .rules import Act, Speaker
from .said import Said, slot_of
from .situation import Situation

_MAKERS: Final = {**CHOICE_MAKERS, **REPORT_MAKERS}
_ADOPTED: Final = 0.8
_PROPOSABLE: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.RETURN, Act.REJECT})
_SPEAKS_FOR_ITSELF: Final = frozenset(
    {
        Act.REJECT,
        Act.REPLACE,
        Act.RETURN,
        Act.RULE,
        Act.CHOICE,
        Act.COMPLAINT,
        Act.STILL,
        Act.CONFIRM,
        Act.RETRACT,
        Act.CLAIM,
        Act.LATER,
    }
)


def read_reply(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """What a reply adopts or refuses of the assistant's last message."""
    if not spoken or situation.told is None:
        return []
    first = spoken[0]
    offers = situation.offers
    answer = read_answer(first.text, offers)
    found = [made for label in answer.accepted for made in _adopted(label, answer.reason, first, situation)]
    found += [_declined(label, first) for label in answer.declined]
    if not found:
        found = [made for segment in spoken[:4] for made in _picked(segment, situation)]
    return found


def _picked(segment: Segment, situation: Situation) -> list[Finding]:
    if not situation.offers.options:
        return []
    text = without_lead(bounded(segment.text))
    if (asks(text) and not order_in(text)) or supposes(text):
        return []
    named = chosen_by_name(text, situation.offers)
    if (
        not named
        or len(named) > 2
        or any(hit.rule.act in _SPEAKS_FOR_ITSELF for hit in hits(segment.text, Speaker.USER))
    ):
        return []
    reason = split_reason(text)[1]
    return [made for option in named for made in _adopted(option.head, reason, segment, situation)]


def _adopted(label: str, reason: str, segment: Segment, situation: Situation) -> list[Finding]:
    """A proposal that was accepted, as if the user had said it: work to do, or a decision."""
    found = []
    for hit in hits(label, Speaker.USER):
        if hit.rule.act in _PROPOSABLE:
            found += _MAKERS[hit.rule.act](Said(hit, segment, Trust.ADOPTED), situation)
    if not found:
        name = split_reason(label)[0]
        slot = slot_of(name)
        found.append(
            Finding(
                NodeType.DECISION,
                name,
                Status.ACTIVE,
                Trust.ADOPTED,
                _ADOPTED,
                Move.ADOPT,
                kind=DecisionKind.CHOICE,
                quote=segment.text,
                span=(segment.start, segment.end),
                slot=slot.get("slot", ""),
                value=slot.get("value", ""),
            )
        )
    return [replace(made, reason=made.reason or reason, confidence=_ADOPTED) for made in found]


def _declined(label: str, segment: Segment) -> Finding:
    return Finding(
        NodeType.DECISION,
        split_reason(label)[0],
        Status.INVALIDATED,
        Trust.STATED,
        0.7,
        Move.REJECT,
        reason=segment.text,
        kind=DecisionKind.OPTION,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
