"""Turn a model's statements into findings, each with its source in the session and the trust of that source's
speaker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.names import as_path
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import MEANINGS, Speaker
from tokenmizer_mw.extract.said import slot_of
from tokenmizer_mw.extract.validate import format_quote, validate_findings
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings

from .places import Places, StatementPlace
from .reply import Stated
from .schema import BY_NAME

PLACED: Final = 0.3
"""Share of a statement that its place must hold to be the word of who speaks there."""

BORROWED: Final = 0.4
"""Share of a statement that may stem from tools, files and quotations alone when it is a speaker's word all the same:
names of files, for the most part."""

_CONFIDENCE: Final = {Trust.STATED: 0.85, Trust.CLAIMED: 0.7, Trust.PROPOSED: 0.6, Trust.QUOTED: 0.55}
_STANDING: Final = frozenset({DecisionKind.RULE, DecisionKind.PREFERENCE})
_TOLD_BY: Final = {"tasks_done": "assistant"}
"""Who is looked at first where several say the same; for the other categories it is the user."""


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding, its source in the session, and the source of what it replaces; ``None`` if that was said nowhere
    else.
    """

    finding: Finding
    place: StatementPlace
    before: StatementPlace | None = None


def place_finding(stated: Stated, places: Places, settings: Settings) -> PlacedFinding | None:
    """Return the finding that a statement supports; ``None`` when it is empty, when nobody in the session said anything
    like it, or when its speaker may not state such a thing.

    Only a speaker's own words make decisions and goals, and tool output never makes tasks. Rules and goals stated by
    the assistant become proposals.
    """
    place = places.find(stated.text, _TOLD_BY.get(stated.category, "user"))
    if place is None:
        return None
    trust = trust_of(place)
    category = BY_NAME[stated.category]
    if trust is Trust.QUOTED and (stated.old or (category.status is Status.PENDING and place.speaker == "tool")):
        return None
    finding = Finding(
        type=category.type,
        label=stated.text,
        status=Status.COMPLETED if stated.resolved else category.status,
        trust=trust,
        confidence=_CONFIDENCE[trust],
        reason=stated.reason if _is_said(stated.reason, places) else "",
        detail=_explanation(stated.detail, places),
        quote=place.quote,
        span=place.span,
        **_more(stated, category.type),
    )
    valid = validate_findings([_as_proposal(finding)], settings)
    if not valid or (valid[0].type is NodeType.FILE and not as_path(valid[0].label)):
        return None
    before = places.find(stated.old) if stated.old else None
    if before is not None and trust_of(before) is Trust.QUOTED:
        return None  # what nobody chose cannot have been given up
    return PlacedFinding(valid[0], place, before)


def trust_of(place: StatementPlace) -> Trust:
    """Return how much a statement from this source is trusted."""
    if not place.own or place.score < PLACED or place.borrowed > BORROWED:
        return Trust.QUOTED
    return Trust.STATED if place.speaker == "user" else Trust.CLAIMED


def _is_said(text: str, places: Places) -> bool:
    """Whether a speaker says this."""
    place = places.find(text)
    return place is not None and trust_of(place) is not Trust.QUOTED


def _explanation(text: str, places: Places) -> str:
    """``text`` as the detail of an error, where the session says so, whoever it is that does."""
    place = places.find(text) if text else None
    return format_quote(text) if place is not None and place.score >= PLACED else ""


def _more(stated: Stated, type_: NodeType) -> dict[str, Any]:
    """What only goals and decisions have."""
    if type_ is NodeType.GOAL:
        return {"slot": "goal", "value": stated.text}
    if type_ is not NodeType.DECISION:
        return {}
    if BY_NAME[stated.category].status is Status.INVALIDATED:
        return {"move": Move.REJECT, "kind": DecisionKind.OPTION}
    kind = DecisionKind.RULE if stated.category == "rules" else _kind(stated.text)
    said = {"kind": kind, **slot_of(stated.text)}
    return said | ({"move": Move.REPLACE, "target": stated.old} if stated.old else {})


def _kind(label: str) -> DecisionKind:
    kinds = (MEANINGS[hit.rule.act].kind for hit in hits(label, Speaker.USER))
    return next((kind for kind in kinds if kind in _STANDING), DecisionKind.CHOICE)


def _as_proposal(finding: Finding) -> Finding:
    lasting = finding.type is NodeType.GOAL or finding.kind in _STANDING
    if not lasting or finding.trust is not Trust.CLAIMED:
        return finding
    return replace(
        finding, status=Status.PENDING, trust=Trust.PROPOSED, confidence=_CONFIDENCE[Trust.PROPOSED], move=Move.NOTE
    )
