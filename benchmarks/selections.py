"""Baselines that select sentences or passages of a session's messages word for word. Nothing in them is trained.

Tokens are a quarter of the characters. Methods and parameters are those of the reference scorer of the continuation
exams, so that figures can be compared.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

from .exams import Turn, estimate_tokens, message_text, newest_messages

_WORD: Final = re.compile(r"\w+")
_TERM: Final = re.compile(r"[\w./-]{2,}")
_SENTENCE: Final = re.compile(r"(?<=[.!?:。！？])\s*|\n+")
_SPACED_SENTENCE: Final = re.compile(r"(?<=[.!?:。！？])\s+|\n+")
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_PASSAGE_CHARACTERS: Final = 800
_SENTENCE_LEAST: Final = 15
_SENTENCE_MOST: Final = 300
_USER_WEIGHT: Final = 2.0
_COVERING_WEIGHTS: Final = {"user": 4.0, "tool": 0.5}
_SATURATION: Final = 1.2
_LENGTH: Final = 0.75


class Selections:
    """What simple methods select from the messages ``turns``. Each method returns a text of at most ``budget`` tokens;
    only ``passages`` uses the question."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    def newest(self, budget: int, question: str = "") -> str:
        """Return the end of the messages."""
        return newest_messages(self.turns, budget)

    def central(self, budget: int, question: str = "") -> str:
        """Return sentences whose words are frequent in the session, but not in most of its sentences (tf-idf); the best
        first."""
        return _fill(self._central, budget)

    def covering(self, budget: int, question: str = "") -> str:
        """Return sentences that together cover the session's words, in their order. They are chosen greedily by the
        weight of their words not yet covered, per token (Lin and Bilmes, 2011)."""
        chosen = _cover(*self._coverable, budget)
        return "\n".join(self._sentences[at][1] for at in sorted(chosen))

    def passages(self, budget: int, question: str = "") -> str:
        """Return paragraphs ranked by BM25 for ``question``, each with the index of its message."""
        units, bags = self._passages
        lengths = [bag.total() for bag in bags]
        mean = sum(lengths) / max(1, len(bags))
        wanted = set(_words(question))
        frequency = {word: sum(word in bag for bag in bags) for word in wanted}
        weights = {word: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}

        def score(at: int) -> float:
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[at] / mean)
            shared = (word for word in wanted if word in bags[at])
            return sum(weights[word] * bags[at][word] * (_SATURATION + 1) / (bags[at][word] + norm) for word in shared)

        scores = [score(at) for at in range(len(units))]
        return _fill([units[at] for at in sorted(range(len(units)), key=lambda at: -scores[at])], budget)

    @cached_property
    def _passages(self) -> tuple[list[str], list[Counter[str]]]:
        units = [
            f"#{number} {part[at : at + _PASSAGE_CHARACTERS]}"
            for number, turn in enumerate(self.turns)
            for part in _PARAGRAPH.split(message_text(turn))
            for at in range(0, len(part), _PASSAGE_CHARACTERS)
        ]
        return units, [Counter(_words(unit)) for unit in units]

    @cached_property
    def _central(self) -> list[str]:
        """Sentences, the most central first."""
        rows = [
            (turn["role"], part.strip())
            for turn in self.turns
            for part in _SENTENCE.split(message_text(turn))
            if _SENTENCE_LEAST < len(part.strip()) < _SENTENCE_MOST
        ]
        bags = [_words(part) for _, part in rows]
        frequency = Counter(word for bag in bags for word in set(bag))
        worth = [
            sum(math.log(len(rows) / frequency[word]) * math.log(1 + frequency[word]) for word in set(bag))
            / (5 + len(bag))
            * (_USER_WEIGHT if role == "user" else 1.0)
            for (role, _), bag in zip(rows, bags, strict=True)
        ]
        return [rows[at][1] for at in sorted(range(len(rows)), key=lambda at: -worth[at])]

    @cached_property
    def _sentences(self) -> list[tuple[str, str]]:
        return [
            (turn["role"], part.strip()[:_SENTENCE_MOST])
            for turn in self.turns
            for part in _SPACED_SENTENCE.split(turn["content"] if isinstance(turn.get("content"), str) else "")
            if len(part.strip()) > _SENTENCE_LEAST
        ]

    @cached_property
    def _coverable(self) -> tuple[list[set[str]], dict[str, float], list[int], list[float]]:
        """Words of each sentence, weights of words, costs of sentences in tokens, worth of a weight per sentence."""
        units = self._sentences
        bags = [{word.strip(".-/") for word in _TERM.findall(part.lower())} - {""} for _, part in units]
        frequency = Counter(word for bag in bags for word in bag)
        weights = {word: math.log(1 + n) * math.log(1 + len(units) / n) for word, n in frequency.items()}
        costs = [estimate_tokens(part) for _, part in units]
        shares = [_COVERING_WEIGHTS.get(role, 1.0) / (cost + 8) for (role, _), cost in zip(units, costs, strict=True)]
        return bags, weights, costs, shares


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _fill(units: Sequence[str], budget: int) -> str:
    """The first of ``units`` that fit into ``budget`` tokens; those that do not fit are skipped."""
    taken: list[str] = []
    for unit in units:
        cost = estimate_tokens(unit) + 1
        if cost <= budget:
            taken.append(unit)
            budget -= cost
    return "\n".join(taken)


def _cover(
    bags: Sequence[set[str]], weights: Mapping[str, float], costs: Sequence[int], shares: Sequence[float], budget: int
) -> list[int]:
    """Indices of sentences chosen by lazy greedy selection."""
    covered: set[str] = set()

    def worth(at: int) -> float:
        return sum(weights[word] for word in bags[at] if word not in covered) * shares[at]

    heap = [(-worth(at), at) for at in range(len(bags))]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap:
        _, at = heapq.heappop(heap)
        value = worth(at)
        if value <= 0 or costs[at] + 1 > budget:
            continue
        if heap and value < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-value, at))
            continue
        chosen.append(at)
        covered |= bags[at]
        budget -= costs[at] + 1
    return chosen


Way = Callable[[Selections, int, str], str]

SELECTIONS: Final[Mapping[str, Way]] = {
    "newest messages": Selections.newest,
    "tf-idf sentences": Selections.central,
    "covering sentences": Selections.covering,
    "BM25 passages": Selections.passages,
}
"""Baselines by name: functions from selections, budget in tokens, and question to a text."""
