"""Labels that are too thin to be understood later, told together with what they take up: "batches" becomes what the
assistant had offered as batches, "2 weeks" the sentence that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding import Finding, Move, Segment
from .pattern import compiled
from .phrases import asks, bounded, without_lead
from .prose import sentences
from .similar import content
from .situation import TOLD_MAX, Situation

THIN_WORDS: Final = 2
"""Words of content up to which a label is looked at."""

THIN_SIGNS: Final = 4
"""Characters up to which a label is in scripts that put no spaces between words."""

TOLD_LABEL_MAX: Final = 100
"""Characters of a sentence that a label is filled with."""

_PAUSE: Final = compiled(r"[,;:(]\s?|\s(?:--?|–|—)\s|[，；：、]")
_MOVES: Final = frozenset({Move.NOTE, Move.ADOPT, Move.REPLACE})


def filled(found: Sequence[Finding], situation: Situation, spoken: Sequence[Segment]) -> list[Finding]:
    """``found`` with the thin labels of choices told in full, where there is more to tell."""
    texts = {(segment.start, segment.end): segment.text for segment in spoken}
    made: list[Finding] = []
    for finding in found:
        full = _full(finding, situation, texts) if _is_thin(finding) else finding
        if full not in made:
            made.append(full)
    return made


def _is_thin(finding: Finding) -> bool:
    chosen = finding.type is NodeType.DECISION and finding.status is Status.ACTIVE
    if not chosen or finding.kind is not DecisionKind.CHOICE or finding.move not in _MOVES or finding.slot:
        return False
    if finding.trust is Trust.ADOPTED:  # named as it was offered
        return False
    label = finding.label
    if not label or ": " in label or _is_named(finding):
        return False
    if not label.isascii() and " " not in label:
        return len(label) <= THIN_SIGNS
    return len(content(label)) <= THIN_WORDS


def _is_named(finding: Finding) -> bool:
    """Whether the label is a number or a name of its own, which needs no sentence around it."""
    if finding.label[:1].isdigit() or any(word in MEMBERS for word in finding.label.casefold().split()):
        return True
    rest = finding.label[1:] if finding.quote.startswith(finding.label[:1]) else finding.label
    return any(letter.isupper() for letter in rest)


def _full(finding: Finding, situation: Situation, texts: dict[tuple[int, int], str]) -> Finding:
    said = without_lead(bounded(texts.get(finding.span, ""))) if finding.span is not None else ""
    offered = _offered(finding.label, situation)
    if offered:
        return replace(finding, label=f"{finding.label}: {offered}")
    if content(said) > content(finding.label) and len(said) <= TOLD_LABEL_MAX and not asks(said):
        return replace(finding, label=said)
    return finding


def _offered(label: str, situation: Situation) -> str:
    """The sentence of the assistant's last message that speaks of the label, "" for none or several."""
    if situation.told is None:
        return ""
    text, words = situation.told[1].text[-TOLD_MAX:], content(label)
    said = [text[start:end].strip() for start, end in sentences(text, 0, len(text))]
    fits = [one for one in said if words and words < content(one) and not asks(one)]
    told = bounded(fits[0]) if len(fits) == 1 else ""
    if len(told) <= TOLD_LABEL_MAX:
        return told
    parts = (part for part in _clauses(told) if words < content(part) and len(part) <= TOLD_LABEL_MAX)
    return next(parts, "")


def _clauses(sentence: str) -> Iterator[str]:
    while (border := _PAUSE.search(sentence)) is not None:
        yield sentence[: border.start()].strip()
        sentence = sentence[border.end() :]
    yield sentence.strip()
