"""What a reply adopts or refuses of the assistant's last message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .answers import read_answers
from .choices import CHOICE_MAKERS
from .echoes import read_echoes
from .filling import TOLD_LABEL_MAX
from .finding import Finding, Move, Segment, SegmentKind
from .frames import frames_of
from .offers import Offers, chosen_by_name, named_in_part, read_answer, read_pick
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, order_in, split_reason, supposes, without_lead
from .reading import anaphoric, hits
from .reports import REPORT_MAKERS
from .rules import Act, Speaker
from .rules.framing import Frame
from .said import Said, slot_of
from .similar import content
from .situation import TOLD_MAX, Situation
from .taking import takes

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

PICKS_READ: Final = 8
"""First sentences of a reply that may pick an option by its number or place."""

PICK_MAX: Final = 24
"""Characters of such a sentence where it does not come first."""


def read_reply(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """What a reply adopts or refuses of the assistant's last message."""
    if not spoken or situation.told is None:
        return []
    first = spoken[0]
    offers = situation.offers
    answer = read_answer(_with_marker(spoken), offers)
    found = [made for label in answer.accepted for made in _adopted(label, answer.reason, first, situation)]
    found += [_settled(label, first) for label in answer.accepted if _settles(label, found)]
    found += [_declined(label, first) for label in answer.declined]
    if not found and (advised := _advised(first, offers)):
        work = [made for made in _adopted(advised, "", first, situation) if made.type is NodeType.TASK]
        found = [*work, _settled(advised, first)]
    if not found:
        found = [made for segment in spoken[1:PICKS_READ] for made in _pick_behind(segment, situation)]
    if not found:
        found = [made for segment in spoken[:4] for made in _picked(segment, situation)]
    if not found:
        found = [made for segment in spoken[:4] for made in _agreed(segment, situation)]
    if found:
        return found
    found = read_echoes(spoken, situation)
    echoed = {made.span for made in found}
    return [*found, *(made for made in read_answers(spoken, situation) if made.span not in echoed)]


_DOES_SO: Final = PatternSet(
    r"(?:(?:ok(?:ay)?|yes|yep|yeah|sure|great|good|right|perfect|then|cool|nice|fine|so|and|well),? )*"
    r"(?:(?:let's|lets|please|i'll|i will|we'll|we) )?(?:do|try|take|use|go with|make) (?:it|that|this|so)"
    r"(?: then| please| first| now| way)*(?:$|[.,;:!] )",
    r"(?:das (?:probier|mach|nehm)e? ich|mach das|machen wir so|so machen wir|hazlo|hagámoslo|haz eso|vas-y|fais ça"
    r"|faisons ça|on fait ça|faz isso|vamos fazer isso|pode fazer|fallo|facciamo così|fai così)\b",
    r"(?:давай так|так и сделай|сделай так|делай)",
    r"(?:就这样|就这么办|照这样|そうしてください|それでお願いします|그렇게 해|그걸로 해)",
)
"""Answers that bid to do as was advised, or say that one will."""


def _advised(first: Segment, offers: Offers) -> str:
    """What was advised, where a reply bids to do so and nothing was put up in so many words; "" otherwise."""
    text = bounded(first.text)
    advised = offers.headline if _DOES_SO.any(text) and not asks(text) else ""
    if not advised:
        return ""
    whole = next((piece.sentence for piece in offers.pieces if advised in piece.sentence), advised)
    told = whole.partition(": ")[0].rstrip(" .!")
    return told if len(told) <= TOLD_LABEL_MAX else advised


def _with_marker(spoken: Sequence[Segment]) -> str:
    """The first sentence of a reply; "1. but only for orders" is no list but the choice of the first."""
    first = spoken[0]
    alone = first.kind is SegmentKind.LIST_ITEM and sum(piece.info != "" for piece in spoken) == 1
    return f"{first.info} {first.text}" if alone and first.info[:1].isalnum() else first.text


def _pick_behind(segment: Segment, situation: Situation) -> list[Finding]:
    """An option that a few words behind the beginning of a reply name by number or place: "simplicity. go with 1"."""
    if len(segment.text) > PICK_MAX:
        return []
    label = read_pick(segment.text, situation.offers)
    return _adopted(label, "", segment, situation) if label else []


_AGREES: Final = compiled(
    r"(?:ok(?:ay)?|yes|yep|yeah|yup|sure|good|great|perfect|fine|alright|right|agreed|deal|cool|nice|true)"
    r"(?:, | - |: |; |\. |! )(?:(?:then|so|let's|do|we'll|i'll) )*(?P<label>[^,;:.!?]{2,80})(?:$|[,;:.!?](?:\D|$))"
)
_SUITS: Final = compiled(
    r"(?:.{0,200}[,.;:…] )?(?:(?:hm+|well|ok|then|yes|no|so|and|but),? )*(?P<label>(?:the "
    r"|an? )?[^,;:.!?]{2,50}?) (?:is|are|'s) (?:fine|ok"
    r"|okay|enough|good enough|plenty|perfect|what i want|the way to go)(?: (?:for|with) (?:me|us|now))?(?:$|[,;:.!])"
)
_OFFERING: Final = PatternSet(
    r"(?s).*(?:\?|\b(?:could|would|should|either|options?|alternatives?|instead|recommend|suggest|nicer|better"
    r"|simpler|i'd"
    r"|or)\b)"
)
_SAYS_MORE: Final = PatternSet(
    r"(?:i|you|we|it|he|she|they|there|that|this|what|which|who|where|when|how|can|is|are|was|do|does|did|not|no|my|his"
    r"|thanks?|got|just|still|let|everything|nothing|all|sorry|looks?|sounds?|seems?)\b"
)
"""What a name does not begin with, and a statement of its own does."""

_JUDGES: Final = PatternSet(
    r".*\b(?:makes?|made|sounds?|seems?|looks?|feels?|is|are|was|were|helps?|helped|works?|will|would)\b"
)
"""A judgement about something rather than its name."""

AGREED_WORDS: Final = 7
"""Most words of a name by which a reply takes up what was said before it."""


def _agreed(segment: Segment, situation: Situation) -> list[Finding]:
    """What a reply names in the words of the message before and agrees with: "good, region files and a manifest"."""
    text = bounded(segment.text)
    if asks(text) or supposes(text) or situation.told is None or not _OFFERING.any(situation.told[1].text[-TOLD_MAX:]):
        return []
    match = _AGREES.match(text) or _SUITS.match(text)
    label = match.group("label").strip() if match is not None else ""
    words = content(label.replace("+", " ").replace("&", " "))
    if not words or len(label.split()) > AGREED_WORDS or not words <= situation.told_words:
        return []
    if (
        anaphoric(label)
        or _SAYS_MORE.any(label)
        or _JUDGES.any(label)
        or any(hit.rule.act in _SPEAKS_FOR_ITSELF | {Act.REQUEST} for hit in hits(label, Speaker.USER))
    ):
        return []
    return _adopted(label, split_reason(text)[1], segment, situation)


def _picked(segment: Segment, situation: Situation) -> list[Finding]:
    if not situation.offers.options:
        return []
    text = without_lead(bounded(segment.text))
    if (asks(text) and not order_in(text)) or supposes(text):
        return []
    named = [option for option in chosen_by_name(text, situation.offers) if takes(text, option.head)]
    if not named and not _THANKS.any(segment.text):
        named = named_in_part(text, situation.offers)
    if (
        not named
        or len(named) > 2
        or any(hit.rule.act in _SPEAKS_FOR_ITSELF for hit in hits(segment.text, Speaker.USER))
    ):
        return []
    reason = split_reason(text)[1]
    names = [option.label if _NUMBERED.any(option.head) else option.head for option in named]
    return [made for name in names for made in _adopted(name, reason, segment, situation)]


_THANKS: Final = PatternSet(r"(?:\w+,? )?(?:many )?(?:thanks|thank|thx|cheers)\b")
_NUMBERED: Final = PatternSet(r"(?:option|variant|approach|plan|alternative|version|choice|way|solution|path)? ?#?\w$")
"""Names that are only a number or a letter."""


def _adopted(label: str, reason: str, segment: Segment, situation: Situation) -> list[Finding]:
    """A proposal that was accepted, as if the user had said it: work to do, or a decision."""
    found = []
    if Frame.QUESTION in frames_of(label):
        return []
    options = frozenset(option.label for option in situation.offers.options)
    for hit in hits(label, Speaker.USER):
        if hit.rule.act in _PROPOSABLE and not (hit.rule.act is Act.REQUEST and label in options):
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


_ONCE: Final = PatternSet(
    r"(?:also |then |now |first |just |please )*(?:run|re-?run|check|test|look|show|list|explain|commit|push|try|start"
    r"|continue|proceed|go|open|read|print|send|deploy|draft|write|review|verify|have|help|give|provide|do|see|tell|walk"
    r"|summari[sz]e|prepare|sketch|outline|share|find|investigate|dig|debug|fix|implement|apply|create|generate|build"
    r"|update|make|merge|wait|ask)\b"
)
"""Work that is done once, of which no choice is left when it is done."""


def _settles(label: str, found: Sequence[Finding]) -> bool:
    """Whether work that was agreed to also says how things are to be: "round once per invoice"."""
    work = all(made.type is NodeType.TASK for made in found)
    return work and len(content(label)) > 1 and not _ONCE.any(without_lead(label))


def _settled(label: str, segment: Segment) -> Finding:
    return Finding(
        NodeType.DECISION,
        split_reason(label)[0],
        Status.ACTIVE,
        Trust.ADOPTED,
        _ADOPTED,
        Move.ADOPT,
        kind=DecisionKind.CHOICE,
        quote=segment.text,
        span=(segment.start, segment.end),
    )


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
