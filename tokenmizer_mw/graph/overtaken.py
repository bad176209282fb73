"""Find statements about a question whose value a later statement replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from .text import singular, words
from .values import Value, encodable, same_sort, values_in

AROUND: Final = 100
"""Characters before and behind a value that tell what it is a value of."""
READ_MAX: Final = 2_000
"""Characters of a statement that are read."""

_SHARED: Final = 2
_MOST: Final = 0.75
_MOST_CHANGED: Final = 0.5
"""Share of what is asked for around the earlier value that stands around the later one; less is enough where its words
say that something changed."""
_CHANGES: Final = re2.compile(
    r"(?i)\b(?:new|now|updated?|changed|extended|moved|moving|rescheduled|postponed|increased|reduced|raised|lowered"
    r"|adjusted|instead|actually|no longer|improved|dropped|reached|shortened|up to|down to|up from|down from)\b"
)
_NAMES: Final = frozenset({"name", "tool", "code", "term", "version", "number"})


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said in message ``turn``. ``settles``: it may replace the value of other statements."""

    turn: int
    text: str
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Later:
    """Another value of the same sort, and the number of the later message that gives it."""

    turn: int
    value: str


@dataclass(frozen=True, slots=True)
class _Claim:
    value: Value
    shared: frozenset[str]
    changes: bool


def overtaken(weights: Mapping[str, float], statements: Sequence[Statement]) -> dict[int, Later]:
    """For each statement that is overtaken, by its place, what was said later.

    ``weights``: the words of a question, in the singular, and how much each tells. Two statements are about the same
    when the words of the question around the earlier value stand around the later one as well, two of them at least,
    and most by weight. Only values of one sort (dates, prices, counts of the same thing) overtake one another; names
    never do.
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
    claim: _Claim, said: Statement, others: Sequence[tuple[Statement, Sequence[_Claim]]], weights: Mapping[str, float]
) -> Later | None:
    best: Later | None = None
    for other, theirs in others:
        if not other.settles or other.turn <= said.turn or (best is not None and other.turn < best.turn):
            continue
        for one in theirs:
            if (
                same_sort(one.value, claim.value)
                and _about_same(one, claim, weights)
                and not _states_value(said, one.value)
            ):
                best = Later(other.turn, one.value.text.strip(","))
    return best


def _about_same(one: _Claim, claim: _Claim, weights: Mapping[str, float]) -> bool:
    both = one.shared & claim.shared
    least = min(_SHARED, len(weights))
    most = _MOST_CHANGED if one.changes else _MOST
    return len(both) >= least and _weight(both, weights) >= most * _weight(claim.shared, weights)


def _weight(words: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in words)


def _claims(wanted: frozenset[str], text: str) -> list[_Claim]:
    """For each sort of value in a text the one with most of the wanted words around it."""
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


def _states_value(statement: Statement, value: Value) -> bool:
    return value.text.casefold() in statement.text.casefold()
