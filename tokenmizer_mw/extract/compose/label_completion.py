"""Complete labels that are too short to be understood later: "batches" becomes the whole option that the assistant had
offered, "2 weeks" the sentence that contains it. What a user chose, and what is to be done, is labelled with its
sentence if that is short.

Input are the findings of a message; output are the same findings, some with longer labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.dialogue.referent import find_referent
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment
from tokenmizer_mw.extract.match.frames import may_carry
from tokenmizer_mw.extract.match.rule_hits import is_anaphoric
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
    has_digit,
    is_question,
    split_reason,
    strip_lead,
    strip_trailer,
)
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .meaningless_labels import is_go_ahead
from .validate import is_behind_marker

THIN_WORDS: Final = 2
"""Most content stems (see ``text.similar``) of a label that may be completed."""

OLD_WORDS: Final = 5
"""A replaced choice of at most this many words is added to the label of the new one, if that has fewer content stems
than this."""

THIN_SIGNS: Final = 4
"""Longest label, in characters, that may be completed in scripts without spaces between words."""

TOLD_LABEL_MAX: Final = 100
"""Longest sentence, in characters, that becomes a label."""

_SET_AGAINST: Final = PatternSet(r"(?s).*\b(?:instead of|rather than|in place of)\b")
_KINDS: Final = frozenset({DecisionKind.CHOICE, DecisionKind.PREFERENCE})
THIN_MAX: Final = 40
"""Number of short labels of one message that are completed, from its beginning on; further ones stay."""

PART: Final = 0.5
"""A label shorter than this share of its sentence is replaced by the sentence."""
MORE_WORDS: Final = 2
"""Fewest content stems that a sentence must have besides those of the label, for it to become the label."""
_SAID: Final = frozenset({NodeType.DECISION, NodeType.TASK, NodeType.ERROR, NodeType.GOAL})

_MOVES: Final = frozenset({Move.NOTE, Move.ADOPT, Move.REPLACE})


def fill_labels(found: Sequence[Finding], situation: Situation, spoken: Sequence[Segment]) -> list[Finding]:
    """Return the findings of a message in their order, without repetitions. Choices and preferences with short labels
    get longer ones where a longer text is known: the sentence, or the option that the assistant had offered.
    ``situation``: what the message answers; ``spoken``: the segments of the message."""
    texts = {(segment.start, segment.end): segment.text for segment in spoken}
    thin = islice((at for at, finding in enumerate(found) if _is_thin(finding)), THIN_MAX)
    filled = frozenset(thin)
    full = (
        _fill_label(finding, situation, texts) if at in filled else _label_with_replaced(finding)
        for at, finding in enumerate(found)
    )
    whole = list(dict.fromkeys(full))
    kinds = Counter(span for span, _ in {(one.span, (one.type, one.kind)) for one in whole if one.type in _SAID})
    told = (_label_with_sentence(finding) if kinds[finding.span] == 1 else finding for finding in whole)
    return list(dict.fromkeys(told))


def widen_labels(found: Sequence[Finding]) -> list[Finding]:
    """Return the findings of a message. What the user chose is labelled with its whole sentence if that is short, and
    what is to be done with its sentence up to the end of the label, because a part of a sentence often lacks what it is
    about. Choices of one such sentence become one.

    A finding keeps its label in these cases:

    - It is a rule, has a reason, stands behind a formal marker ("Decided:") or is of a question.
    - Its sentence states something else as well, or another choice with a slot, which is replaced by itself.
    - The longer label has no more words of content ("Redis" of "we use Redis"), or could not be believed because of the
      words before (see ``may_carry``).
    """
    by_span: dict[tuple[int, int] | None, list[Finding]] = {}
    for finding in found:
        if finding.type in _SAID:
            by_span.setdefault(finding.span, []).append(finding)
    wide = {span for span, some in by_span.items() if all(map(_is_stated_plainly, some)) and _are_one(some)}
    return list(dict.fromkeys(_widen_label(one) if one.type in _SAID and one.span in wide else one for one in found))


def _are_one(findings: Sequence[Finding]) -> bool:
    """Whether the findings of a sentence may become one: a single one, or choices without slots."""
    return len(findings) == 1 or all(one.kind is DecisionKind.CHOICE and not one.slot for one in findings)


def _widen_label(finding: Finding) -> Finding:
    """The finding with its sentence as label (see ``widen_labels``)."""
    sentence = strip_trailer(strip_lead(bound_sentence(finding.quote)).rstrip(_ENDS))
    end = sentence.find(finding.label) + len(finding.label)
    label = sentence if finding.type is NodeType.DECISION else sentence[:end]
    fits = finding.label in sentence and len(label) <= TOLD_LABEL_MAX and not is_question(sentence)
    wider = replace(finding, label=label) if fits and _is_fuller(label, finding.label) else finding
    return wider if may_carry(wider) and not is_go_ahead(wider.label) else finding


def _is_stated_plainly(finding: Finding) -> bool:
    """Whether a finding is what the user chose, or a task to be done, and its sentence gives no reason and begins with
    no marker."""
    chosen = finding.kind is DecisionKind.CHOICE and finding.status is Status.ACTIVE and finding.move is Move.NOTE
    to_do = finding.type is NodeType.TASK and finding.status is Status.PENDING
    if not (to_do or (chosen and finding.trust is Trust.STATED)) or finding.certain or finding.span is None:
        return False
    explained = finding.target or finding.reason or finding.why
    return bool(finding.label) and not explained and not is_behind_marker(finding)


_ENDS: Final = " .!。！।"


def _label_with_sentence(finding: Finding) -> Finding:
    """The finding; a decision whose label is the smaller part of its short sentence is labelled with that sentence
    (without the reason, unless the label is in it). Values, names, replacements of something named, and questions keep
    their labels."""
    named = finding.slot or finding.target or finding.value or _is_name(finding)
    if finding.type is not NodeType.DECISION or finding.move not in _MOVES or named:
        return finding
    sentence = strip_lead(bound_sentence(finding.quote)).rstrip(" .!")
    sentence = sentence if finding.label not in (short := split_reason(sentence)[0]) else short
    part = finding.label in sentence and len(finding.label) < PART * len(sentence) <= PART * TOLD_LABEL_MAX
    more = part and len(content(sentence) - content(finding.label)) >= MORE_WORDS
    return replace(finding, label=sentence) if more and not is_question(sentence) else finding


def _is_name(finding: Finding) -> bool:
    """Whether the label is a single name that needs no sentence around it."""
    return " " not in finding.label and not finding.label.isdigit() and _is_named(finding)


def _label_with_replaced(finding: Finding) -> Finding:
    """The finding; the replaced choice is added to a short label of a choice: "median instead of the mean". Only if the
    sentence says "instead of" or the like."""
    old = finding.target
    chosen = finding.type is NodeType.DECISION and finding.kind is DecisionKind.CHOICE and finding.move in _MOVES
    if not chosen or not old or finding.slot or len(old.split()) > OLD_WORDS or not _SET_AGAINST.any(finding.quote):
        return finding
    brief = 0 < len(content(finding.label)) <= OLD_WORDS - 1 and not has_digit(finding.label) and content(old)
    told = brief and not content(old) <= content(finding.label) and not is_anaphoric(old)
    return replace(finding, label=f"{finding.label} instead of {old}") if told else finding


def _is_thin(finding: Finding) -> bool:
    chosen = finding.type is NodeType.DECISION and finding.status is Status.ACTIVE
    if not chosen or finding.kind not in _KINDS or finding.move not in _MOVES or finding.slot:
        return False
    if finding.trust is Trust.ADOPTED or finding.target:  # named as it was offered, or beside what goes for it
        return False
    label = finding.label
    if not label or ": " in label or _is_named(finding):
        return False
    if not label.isascii() and " " not in label:
        return len(label) <= THIN_SIGNS
    return len(content(label)) <= THIN_WORDS


def _is_named(finding: Finding) -> bool:
    """Whether the label is a number, or has a known product or a capital letter that does not begin the quote: such a
    label needs no sentence around it."""
    if finding.label[:1].isdigit() or any(word in MEMBERS for word in finding.label.casefold().split()):
        return True
    rest = finding.label[1:] if finding.quote.startswith(finding.label[:1]) else finding.label
    return any(letter.isupper() for letter in rest)


def _fill_label(finding: Finding, situation: Situation, texts: dict[tuple[int, int], str]) -> Finding:
    """The finding with a longer label: its sentence without the reason, else the earlier clause that it refers to, else
    its whole sentence. A preference gets only the clause that it refers to. Unchanged if none of them has all words of
    the label and more."""
    taken = _clause_with(finding.label, find_referent(finding.label, situation.offers.pieces))
    told = (taken,) if finding.kind is DecisionKind.PREFERENCE else _fuller_labels(finding, taken, texts)
    more = next((text for text in told if _is_fuller(text, finding.label)), "")
    return replace(finding, label=more.rstrip(" .!")) if more else finding


def _clause_with(label: str, text: str) -> str:
    """The clause of a text, between semicolons, that has all words of a label; else the text."""
    words = content(label)
    return next((part for part in text.split("; ") if words <= content(part)), text)


def _fuller_labels(finding: Finding, taken: str, texts: dict[tuple[int, int], str]) -> Sequence[str]:
    sentence = strip_lead(bound_sentence(texts.get(finding.span, ""))) if finding.span is not None else ""
    short = split_reason(sentence)[0]
    if " " not in short and len(short) <= len(finding.label) + THIN_SIGNS:
        short = ""
    own = [text for text in (short, sentence) if not is_question(text) and len(text) <= TOLD_LABEL_MAX]
    own = [] if is_behind_marker(finding) else own
    return (*own[:-1], taken, *own[-1:])


def _is_fuller(text: str, label: str) -> bool:
    if not label.isascii() and label in text:
        return len(text) > len(label) + THIN_SIGNS
    return content(text) > content(label)
