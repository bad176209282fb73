"""Select the passages to show within a token budget, and format them; detect what kind of value a question asks for (a
date, a price and so on), and which texts contain one. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import re2

from tokenmizer_mw.context.recall.index import PassageHit
from tokenmizer_mw.context.recall.passages import index_terms
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.text import singular, words
from tokenmizer_mw.graph.values import encodable, values_in
from tokenmizer_mw.safety.labels import flatten_lines

_ASKS_FOR: Final[tuple[tuple[re2._Regexp[str], frozenset[str]], ...]] = tuple(
    (re2.compile(rf"(?i)\b(?:{asked})\b"), frozenset(kinds.split()))
    for asked, kinds in (
        ("when|what (?:date|day|time)|by which date|deadline|due", "date time day"),
        ("budget|costs?|price|how much|spend|spent|fees?|salary|rent|paid|allocated|rates? an hour", "money"),
        ("percent(?:age)?|rate|accuracy|coverage|ratio|share of", "share"),
        ("how long|duration|latency|response time|timeout|how (?:fast|quick|slow)", "duration"),
        ("how (?:many|large|big)|number of|count of|quota|limit|size", "amount number size duration"),
    )
)
"""Words of questions, and the kinds of values that answer them."""

Item = TypeVar("Item")


def asked_kinds(question: str) -> frozenset[str]:
    """Return the kinds of values that may answer ``question``, such as "date" (``Value.kind``); empty when it asks for
    no particular kind."""
    asked = encodable(question)
    return frozenset(kind for pattern, kinds in _ASKS_FOR if pattern.search(asked) for kind in kinds)


def sort_by_answers(
    kinds: frozenset[str], found: Sequence[Item], wanted: Mapping[str, float], text: Callable[[Item], str]
) -> list[Item]:
    """Sort ``found``: first the items whose text has a value of one of ``kinds`` in a sentence with words of the
    question, then the rest, each in the given order. ``wanted``: those words, in the singular; ``text``: returns the
    text of an item."""
    if not kinds:
        return list(found)
    return sorted(found, key=lambda one: not _answers(kinds, text(one), wanted))


def _answers(kinds: frozenset[str], text: str, wanted: Mapping[str, float]) -> bool:
    return any(
        value.kind in kinds
        for sentence in text.split(". ")[:_SENTENCES_MAX]
        if not wanted.keys().isdisjoint(map(singular, words(sentence)))
        for value in values_in(sentence)
    )


_SENTENCES_MAX: Final = 12


_LEAST: Final = 24
"""No further passage is added once fewer tokens than this are left."""
_COUNTED_MAX: Final = 16
"""Only this many of the best passages are considered, because counting their tokens takes time."""
_CHARACTERS_A_TOKEN: Final = 10
"""Texts of chats have fewer characters per token than this. A text that is too long even by this measure is not
counted."""
_PART: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_OMITTED: Final = "..."


@dataclass(frozen=True, slots=True)
class QuotedPiece:
    """A part of a message, quoted unchanged except that markup is made ineffective. May have several lines."""

    number: int
    role: str
    text: str

    def render(self, mark: str = "") -> str:
        """Return the quotation for a reader: ``[number role]``, ``mark``, the text. ``mark``: a remark with a space
        before it, such as " (corrected)"; "" for none."""
        separator = "\n" if "\n" in self.text else " "
        return f"[{self.number} {self.role}]{mark}{separator}{self.text}"


@dataclass(frozen=True, slots=True)
class _Chosen:
    hit: PassageHit
    text: str
    whole: bool


def select_passages(hits: Sequence[PassageHit], budget: int, counter: TokenCounter) -> list[QuotedPiece]:
    """Return the best of ``hits`` whose formatted quotations together take at most ``budget`` tokens, in the session's
    order.

    A passage that does not fit is shortened to the sentences or lines around the words of the query, or skipped.
    Adjacent passages are merged. Text that occurs in several messages is shown once.
    """
    chosen: list[_Chosen] = []
    seen: set[str] = set()
    room = budget
    for hit in hits[:_COUNTED_MAX]:
        if room < _LEAST:
            break
        text = flatten_lines(hit.text)
        key = " ".join(text.casefold().split())
        if not text or key in seen:
            continue
        seen.add(key)
        fitted = _fit(hit, text, room, counter)
        if fitted is not None:
            room -= fitted[1]
            chosen.append(fitted[0])
    return list(_merge_neighbours(sorted(chosen, key=lambda one: one.hit.place)))


def _fit(hit: PassageHit, text: str, room: int, counter: TokenCounter) -> tuple[_Chosen, int] | None:
    """Return the passage, shortened if necessary to fit into ``room`` tokens, and the tokens of its quotation; ``None``
    if nothing of it fits. ``text``: the passage without markup that takes effect."""
    head = flatten_lines(hit.head) + f"\n{_OMITTED}\n" if hit.head else ""
    cost = 0
    if len(text) <= room * _CHARACTERS_A_TOKEN:
        cost = _cost(hit, head + text, counter)
        if cost <= room:
            return _Chosen(hit, text, True), cost
    rate = len(text) / cost if cost else 3.0
    short = _shorten_to_best(text, hit.weights, int((room - _LEAST / 2) * rate) - len(head))
    if not short:
        return None
    cost = _cost(hit, head + short, counter)
    return (_Chosen(hit, short, False), cost) if cost <= room else None


def _cost(hit: PassageHit, text: str, counter: TokenCounter) -> int:
    return counter.count(QuotedPiece(hit.number, hit.role, text).render() + "\n")


def _shorten_to_best(text: str, weights: Mapping[str, float], room: int) -> str:
    """Return the sentences or lines of ``text`` around the one that shares most with the query, in at most ``room``
    characters besides the marks for omissions; "" if that one is too long or none shares a term with the query.

    ``weights``: the query's terms and their weights."""
    parts = list(_parts(text))
    values = [math.fsum(weights.get(term, 0.0) for term in set(index_terms(text[low:high]))) for low, high in parts]
    best = max(range(len(parts)), key=values.__getitem__)
    first = last = best
    if parts[best][1] - parts[best][0] > room or values[best] <= 0:
        return ""
    while True:
        later = last + 1 < len(parts) and parts[last + 1][1] - parts[first][0] <= room
        earlier = first > 0 and parts[last][1] - parts[first - 1][0] <= room
        if not (later or earlier):
            break
        if later and (not earlier or values[last + 1] >= values[first - 1]):
            last += 1
        else:
            first -= 1
    before = f"{_OMITTED} " if first > 0 else ""
    after = f" {_OMITTED}" if last + 1 < len(parts) else ""
    return before + text[parts[first][0] : parts[last][1]].strip("\n") + after


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence or line of ``text``, in order; at least one pair, even for ""."""
    start = 0
    for found in _PART.finditer(text):
        if found.start() > start:
            yield start, found.start()
        start = found.end()
    if start < len(text) or start == 0:
        yield start, len(text)


def _merge_neighbours(chosen: Sequence[_Chosen]) -> Iterator[QuotedPiece]:
    """Yield the chosen passages as quoted pieces, in the given order. Unshortened passages that are adjacent in one
    message become one piece."""
    waiting: list[_Chosen] = []
    for one in chosen:
        if waiting and not _is_next(waiting[-1], one):
            yield _join_group(waiting)
            waiting = []
        waiting.append(one)
    if waiting:
        yield _join_group(waiting)


def _is_next(one: _Chosen, other: _Chosen) -> bool:
    return one.whole and other.whole and one.hit.number == other.hit.number and one.hit.place + 1 == other.hit.place


def _join_group(group: Sequence[_Chosen]) -> QuotedPiece:
    first = group[0].hit
    head = flatten_lines(first.head) + f"\n{_OMITTED}\n" if first.head else ""
    return QuotedPiece(first.number, first.role, head + "\n".join(one.text for one in group))
