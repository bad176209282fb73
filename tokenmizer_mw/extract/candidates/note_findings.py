"""Find notes: what a user's message states without deciding it, such as "we run this on Postgres 15".

Notes are findings of type CONCEPT. Nobody would call such a clause a decision, but a later message may change it.
Resume blocks do not contain notes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.match.frames import find_frames
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.values import values_in
from tokenmizer_mw.model.node import NOTE_CONFIDENCE, NodeType, Status, Trust

SENTENCES_READ: Final = 12
"""Most sentences of a message that notes are taken from; a longer one is a document."""
SENTENCE_LONG: Final = 300
CLAUSE_MAX: Final = 120
_QUOTES: Final = frozenset('"“”„«»「」')
NOTES_MAX: Final = 8
"""Greatest number of notes of one message."""


Place = tuple[int, int] | None
"""Span of a sentence in its message; ``None`` if unknown."""


def find_notes(
    segments: Sequence[Segment], known: Sequence[tuple[str, Place]], goals: Container[Place]
) -> list[Finding]:
    """Return notes for the clauses of a user's message that state something not covered by ``known``, in order, at most
    ``NOTES_MAX``; [] if the message has more than ``SENTENCES_READ`` sentences.

    - ``segments``: the pieces of the message.
    - ``known``: texts of the message's facts, each with the span of its sentence.
    - ``goals``: spans of the sentences that state the goal; of these, only clauses with a value (a number, a name)
      count.
    """
    spoken = [segment for segment in segments if segment.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM)]
    if len(spoken) > SENTENCES_READ:
        return []
    made = [
        _make_note(clause, segment)
        for segment in spoken
        if len(segment.text) <= SENTENCE_LONG
        for clause in iterate_clauses(segment.text, valued=(segment.start, segment.end) in goals)
        if not any(_is_covered(clause, text, beside=place == (segment.start, segment.end)) for text, place in known)
    ]
    return made[:NOTES_MAX]


def _is_covered(clause: str, text: str, *, beside: bool) -> bool:
    """Whether a fact covers a clause: one text contains the other or, for a fact of the same sentence (``beside``), the
    clause has half of the fact's words."""
    one, other = clause.casefold(), text.casefold()
    words = content(text) if beside else frozenset()
    return one in other or other in one or 0 < len(words) <= 2 * len(words & content(clause))


def iterate_clauses(sentence: str, *, valued: bool = False) -> Iterator[str]:
    """Iterate over the clauses of a sentence that state something. Questions, and sentences in a frame (which assert
    nothing, see ``match.frames``), have none.

    If the sentence is an order, if it contains a quotation, or if ``valued`` is true, only clauses with a value (a
    number, a name) count.
    """
    line = bound_sentence(sentence)
    ordered = read_order(strip_lead(line))
    if is_question(line) and not ordered:
        return
    plain = not (ordered or valued or _QUOTES & set(sentence))
    parts = [part.strip(" .,;:!") for part in split_statements(line, scoped=True)]
    said = [
        part for part in parts if 0 < len(part) <= CLAUSE_MAX and (plain or _has_value(part)) and _has_statement(part)
    ]
    if said and not find_frames(line):
        yield from said


def _has_statement(clause: str) -> bool:
    """Whether a clause says something of its own, unlike "I know" and "that's solved"."""
    words = len(content(clause))
    return words > 1 or (words == 1 and (not clause.isascii() or _has_value(clause)))


def _has_value(clause: str) -> bool:
    """Whether a clause contains a value; a capital letter at its beginning alone is none."""
    return any(value.start > 0 or value.kind not in ("name", "word") for value in values_in(clause))


def _make_note(clause: str, segment: Segment) -> Finding:
    return Finding(
        NodeType.CONCEPT,
        clause,
        Status.ACTIVE,
        Trust.STATED,
        NOTE_CONFIDENCE,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
