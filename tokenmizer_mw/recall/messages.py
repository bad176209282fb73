"""Messages that may answer a question, and the part of each that does."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.text import ASKING, singular, words

EXCERPT_CHARACTERS: Final = 300
"""Longest quotation of a message."""

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
_ROLE_WEIGHT: Final = {"user": 1.0, "assistant": 0.35, "tool": 0.35}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message that may be quoted: its number, its speaker, its text."""

    turn: int
    role: str
    text: str


_PUNCTUATION: Final = "，。、；：？！「」『』（）【】《》…—–‘’“”«»„"
_SPACED: Final = {ord(char): " " for char in _PUNCTUATION} | {
    code: " " for code in range(0x80) if not chr(code).isalnum()
}
_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n", "。", "！", "？")
_LEAD_MAX: Final = 120

Weights = dict[str, float]
"""How much each wanted word tells: rare words more."""


def wanted_words(query: str) -> frozenset[str]:
    """The words that messages are searched for, without a plural's ending."""
    parts = (part for word in words(query) for part in word.translate(_SPACED).split())
    cut = {singular(part) for part in parts}
    return frozenset(cut - ASKING) or frozenset(cut)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _counts(wanted: frozenset[str], text: str) -> dict[str, int]:
    """How often each wanted word stands in the folded ``text``; words of other scripts than Latin count within
    others, because they are inflected or written without spaces."""
    near = [word for word in wanted if word in text]
    spoken = text.translate(_SPACED).split() if near else []
    counts = {
        word: spoken.count(word) + spoken.count(word + "s") if word.isascii() else text.count(word) for word in near
    }
    return {word: count for word, count in counts.items() if count}


def ranked(wanted: frozenset[str], excerpts: Sequence[Excerpt]) -> tuple[Weights, list[Excerpt]]:
    """The weights of the wanted words, and the messages that hold any, best first by BM25 (lengths in characters)."""
    found = [(excerpt, counts) for excerpt in excerpts if (counts := _counts(wanted, _folded(excerpt.text)))]
    mean = sum(len(excerpt.text) for excerpt in excerpts) / max(1, len(excerpts))
    holding = {word: sum(word in counts for _, counts in found) for word in wanted}
    weights = {word: math.log1p((len(excerpts) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}

    def score(excerpt: Excerpt, counts: dict[str, int]) -> float:
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(excerpt.text) / mean)
        total = sum(weights[word] * n * (_SATURATION + 1) / (n + norm) for word, n in counts.items())
        return total * _ROLE_WEIGHT.get(excerpt.role, _ROLE_WEIGHT["tool"])

    found.sort(key=lambda pair: (-score(*pair), -pair[0].turn))
    return weights, [excerpt for excerpt, _ in found]


def passage(text: str, weights: Weights) -> str:
    """The part of ``text`` with the most weight, from the start of a sentence, as long as a quotation may be."""
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    hits = sorted(_hits(text, weights))
    best, best_value, value, first = 0, -1.0, 0.0, 0
    for place, weight in hits:
        value += weight
        while place - hits[first][0] > EXCERPT_CHARACTERS - _LEAD_MAX:
            value -= hits[first][1]
            first += 1
        if value > best_value + 1e-9:
            best, best_value = hits[first][0], value
    start = _sentence_start(text, best)
    return text[start : start + 2 * EXCERPT_CHARACTERS]


def _hits(text: str, weights: Weights) -> Iterator[tuple[int, float]]:
    """Where wanted words begin in ``text``, each with its weight."""
    low = text.casefold()
    if len(low) != len(text):
        return
    for word, weight in weights.items():
        place = low.find(word)
        while place >= 0:
            if not word.isascii() or place == 0 or not low[place - 1].isalnum():
                yield place, weight
            place = low.find(word, place + len(word))


def _sentence_start(text: str, place: int) -> int:
    """Where the sentence around ``place`` begins, or else a word before it."""
    low = max(0, place - _LEAD_MAX)
    ends = [found + len(end) for end in _SENTENCE_ENDS if (found := text.rfind(end, low, place)) >= 0]
    if ends or low == 0:
        return max(ends, default=0)
    return max(low, text.find(" ", low, place) + 1)
