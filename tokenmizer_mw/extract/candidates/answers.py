"""Find the user's answers to a choice that the assistant offered, where no rule reads them. The finding has the answer
in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.extract.dialogue.offers import is_conversation_filler
from tokenmizer_mw.extract.dialogue.referent import asks_for_facts
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Segment
from tokenmizer_mw.extract.match.rule_hits import is_anaphoric, read_hits
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
    is_question,
    is_supposition,
    split_reason,
    strip_lead,
)
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding_makers import read_slot_fields

_ANSWERED: Final = 0.6

ANSWERS_READ: Final = 2
"""Number of sentences at the beginning of a reply that may answer the question."""

BARE_WORDS: Final = 2
"""An answer of at most this many content stems gets the question before it in its label: "Svelte or Vue: Svelte"."""

_QUESTION_MAX: Final = 120
_NO_ANSWER: Final = PatternSet(
    r"(?:(?:i |we )?(?:don't|do not|dont|can't|cannot|didn't) (?:know|remember|see|understand|care|tell)|no idea"
    r"|not sure"
    r"|idk|dunno|good question|thank|thanks|thx|sorry|wait|hm+\b|let me|will (?:check|look)|i(?:'ll| will) (?:check"
    r"|look|ask"
    r"|see)|maybe|perhaps|depends|it depends|both work|hello|hi\b|here(?:'s| is| are)|see (?:below|above)|attached"
    r"|you (?:tell"
    r"|decide)|what(?:ever)?\b|i (?:think|guess) so$|lol|haha|(?:.* )?questions?\b"
    r"|</?\w|\w+ = \w+\("
    r"|(?:just |only |merely )?(?:asking|checking|wondering|curious|curiosity|saying|kidding|joking)\b)"
)


_ONLY_AGREES: Final = PatternSet(
    r"(?:(?:yes|yep|yeah|yup|sure|ok(?:ay)?|please|go|ahead|fine|right|correct|exactly|agreed|absolutely|both|no|nope"
    r"|\w+ (?:it|that|them|this))[,.! ]*)+$"
)
"""Matches answers that only agree or refuse."""
_THANKS: Final = PatternSet(r"(?:\w+,? )?(?:many )?(?:thanks|thank|thx|cheers)\b")
_REMARKS: Final = PatternSet(
    r".*\b(?:is|are|was|were|looks?|sounds?|seems?|makes?|feels?|will be|would be) (?:\w+ ){0,2}?(?:amazing|awesome"
    r"|clear|cool"
    r"|crucial|good|great|helpful|important|interesting|key|nice|perfect|sense|super|tough|true|useful|valid|worth)\b",
    r".*\b(?:helps?|helped|concern|worry|worried|nervous|excited|confident|glad|happy|looking forward|appreciate)\b",
)
"""Matches remarks and feelings about what was said."""

_CHOOSES: Final = PatternSet(
    r"(?s)(?:.*[,;:.] |.*\b(?:and|so|but) )?(?:should|shall|do you (?:want|need|prefer|follow)|would (?:you|a|an"
    r"|the|it)"
    r"|which (?:of|one|way|would|do you)|what (?:should|would you|do you want)|who should|where should|how should"
    r"|is (?:that|this|it|.{3,60}) (?:fine|ok|okay|right|enough|the rule)|can (?:i|we) |keep|want)\b",
    r"(?s).*(?:,? or |\boder\b| o | ou |\bили\b|还是|それとも|아니면|어느 쪽| ya )",
)
"""Matches questions that offer a choice or ask for a decision; answers to other questions are facts."""


def read_answers(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return the findings of the first sentences of a reply that answer the choice at the end of the assistant's
    message; [] if there is no such question or no answer. ``spoken``: the sentences of the reply."""
    asked = _question(situation)
    made: list[Finding] = []
    for segment in spoken[:ANSWERS_READ] if asked else ():
        made += _read_answer(segment, asked, answered=bool(made))
    return made


def _question(situation: Situation) -> str:
    """The question with which the assistant's last message ends, if it offers a choice; else ""."""
    asked = situation.offers.ending
    choice = is_question(asked) and _CHOOSES.any(asked) and not asks_for_facts(asked)
    return asked if choice and not is_conversation_filler(asked) else ""


def _read_answer(segment: Segment, asked: str, *, answered: bool) -> list[Finding]:
    """The finding of a sentence that answers the question ``asked``, if no rule reads it; [] for none. The label of a
    bare answer begins with the question, unless an earlier sentence has ``answered`` it."""
    text = strip_lead(bound_sentence(segment.text))
    if (
        not text
        or is_question(text)
        or is_supposition(text)
        or read_hits(segment.text, Speaker.USER)
        or _NO_ANSWER.any(text)
    ):
        return []
    if _REMARKS.any(text) or _THANKS.any(segment.text):
        return []
    label, reason = split_reason(text)
    words = content(label)
    if not words or is_anaphoric(label) or _ONLY_AGREES.any(label):
        return []
    if len(words) <= BARE_WORDS and len(asked) <= _QUESTION_MAX and not answered:
        label = f"{asked.rstrip('?？ ')}: {label}"
    slot = read_slot_fields(label)
    return [
        Finding(
            NodeType.DECISION,
            label,
            Status.ACTIVE,
            Trust.STATED,
            _ANSWERED,
            kind=DecisionKind.CHOICE,
            reason=reason,
            quote=segment.text,
            span=(segment.start, segment.end),
            slot=slot.get("slot", ""),
            value=slot.get("value", ""),
        )
    ]
