"""Detect what kind of value a question asks for, and which texts contain one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import re2

from tokenmizer_mw.graph.text import singular, words
from tokenmizer_mw.graph.values import encodable, values_in

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

Said = TypeVar("Said")


def asked_kinds(question: str) -> frozenset[str]:
    """The kinds of values that may answer ``question``; empty when it asks for none."""
    asked = encodable(question)
    return frozenset(kind for pattern, kinds in _ASKS_FOR if pattern.search(asked) for kind in kinds)


def answering(
    kinds: frozenset[str], found: Sequence[Said], wanted: Mapping[str, float], text: Callable[[Said], str]
) -> list[Said]:
    """``found`` in its order, those first whose text holds a value of such a kind in a sentence with wanted words."""
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
