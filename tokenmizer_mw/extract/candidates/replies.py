"""Findings of what a user's reply accepts or declines of the assistant's last message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.dialogue.offers import read_answer
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.frames import find_frames
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.frame_words import Frame
from tokenmizer_mw.extract.text.phrases import split_reason
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .answers import read_answers
from .choices import CHOICE_MAKERS
from .finding_makers import PlacedHit, read_slot_fields
from .option_echoes import read_echoes
from .reports import REPORT_MAKERS

_MAKERS: Final = {**CHOICE_MAKERS, **REPORT_MAKERS}
_ADOPTED: Final = 0.8
_PROPOSABLE: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.RETURN, Act.REJECT})


def read_reply(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return the findings of what a user's reply accepts or declines of the assistant's last message; [] if it does
    neither, or if there is no such message. ``spoken``: the sentences of the reply."""
    if not spoken or situation.told is None:
        return []
    first = spoken[0]
    offers = situation.offers
    answer = read_answer(_first_sentence_with_marker(spoken), offers)
    found = [made for label in answer.accepted for made in _adopt_proposal(label, answer.reason, first, situation)]
    found += [_make_declined(label, first) for label in answer.declined]
    if found:
        return found
    found = read_echoes(spoken, situation)
    echoed = {made.span for made in found}
    return [*found, *(made for made in read_answers(spoken, situation) if made.span not in echoed)]


def _first_sentence_with_marker(spoken: Sequence[Segment]) -> str:
    """The first sentence of a reply. A single list item keeps its number, since "1. but only for orders" chooses option
    1."""
    first = spoken[0]
    alone = first.kind is SegmentKind.LIST_ITEM and sum(piece.info != "" for piece in spoken) == 1
    return f"{first.info} {first.text}" if alone and first.info[:1].isalnum() else first.text


def _adopt_proposal(label: str, reason: str, segment: Segment, situation: Situation) -> list[Finding]:
    """The findings of an accepted proposal, as if the user had stated it: a task, a decision or what its words say."""
    found = []
    if Frame.QUESTION in find_frames(label):
        return []
    options = frozenset(option.label for option in situation.offers.options)
    for hit in read_hits(label, Speaker.USER):
        if hit.rule.act in _PROPOSABLE and not (hit.rule.act is Act.REQUEST and label in options):
            found += _MAKERS[hit.rule.act](PlacedHit(hit, segment, Trust.ADOPTED), situation)
    if not found:
        name = split_reason(label)[0]
        slot = read_slot_fields(name)
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


def _make_declined(label: str, segment: Segment) -> Finding:
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
