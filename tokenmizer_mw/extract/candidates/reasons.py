"""Find the reason for a change in the sentences before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Segment
from tokenmizer_mw.extract.match.rule_hits import may_be_reason
from tokenmizer_mw.extract.match.value_assignments import find_assignments
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, strip_lead
from tokenmizer_mw.extract.text.similar import content

_WORDS_MIN: Final = 3
"""Fewest words of a sentence that may be a reason."""


def find_reason_beside(index: int, spoken: Sequence[Segment]) -> str:
    """Return the reason for what the sentence at ``index`` says: the sentence before it or, if that is no reason, the
    one after it. Introductory words and final punctuation are removed. "" if neither is a reason.

    Questions, orders, sentences that decide something themselves, and sentences of fewer than three words are no
    reasons. ``spoken``: the sentences of the message.
    """
    before = [(segment.text, False) for segment in spoken[max(0, index - 1) : index]]
    behind = [(segment.text, True) for segment in spoken[index + 1 : index + 2]]
    for text, is_behind in (*before, *behind):
        sentence = strip_lead(bound_sentence(text))
        if not may_be_reason(text, behind=is_behind) or not _is_statement(text):
            continue
        if not find_assignments(text) and not read_order(sentence):
            return sentence.rstrip(" .!")
    return ""


def _is_statement(text: str) -> bool:
    return not is_question(text) and bool(content(text)) and len(text.split()) >= _WORDS_MIN
