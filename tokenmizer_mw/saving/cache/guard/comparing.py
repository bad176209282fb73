"""Compares two questions and returns the first difference; their content words are matched with each other first.

Words may stand in another order if a phrase with a preposition has moved ("in Berlin"), if two things are joined by
"and", or if a verb is in the passive voice. Any other change of order counts as a difference, even between questions
that mean the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from . import forms
from .phrases import LOOSE, OPTIONAL, VERBS
from .reading import Item, QuestionReading, read

TERMS: Final = frozenset({"word", "exact", "number"})
"""Kinds of items (``Item.kind``) that are content."""

Keys = frozenset[str]
"""The possible meanings of a word."""

_MOVABLE: Final = frozenset({"", "topic", "in", "on", "at", "during"})
"""Roles (``Term.role``) of phrases that may stand anywhere in a question."""

_LOOSE_ROLES: Final = frozenset({"of", "topic"})
_JOINING: Final = frozenset({"and", "or", "vs", "versus"})
_NOMINAL: Final = ("al", "ation", "ment", "ing")


@dataclass(frozen=True, slots=True)
class Term:
    """A content word of a question.

    - ``keys``: its possible meanings; ``text``: its base form or the name of its meaning; ``place``: its number among
      the terms of the question, from 0.
    - ``role``: the preposition before its phrase, "topic" before a colon, "" if neither.
    - ``passive``: whether it is a verb in the passive voice; ``predicate``: whether it follows a form of "be".
    - ``joined``: whether "and", "or" or "vs" stands before it.
    """

    keys: Keys
    text: str
    place: int
    role: str
    passive: bool
    predicate: bool
    joined: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """Result of ``align``: the matched terms of two questions (``pairs``), the terms of the first one without a match
    (``missing``), and those of the second one without (``extra``)."""

    pairs: tuple[tuple[Term, Term], ...]
    missing: tuple[Term, ...]
    extra: tuple[Term, ...]


def keys_of(item: Item) -> Keys:
    """Return the keys by which an item of a question is compared: two items match if they share one.

    A word has its meanings as keys. A literal or a number has one key: its text with "!" in front, with which no key of
    a word begins.
    """
    return item.keys if item.kind == "word" else frozenset({f"!{item.text}"})


def align(one: QuestionReading, other: QuestionReading) -> Alignment:
    """Match each term of ``one`` with a term of ``other`` that shares a meaning, if possible one in the same role."""
    pairs: list[tuple[Term, Term]] = []
    missing: list[Term] = []
    free = list(_terms(other))
    for term in _terms(one):
        same = [candidate for candidate in free if candidate.keys & term.keys]
        if same:
            best = next((candidate for candidate in same if candidate.role == term.role), same[0])
            free.remove(best)
            pairs.append((term, best))
        else:
            missing.append(term)
    return Alignment(tuple(pairs), tuple(missing), tuple(free))


def _terms(reading: QuestionReading) -> Iterator[Term]:
    role, joined, place = "", False, 0
    compared = False
    items = reading.items
    for at, item in enumerate(items):
        if item.kind not in TERMS or item.text.startswith("~"):
            role = item.text if item.kind == "place" else role if item.kind == "of" else ""
            joined = item.kind == "break" and item.text in _JOINING
            continue
        if item.text == "difference" and compared:
            continue  # "a vs b, what is the difference"
        compared = compared or item.text == "difference"
        keys = keys_of(item)
        owns = at + 1 < len(items) and items[at + 1].kind == "of"
        held = "topic" if at < reading.topic else "of" if owns else role
        yield Term(keys, item.text, place, held, bool(keys & reading.passives), bool(keys & reading.predicates), joined)
        role, joined, place = forms.PLACING.get(item.text, role), False, place + 1


def has_same_direction(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Return whether the prepositions agree: no term has an opposed one ("from" and "to"), no two terms have exchanged
    theirs, and the same prepositions stand before "I" and "you" and at the end."""
    changed = {(a.role, b.role) for a, b in aligned.pairs if a.role != b.role}
    if any(frozenset(pair) in forms.OPPOSED for pair in changed) or _has_exchange(changed):
        return False
    mine, others = _self_roles(one), _self_roles(other)
    if (mine and others and mine.isdisjoint(others)) or any(not (mine ^ others).isdisjoint(pair) for pair in changed):
        return False
    return not (_is_stranded(one, other) or _is_stranded(other, one))


def _has_exchange(changed: set[tuple[str, str]]) -> bool:
    """Whether two terms have exchanged their prepositions: "foo to bar" and "bar to foo"."""
    if any((b, a) in changed for a, b in changed):
        return True
    gained, lost = ({pair[at] for pair in changed if not pair[1 - at]} - _LOOSE_ROLES for at in (1, 0))
    return bool(gained and lost)


def _self_roles(reading: QuestionReading) -> set[str]:
    """Return the prepositions that stand directly before "I", "me" or "you" in a question."""
    pairs = itertools.pairwise(reading.items)
    return {before.text for before, item in pairs if item.kind == "self" and before.kind == "place"}


def _is_stranded(one: QuestionReading, other: QuestionReading) -> bool:
    """Whether ``one`` ends with a preposition that makes it another question: "what is it" and "what is it for".

    "Which year was it built in" may lose its "in", as long as the other question has none.
    """
    last = one.stranded
    if not last or last == other.stranded:
        return False
    return last in other.all_words or not (last == "in" or {"stand", "for"} <= one.all_words)


def has_same_order(aligned: Alignment) -> bool:
    """Return whether the matched terms stand in the same order in both questions, except for terms that may move (such
    as those joined by "and"). False as well if a subject in one question is the object in the other, as in
    "do sharks eat" and "are sharks eaten"."""
    ordered = [pair for pair in aligned.pairs if pair[0].text != "difference"]
    for (a, x), (b, y) in itertools.combinations(ordered, 2):
        if (a.place < b.place) != (x.place < y.place):
            if not _may_move(a, x, b, y):
                return False
        elif _changes_voice(a, x, b, y):
            return False
    return True


def _may_move(a: Term, x: Term, b: Term, y: Term) -> bool:
    """Whether the terms ``a`` and ``b`` of one question may stand in the other order in the second one, where they are
    ``x`` and ``y``."""
    near = abs(a.place - b.place) == abs(x.place - y.place) == 1
    if a.role != b.role or x.role != y.role:
        roles = {a.role, b.role, x.role, y.role}
        return not roles.isdisjoint(_MOVABLE) or {a.role, b.role} == {"from", "to"} or (near and "of" in roles)
    if near and (a.joined or b.joined) and (x.joined or y.joined):
        return True
    return bool(a.keys & b.keys) or _is_restated(a, x) or _is_restated(b, y)


def _is_restated(one: Term, other: Term) -> bool:
    """Whether a term may have another place in the second question because it has another form there (a verb in the
    passive voice or as a noun, an adjective behind "be"), or because it may stand anywhere ("automatically")."""
    nominal = one.text != other.text and one.text.endswith(_NOMINAL) != other.text.endswith(_NOMINAL)
    moved = one.passive != other.passive or one.predicate != other.predicate
    free = one.text in forms.SUPERLATIVES or one.text in forms.ADVERBS or one.text.endswith("ly")
    free = free and one.text not in forms.UNCHANGED
    return nominal or moved or free


def _changes_voice(a: Term, x: Term, b: Term, y: Term) -> bool:
    """Whether a noun is the subject of an action in one question and its object in the other: "do sharks eat",
    "are sharks eaten"."""
    if not abs(a.place - b.place) == abs(x.place - y.place) == 1:
        return False
    (first, _), (second, later) = sorted(((a, x), (b, y)), key=lambda pair: pair[0].place)
    agent = second.role != later.role and {second.role, later.role} == {"", "by"}
    return agent or (second.passive != later.passive and not first.passive)


_MODALS: Final = {"~can": "~can", "~allowed": "~can", "~should": "~should"}
_PEOPLE: Final = frozenset({"he", "she"})
_WHOSE: Final = frozenset({"my", "mine", "your", "yours"})

Check = Callable[[QuestionReading, QuestionReading, Alignment], bool]
"""A check that returns whether two questions, whose terms are matched, agree in one respect."""


def differs(first: str, second: str) -> str:
    """Compare two questions that users asked. Return "" if the response to one may be given to the other, else the name
    of the first difference: "negation", "question", "modal", "person", "tense", "word", "direction", "order" or
    "empty" (no content words in common), or "language" if one of the questions cannot be compared.

    Symmetric. Pairs of words are compared, so questions of more than ``CHARACTERS_MAX`` characters are never compared.
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


def _has_same_denials(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether both questions have as many denials ("not", "never"), and each denies the same words."""
    left, right = list(_denied_words(one)), list(_denied_words(other))
    if left and ("must" in one.all_words) != ("must" in other.all_words):
        return False  # who must not is forbidden to, who need not is free to
    return len(left) == len(right) and all(_covers(a, b) or _covers(b, a) for a, b in zip(left, right, strict=True))


def _denied_words(reading: QuestionReading) -> Iterator[list[Keys]]:
    """Yield, for each denial ("not", "never"), the words that it applies to: those after it up to a stop, a word such
    as "but", or the next denial."""
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
    """Whether each of ``some`` words shares a meaning with one of ``others``. An empty list is covered by an empty one
    only."""
    return bool(some) >= bool(others) and all(any(a & b for b in others) for a in some)


def _is_same_question(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether both questions want the same kind of answer, such as a time ("when") or a place ("where"). The loose
    kinds "@what", "@explain" and "@list" count as the same, except that a list is not an explanation."""
    left, right = _kinds(one), _kinds(other)
    if left <= LOOSE and right <= LOOSE:
        return not ({"@list", "@explain"} <= left | right)
    return left == right


def _kinds(reading: QuestionReading) -> frozenset[str]:
    """The kinds of answers that are wanted. "How do they differ" is the same as "what is the difference"."""
    asks = reading.asks - {"@polar"} or reading.asks
    return asks - {"@how"} - LOOSE if any(item.text == "difference" for item in reading.items) else asks


def _has_same_modals(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether both questions ask for what is possible, allowed or advisable, if one of them does."""
    left, right = ({_MODALS.get(item.text, "") for item in side.items} - {""} for side in (one, other))
    asks = one.asks | other.asks
    if left == right or "@how" in asks or "@where" in asks:
        return True
    if (left and right) or "@polar" in asks:
        return False
    return "@what" not in asks or any(item.text == "need" for item in (other if left else one).items)


def _has_same_persons(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether both questions are about the same persons, and whether "I" and "you" do the same in both."""
    if {"my", "your"} <= one.all_words | other.all_words and one.all_words & _WHOSE != other.all_words & _WHOSE:
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


def _has_same_tense(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether the tenses of both questions agree: both are about the future or neither is, and both are about the past
    or neither is. A question that shows no tense agrees with any but the future."""
    if ("future" in one.tenses) != ("future" in other.tenses):
        return False
    return not (one.tenses and other.tenses) or ("past" in one.tenses) == ("past" in other.tenses)


def _has_same_words(one: QuestionReading, other: QuestionReading, aligned: Alignment) -> bool:
    """Whether each word of one question has a counterpart in the other; words of little weight (``OPTIONAL``) may be
    missing."""
    if aligned.missing and aligned.extra:
        return False
    verbs = VERBS if one.asks | other.asks else frozenset[str]()
    return all(
        not OPTIONAL.isdisjoint(term.keys) and (term.place or term.keys.isdisjoint(verbs))
        for term in (*aligned.missing, *aligned.extra)
    )


CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("negation", _has_same_denials),
    ("question", _is_same_question),
    ("modal", _has_same_modals),
    ("person", _has_same_persons),
    ("tense", _has_same_tense),
    ("word", _has_same_words),
    ("direction", has_same_direction),
    ("order", lambda one, other, aligned: has_same_order(aligned)),
    ("empty", _has_content),
)
"""The checks in their order, each with the name under which a difference is reported."""
