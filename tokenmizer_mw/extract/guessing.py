"""The learned stage: what the sentences of a message do where no rule reads them, and where a rule is misled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Settings

from .cues import cues, place
from .finding import Segment, SegmentKind
from .hit import Hit, anaphoric
from .learned import DialogueAct, Guess, Model, Spread, shipped
from .phrases import asks, bounded, order_in, without_lead
from .reading import hits
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
    """A sentence of ``speaker`` that does one of ``guessed`` with a chance of at least ``sure`` is taken to do ``act``,
    with ``confidence``."""

    guessed: frozenset[DialogueAct]
    speaker: Speaker
    sure: float
    act: Act
    confidence: float


_SETTLES: Final = frozenset({DialogueAct.DECISION, DialogueAct.RULE, DialogueAct.PREFERENCE, DialogueAct.CORRECTION})
USES: Final = (
    Use(_SETTLES, Speaker.USER, 0.8, Act.CHOICE, 0.6),
    Use(frozenset({DialogueAct.COMPLAINT}), Speaker.USER, 0.6, Act.COMPLAINT, 0.6),
    Use(frozenset({DialogueAct.COMPLETION}), Speaker.USER, 0.6, Act.CLAIM, 0.6),
    Use(frozenset({DialogueAct.COMPLETION}), Speaker.ASSISTANT, 0.85, Act.CLAIM, 0.6),
)
"""What the model is used for. Of several that fit, the first one counts."""

_USES_OF: Final = {speaker: tuple(use for use in USES if use.speaker is speaker) for speaker in Speaker}
_RULES: Final = {use: Rule(f"learned.{use.act}", use.speaker, use.act, "", use.confidence, "", "") for use in USES}


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


class Judged:
    """What the sentences of a message do. A sentence is weighed when it, or one beside it, is asked about.

    A sentence is judged by itself first, then once more with what its neighbours seem to do by themselves.
    """

    def __init__(
        self, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
    ) -> None:
        self._spoken, self._read, self._situation, self._model = spoken, read, situation, model
        self._weights: dict[int, int] = {}
        self._meanings: dict[int, Sequence[float]] = {}

    def may_be(self, index: int, acts: frozenset[DialogueAct], sure: float) -> bool:
        """Whether a sentence does one of these acts with a chance of at least ``sure``, for all that its own words
        tell."""
        model = self._model
        spread = _spread(model, self._situation.speaker)
        return model.most(self._weight(index), spread, acts, self._meaning(index)) >= sure

    def guess(self, index: int) -> Guess:
        """What a sentence does."""
        around = beside(self._act(index - 1), self._act(index + 1), index, self._told, self._situation.speaker)
        return self._model.guess(self._weight(index) + self._model.weight(around), self._meaning(index))

    def _weight(self, index: int) -> int:
        weight = self._weights.get(index)
        if weight is None:
            own = cues(self._spoken[index], self._read[index], self._situation.speaker)
            weight = self._model.weight(own + place(index, len(self._spoken), self._situation))
            self._weights[index] = weight
        return weight

    def _meaning(self, index: int) -> Sequence[float]:
        meaning = self._meanings.get(index)
        if meaning is None:
            meaning = self._meanings[index] = self._model.meaning(bounded(self._spoken[index].text))
        return meaning

    def _act(self, index: int) -> str:
        """What a sentence seems to do by itself; "" where there is none, or none that is judged."""
        if not 0 <= index < min(len(self._spoken), GUESSED_MAX):
            return ""
        return self._model.guess(self._weight(index), self._meaning(index)).act.value

    @cached_property
    def _told(self) -> str:
        """What the last sentence does that a user answers."""
        if self._situation.speaker is not Speaker.USER or not self._situation.offers.closing:
            return ""
        last = self._situation.offers.closing[-1]
        read = hits(last.text, Speaker.ASSISTANT)
        weight = self._model.weight(cues(last, read, Speaker.ASSISTANT))
        return self._model.guess(weight, self._model.meaning(bounded(last.text))).act.value


def beside(before: str, behind: str, index: int, told: str, speaker: Speaker) -> list[str]:
    """The cues of what stands around the ``index``-th sentence of a message: the acts of the sentences ``before`` and
    ``behind`` it, "" where there is none. ``told``: what the last sentence of the other's message does, "" where it
    does not matter or there is none."""
    who = speaker.value
    found = [f"{who}:before:{before}", f"{who}:behind:{behind}"]
    if told:
        found.append(f"{who}:told:{told}" if index else f"{who}:answers:{told}")
    return found


@cache
def _spread(model: Model, speaker: Speaker) -> Spread:
    """What neighbours may do to a sentence."""
    acts = ("", *model.classes)
    around = [beside(act, act, index, act, speaker) for act in acts for index in (0, 1)]
    return model.spread(
        [{cues[0] for cues in around}, {cues[1] for cues in around}, {c for cues in around for c in cues[2:]}]
    )


def completed(
    spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> list[Sequence[Hit]]:
    """What the rules read in each sentence; where they read nothing, what the model is sure enough of.

    Of a message, the first ``GUESSED_MAX`` sentences are judged.
    """
    judged = Judged(spoken, read, situation, model)
    return [
        found or (_taken(judged, index, segment, situation) if index < GUESSED_MAX else ())
        for index, (segment, found) in enumerate(zip(spoken, read, strict=True))
    ]


def _taken(judged: Judged, index: int, segment: Segment, situation: Situation) -> tuple[Hit, ...]:
    """A sentence that no rule reads, as a hit; () when what it does is doubtful, or nothing comes of it."""
    text = without_lead(bounded(segment.text)).rstrip(_ENDS)
    order = order_in(text)
    if (asks(text) and not order) or anaphoric(order or text):
        return ()
    uses = [use for use in _USES_OF.get(situation.speaker, ()) if judged.may_be(index, use.guessed, use.sure)]
    if not uses or len(content(text)) < WORDS_MIN or _told_by_heading(segment, situation):
        return ()
    guess = judged.guess(index)
    fitting = next((use for use in uses if guess.chance(use.guessed) >= use.sure), None)
    return (Hit(_RULES[fitting], text, order or text),) if fitting is not None else ()


def _told_by_heading(segment: Segment, situation: Situation) -> bool:
    """Whether what stands above a point of a list says what the point is."""
    if segment.kind is not SegmentKind.LIST_ITEM or not segment.info:
        return False
    return situation.asked_what_is_left or heading_act(segment.heading, situation.speaker) is not None
