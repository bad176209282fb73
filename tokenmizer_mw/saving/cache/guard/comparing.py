"""Compares two questions and returns the first difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from .phrases import LOOSE, OPTIONAL, VERBS
from .reading import Item, QuestionReading, read
from .terms import TERMS, Alignment, Keys, align, keys_of, same_direction, same_order

_MODALS: Final = {"~can": "~can", "~allowed": "~can", "~should": "~should"}
_PEOPLE: Final = frozenset({"he", "she"})
_WHOSE: Final = frozenset({"my", "mine", "your", "yours"})

Check = Callable[[QuestionReading, QuestionReading, Alignment], bool]
"""Return whether two questions are alike in one respect."""


def differs(first: str, second: str) -> str:
    """Return what differs between two questions, as a word for counters and reports; "" if they may share a response.

    Symmetric. Some words are compared pairwise, so questions are limited to ``CHARACTERS_MAX`` characters.
    """
    if first == second:
        return ""
    one, other = read(first), read(second)
    if one is None or other is None or not (one.english or other.english):
        return "language"
    return _differs(one, other) or _differs(other, one)


def _differs(one: QuestionReading, other: QuestionReading) -> str:
    aligned = align(one, other)
    return next((name for name, alike in CHECKS if not alike(one, other, aligned)), "")


def _has_content(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    return bool(aligned.pairs)


def _same_denials(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether there are as many denials, and none of them of something else."""
    left, right = list(_denied_words(one)), list(_denied_words(other))
    if left and ("must" in one.said) != ("must" in other.said):
        return False  # who must not is forbidden to, who need not is free to
    return len(left) == len(right) and all(_covers(a, b) or _covers(b, a) for a, b in zip(left, right, strict=True))


def _denied_words(reading: QuestionReading) -> Iterator[list[Keys]]:
    """For each denial the words that it reaches over."""
    for place, item in enumerate(reading.items):
        if item.kind == "not":
            yield list(_until_break(reading.items[place + 1 :]))


def _until_break(items: Sequence[Item]) -> Iterator[Keys]:
    for item in items:
        if item.kind in ("break", "not"):
            return
        if item.kind in TERMS:
            yield keys_of(item)


def _covers(some: Sequence[Keys], others: Sequence[Keys]) -> bool:
    """Whether each of some words is among others; none are among none only."""
    return bool(some) >= bool(others) and all(any(a & b for b in others) for a in some)


def _same_question(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether the same kind of answer is wanted."""
    left, right = _kinds(one), _kinds(other)
    if left <= LOOSE and right <= LOOSE:
        return not ({"@list", "@explain"} <= left | right)
    return left == right


def _kinds(reading: QuestionReading) -> frozenset[str]:
    """What is asked; how two things differ is what their difference is."""
    asks = reading.asks - {"@polar"} or reading.asks
    return asks - {"@how"} - LOOSE if any(item.text == "difference" for item in reading.items) else asks


def _same_modals(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether both ask for what is possible, allowed or advisable, where that is what they ask for."""
    left, right = ({_MODALS.get(item.text, "") for item in side.items} - {""} for side in (one, other))
    asks = one.asks | other.asks
    if left == right or "@how" in asks or "@where" in asks:
        return True
    if (left and right) or "@polar" in asks:
        return False
    return "@what" not in asks or any(item.text == "need" for item in (other if left else one).items)


def _same_persons(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether nobody else is meant, and the one who asks does not do what is done to him in the other question."""
    if {"my", "your"} <= one.said | other.said and one.said & _WHOSE != other.said & _WHOSE:
        return False
    if _PEOPLE.intersection(one.nameless) != _PEOPLE.intersection(other.nameless):
        return False
    if one.nameless != other.nameless and sorted(one.nameless) == sorted(other.nameless):
        return False
    left, right = one.selves, other.selves
    if left and right and set(left).isdisjoint(right):
        return False
    first, second = (["i" if word == "me" else word for word in side] for side in (left, right))
    return sorted(first) != sorted(second) or left == right or first == second == ["i"]


def _same_tense(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether no past, present or future is asked for in place of another."""
    if ("future" in one.tenses) != ("future" in other.tenses):
        return False
    return not (one.tenses and other.tenses) or ("past" in one.tenses) == ("past" in other.tenses)


def _same_words(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether each word of one question has its own in the other; words of little weight may be missing in one."""
    if aligned.missing and aligned.extra:
        return False
    verbs = VERBS if one.asks | other.asks else frozenset[str]()
    return all(
        not OPTIONAL.isdisjoint(term.keys) and (term.place or term.keys.isdisjoint(verbs))
        for term in (*aligned.missing, *aligned.extra)
    )


CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("negation", _same_denials),
    ("question", _same_question),
    ("modal", _same_modals),
    ("person", _same_persons),
    ("tense", _same_tense),
    ("word", _same_words),
    ("direction", same_direction),
    ("order", lambda one, other, aligned: same_order(aligned)),
    ("empty", _has_content),
)
"""What must be alike, each with the name under which it is reported."""
