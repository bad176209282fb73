"""Compares the word order of two questions; another order mostly means another question.

A few phrases may move: a place ("in Texas", "docker: how do I"), an owner, and the two things whose difference is asked
for. Any other change of order counts as a difference, also in paraphrases.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

from .listing import words
from .reading import Item, QuestionReading

TOPICS: Final = words(
    """python java javascript typescript ruby rust golang php perl bash css html sql pandas numpy git docker
    kubernetes"""
)
"""What things are made with or for: "a list in Python" is "a Python list", as long as one topic is named."""

_TOPIC_PLACES: Final = frozenset({"in", "on", "with", "for"})
_WORDS: Final = frozenset({"word", "exact", "number"})
_COMPARED_MAX: Final = 3
"""Words of weight in a question for the difference of two things, the word for it included."""

_BESIDE: Final = frozenset({"and", "vs", "versus"})

Alike = Callable[[Item, Item], bool]


def in_step(
    one: QuestionReading, other: QuestionReading, alike: Alike, *, free: Callable[[QuestionReading], frozenset[str]]
) -> bool:
    """Return whether the content words have the same order and number. ``free``: words that may be missing."""
    left, right = _sequence(one, free(one)), _sequence(other, free(other))
    left, right = _without_topic(one, left, other, right)
    if len(left) != len(right):
        return False
    if all(alike(a, b) for a, b in zip(left, right, strict=True)):
        return True
    compared = _compares(one, left) and _compares(other, right)
    return compared and all(any(alike(a, b) for b in others) for some, others in _both(left, right) for a in some)


def _both(left: list[Item], right: list[Item]) -> tuple[tuple[list[Item], list[Item]], ...]:
    return (left, right), (right, left)


def _compares(reading: QuestionReading, items: Sequence[Item]) -> bool:
    """Whether the difference of two things is asked for, and nothing else."""
    named = any(item.text == "difference" for item in items)
    return named and len(items) <= _COMPARED_MAX and not _BESIDE.isdisjoint(reading.said)


def _sequence(reading: QuestionReading, free: frozenset[str]) -> list[Item]:
    """The words of weight, and who speaks or is spoken to but for the one who asks, in the order that counts."""
    items = _from_first(_move_owners(_scope_last(reading.items)))
    modals = sum(item.text.startswith("~") for item in items)
    found: list[Item] = []
    for item in items:
        modal = item.text.startswith("~") and (modals == 1 or item.text in free)
        if (item.kind == "self" and found) or (item.kind in _WORDS and not modal):
            found.append(item)
    return found


def _scope_last(items: Sequence[Item]) -> list[Item]:
    """With what stands in front of all else at the end: "in Texas, is it" as "is it in Texas"."""
    end = next((place for place, item in enumerate(items) if item.kind == "break"), 0)
    placed = end > 1 and items[0].kind == "place" and all(item.kind in _WORDS for item in items[1:end])
    titled = end == 1 and items[0].kind in _WORDS and items[1].text == ":"
    return [*items[end + 1 :], *items[:end]] if placed or titled else list(items)


def _move_owners(items: Sequence[Item]) -> list[Item]:
    """With owners behind what they own: "Canada's capital" as "capital of Canada"."""
    found: list[Item] = []
    waiting: list[Item] = []
    for item in items:
        if item.kind not in _WORDS:
            found += waiting
            waiting = []
        if item.kind == "of" and found and found[-1].kind == "word":
            waiting = [found.pop()]
        found.append(item)
    return [*found, *waiting]


def _from_first(items: Sequence[Item]) -> list[Item]:
    """With "from here to there" for "to there from here"."""
    found = list(items)
    starts = [place for place, item in enumerate(found) if item.kind == "place"]
    for first, second in itertools.pairwise(starts):
        end = next((place for place in range(second + 1, len(found)) if found[place].kind not in _WORDS), len(found))
        between = all(item.kind in _WORDS for item in found[first + 1 : second])
        if between and (found[first].text, found[second].text) == ("to", "from"):
            return [*found[:first], *found[second:end], *found[first:second], *found[end:]]
    return found


def _without_topic(
    one: QuestionReading, left: list[Item], other: QuestionReading, right: list[Item]
) -> tuple[list[Item], list[Item]]:
    """Both without the topic, where they have the same single one and a question says that it is one."""
    mine, others = ([item for item in side if item.text in TOPICS] for side in (left, right))
    if len(mine) != 1 or len(others) != 1 or mine[0].text != others[0].text:
        return left, right
    topic = mine[0].text
    if not (_is_scope(one, topic) or _is_scope(other, topic)):
        return left, right
    return [item for item in left if item.text != topic], [item for item in right if item.text != topic]


def _is_scope(reading: QuestionReading, topic: str) -> bool:
    """Whether a topic stands in front of the question, or alone behind "in" or its like."""
    items = [Item("break", ""), *reading.items, Item("break", "")]
    for before, item, behind in zip(items, items[1:], items[2:], strict=False):
        if item.text == topic:
            placed = before.kind == "place" and before.text in _TOPIC_PLACES and behind.kind not in _WORDS
            return placed or (before is items[0] and reading.begins == topic)
    return False
