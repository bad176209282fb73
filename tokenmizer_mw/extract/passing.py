"""What a user settles in passing, in sentences that decide nothing in so many words.

"We run this on Postgres 15", "my sister does the flowers", a value inside an order: nobody would call it a decision,
yet a later message may change it. Such a clause is a note: known to what looks for what is changed, and told nowhere.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final

from tokenmizer_mw.graph.values import values_in
from tokenmizer_mw.model.node import NOTE_CONFIDENCE, NodeType, Status, Trust

from .finding import Finding, Segment, SegmentKind
from .frames import find_frames
from .phrases import bound_sentence, is_question, read_order, strip_lead
from .similar import content
from .told import split_statements

SENTENCES_READ: Final = 12
"""Sentences of a message that are read; longer messages are documents."""
SENTENCE_LONG: Final = 300
CLAUSE_MAX: Final = 120
_QUOTES: Final = frozenset('"“”„«»「」')
NOTES_MAX: Final = 8
"""Notes of one message."""


Place = tuple[int, int] | None
"""Where a sentence stands in its message; ``None``: nowhere."""


def find_notes(
    segments: Sequence[Segment], known: Sequence[tuple[str, Place]], goals: Container[Place]
) -> list[Finding]:
    """The clauses of a user's message that state something and that no words of ``known``, given with the places of
    their sentences, state, in order.
    ``goals``: where the message says what the session is for."""
    spoken = [segment for segment in segments if segment.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)]
    if len(spoken) > SENTENCES_READ:
        return []
    made = [
        _note(clause, segment)
        for segment in spoken
        if len(segment.text) <= SENTENCE_LONG
        for clause in clauses_of(segment.text, valued=(segment.start, segment.end) in goals)
        if not any(_is_covered(clause, text, beside=place == (segment.start, segment.end)) for text, place in known)
    ]
    return made[:NOTES_MAX]


def _is_covered(clause: str, text: str, *, beside: bool) -> bool:
    """Whether one of a clause and a fact's words holds the other; of a fact ``beside`` it in one sentence, whether the
    clause has half of what that speaks of."""
    one, other = clause.casefold(), text.casefold()
    words = content(text) if beside else frozenset()
    return one in other or other in one or 0 < len(words) <= 2 * len(words & content(clause))


def clauses_of(sentence: str, *, valued: bool = False) -> Iterator[str]:
    """The clauses of a sentence that state something; of an order, a sentence with a quotation, and where only what is
    ``valued`` counts, those that give something a value."""
    line = bound_sentence(sentence)
    ordered = read_order(strip_lead(line))
    plain = not (ordered or valued or _QUOTES & set(sentence))
    if (is_question(line) and not ordered) or find_frames(line):
        return
    for part in split_statements(line, scoped=True):
        clause = part.strip(" .,;:!")
        if 0 < len(clause) <= CLAUSE_MAX and _states_something(clause) and (_has_value(clause) or plain):
            yield clause


def _states_something(clause: str) -> bool:
    """Whether a clause says something by itself: not "I know", "that's solved"."""
    words = len(content(clause))
    return words > 1 or (words == 1 and (not clause.isascii() or _has_value(clause)))


def _has_value(clause: str) -> bool:
    """Whether a clause gives something a value; a capital at its beginning alone is none."""
    return any(value.start > 0 or value.kind not in ("name", "word") for value in values_in(clause))


def _note(clause: str, segment: Segment) -> Finding:
    return Finding(
        NodeType.CONCEPT,
        clause,
        Status.ACTIVE,
        Trust.STATED,
        NOTE_CONFIDENCE,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
