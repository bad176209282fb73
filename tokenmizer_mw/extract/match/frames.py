"""Frames: what keeps a sentence from asserting its content, such as a condition ("if we used MySQL") or reported
speech.

A sentence in a frame decides, replaces and withdraws nothing; it is only found by a search.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.rules.change_words import RECONSIDERS
from tokenmizer_mw.extract.rules.frame_words import HEARSAY, REQUESTS, STARTS, WITHIN, Frame
from tokenmizer_mw.extract.text.pattern import PatternSet, PatternTable, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, split_question, strip_lead
from tokenmizer_mw.model.node import NodeType, Status, Trust

SENTENCES_KEPT: Final = 128
"""Number of sentences whose frames are cached, because each finding of a sentence asks for them."""

_ROWS: Final = tuple((frame, pattern) for frame, patterns in STARTS.items() for pattern in patterns) + tuple(
    (Frame.REQUEST, pattern) for pattern in REQUESTS
)
_STARTS: Final = PatternTable(pattern for _, pattern in _ROWS)
_ROWS_WITHIN: Final = tuple((frame, pattern) for frame, patterns in WITHIN.items() for pattern in patterns)
_WITHIN: Final = PatternSet(*(f"(?s:.*?)(?:{pattern})" for _, pattern in _ROWS_WITHIN))
_BORDER: Final = compile_lazily(
    r"; | - | – | — |: |, (?:so|and so|also|i|i'm|i'll|i've|we|we're|we'll|we've|let's|then|dann|wir|ich|donc"
    r"|on|nous|así que"
    r"|pues|vamos|quindi|então|поэтому|значит|мы)\b"
    r"|, (?:forget|drop|skip|scrap|use|take|keep|make it|go with|switch to|change it) |，(?:那就|所以|我们|就)"
)
"""Matches where a sentence goes on with a statement of its own."""
_CONSTANT: Final = PatternSet(
    r".*\b(?:always|never|must|from now on|every time|whenever|immer|niemals?|nie|müssen|muss|toujours|jamais|siempre"
    r"|nunca|sempre|mai)\b|.*(?:всегда|никогда|必须|不准|不要|いつも|항상)"
)
"""Matches words of a standing rule, which may be stated under a condition."""

_DO: Final = PatternSet(r"do (?:the|my) [\w-]+ (?:in|with|as|using|via|first|next|later|now)\b")
"""Matches an order that begins like a question: "do the labels in German"."""


@lru_cache(maxsize=SENTENCES_KEPT)
def find_frames(sentence: str, label: str = "") -> frozenset[Frame]:
    """Return the frames of a sentence; empty if it asserts its content.

    ``label``: words of the sentence, for which the frames are asked. Frames that are recognised at the beginning of a
    clause then count only if they are those of the clause with these words. Frames that are recognised anywhere in a
    sentence count for all of it, except ``OTHERS`` (other people's things). "": the whole sentence is asked about.
    """
    text = bound_sentence(sentence)
    stated, question = split_question(text)
    if question and label in stated:
        text = stated
    part = _clause_with(text, label)
    found = {_ROWS[number][0] for one in {part, strip_lead(part)} for number in _STARTS.matching(one)}
    within = {_ROWS_WITHIN[number][0] for number in _WITHIN.matching(text)}
    if Frame.OTHERS in within and part != text:  # "that was the old plan, forget June" is about the old plan, then June
        within -= {Frame.OTHERS} - {_ROWS_WITHIN[number][0] for number in _WITHIN.matching(part)}
    found |= within
    if read_order(strip_lead(text)) or (_DO.any(strip_lead(part)) and not question and not is_question(text)):
        found.discard(Frame.QUESTION)
    if _CONSTANT.any(text):
        found.discard(Frame.HYPOTHETICAL)
    return frozenset(found)


def _clause_with(text: str, label: str) -> str:
    """The clause of a sentence that contains a label. If a supposition comes before it, the clause begins there,
    because what follows is supposed as well. The whole sentence if the label is "" or not in it."""
    place, start = text.find(label) if label else 0, 0
    while place > start and (border := _BORDER.search(text[start : place + 1])) is not None:
        if any(_ROWS[number][0] is Frame.HYPOTHETICAL for number in _STARTS.matching(text[start:])):
            break
        start += border.start() + 1
    return text[start:].lstrip(" ,;:-–—，")


_RECONSIDERS: Final = PatternSet(*(f"(?:{row})$" for row in RECONSIDERS))


def is_announcement(line: str) -> bool:
    """Whether a sentence only announces a change ("I changed my mind about Hugo"), and does not say what is to be
    instead."""
    return _RECONSIDERS.any(line)


_HEARSAY: Final = PatternSet(*HEARSAY)


def is_of_others(line: str) -> bool:
    """Whether a sentence is about other people's things: "my neighbour's lamp broke"."""
    return Frame.OTHERS in find_frames(line)


def is_hearsay(line: str) -> bool:
    """Whether a sentence passes on what the speaker read or heard somewhere."""
    return _HEARSAY.any(strip_lead(line))


def may_carry(finding: Finding) -> bool:
    """Whether the frames of a finding's sentence allow the finding. Only findings stated by the user are restricted:

    - Decisions, concepts, facts about the environment, and what replaces, sets or rejects something, must be asserted:
      in no frame.
    - A pending task must not be something that the sentence denies or that other people do.
    """
    if finding.trust is not Trust.STATED:
        return True
    if finding.type in _ASSERTED or finding.move in _CHANGING:
        return not find_frames(finding.quote, finding.label)
    opens = finding.type is NodeType.TASK and finding.status is Status.PENDING
    return not opens or find_frames(finding.quote, finding.label).isdisjoint(_NOT_TO_DO)


_ASSERTED: Final = frozenset({NodeType.DECISION, NodeType.ENVIRONMENT, NodeType.CONCEPT})
_NOT_TO_DO: Final = frozenset({Frame.NEGATED, Frame.OTHERS})
_CHANGING: Final = frozenset({Move.REPLACE, Move.SET, Move.REJECT})
