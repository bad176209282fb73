"""Find other people's text in a user's message that no words introduce, by its layout.

The texts are returned as spans (start and end in characters). Copied text shows where it comes from: header fields,
timestamps, columns, numbered clauses, a salutation, names of speakers. Lines with such marks and their paragraphs are a
document; a short request before or after it stays the user's. If the user only asks a short question and orders no
work, the unmarked text beside it is a document as well, as long as it addresses nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

import re2

from tokenmizer_mw.extract.rules.handover_phrases import HANDED, RESUMES
from tokenmizer_mw.extract.rules.layout import (
    BULLET,
    COPIED_LINE,
    FENCE,
    ORDER,
    PERSON,
    POINTING_WORD,
    POLITE_WORDS,
    QUESTION,
    RULE_LINE,
    SENTENCE,
)
from tokenmizer_mw.extract.text.pattern import PatternTable

from .marked_lines import LINE_LOOK, OWN_MAX, TITLE_MAX, Line, count_characters, read_lines

Span = tuple[int, int]

# fmt: off
QUOTATION_MARKS: Final = (
    ('"', '"'), ("“", "”"), ("„", "“”\""), ("‚", "‘’"), ("«", "»"), ("»", "«"), ("‹", "›"), ("›", "‹"),
    ("「", "」"), ("『", "』"), ("\uff62", "\uff63"), ("《", "》"),
)
# fmt: on
"""Pairs of an opening quotation mark and the marks that may close it."""

OPENING: Final = dict(QUOTATION_MARKS)

_ABOUT_MIN: Final = 3
"""Fewest lines of a text without marks that counts as what the user's question is about."""

_HINTS_MIN: Final = 2
"""A text beside a question with at least this many lines that look like part of a document (hints) is a document, even
if it addresses somebody."""

_TITLE_WORDS: Final = 3
"""A line above marked lines belongs to their document if it has at most this many words: a number or a name."""

_TREATING: Final = PatternTable([row.treating for row in HANDED])
_TEXTS: Final = PatternTable([row.naming for row in HANDED])
_RESUMES: Final = re2.compile(RESUMES)


def find_laid_out(text: str) -> list[Span]:
    """Return the spans of documents in ``text`` that are recognised by their layout, in order, without overlaps; [] for
    none. Linear time."""
    lines = read_lines(text) if "\n" in text or COPIED_LINE.search(text[:LINE_LOOK]) else []
    if len(lines) <= 1:
        return [(line.start, line.end) for line in lines if line.runs]
    own, rest = _count_opening_words(lines), len(lines) - _count_closing_words(lines)
    opening, closing = _join_paragraphs(lines[:own]), _join_paragraphs(lines[rest:])
    asked, asked_behind = _asks_about_text(opening), _asks_about_text(closing)
    if not asked and asked_behind and not _is_statement_before(opening):
        own, asked = 0, True
    if all(line.hints for line in lines[own:rest]) and _is_opened_by(lines[own:rest], closing):
        rest = len(lines)
    body = lines[own:rest]
    if not body:
        return []
    end = len(text) if rest == len(lines) else body[-1].end
    marked = any(line.marked for line in body) and (asked or asked_behind)
    shown = _is_pointing_at_text(opening) and FENCE.search(text) is None
    if marked or (asked and _is_shown(body, shown=shown)):
        return [(body[0].start, end)]
    return list(_find_marked(body, end))


def find_set_apart(text: str) -> Iterator[Span]:
    """Iterate over the spans of quotations of several lines, and of texts between two equal lines of dashes or the
    like. Such a quotation begins at the start of a line, and ends with a quotation mark at the end of a line or before
    words with which the user goes on. Linear time."""
    start, opened, closes, before = 0, -1, "", ""
    lines = text[: count_characters(text)].split("\n") if "\n" in text else []
    for line, following in pairwise([*lines, ""]):
        bare, end = line.strip(), start + len(line)
        if opened >= 0 and bare and _is_closing(bare, closes, before):
            yield opened, end
            opened = -1
        elif opened >= 0 and (within := _closing_within(line, closes)):
            yield opened, start + within
            opened = -1
        elif opened < 0 and (closes := _closing_of(bare, following)):
            opened = start
        start, before = end + 1, bare


def _closing_of(line: str, following: str) -> str:
    """The characters that may close what ``line`` opens: closing quotation marks, or a line of dashes; "" if it opens
    nothing."""
    if line[:1] in OPENING:
        closes = OPENING[line[0]]
        return "" if any(mark in line[1:] for mark in closes) else closes
    return line if RULE_LINE.fullmatch(line) and following.strip() else ""


def _is_closing(line: str, closes: str, before: str) -> bool:
    if RULE_LINE.fullmatch(closes):
        return line == closes and bool(before)
    last = line.rstrip(".,;:!?)")[-1:]
    return last in closes and (last not in OPENING or OPENING[last] != last or line.count(last) % 2 == 1)


def _closing_within(line: str, closes: str) -> int:
    """The length of the beginning of ``line`` that belongs to the quotation, if the quotation ends within the line;
    else 0."""
    if RULE_LINE.fullmatch(closes):
        return 0
    places = [place for place, letter in enumerate(line) if letter in closes]
    if len(places) != 1 or any(letter in OPENING and letter not in closes for letter in line):
        return 0
    behind = line[places[0] + 1 :].lstrip(".,;:!?)")
    ends = places[0] > 0 and not line[places[0] - 1].isspace() and behind[:1].isspace() and bool(behind.strip())
    return places[0] + 1 if ends else 0


def _count_opening_words(lines: Sequence[Line]) -> int:
    """How many lines at the beginning are the user's own words."""
    count = 0
    while count < len(lines) and lines[count].paragraph == lines[0].paragraph and not lines[count].hints:
        count += 1
    said = _join_paragraphs(lines[:count])
    if count == len(lines):
        return 0
    titles = lines[count].paragraph == lines[0].paragraph and len(said) <= TITLE_MAX
    return 0 if titles and not _is_to_somebody(said) else count


def _count_closing_words(lines: Sequence[Line]) -> int:
    """How many lines at the end are the user's own words."""
    count = 0
    for line in reversed(lines):
        if line.paragraph != lines[-1].paragraph or line.hints:
            break
        count += 1
        if QUESTION.search(line.text):
            break
    said = _join_paragraphs(lines[len(lines) - count :])
    if count == len(lines) or len(said) > OWN_MAX:
        return 0
    adjoins = lines[-count - 1].paragraph == lines[-1].paragraph
    return count if (_has_question(said) if adjoins else _is_to_somebody(said)) else 0


def _has_question(said: str) -> bool:
    return QUESTION.search(said) is not None or ORDER.search(said) is not None


def _is_to_somebody(said: str) -> bool:
    return _has_question(said) or PERSON.search(said) is not None or _RESUMES.match(said) is not None


def _join_paragraphs(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def _is_opened_by(body: Sequence[Line], closing: str) -> bool:
    """Whether the lines after ``body`` are still part of its document, although they looked like the user's own words
    (``closing``): a line of ``body`` opens a document, and they ask nothing."""
    return any(line.opens for line in body) and QUESTION.search(closing) is None


def _is_statement_before(said: str) -> bool:
    """Whether the text before a document is the user's statement rather than its title."""
    return said.rstrip().endswith((":", "：")) or _is_to_somebody(said)


def _asks_about_text(said: str) -> bool:
    """Whether the user asks a question about a text or orders work on it, rather than asking for something new."""
    return any(True for _ in _find_questions(said))


def _is_pointing_at_text(said: str) -> bool:
    """Whether a question or an order in ``said`` is about a text at hand ("what does this mean?")."""
    return any(
        POINTING_WORD.search(sentence) is not None or _TEXTS.matching(sentence) for sentence in _find_questions(said)
    )


def _find_questions(said: str) -> Iterator[str]:
    for sentence in SENTENCE.findall(said):
        asks = QUESTION.search(sentence) is not None and ORDER.search(sentence) is None
        if asks or _TREATING.matching(POLITE_WORDS.sub("", sentence)):
            yield sentence


def _is_shown(body: Sequence[Line], *, shown: bool) -> bool:
    """Whether a text without marks is what the user's question is about: the question refers to it (``shown``), or the
    text addresses nobody."""
    hints = sum(line.hints and not line.text.startswith("#") for line in body)
    if hints < _HINTS_MIN and any(line.addresses for line in body):
        return shown and not any(ORDER.search(line.text) or QUESTION.search(line.text) for line in body)
    plain = sum(BULLET.match(line.text) is None and not line.text.startswith("#") for line in body)
    return shown or plain >= _ABOUT_MIN or (plain > 0 and hints > 0)


def _find_marked(body: Sequence[Line], end: int) -> Iterator[Span]:
    """Iterate over the spans of the paragraphs of ``body`` that have marks; one with a line that opens a document
    extends to ``end``, where ``body`` ends."""
    for _, group in groupby(body, key=lambda line: line.paragraph):
        lines = list(group)
        marked = [number for number, line in enumerate(lines) if line.marked]
        if not marked:
            continue
        if any(line.opens for line in lines):
            yield lines[0].start, end
            return
        titled = all(len(line.text.split()) <= _TITLE_WORDS for line in lines[: marked[0]])
        first, last = 0 if titled else marked[0], marked[-1]
        while last + 1 < len(lines) and (titled or not lines[last + 1].addresses):
            last += 1
        yield lines[first].start, lines[last].end
