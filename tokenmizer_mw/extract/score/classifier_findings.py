"""Findings of the sentence classifier: what sentences do that no rule reads, and which findings of rules it rejects.

In: the sentences of a message, the hits of the rules in each, and the situation. Out: hits, or filtered findings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.frames import is_hearsay, is_of_others
from tokenmizer_mw.extract.match.hit import Hit, is_anaphoric
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Rule, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, NodeType, Trust
from tokenmizer_mw.settings import Settings

from .classifier import ActProbabilities, DialogueAct, Model, SentenceInContext, load_shipped_model
from .cues import cues_of_neighbours, cues_of_place, cues_of_sentence, last_heard_sentence

GUESSED_MAX: Final = 120
"""Sentences of one message that are judged, from its beginning."""

_ENDS: Final = " .!…"


WORDS_MIN: Final = 2
"""Words of content that a sentence has at least for anything to come of it."""


@dataclass(frozen=True, slots=True)
class ClassifierUse:
    """How one class of the classifier is used: a sentence of ``speaker`` is read as ``act`` if its class ``guessed``
    has at least the probability ``sure``, or ``meant`` if a sentence model has read the sentence, too."""

    guessed: DialogueAct
    speaker: Speaker
    sure: float
    meant: float
    act: Act


USES: Final = (
    ClassifierUse(DialogueAct.DECISION, Speaker.USER, 0.5, 0.41, Act.CHOICE),
    ClassifierUse(DialogueAct.RULE, Speaker.USER, 0.32, 0.32, Act.RULE),
    ClassifierUse(DialogueAct.DECISION, Speaker.ASSISTANT, 0.32, 0.32, Act.CHOICE),
    ClassifierUse(DialogueAct.COMPLETION, Speaker.USER, 0.29, 0.2, Act.CLAIM),
    ClassifierUse(DialogueAct.COMPLETION, Speaker.ASSISTANT, 0.6, 0.4, Act.CLAIM),
    ClassifierUse(DialogueAct.POSTPONEMENT, Speaker.USER, 0.3, 0.22, Act.LATER),
    ClassifierUse(DialogueAct.POSTPONEMENT, Speaker.ASSISTANT, 0.35, 0.2, Act.LATER),
    ClassifierUse(DialogueAct.COMPLAINT, Speaker.USER, 0.35, 0.35, Act.COMPLAINT),
    ClassifierUse(DialogueAct.COMPLAINT, Speaker.ASSISTANT, 0.58, 0.58, Act.COMPLAINT),
)
"""What the model is used for. At these chances three of five sentences are taken rightly on authors whom the model has
not read: ``second`` and ``third`` of the corpus, and where an assistant does too little in these, the authors of
``benchmarks/training/FIGURES.md``."""

DOUBTED: Final[Mapping[Act, tuple[DialogueAct, float]]] = {
    Act.COMPLAINT: (DialogueAct.COMPLAINT, 0.13),
    Act.CLAIM: (DialogueAct.COMPLETION, 0.05),
    Act.FIX: (DialogueAct.COMPLETION, 0.05),
}
"""What a sentence has to do, with at least which chance, for a rule that reads an act in it to be right. On ``second``
and ``third`` this loses none of what is right; doubting choices, and what is open, loses more than it mends."""

CONFIDENCE: Final = 0.6
"""Confidence of what only the model says."""

_USES_OF: Final = {speaker: tuple(use for use in USES if use.speaker is speaker) for speaker in Speaker}
_RULES: Final = {use: Rule(f"learned.{use.act}", use.speaker, use.act, "", CONFIDENCE, "", "") for use in USES}


def model_of(settings: Settings) -> Model:
    """Return the classifier in the directory ``settings.semantic``; the one that this package contains if that is
    ``None``.

    For a directory, raises ``ConfigError`` if the extra ``semantic`` is not installed, if the directory contains no
    such model, and if the digest of its weights is not ``settings.semantic_sha256``. The classifier of this package
    needs no extra.
    """
    if settings.semantic is None:
        return load_shipped_model()
    try:
        from .semantic import open_head  # needs numpy and tokenizers, which an extra brings
    except ImportError as error:
        raise ConfigError(f"the setting semantic needs the extra semantic: {error}") from None
    return open_head(settings.semantic, settings.semantic_sha256)


Span = tuple[int, int]


def find_by_classifier(
    spoken: Sequence[Segment],
    read: Sequence[Sequence[Hit]],
    told: Collection[Span | None],
    situation: Situation,
    model: Model,
) -> Iterator[tuple[Segment, Hit]]:
    """Yield the sentences that no rule reads and whose most probable act is probable enough, each with that act as a
    hit.

    Only the first ``GUESSED_MAX`` sentences of a message are judged. Never yielded are questions (except those that are
    orders), sentences with too few words of content or that refer to others ("do that"), and list items in the report
    of an assistant with tools.

    - ``spoken``: the sentences of the message; ``read``: the hits of rules in each.
    - ``told``: spans of sentences to skip.
    - ``situation``: the messages before, and who speaks; ``model``: the classifier.
    """
    for index, segment in enumerate(spoken[:GUESSED_MAX]):
        if not read[index] and (segment.start, segment.end) not in told:
            hit = _guess_act(index, spoken, read, situation, model)
            if hit is not None:
                yield segment, hit


def drop_unlikely_hits(
    spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> list[Sequence[Hit]]:
    """Return the hits of rules in each sentence (``read``), without those that ``model`` finds improbable.

    Only hits for the acts in ``DOUBTED`` are judged, in the first ``GUESSED_MAX`` sentences; all others stay, and so do
    formal markers ("Decided:").
    """
    return [
        [hit for hit in known if not _is_unlikely(hit, index, spoken, read, situation, model)] if known else known
        for index, known in enumerate(read)
    ]


def _is_unlikely(
    hit: Hit, index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> bool:
    """Whether the model gives a hit less probability than ``DOUBTED`` asks for."""
    doubted = DOUBTED.get(hit.rule.act)
    if doubted is None or hit.rule.explicit or index >= GUESSED_MAX:
        return False
    act, least = doubted
    return judge_sentence(index, spoken, read, situation, model).chance(act) < least


def drop_unlikely_findings(
    found: Sequence[Finding],
    spoken: Sequence[Segment],
    read: Sequence[Sequence[Hit]],
    situation: Situation,
    model: Model,
) -> list[Finding]:
    """Return ``found`` without the findings whose sentence probably does nothing of the kind (see ``LEAST_CHANCES``).

    - ``spoken``: the sentences of the message; ``read``: the hits of rules in each.
    - ``situation``: the messages before, and who speaks; ``model``: the classifier.

    A finding stays unjudged if it is not stated by its speaker (such as what the user accepts of an offer), if its
    sentence has a formal marker ("Decided:"), if its type and move are not in ``LEAST_CHANCES``, or if it is no finding
    of one of the first ``GUESSED_MAX`` sentences.
    """
    places = {(segment.start, segment.end): at for at, segment in enumerate(spoken[:GUESSED_MAX])}

    def is_likely(finding: Finding) -> bool:
        at = places.get(finding.span) if finding.span is not None else None
        chances = (
            VALUE_OR_RULE_CHANCES if _states_value_or_rule(finding) else LEAST_CHANCES.get((finding.type, finding.move))
        )
        if at is None or chances is None or finding.trust is not Trust.STATED:
            return True
        if any(hit.rule.explicit for hit in read[at]):
            return True
        guess = judge_sentence(at, spoken, read, situation, model)
        return any(guess.chance(act) >= least for act, least in chances.items())

    return [finding for finding in found if is_likely(finding)]


def _states_value_or_rule(finding: Finding) -> bool:
    """Whether a finding notes a value that a sentence states ("CI runs on Jenkins"), or a rule or preference."""
    if (finding.type, finding.move) != (NodeType.DECISION, Move.NOTE):
        return False
    return bool(finding.slot or finding.value) or finding.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE)


LEAST_CHANCES: Final[Mapping[tuple[NodeType, Move], Mapping[DialogueAct, float]]] = {
    (NodeType.DECISION, Move.NOTE): {DialogueAct.DECISION: 0.15, DialogueAct.RULE: 0.15},
    (NodeType.DECISION, Move.SET): {DialogueAct.CHANGE: 0.08, DialogueAct.DECISION: 0.08},
    (NodeType.TASK, Move.CLOSE): {DialogueAct.COMPLETION: 0.1},
    (NodeType.ERROR, Move.CLOSE): {DialogueAct.COMPLETION: 0.1},
    (NodeType.ERROR, Move.NOTE): {DialogueAct.COMPLAINT: 0.1},
    (NodeType.TASK, Move.NOTE): {
        DialogueAct.POSTPONEMENT: 0.08,
        DialogueAct.DECISION: 0.08,
        DialogueAct.CHANGE: 0.08,
    },
}
"""Which acts a user's sentence must do, one of them with at least which chance, for a finding with this type and move
to be believed; findings of other types and moves are. Chosen on authors whom the classifier had not read (see
``benchmarks/finding_chances.py``): these drop a third of the choices that nobody made, and one in twenty of those that
somebody did."""
VALUE_OR_RULE_CHANCES: Final = dict.fromkeys(
    (DialogueAct.DECISION, DialogueAct.CHANGE, DialogueAct.REJECTION, DialogueAct.RULE, DialogueAct.STATE), 0.06
)
"""The same for values, rules and preferences, which the words of a sentence alone make likely."""


def judge_sentence(
    index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> ActProbabilities:
    """The probability of each act in the ``index``-th sentence of a message. ``read``: the hits of rules in each
    sentence."""
    said = model.weight(cues_of(index, spoken, read, situation))
    return model.guess(
        said, model.meaning(sentence_in_context(index, spoken, situation)) if model.reads_context else ()
    )


def sentence_in_context(index: int, spoken: Sequence[Segment], situation: Situation) -> SentenceInContext:
    """The ``index``-th sentence of a message with its context, as a sentence model reads it."""
    before = bound_sentence(spoken[index - 1].text) if index else ""
    return SentenceInContext(
        bound_sentence(spoken[index].text), situation.speaker.value, before, last_heard_sentence(situation)
    )


def change_log_odds(index: int, spoken: Sequence[Segment], situation: Situation, model: Model) -> float | None:
    """What a sentence model adds to the log odds that the ``index``-th sentence changes something; ``None`` without
    one, or if it does not read the sentence, because that is not ASCII."""
    meaning = model.meaning(sentence_in_context(index, spoken, situation)) if model.reads_context else ()
    return meaning[model.classes.index(DialogueAct.CHANGE)] if meaning else None


def settling_chance(index: int, spoken: Sequence[Segment], situation: Situation, model: Model) -> float:
    """The probability that the ``index``-th sentence of a message decides something or states a rule, whichever is
    likelier."""
    near = range(index - 1, index + 2)
    read = [read_hits(one.text, situation.speaker) if at in near else () for at, one in enumerate(spoken)]
    return max(map(judge_sentence(index, spoken, read, situation, model).chance, _SETTLING))


_SETTLING: Final = (DialogueAct.DECISION, DialogueAct.RULE)


def cues_of(index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation) -> list[str]:
    """The features of the ``index``-th sentence of a message. ``read``: the hits of rules in each sentence."""
    own = cues_of_sentence(spoken[index], read[index], situation.speaker) + cues_of_place(index, len(spoken), situation)
    before = read[index - 1] if index else ()
    behind = read[index + 1] if index + 1 < len(read) else ()
    return own + cues_of_neighbours(before, behind, situation)


def _guess_act(
    index: int, spoken: Sequence[Segment], read: Sequence[Sequence[Hit]], situation: Situation, model: Model
) -> Hit | None:
    """The most probable act of a sentence that no rule reads, as a hit; ``None`` if it is not probable enough."""
    segment = spoken[index]
    text = strip_lead(bound_sentence(segment.text)).rstrip(_ENDS)
    order = read_order(text)
    if (is_question(text) and not order) or is_anaphoric(order or text) or len(content(text)) < WORDS_MIN:
        return None
    if _is_detail(segment, situation):
        return None
    guess = judge_sentence(index, spoken, read, situation, model)
    is_read = model.reads_context and segment.text.isascii()
    uses = _USES_OF.get(situation.speaker, ())
    chances = [(guess.chance(use.guessed) / (use.meant if is_read else use.sure), use) for use in uses]
    share, use = _choose_use(chances, len(spoken))
    if use.act in _OF_WORK and use.speaker is Speaker.USER and (is_hearsay(text) or is_of_others(segment.text)):
        return None
    if use.act in _SETTLES and _NEVER_DONE.any(text):
        return None
    return Hit(_RULES[use], text, order or text) if share >= 1 else None


def _choose_use(chances: Sequence[tuple[float, ClassifierUse]], sentences: int) -> tuple[float, ClassifierUse]:
    """The likeliest act of a sentence in a message of ``sentences`` sentences, each with its chance as a share of the
    least one. A rule that is likely enough goes before a choice, because every rule is a choice as well; in a long
    message, such as a specification, rules are not looked for."""
    share, use = max((one for one in chances if one[1].act is not Act.RULE), key=itemgetter(0))
    rule = next((one for one in chances if one[1].act is Act.RULE and sentences <= RULE_SENTENCES_MAX), None)
    if rule is not None and rule[0] >= 1 and (use.act is Act.CHOICE or rule[0] > share):
        return rule
    return share, use


RULE_SENTENCES_MAX: Final = 6
"""Most sentences of a message in which the classifier alone finds a rule. In longer ones, which describe a whole task,
it takes steps of the task for rules."""


_OF_WORK: Final = frozenset({Act.CLAIM, Act.COMPLAINT})
"""Acts about the session's own work, which what the user read somewhere or tells of others is not."""

_SETTLES: Final = frozenset({Act.CHOICE, Act.RULE})

_NEVER_DONE: Final = PatternSet(r"(?:i|we)(?:'ve| have)(?: \w+)? never\b")
"""Matches what a speaker has no experience with ("I've never written a test"), which settles nothing. The classifier
takes its "never" for that of a rule."""


def _is_detail(segment: Segment, situation: Situation) -> bool:
    """Whether a segment is a list item in the report of an assistant with tools, which is read as a whole."""
    return segment.kind is SegmentKind.LIST_ITEM and situation.tooled and situation.speaker is Speaker.ASSISTANT
