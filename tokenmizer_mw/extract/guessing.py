"""The learned stage: what the sentences of a message do beside what rules read in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Settings

from .cues import beside, cues, place
from .finding import Segment, SegmentKind
from .hit import Hit, anaphoric
from .learned import DialogueAct, Model, shipped
from .phrases import asks, bounded, order_in, without_lead
from .rules import Act, Rule, Speaker
from .rules.headings import heading_act
from .similar import content
from .situation import Situation

GUESSED_MAX: Final = 120
"""Sentences of one message that are judged, from its beginning."""

_ENDS: Final = " .!…"


WORDS_MIN: Final = 2
"""Words of content that a sentence has at least for anything to come of it."""


@dataclass(frozen=True, slots=True)
class Use:
    """A sentence of ``speaker`` that does ``guessed`` with a chance of at least ``sure`` is taken to do ``act``."""

    guessed: DialogueAct
    speaker: Speaker
    sure: float
    act: Act


USES: Final = (
    Use(DialogueAct.DECISION, Speaker.USER, 0.25, Act.CHOICE),
    Use(DialogueAct.DECISION, Speaker.ASSISTANT, 0.45, Act.CHOICE),
    Use(DialogueAct.COMPLETION, Speaker.USER, 0.2, Act.CLAIM),
    Use(DialogueAct.COMPLETION, Speaker.ASSISTANT, 0.3, Act.CLAIM),
    Use(DialogueAct.POSTPONEMENT, Speaker.USER, 0.2, Act.LATER),
    Use(DialogueAct.POSTPONEMENT, Speaker.ASSISTANT, 0.25, Act.LATER),
    Use(DialogueAct.COMPLAINT, Speaker.USER, 0.2, Act.COMPLAINT),
    Use(DialogueAct.COMPLAINT, Speaker.ASSISTANT, 0.4, Act.COMPLAINT),
)
"""What the model is used for."""

CONFIDENCE: Final = 0.6
"""Confidence of what only the model says."""

BESIDE: Final = 1.3
"""How much surer the model has to be of what a sentence does beside what a rule reads in it."""

_USES_OF: Final = {speaker: tuple(use for use in USES if use.speaker is speaker) for speaker in Speaker}
_RULES: Final = {use: Rule(f"learned.{use.act}", use.speaker, use.act, "", CONFIDENCE, "", "") for use in USES}
_SAME: Final = {
    Act.CHOICE: frozenset(
        {Act.CHOICE, Act.ASSIGN, Act.WISH, Act.PREFERENCE, Act.RULE, Act.REPLACE, Act.CHANGE, Act.RETURN, Act.REJECT}
    ),
    Act.CLAIM: frozenset({Act.CLAIM, Act.FIX, Act.CONFIRM}),
    Act.LATER: frozenset({Act.LATER, Act.HANDOVER, Act.REQUEST}),
    Act.COMPLAINT: frozenset({Act.COMPLAINT, Act.STILL, Act.DIAGNOSIS, Act.BLOCKED}),
}
"""What rules read that says as much as a guess does."""


def model_of(settings: Settings) -> Model:
    """The model that the settings ask for. Raises ``ConfigError`` where they name a directory that is not one, or one
    while the extra ``semantic`` is missing."""
    if settings.semantic is None:
        return shipped()
    try:
        from .semantic import opened  # needs numpy and tokenizers, which an extra brings
    except ImportError as error:
        raise ConfigError(f"the setting semantic needs the extra semantic: {error}") from None
    return opened(settings.semantic, settings.semantic_sha256)


def completed(
    spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> list[Sequence[Hit]]:
    """What the rules read in each sentence, and what else the model is sure enough of.

    Of a message, the first ``GUESSED_MAX`` sentences are judged.
    """
    return [
        (*found, *_guessed(index, spoken, read, situation, model)) if index < GUESSED_MAX else found
        for index, found in enumerate(read)
    ]


def cues_of(index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation) -> list[str]:
    """All that the model looks at in the ``index``-th sentence of a message. ``read``: what rules read in each."""
    own = cues(spoken[index], read[index], situation.speaker) + place(index, len(spoken), situation)
    before = read[index - 1] if index else ()
    behind = read[index + 1] if index + 1 < len(read) else ()
    return own + beside(before, behind, situation)


def _guessed(
    index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> tuple[Hit, ...]:
    """What only the model says of a sentence: one act at most."""
    segment, found = spoken[index], read[index]
    text = without_lead(bounded(segment.text)).rstrip(_ENDS)
    order = order_in(text)
    if (asks(text) and not order) or anaphoric(order or text) or _told_by_heading(segment, situation):
        return ()
    if any(hit.rule.explicit for hit in found) or len(content(text)) < WORDS_MIN:
        return ()
    guess = model.guess(model.weight(cues_of(index, spoken, read, situation)), model.meaning(bounded(segment.text)))
    said = {hit.rule.act for hit in found}
    share = BESIDE if found else 1.0
    fitting = [
        (guess.chance(use.guessed) / use.sure, use)
        for use in _USES_OF.get(situation.speaker, ())
        if guess.chance(use.guessed) >= use.sure * share and not said & _SAME[use.act]
    ]
    if not fitting:
        return ()
    _, use = max(fitting, key=itemgetter(0))
    return (Hit(_RULES[use], text, order or text),)


def _told_by_heading(segment: Segment, situation: Situation) -> bool:
    """Whether what stands above a point of a list says what the point is."""
    if segment.kind is not SegmentKind.LIST_ITEM or not segment.info:
        return False
    return situation.asked_what_is_left or heading_act(segment.heading, situation.speaker) is not None
