"""Find numbers that correct an earlier one: "30 s is too short, make it 60", or "150" after the assistant's
"a debounce of 250 ms".

The corrections are added to the findings of a user's message. The words around the earlier number say what it is a
number of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Final
from unicodedata import category

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.slots import find_member
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence, has_digit, is_question, is_supposition, strip_lead
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import split_words
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.runtime.lazy import expression

SENTENCES_READ: Final = 8
SENTENCE_LONG: Final = 200
SHORT_WORDS: Final = 5
"""Most words of a clause that is little more than a number."""
SHORT_SIGNS: Final = 16
"""Most characters of such a clause, in scripts that put no spaces between words."""
TOLD_TAIL: Final = 600
"""Number of characters at the end of the assistant's message that are searched for the earlier number."""
APART_MAX: Final = 8.0
"""Largest factor by which two numbers of the same thing may differ."""
YEAR_SIGNS: Final = 4
WORDS_BEFORE: Final = 4
WORDS_BEHIND: Final = 3
UNIT_SIGNS: Final = 12
_CONFIDENCE: Final = 0.7
_SIGNS: Final = " .,:%€$"
_TELLING: Final = 3
"""Fewest words of a clause that says itself what the new number is a number of."""

_FIGURE: Final = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_CLAUSE: Final = expression(
    r"[;!?()।。；？！—–]+\s*|[.:,、，]+(?:\s+|$)|[，、]|\s-\s|\s(?:and|but|und|aber|y|pero|e|mas|et|mais|ma|и|а)\s"
)
_AGAINST: Final = PatternSet(
    r".*\b(?:too|not enough|isn't enough|was wrong|doesn't work|won't work|taken|instead|zu (?:wenig|viel|kurz|lang"
    r"|hoch|niedrig|knapp|groß|klein)|reicht nicht|demasiad[oa]|muy (?:poco|corto|largo|alto|bajo)|es fiesta|no llega"
    r"|muito|pouco|trop|troppo|kam hai|kam hain|zyada hai|мало|много|слишком)\b",
    r".*(?:太|不够|不夠|多い|少ない|短い|長い|너무|부족|कम |ज़्यादा )",
)
_DENIED: Final = PatternSet(
    r"(?:and |but |und )?(?:not|nicht|no|não|pas|non|не|nicht mehr|no longer|plus|mehr) (?:the |der |den |die |el |la "
    r"|le |o |a |il |at |on |by |in |à |um )?\S*\d"
)
_WORDY: Final = PatternSet(
    r"(?:at (?:most|least)|no more than|up to|only|just|make it|take|use|do|set it to|mach|nimm|lieber|máximo) "
)
"""Matches clauses with more words that still say nothing but the number."""

_LISTS: Final = PatternSet(r".*\b(?:option|step|point|line|page|version|v|no\.?|nr\.?|issue|pr|chapter|question|#)$")
_PLAIN_UNITS: Final = split_words(
    "is are was then please pls instead it that and or to at on in for of by with not now as but so karo kar rakho bas"
    " will should would max min maximum minimum mejor mal dann also e y et und o a el la"
)
"""Words after a number that are no unit."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number at characters ``[start, end)`` of a clause, with its unit ("" for none)."""

    text: str
    unit: str
    start: int
    end: int
    clause: str


def correct_numbers(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return ``found`` with a replacement added for each number that the user's message corrects; findings that consist
    only of the new number may be dropped for it. ``spoken``: the sentences of the message; with more than
    ``SENTENCES_READ`` of them, ``found`` is returned as it is."""
    made = list(found)
    if len(spoken) > SENTENCES_READ:
        return made
    before: list[_Number] = []
    for segment in spoken:
        text = strip_lead(bound_sentence(segment.text))
        if segment.kind is not SegmentKind.PROSE or len(text) > SENTENCE_LONG or not has_digit(text):
            continue
        if is_question(text) or is_supposition(text):
            continue
        numbers = _numbers(text)
        pair = _find_correction([*before, *numbers]) or (
            _find_countered(numbers, situation) if _is_short(text) else None
        )
        if pair is not None:
            _replace_number(made, segment, *pair)
        before = numbers[-1:]
    return made


def _numbers(text: str) -> list[_Number]:
    if not has_digit(text):
        return []
    raw = text.encode("utf-8", "replace")
    borders = [0]
    for match in _CLAUSE.finditer(raw):
        borders += (match.start(), match.end())
    borders.append(len(raw))
    return [
        number
        for start, end in zip(borders[::2], borders[1::2], strict=True)
        if has_digit(clause := raw[start:end].decode().strip())
        for number in _clause_around(clause)
    ]


def _clause_around(clause: str) -> Iterator[_Number]:
    for match in _FIGURE.finditer(clause):
        start, end = match.span()
        if start == 0 or not (clause[start - 1].isalnum() or clause[start - 1] in "-_./#"):
            said = _read_unit(clause[end:])
            yield _Number(match[0], "" if said.casefold() in _PLAIN_UNITS else said, start, end, clause)


def _read_unit(behind: str) -> str:
    """The sign or the word directly behind a number or a space, of which ``UNIT_SIGNS`` characters are read; "" for
    none."""
    said = behind.removeprefix(" ")[:UNIT_SIGNS]
    return said[:1] if said[:1] in "%€$£₹" else "".join(takewhile(lambda sign: category(sign)[0] in "LM", said))


def _find_correction(numbers: Sequence[_Number]) -> tuple[_Number, _Number] | None:
    """The old and the new number, if the words of a message say that one replaces the other; else ``None``."""
    for one, two in pairwise(numbers):
        if one.text == two.text or not _are_comparable(one, two) or one.clause == two.clause:
            continue
        if _DENIED.any(two.clause):
            return two, one
        against = [_AGAINST.any(number.clause) for number in (one, two)]
        old, new = (one, two) if against[0] else (two, one)
        if against[0] != against[1] and _is_short(new.clause):
            return old, new
    return None


def _find_countered(numbers: Sequence[_Number], situation: Situation) -> tuple[_Number, _Number] | None:
    """The only comparable number at the end of the assistant's last message, and the bare number that replaces it;
    ``None`` for none."""
    if len(numbers) != 1 or situation.told is None or not _is_bare(numbers[0]):
        return None
    if _AGAINST.any(numbers[0].clause):  # "0.62 is too low" names what was told, and puts nothing in its place
        return None
    new = numbers[0]
    tail = replace_surrogates(situation.told[1].text[-TOLD_TAIL:])
    told = [
        number
        for start, end in find_sentences(tail, 0, len(tail))
        for number in _numbers(bound_sentence(tail[start:end]))
    ]
    alike = [number for number in told if number.unit and not _is_key(number) and _are_comparable(number, new)]
    if len({number.text for number in alike}) != 1 or alike[0].text == new.text:
        return None
    ending = situation.offers.ending.rpartition(". ")[2]
    answers = is_question(ending) and alike[0].text not in ending
    return None if answers or _is_version(new) else (alike[0], new)


def _is_version(number: _Number) -> bool:
    """Whether a number is the version of something named: "Debian 12"."""
    name = (number.clause[: number.start].split() or [""])[-1]
    return name[:1].isupper() or find_member(name) is not None


def _is_bare(number: _Number) -> bool:
    lone_key = len(number.text) == 1 and number.clause.strip(" .)") == number.text
    return not lone_key and not _is_key(number)


def _is_key(number: _Number) -> bool:
    """Whether a number only selects one of several things, as in "option 2"."""
    return _LISTS.any(number.clause[: number.start].strip())


def _is_short(text: str) -> bool:
    if not text.isascii() and " " not in text:
        return len(text) <= SHORT_SIGNS
    return len(text.split()) <= SHORT_WORDS


def _are_comparable(one: _Number, two: _Number) -> bool:
    """Whether two numbers may be of the same thing: they have similar units or one has none, and they are of similar
    size."""
    if any((sign in one.text) != (sign in two.text) for sign in ":."):
        return False
    if _word_before(two) in _PLACED and _word_before(one) != _word_before(two):
        return False
    first, second = one.unit.casefold(), two.unit.casefold()
    if first and second and first[:1] != second[:1]:
        return False
    sizes = sorted(float("".join(filter(str.isdigit, number.text))) for number in (one, two))
    return sizes[1] <= APART_MAX * max(sizes[0], 1) and _is_year(one) == _is_year(two)


_PLACED: Final = split_words("at on um am bis an às alle в")
"""Words before a day or a time: "on the 5th" does not count anything."""


def _word_before(number: _Number) -> str:
    words = number.clause[: number.start].casefold().split()
    return next((word for word in reversed(words) if word not in ("the", "der", "den", "dem")), "")


def _is_year(number: _Number) -> bool:
    return len(number.text) == YEAR_SIGNS and number.text.startswith(("19", "20")) and not number.unit


def _replace_number(made: list[Finding], segment: Segment, old: _Number, new: _Number) -> None:
    span = (segment.start, segment.end)
    telling = len(new.clause.split()) >= _TELLING and not _WORDY.any(new.clause)
    whole = new if telling or _DENIED.any(old.clause) else old
    target, label = _words_around(whole, old.text), _words_around(whole, new.text)
    if any(finding.span == span and finding.target for finding in made):
        return
    for at, finding in enumerate(made):
        if finding.span == span and new.text in finding.value:
            told = label if finding.label.strip(_SIGNS).isdigit() else finding.label
            made[at] = replace(finding, label=told, target=target, move=Move.REPLACE)
            return
    made[:] = [finding for finding in made if finding.span != span or not _is_number_only(finding, new.text, label)]
    made.append(
        Finding(
            NodeType.DECISION,
            label,
            Status.ACTIVE,
            Trust.STATED,
            _CONFIDENCE,
            Move.REPLACE,
            target=target,
            kind=DecisionKind.CHOICE,
            value=f"{new.text} {new.unit or old.unit}".strip(),
            quote=segment.text,
            span=span,
        )
    )


def _is_number_only(finding: Finding, number: str, label: str) -> bool:
    """Whether a finding consists of the number: it sets a value, or its label is hardly longer."""
    short = finding.type is NodeType.DECISION and number in finding.label and len(finding.label) <= len(label)
    return short or finding.move is Move.SET


def _words_around(number: _Number, said: str) -> str:
    """The number ``said`` between the few words around ``number``, which say what it is a number of."""
    before = number.clause[: number.start].split()[-WORDS_BEFORE:]
    behind = number.clause[number.end :]
    gap = " " if behind[:1].isspace() else ""
    return f"{' '.join(before)} {said}{gap}{' '.join(behind.split()[:WORDS_BEHIND])}".strip()
