"""Finds values in sentences (numbers with their units, dates, times, prices, addresses and names, each with its kind),
and statements whose value a later statement replaces ("due on May 3", later "now due on May 9").

Only values of the same kind replace one another: a date never replaces a port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.graph.text import singular, words
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.runtime.lazy import Spans, expression, matching_of, re2_options

VALUES_MAX: Final = 12
"""At most this many values of one text are read."""

TEXT_MAX: Final = 400
"""Only this many first characters of a text are searched for values."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS: Final = (
    "january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|september|sept|sep|october|oct"
    "|november|nov|december|dec|janvier|février|avril|mai|juin|juillet|août|enero|febrero|abril|mayo|junio|julio|agosto"
    "|janeiro|fevereiro|março|maio|junho|julho|märz|juni|juli|oktober|dezember"
)
_MONTH: Final = f"(?i:{_MONTHS})"
MONTHS_BEHIND_DAYS: Final = (
    *("januar", "jänner", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober"),
    *("november", "dezember", "januari", "marts", "maj", "desember", "december", "ledna", "února", "března", "dubna"),
    *("května", "června", "července", "srpna", "září", "října", "listopadu", "prosince"),
)
"""Months of languages that write a day with a dot before them: "am 27. Februar". No dot there ends a sentence."""

_DAY: Final = r"(?i:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)"
_DURATION: Final = (
    r"ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|quarters?|years?"
)
_MONEY: Final = r"euros?|eur|dollars?|usd|pounds?|gbp|cents?|bucks"
_SIZE: Final = r"kb|mb|gb|tb|kib|mib|gib|bytes?"
_NUMBER: Final = r"\d[\d,]*(?:\.\d+)?"
_RANGE: Final = r"(?:\d{1,4} ?(?:-|–|to) ?)?"
_NO_UNIT: Final = _words(
    "is was has as its this does us was uses needs takes runs works fails times less plus always sometimes"
    " makes gets says means keeps stays goes comes seems looks costs ones others"
)
_PATTERNS: Final = {
    "date": rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of |de )?{_MONTH}\b"
    r"|\b\d{4}-\d\d-\d\d\b",
    "time": r"\b\d{1,2}:\d\d\b(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b",
    "day": rf"\b{_DAY}\b",
    "money": rf"[$€£] ?{_NUMBER}[kKmM]?|\b{_NUMBER}[kKmM]? ?(?:(?i:{_MONEY})\b|[€£$])",
    "share": rf"\b{_NUMBER} ?(?:%|percent\b)",
    "duration": rf"\b{_RANGE}{_NUMBER} ?(?i:{_DURATION})\b",
    "size": rf"\b{_NUMBER} ?(?i:{_SIZE})\b",
    "code": r"\b[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*[-_.]\d+\b|\b[a-z]+(?:-[a-z]+)+-\d\b"
    r"|\b[A-Za-z]\w*_\w+|\b[A-Za-z]+[\d]+\w*(?:[.-][\w-]+)*\b|\b[a-z0-9-]+(?:\.[a-z0-9-]+)+\b",
    "amount": rf"\b{_NUMBER} [a-z]{{2,}}s\b",
    "version": r"\bv?\d+\.\d+(?:\.\d+)*\b",
    "number": rf"\b{_NUMBER}[kK]?\b",
    "name": r"\b[A-Z][\w'-]*(?:\.\w+)?(?: (?:[A-Z][\w'-]*|of|the|and) ?(?:[A-Z][\w'-]*))*(?: [A-Z][\w'-]*)*",
    "word": r"\b[a-z][\w-]*(?:\.js)?",
}
"""For each kind of value its pattern; of those that match, the first counts."""
_KINDS: Final = tuple(_PATTERNS)
_VALUE: Final = expression("|".join(_PATTERNS.values()))


@cache
def _kind_matching() -> Callable[[bytes], list[int] | None]:
    """All patterns at once: asking which of them match costs a third of what groups in ``_VALUE`` would."""
    made = re2.Set.MatchSet(re2_options(1 << 24))
    for pattern in _PATTERNS.values():
        made.Add(pattern)
    made.Compile()
    return matching_of(made)


_NO_NAME: Final = _words(
    "I I'm I'll I've I'd A The We It This That No Yes So And But OK Ok For Use Let Let's"
    " One Two Three Four Five Six Seven Eight Nine Ten First Second Third Every Each Both"
)
_BY_NAME: Final = frozenset({"name", "code", "term", "tool"})
"""Kinds of values that are names. A name may replace another one of any of these kinds."""
_COUNTED: Final = frozenset({"number", "version"})
_DAYS: Final = frozenset({"date", "day"})


@dataclass(frozen=True, slots=True)
class Value:
    """A value at ``[start, end)`` of a text. ``kind``: what it is, such as "date", "money", "name" or "tool" (a known
    product). ``unit``: what is counted ("user" for "5 users"), or the category of a product ("database"); "" when
    unknown."""

    text: str
    kind: str
    start: int
    end: int
    unit: str = ""


def encodable(text: str) -> str:
    """Return ``text`` with "?" in place of lone surrogates, which no encoding can represent. The length stays
    the same."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=512)
def values_in(text: str) -> tuple[Value, ...]:
    """Return the values in ``text``, in order. Plain words count only if they are known names, such as "postgres"."""
    raw = text[:TEXT_MAX].encode("utf-8", "replace")
    return tuple(islice(_iter_values(raw), VALUES_MAX))


def _iter_values(raw: bytes) -> Iterator[Value]:
    place, end = _behind_plain_words(raw, 0), len(raw)
    while (spans := _VALUE.find(raw, place, end))[0][0] >= 0:
        place = _behind_plain_words(raw, spans[0][1])
        made = _read(spans, raw)
        if made is not None:
            yield made


def _behind_plain_words(raw: bytes, place: int) -> int:
    """Return where the words in lower-case letters end that begin at ``place`` and are no values. Most words of a text
    are such words; the expression would examine each of them at many times the cost."""
    while (match := _PLAIN_WORD.match(raw, place)) is not None and match[1] not in _TELLING_WORDS:
        place = match.end()
    return place


def value_at_start(text: str) -> Value | None:
    """Return the value that ``text`` begins with; ``None`` when it begins with none."""
    raw = text[:TEXT_MAX].encode("utf-8", "replace")
    spans = _VALUE.begin(raw, 0, len(raw))
    return _read(spans, raw) if spans[0][0] >= 0 else None


def _read(spans: Spans, raw: bytes) -> Value | None:
    value_bytes = raw[slice(*spans[0])]
    if (
        value_bytes.isalpha()
        and value_bytes.islower()
        and value_bytes not in _DAY_NAMES
        and value_bytes not in _WORD_MEMBERS
    ):
        return None
    numbers = _kind_matching()(raw[spans[0][0] :])  # none matches at a hyphen, where only code may begin
    kind = _KINDS[min(numbers)] if numbers else "code"
    start, word = len(raw[: spans[0][0]].decode()), value_bytes.decode()
    return _make_value(kind, word, start, start + len(word))


def _make_value(kind: str, text: str, start: int, end: int) -> Value | None:
    if kind in ("name", "word", "code"):
        member = MEMBERS.get(text.casefold().strip(".'")) or MEMBERS.get(text.casefold().replace(" ", "-"))
        if member is not None and (kind != "word" or text not in _PLAIN):
            return Value(text, "tool", start, end, member[0].name)
        return Value(text, kind, start, end) if kind != "word" and text not in _NO_NAME else None
    if kind == "amount":
        number, _, unit = text.partition(" ")
        if unit.casefold() in _NO_UNIT:
            return Value(number, "number", start, start + len(number))
        return Value(text, kind, start, end, unit.rstrip("s"))
    return Value(text, kind, start, end)


_PLAIN: Final = frozenset(
    {"rest", "mit", "express", "oracle", "swift", "go", "rust", "model", "claude", "actions", "make"}
)
"""Names of products that are everyday words when they are written in lower case."""

_WORD_MEMBERS: Final = frozenset(name.encode() for name in MEMBERS) - frozenset(word.encode() for word in _PLAIN)
_PLAIN_WORD: Final = re.compile(rb"[^\w$.\x80-\xff-]*([a-z]+)(?![\w.\x80-\xff-])")
_DAY_NAMES: Final = frozenset(
    f"{day}day{plural}".encode()
    for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
    for plural in ("", "s")
)
"""Names of days. Apart from these and ``_WORD_MEMBERS``, no word in lower-case letters is a value."""
_TELLING_WORDS: Final = _WORD_MEMBERS | _DAY_NAMES | {*_MONTHS.encode().split(b"|")}
"""Words in lower-case letters that are values, or may begin one."""


def alike(one: Value, other: Value) -> bool:
    """Whether one value may replace the other: they have the same or a compatible kind, and no different units."""
    if one.kind == other.kind:
        return not (one.unit and other.unit) or one.unit == other.unit
    if one.kind in _BY_NAME and other.kind in _BY_NAME:
        return True
    pair = {one.kind, other.kind}
    return pair == _DAYS or bool(pair & _COUNTED and not pair & (_BY_NAME | _DAYS))


def same_sort(one: Value, other: Value) -> bool:
    """Whether two values have the same kind and, for amounts, the same unit."""
    return one.kind == other.kind and (one.kind != "amount" or one.unit == other.unit)


def equal(one: str, other: str) -> bool:
    """Whether two texts state the same value, ignoring case, spaces and punctuation."""
    return _plain(one) == _plain(other)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def names_again(value: Value, text: str) -> bool:
    """Whether ``text`` names the value, at least by its number or its first word ("rabbit" for RabbitMQ)."""
    words = [word for raw in text.casefold().split() if (word := raw.strip(".,;:!?()\"'`"))]
    first = value.text.casefold().split()[0].strip("$€£.,;:!?()\"'`")
    if first in words:
        return True
    shortest = 5
    return len(first) > shortest and any(len(word) > shortest and first.startswith(word) for word in words)


AROUND: Final = 100
"""Characters before and behind a value that tell what it is a value of."""
READ_MAX: Final = 2_000
"""Characters of a statement that are read."""

_SHARED: Final = 2
_MOST: Final = 0.75
_MOST_CHANGED: Final = 0.5
"""When two values are of the same thing: at least ``_SHARED`` words of the question stand around both, and these are at
least the share ``_MOST`` (by weight) of those around the earlier one. ``_MOST_CHANGED`` is enough if the words around
the later one say that something changed."""
_CHANGES: Final = re2.compile(
    r"(?i)\b(?:new|now|updated?|changed|extended|moved|moving|rescheduled|postponed|increased|reduced|raised|lowered"
    r"|adjusted|instead|actually|no longer|improved|dropped|reached|shortened|up to|down to|up from|down from)\b"
)
_NAMES: Final = frozenset({"name", "tool", "code", "term", "version", "number"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A text in message ``turn``. ``settles``: true if it may replace the value of earlier statements."""

    turn: int
    text: str
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Later:
    """A later value of the same thing, and the number of the message that states it."""

    turn: int
    value: str


@dataclass(frozen=True, slots=True)
class _Claim:
    value: Value
    shared: frozenset[str]
    changes: bool


def find_overtaken(weights: Mapping[str, float], statements: Sequence[Statement]) -> dict[int, Later]:
    """Return, by index, the statements whose value a later statement replaces, each with the later value.

    ``weights``: the words of a question, in the singular, with their weight. Two statements are about the same thing
    when words of the question around the earlier value also occur around the later one: at least two of them, and most
    of them by weight. Only values of the same kind (dates, prices, counts of the same thing) replace one another;
    names, versions and plain numbers never do. A replacement comes from a later message whose statement ``settles``.
    """
    wanted = frozenset(weights)
    claims = [_claims(wanted, statement.text) for statement in statements]
    found: dict[int, Later] = {}
    for at, statement in enumerate(statements):
        for claim in claims[at]:
            later = _later(claim, statement, list(zip(statements, claims, strict=True)), weights)
            if later is not None and (at not in found or later.turn > found[at].turn):
                found[at] = later
    return found


def _later(
    claim: _Claim,
    statement: Statement,
    others: Sequence[tuple[Statement, Sequence[_Claim]]],
    weights: Mapping[str, float],
) -> Later | None:
    best: Later | None = None
    for other, theirs in others:
        if not other.settles or other.turn <= statement.turn or (best is not None and other.turn < best.turn):
            continue
        for one in theirs:
            if (
                same_sort(one.value, claim.value)
                and _is_about_same(one, claim, weights)
                and one.value.text.casefold() not in statement.text.casefold()
            ):
                best = Later(other.turn, one.value.text.strip(","))
    return best


def _is_about_same(one: _Claim, claim: _Claim, weights: Mapping[str, float]) -> bool:
    both = one.shared & claim.shared
    least = min(_SHARED, len(weights))
    most = _MOST_CHANGED if one.changes else _MOST
    return len(both) >= least and _weight(both, weights) >= most * _weight(claim.shared, weights)


def _weight(words: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in words)


def _claims(wanted: frozenset[str], text: str) -> list[_Claim]:
    """Return for each kind and unit of value in a text the value with most of the ``wanted`` words around it."""
    best: dict[tuple[str, str], _Claim] = {}
    for start in range(0, min(len(text), READ_MAX), _STEP):
        for value in values_in(text[start : start + _STEP]):
            if value.kind in _NAMES:
                continue
            around = text[max(0, start + value.start - AROUND) : start + value.end + AROUND]
            shared = wanted & {singular(word.strip("'")) for word in words(around.replace("-", " "))}
            sort = (value.kind, value.unit)
            if shared and (sort not in best or len(shared) > len(best[sort].shared)):
                best[sort] = _Claim(value, shared, _CHANGES.search(encodable(around)) is not None)
    return list(best.values())


_STEP: Final = 400
