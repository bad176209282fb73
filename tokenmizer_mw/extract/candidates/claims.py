"""Finds the sentences of a user's message that may change a fact in force, as claims, each with a reason for the
change.

Whether one changes a fact, and which, is for ``resolve`` to decide. Questions, quotations, observations, postponements
and bare complaints are left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import last_question
from tokenmizer_mw.extract.finding import BETWEEN_SENTENCES, Segment, SegmentKind
from tokenmizer_mw.extract.match.frames import find_frames, is_announcement
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.read.layout import Span
from tokenmizer_mw.extract.read.other_speakers import is_in_spans
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.score.contrast import (
    Claim,
    has_change_words,
    read_nothing,
    settles_certainly,
)
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
    is_question,
    read_order,
    split_reason,
    strip_lead,
)
from tokenmizer_mw.graph.values import values_in

from .reasons import find_reason_beside

SENTENCES_READ: Final = 8
SENTENCE_MAX: Final = 200

_OF_WORK: Final = frozenset({Act.COMPLAINT, Act.LATER})

ReadClaim = tuple[Segment, Claim, Callable[[], str]]
"""A sentence of a user's message, its claim, and a function that finds the reason for a change, "" for none."""


def read_claims(
    turn: int,
    segments: Sequence[Segment],
    elsewhere: list[Span],
    meaning: Callable[[int, Sequence[Segment]], float | None] | None = None,
    told: str = "",
    settling: Callable[[int, Sequence[Segment]], float] | None = None,
) -> Iterator[ReadClaim]:
    """Iterate over the sentences of a user's message that may change something, each with its claim and a function
    that finds the reason for a change ("" for none).

    - ``turn``: number of the message; ``elsewhere``: spans of words that are not the user's.
    - ``meaning``: returns the log odds that a sentence model adds for the sentence with this index among some
      sentences; ``None`` without a model.
    - ``told``: the assistant's last text; the first sentence may answer the question at its end.
    - ``settling``: returns the probability that such a sentence decides something; ``None`` without a classifier.
    """
    question = last_question(told)
    said = [one for one in segments if one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)][:SENTENCES_READ]
    for at, segment in enumerate(said):
        if not is_in_spans(elsewhere, segment.start) and _may_change(segment.text) and not _is_marked(segment.text):
            beside = BETWEEN_SENTENCES.join(one.text for one in said[max(at - 1, 0) : at + 2])
            line = bound_sentence(segment.text)
            parts = tuple(part for part in split_statements(line) if part.strip()) or (line,)
            asked = question if at == 0 else ""
            read_meaning = partial(meaning, at, said) if meaning is not None else read_nothing
            read_settling = partial(settling, at, said) if settling is not None else settles_certainly
            last = at == len(said) - 1
            claim = Claim(strip_sentence(segment), parts, beside, turn, last, line, asked, read_meaning, read_settling)
            yield segment, claim, partial(_find_reason, line, at, said)


def _find_reason(line: str, at: int, said: Sequence[Segment]) -> str:
    """The reason for what a sentence changes: within it, or in the sentence before or after it; "" for none."""
    return split_reason(line)[1] or find_reason_beside(at, said)


def _is_marked(text: str) -> bool:
    """Whether a formal marker ("Error: ...") shows that a sentence is about work, an error or a value."""
    return any(hit.rule.explicit and hit.rule.act in _OF_WORK for hit in read_hits(text, Speaker.USER))


def _may_change(text: str) -> bool:
    """Whether a sentence may change a fact at all: not a question, a quotation, an observation, a postponement, a bare
    complaint or a bare "yes"."""
    line = bound_sentence(text)
    if len(line) > SENTENCE_MAX or _CHANGES_NOTHING.any(line) or is_announcement(line) or _AGREES.any(line):
        return False
    if _REPEATS.any(line) and not has_change_words(line):
        return False
    if _POINTS.any(line) and all(value.kind == "name" for value in values_in(line.replace(" one", ""))):
        return False
    return not (is_question(line) and not read_order(strip_lead(line))) and not find_frames(line)


_AGREES: Final = PatternSet(r"(?:yes|yep|yeah|ja|jep|oui|sí|sim|да|はい|是的|네)[ ,.!:、，].*")
"""Matches answers to what the assistant asked or proposed; ``find_agreed`` reads these."""

_POINTS: Final = PatternSet(
    r"(?:please )?\pL+ (?:that|this|these|those)(?: ones?)?(?: \pL+ly)?(?: please)?(?:$|[,.;!].*)"
)
"""Matches orders about what was just mentioned: "test that one properly"."""

_CHANGES_NOTHING: Final = PatternSet(
    r"(?:.*[^\pL\pN])?[\"“„«「'‘][^\"”“»」']{16,}",
    r"[^\"“„«「]{16,}[\"”»」][.!?]?$",
    r"(?:todo|fixme)\b|h+m+[,.… ]+(?:\S+ ?){1,3}$",
    r"(?:fatal|cannot|could not|unable to|failed to|invalid|unexpected|uncaught|no such|permission denied)\b",
    r".*\b(?:also|as well|additionally|in addition|besides|either|auch|aussi|también|anche|também)\b|.*(?:также|тоже)",
)
"""Matches sentences that quote somebody, add something to what holds already, or only think aloud ("Hm, 0.71")."""

_REPEATS: Final = PatternSet(
    r".*\b(?:as (?:i|we) (?:said|wrote|agreed)|like i said|as (?:before|ever|always|agreed|planned)"
    r"|wie (?:gesagt|besprochen|gehabt|immer|bisher)|comme (?:je l'ai dit|convenu|prévu|avant|toujours)"
    r"|como (?:dije|dicho|siempre|antes|acordamos|combinado|sempre|eu disse)|come (?:detto|prima|sempre))\b"
    r"|.*(?:как (?:я (?:говорил|сказал|писал)|договаривались|договорились|раньше|всегда)"
    r"|我[说說]过|照旧|照舊|一如既往|跟(?:之前|以前)[^，。]{0,4}一[样樣]|(?:言った|話した|決めた)(?:とおり|通り)"
    r"|約束(?:どおり|通り)|말(?:한|했던) 대로|예전처럼|पहले की तरह|जैसा (?:कहा|तय))",
)
"""Matches sentences that refer to what was said or settled before. Beside a word of change they say what no longer
holds ("not on Fridays as before but on Saturdays")."""


def strip_sentence(segment: Segment) -> str:
    """Return the sentence of a segment without introductory words and final punctuation."""
    return strip_lead(bound_sentence(segment.text)).rstrip(" .!")
