"""What a user only suggests and the assistant goes along with: "maybe Redis is worth a try" - "Sounds good, going with
that." Neither sentence decides anything by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding import Finding, Move, Segment
from .pattern import PatternSet, compiled
from .phrases import bounded, split_reason
from .prose import encodable, sentences
from .reading import anaphoric
from .said import slot_of
from .situation import ASKED_MAX, Situation

ADOPTED: Final = 0.7
"""Confidence of what was suggested and taken up."""

SENTENCES_MAX: Final = 12
"""Sentences of an assistant's message, from its beginning, that may take a suggestion up."""

SUGGESTED_WORDS: Final = 16
"""Most words of a suggestion."""

_WORTH: Final = r"(?:worth (?:a (?:try|shot|look)|trying|it|considering)|an option|(?:the|a) (?:better|good|best) \w+)"
_FITS: Final = (
    r"(?:would|might|could|may)(?: (?:probably|maybe|perhaps|also|just|well))* (?:fit|work|be|suit us|do|help|make)"
    r"(?: (?:a (?:lot|bit)|much|more))? (?:better|best|nicer|simpler|easier|safer|cleaner|cheaper|faster|enough"
    r"|more sense|good|fine)"
)
_SUGGESTS: Final = (
    compiled(
        r"(?:.{0,120}?[,;:] )?(?:(?:but|so|and|then) )?(?:maybe|perhaps) (?:we (?:could|should|can) (?:use|try"
        r"|go with) )?"
        rf"(?P<label>.{{3,120}}?)(?: (?:is|are|would be|might be|could be) {_WORTH})?(?: instead)?[.!?]*$"
    ),
    compiled(
        r"(?:.{0,120}?[,;:] )?(?:(?:but|so|and|i think|i guess) )?"
        rf"(?P<label>.{{3,120}}?) {_FITS}\b.{{0,40}}$"
    ),
    compiled(
        r"(?:.{0,120}?[,;:] )?(?:(?:but|so|and|then) )?(?:(?:how|what) about|why (?:not|don't we)|wouldn't it be"
        r" better to"
        r"|(?:could|can|should|shall) (?:we|you) (?:use|try|go with|switch to|do (?:this|that|it) (?:with|in|using))"
        r"|what if we (?:used?|tried|try|went with|go with|did)) (?P<label>.{3,120}?)"
        r"(?: (?:here|instead|for (?:this|that)))?[.?!]+$"
    ),
)
_SECONDS: Final = PatternSet(
    r"(?:(?:ok(?:ay)?|sure|sounds (?:good|great|right|fine|reasonable)|good (?:idea|call|point|thinking|choice)"
    r"|great (?:idea|call)|agreed|makes sense|that makes sense|yes|yep|right|fine|works for me|alright|perfect)"
    r"[,.;:!]?(?: -| –| —)? )+(?:(?:let's|lets|we'll|we will|i'll|i will|i'm|we're|i am|we are|then) )*"
    r"(?:go(?:ing)?(?: ahead)? with|run(?:ning)? with|do(?:ing)?|us(?:e|ing)|switch(?:ing)? to|tak(?:e|ing)"
    r"|adopt(?:ing)?|try(?:ing)?) (?:that|this|it|those|both|them)(?: way| one| then| now| instead)*[.!]*$",
    r"(?:agreed|sure|yes|yep|ok(?:ay)?|right|true|good)[,.;:!]? (?:that|this|it)(?:'ll| will|'d| would)? "
    r"(?:works?|does it|do|fits?|makes sense|suits?)(?: (?:for (?:me|us)|well|better|here|nicely|too))*[.!]*$",
)
_ALL: Final = PatternSet(r".*\b(?:both|all|those|them|these)\b")
"""The reply takes up all that was suggested. Any other takes up the last of it, said twice the last two."""

_WORK: Final = PatternSet(r"(?:we|you|i|it|they|that|this|there|he|she|not|someone|somebody|later|tomorrow)\b")
"""What begins a sentence of its own, not the name of a thing that is suggested."""


def read_seconded(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """The suggestions of the user's last message, where the assistant's reply goes along with them."""
    if situation.asked is None:
        return []
    by = [one for one in spoken[:SENTENCES_MAX] if _SECONDS.any(bounded(one.text))]
    if not by:
        return []
    text = encodable(situation.asked[1].text[:ASKED_MAX])
    said = [bounded(text[start:end]) for start, end in sentences(text, 0, len(text))]
    labels = [label for one in said if (label := _suggested(one))]
    taken = labels if any(_ALL.any(bounded(one.text)) for one in by) else labels[-len(by) :]
    return [_adopted(label, by[0]) for label in taken]


def _suggested(sentence: str) -> str:
    """What a sentence suggests, "" where it suggests nothing by name."""
    match = next((found for pattern in _SUGGESTS if (found := pattern.match(sentence)) is not None), None)
    label = split_reason(match.group("label"))[0].strip() if match is not None else ""
    if not label or len(label.split()) > SUGGESTED_WORDS or anaphoric(label) or _WORK.any(label):
        return ""
    return label


def _adopted(label: str, by: Segment) -> Finding:
    slot = slot_of(label)
    return Finding(
        NodeType.DECISION,
        label,
        Status.ACTIVE,
        Trust.ADOPTED,
        ADOPTED,
        Move.ADOPT,
        kind=DecisionKind.CHOICE,
        quote=by.text,
        span=(by.start, by.end),
        slot=slot.get("slot", ""),
        value=slot.get("value", ""),
    )
