"""Compares two questions and returns the first difference."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from . import forms
from .ordering import in_step
from .reading import Item, QuestionReading, read
from .same import LOOSE
from .table import VOCABULARY

_ENTITIES: Final = frozenset({"word", "exact", "number", "self"})
_FREE_MODALS: Final = {
    "@how": {"~can", "~should"},
    "@where": {"~can"},
    "@when": {"~should"},
    "@often": {"~should"},
    "@long": {"~should"},
    "@much": {"~should"},
}
"""What may stand in a question of a kind or not: "how can I" is "how do I"."""

_TOLD: Final = frozenset({"@polar"})
"""Kinds of questions that are statements but for their order, beside those that are none."""

_ALSO: Final = {"quit": frozenset({"stop", "exit"}), "~allowed": frozenset({"~can"}), "must": frozenset({"need"})}
"""What words may be the same as besides."""

Chunk = frozenset[str]


def differs(first: str, second: str) -> str:
    """Return what differs between two questions, as a word for counters and reports; "" if they may share a response.

    Symmetric. Some words are compared pairwise, so questions are limited to ``CHARACTERS_MAX`` characters.
    """
    if first == second:
        return ""
    one, other = read(first), read(second)
    if one is None or other is None or not (one.english or other.english):
        return "language"
    for name, alike in _CHECKS:
        if not alike(one, other):
            return name
    return ""


def _exact(one: QuestionReading, other: QuestionReading) -> bool:
    return [item.text for item in one.of_kind("exact")] == [item.text for item in other.of_kind("exact")]


def _numbers(one: QuestionReading, other: QuestionReading) -> bool:
    return [item.text for item in one.of_kind("number")] == [item.text for item in other.of_kind("number")]


def _something(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether there is anything to compare."""
    return any(item.kind in ("word", "exact", "number") for item in one.items)


def _asks(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether the same kind of answer is wanted."""
    left, right = _kinds(one), _kinds(other)
    if left <= LOOSE and right <= LOOSE:
        return not ({"@list", "@explain"} <= left | right)
    return left == right


def _kinds(reading: QuestionReading) -> frozenset[str]:
    """What is asked; how two things differ is what their difference is."""
    if any(item.text == "difference" for item in reading.items):
        return reading.asks - {"@how"}
    return reading.asks


def _persons(one: QuestionReading, other: QuestionReading) -> bool:
    whose = {"my", "mine", "your", "yours"}
    if one.persons - whose != other.persons - whose:
        return False
    if {"my", "your"} <= one.persons | other.persons and one.persons & whose != other.persons & whose:
        return False
    if one.asks <= _TOLD and one.selves and other.selves and one.selves.isdisjoint(other.selves):
        return False
    if "@polar" not in one.asks or any(item.text.startswith("~") for item in one.items):
        return True
    left, right = ({item.text for item in side.of_kind("self")} for side in (one, other))
    return not left or not right or left == right


def _tenses(one: QuestionReading, other: QuestionReading) -> bool:
    """A past, a present and a future are told apart where both questions have one."""
    if ("future" in one.tenses) != ("future" in other.tenses):
        return False
    return not (one.tenses and other.tenses) or ("past" in one.tenses) == ("past" in other.tenses)


def _words(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether each word of one question has its own in the other. Of none in particular is not of all."""
    if ("any" in one.said) != ("any" in other.said):
        return False
    return not _has_unmatched(one, other)


def _has_unmatched(one: QuestionReading, other: QuestionReading) -> bool:
    left = [_keys(item) for item in _content(one)]
    right = [_keys(item) for item in _content(other)]
    if Counter(left) == Counter(right):
        return False
    missing = [keys for keys in left if not any(keys & others for others in right)]
    extra = [keys for keys in right if not any(keys & others for others in left)]
    return bool(missing or extra) and not (
        len(missing) == len(extra) == 1 and _is_swapped(min(missing[0], key=len), min(extra[0], key=len))
    )


def _content(reading: QuestionReading) -> list[Item]:
    free = _free(reading)
    return [item for item in reading.of_kind("word") if item.text not in free]


def _free(reading: QuestionReading) -> frozenset[str]:
    return frozenset[str]().union(*(_FREE_MODALS.get(kind, set()) for kind in reading.asks))


def _keys(item: Item) -> frozenset[str]:
    return item.keys | _ALSO.get(item.text, frozenset())


def _is_swapped(one: str, other: str) -> bool:
    """Whether one word is the other with two neighbouring letters swapped, and no word of its own."""
    if len(one) != len(other) or len(one) < 6 or one[0] != other[0] or {one, other} & forms.CONFUSABLE:
        return False
    if one in VOCABULARY and other in VOCABULARY:
        return False
    places = [place for place in range(len(one)) if one[place] != other[place]]
    if len(places) != 2 or places[1] != places[0] + 1:
        return False
    at = places[0]
    return one[at] == other[at + 1] and one[at + 1] == other[at]


def _denials(one: QuestionReading, other: QuestionReading) -> bool:
    """As many denials, and none of them of something else."""
    left, right = list(_denied_chunks(one)), list(_denied_chunks(other))
    if left and any((word in _names(one)) != (word in _names(other)) for word in ("must", "~allowed")):
        return False  # who must not is forbidden to, who need not is free to
    return len(left) == len(right) and all(_covers(a, b) or _covers(b, a) for a, b in zip(left, right, strict=True))


def _names(reading: QuestionReading) -> set[str]:
    return {item.text for item in reading.items}


def _denied_chunks(reading: QuestionReading) -> Iterator[list[Chunk]]:
    """For each denial the words that it reaches over."""
    for place, item in enumerate(reading.items):
        if item.kind == "not":
            yield list(_until_break(reading.items[place + 1 :]))


def _until_break(items: Sequence[Item]) -> Iterator[Chunk]:
    for item in items:
        if item.kind in ("break", "not"):
            return
        if item.kind in ("word", "exact", "number"):
            yield _chunk_of(item)


def _covers(some: Sequence[Chunk], others: Sequence[Chunk]) -> bool:
    """Whether each of some words is among others; none are among none only."""
    return bool(some) >= bool(others) and all(any(a & b for b in others) for a in some)


def _places(one: QuestionReading, other: QuestionReading) -> bool:
    """What stands behind "to", "from", "of" and their like is no other thing."""
    if any(item.text == "difference" for item in one.items):
        return True
    left, right = list(_placed_chunks(one)), list(_placed_chunks(other))
    if _by(left, right, other) or _by(right, left, one) or _has_exchanged(one, other):
        return False
    for name in {name for name, _ in left} & {name for name, _ in right}:
        here, there = ([chunk for at, chunk in side if at == name] for side in (left, right))
        strange = [chunk for chunk in here if not any(chunk & others for others in there)]
        if strange and any(not any(chunk & others for others in here) for chunk in there):
            return False
    return not any(
        frozenset({a, b}) in forms.OPPOSED and x & y - forms.PLATFORMS and not _both(left, right, a, b, x & y)
        for a, x in left
        for b, y in right
    )


def _has_exchanged(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether two things have changed their places with each other: valid in one, written in the other."""
    left, right = list(_anchored_chunks(one)), list(_anchored_chunks(other))
    for name, anchor, chunk in left:
        for other_name, other_anchor, same in right:
            if name == other_name and chunk & same and not anchor & other_anchor:
                elsewhere = [where for where, held, thing in left if held & other_anchor and not thing & chunk]
                if name in elsewhere:
                    return True
    return False


def _anchored_chunks(reading: QuestionReading) -> Iterator[tuple[str, Chunk, Chunk]]:
    """What stands behind "in" and its like, with the word before."""
    anchor: Chunk = frozenset()
    for place, item in enumerate(reading.items):
        if item.kind == "place" and anchor and (chunk := _following(reading.items, place + 1)):
            yield item.text, anchor, chunk
        if item.kind in ("word", "exact"):
            anchor = _chunk_of(item)


def _by(left: list[tuple[str, Chunk]], right: list[tuple[str, Chunk]], other: QuestionReading) -> bool:
    """Whether somebody by whom something is done stands elsewhere in the other question."""
    placed = [chunk for name, chunk in right if name in ("by", "with")]
    found = [chunk for name, chunk in left if name == "by" and not any(chunk & others for others in placed)]
    return any(chunk & _chunk_of(item) for chunk in found for item in other.items if item.kind in ("word", "exact"))


def _both(left: list[tuple[str, Chunk]], right: list[tuple[str, Chunk]], a: str, b: str, word: Chunk) -> bool:
    """Whether a thing stands in one of the two places in both questions."""
    return any(name == a and chunk & word for name, chunk in right) or any(
        name == b and chunk & word for name, chunk in left
    )


def _placed_chunks(reading: QuestionReading) -> Iterator[tuple[str, Chunk]]:
    items = reading.items
    for place, item in enumerate(items):
        if item.kind == "of":
            yield "of", frozenset({item.text, *_base_keys(item.text, items, place)})
            continue
        name = item.text if item.kind == "place" else forms.PLACING.get(item.text, "") if item.kind != "self" else ""
        chunk = _following(items, place + 1) if name else frozenset()
        if chunk:
            yield name, chunk


def _base_keys(text: str, items: Sequence[Item], place: int) -> Chunk:
    return items[place - 1].keys if place and items[place - 1].kind == "word" else frozenset({text})


def _following(items: Sequence[Item], place: int) -> Chunk:
    found: set[str] = set()
    for item in items[place:]:
        if item.kind not in ("word", "exact", "number"):
            break
        found |= _chunk_of(item)
    return frozenset(found)


def _chunk_of(item: Item) -> Chunk:
    return item.keys if item.kind == "word" else frozenset({f"!{item.text}"})


def _order(one: QuestionReading, other: QuestionReading) -> bool:
    """Nobody does to somebody in one question what is done to him in the other."""
    if one.object != other.object and _is_turned(one, other):
        return False
    if _passive(one, other) or _passive(other, one):
        return False
    left, right = _runs(one), _runs(other)
    if _says_what_is(one) and _says_what_is(other) and any(_neighbours_turned(a, b) for a in left for b in right):
        return False
    if any(_pivots(a, b) for a in left for b in right):
        return False
    mine, others = one.stood_for - other.stood_for, other.stood_for - one.stood_for
    if mine & other.said and others & one.said:
        return False  # "return it used", "return used it"
    if _left_alone(one, other) or _left_alone(other, one) or _nameless_turned(one, other):
        return False
    return in_step(one, other, _alike, free=_free)


def _left_alone(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether one question ends with what asks for another thing: "what is it", "what is it for". "Which year was it
    built in" does not, as long as nothing stands behind "in" in the other."""
    last = one.stranded
    if not last or last == other.stranded:
        return False
    return last in other.said or not (last == "in" or {"stand", "for"} <= one.said)


def _nameless_turned(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether "it", "he" and their like stand in another order."""
    return one.nameless != other.nameless and Counter(one.nameless) == Counter(other.nameless)


def _alike(one: Item, other: Item) -> bool:
    """Whether two items say the same where they stand."""
    if one.kind != "word" or other.kind != "word":
        return (one.kind, one.text) == (other.kind, other.text)
    keys, others = _keys(one), _keys(other)
    return bool(keys & others) or _is_swapped(min(keys, key=len), min(others, key=len))


def _is_turned(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether what stands last in the one question, its verb, stands first in the other."""
    asks, told = (one, other) if one.object else (other, one)
    last, first = _content(asks), _content(told)
    return len(last) > 1 and bool(first) and bool(last[-1].keys & first[0].keys)


def _passive(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether something is done to what does it itself in the other question."""
    if not one.suffer or one.suffer & other.suffer:
        return False
    pairs = [(a.keys, b.keys) for a, b in _neighbours(one) if b.keys & one.suffer]
    return any(a & c.keys and b & d.keys for a, b in pairs for c, d in _neighbours(other))


def _neighbours(reading: QuestionReading) -> list[tuple[Item, Item]]:
    words = reading.of_kind("word")
    return list(itertools.pairwise(words))


def _runs(reading: QuestionReading) -> list[list[Chunk]]:
    """Words that stand together without anything between that says how."""
    runs: list[list[Chunk]] = [[]]
    for item in reading.items:
        if item.kind in _ENTITIES:
            runs[-1].append(frozenset({item.text}) if item.kind == "self" else _chunk_of(item))
        elif item.kind != "not":
            runs.append([])
    return [run for run in runs if len(run) > 1]


def _pivots(one: Sequence[Chunk], other: Sequence[Chunk]) -> bool:
    """Whether what stands before and behind a word has changed places."""
    for at, word in enumerate(one[1:-1], 1):
        for place, same in enumerate(other[1:-1], 1):
            if word & same and _meet(one[:at], other[place + 1 :]) and _meet(one[at + 1 :], other[:place]):
                return True
    return False


def _says_what_is(reading: QuestionReading) -> bool:
    """Whether it is asked if something is something: "are all squares rectangles"."""
    plain = not any(item.text.startswith("~") or item.text == "need" for item in reading.items)
    return plain and "@polar" in reading.asks


def _neighbours_turned(one: Sequence[Chunk], other: Sequence[Chunk]) -> bool:
    """Whether two words that stand side by side stand there the other way round."""
    pairs = list(itertools.pairwise(other))
    return any(a & d and b & c and not a & b for a, b in itertools.pairwise(one) for c, d in pairs)


def _meet(some: Sequence[Chunk], others: Sequence[Chunk]) -> bool:
    return not frozenset().union(*some).isdisjoint(frozenset().union(*others))


def _numbers_agree(one: QuestionReading, other: QuestionReading) -> bool:
    """A number belongs to the same thing in both."""
    left, right = dict(_numbered_chunks(one)), dict(_numbered_chunks(other))
    return all(left[number] & right[number] for number in left.keys() & right.keys())


def _numbered_chunks(reading: QuestionReading) -> Iterator[tuple[str, Chunk]]:
    """For each number the word right behind it, where one is."""
    items = reading.items
    for item, behind in itertools.pairwise(items):
        if item.kind == "number" and behind.kind == "word":
            yield item.text, behind.keys


_CHECKS: Final[tuple[tuple[str, Callable[[QuestionReading, QuestionReading], bool]], ...]] = (
    ("empty", _something),
    ("literal", _exact),
    ("number", _numbers),
    ("negation", _denials),
    ("question", _asks),
    ("person", _persons),
    ("tense", _tenses),
    ("word", _words),
    ("amount", _numbers_agree),
    ("direction", _places),
    ("order", _order),
)
"""What must be alike, each with the name under which it is reported."""
