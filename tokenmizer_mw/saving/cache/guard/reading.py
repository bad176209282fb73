"""Analyses a question: what it asks, about what, and what must be equal in a matching question.

One linear pattern splits the text; words are reduced to base forms, and phrases to their meanings. Articles, polite
phrases and filler words are dropped. Everything else must be the same in both questions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from . import forms, phrases
from .words import ANYWHERE, FIRST, POLITE, WISHES, Phrases, QuestionPiece, base, candidates, meanings, split

CHARACTERS_MAX: Final = 2_000
"""Questions with more characters are not compared: in a long one an important word is too easily overlooked."""


_NAMELESS: Final = {
    **{word: word for word in ("it", "he", "she", "they", "this", "that", "these", "those")},
    **{"him": "he", "his": "he", "her": "she", "hers": "she", "them": "they"},
}
_LATIN_END: Final = 0x24F
_SHORT: Final = 3
_SELVES: Final = {"i": "i", "we": "i", "me": "me", "us": "me", "you": "you"}


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a question, after phrases were replaced by their meanings.

    ``kind``: "word" (a content word; ``keys``: its possible meanings), "number", "exact" (a literal or name), "asks" (a
    kind of question), "place" (a preposition), "of" (before it stands the owner of what follows), "self" ("I", "me" or
    "you"), "not" (a denial) or "break" (a stop, or a word such as "but").
    """

    kind: str
    text: str
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """What was found in a question, for comparing it with another one.

    - ``items``: its elements (words, numbers, names, prepositions, denials), in order, without those listed in
      ``asks``; ``topic``: how many of them stand before a colon ("docker: how do I").
    - ``asks``: kinds of questions ("@how"); ``tenses``: "past", "present" and "future", as far as a verb shows it.
    - ``selves``: the words "i", "me" and "you" in it, in order; ``nameless``: its pronouns of the third person and
      "this", in order.
    - ``passives``: meanings of the verbs in the passive voice; ``predicates``: meanings of the words after a form of
      "be".
    - ``all_words``: all words; ``stranded``: a preposition without its noun ("for" in "who is it for"), "" for none.
    - ``english``: whether it contains a common English word.
    """

    items: tuple[Item, ...]
    topic: int
    asks: frozenset[str]
    tenses: frozenset[str]
    selves: tuple[str, ...]
    passives: frozenset[str]
    predicates: frozenset[str]
    all_words: frozenset[str]
    nameless: tuple[str, ...]
    stranded: str
    english: bool


def read(text: str) -> QuestionReading | None:
    """Analyse the question in ``text``; return ``None`` if it cannot be compared: if it is longer than
    ``CHARACTERS_MAX``, or has letters that are not Latin. ``QuestionReading.english`` says whether it is recognised as
    English.

    Linear time.
    """
    if len(text) > CHARACTERS_MAX or any(ord(one) > _LATIN_END and one.isalpha() for one in text):
        return None
    pieces = list(split(text))
    words = [piece.text for piece in pieces if piece.kind in ("word", "name")]
    items = _question_first(_trim_items(list(_items(pieces))), words)
    asks = frozenset(item.text for item in items if item.kind == "asks")
    following = itertools.chain(items[1:], (Item("break", ""),))
    pairs = zip(items, following, strict=False)
    tokens = [one for one, behind in pairs if one.kind != "asks" and not _is_asked_about(one, behind)]
    return QuestionReading(
        tuple(tokens),
        _topic(tokens),
        asks - phrases.LOOSE or asks,
        frozenset(_tenses(words)),
        _selves(items, asks),
        frozenset(_passives(words)),
        frozenset(_predicates(words)),
        frozenset(words),
        tuple(_NAMELESS[word] for word in words if word in _NAMELESS),
        _find_stranded(pieces, items),
        not forms.ENGLISH.isdisjoint(words),
    )


def _topic(items: Sequence[Item]) -> int:
    """Return the number of items before the first stop if that is a colon, as in "docker: how do I"; else 0."""
    place = next((at for at, item in enumerate(items) if item.kind == "break"), 0)
    return place if place and items[place].text == ":" else 0


def _question_first(items: list[Item], words: Sequence[str]) -> list[Item]:
    """Move the question to the front if it ends with "it" and a statement before it says what "it" is:
    "my wifi is slow, how do I fix it"."""
    pairs = enumerate(itertools.pairwise(items))
    place = next((at for at, (one, behind) in pairs if one.kind == "break" and behind.kind == "asks"), 0)
    behind = [item for item in items[place + 1 :] if item.kind == "word"]
    if not place or len(behind) > _SHORT or words[-1] not in ("it", "them", "that", "this"):
        return items
    return [*items[place + 1 :], Item("break", ""), *items[:place]]


def _selves(items: Sequence[Item], asks: frozenset[str]) -> tuple[str, ...]:
    """The "I", "me" and "you" of a question, in order, without those of "how can I"."""
    pairs = itertools.pairwise([Item("break", ""), *items])
    opening = () if "@polar" in asks else ("@", "~")
    return tuple(item.text for before, item in pairs if item.kind == "self" and not before.text.startswith(opening))


def _find_stranded(pieces: Sequence[QuestionPiece], items: Sequence[Item]) -> str:
    """The preposition at the end or before a question word ("who is it for", "for whom is it"); "" if there is none."""
    last = next((piece for piece in reversed(pieces) if piece.kind != "stop"), None)
    if last is not None and last.kind == "word" and last.text in forms.PLACING:
        return last.text
    return next((one.text for one, behind in itertools.pairwise(items) if _is_asked_about(one, behind)), "")


def _is_asked_about(item: Item, behind: Item) -> bool:
    return item.kind == "place" and behind.kind == "asks" and behind.text != "@how"


def _items(pieces: Sequence[QuestionPiece]) -> Iterator[Item]:
    """Yield the items of a question for its ``pieces``, in order. Phrases are replaced by their meanings; polite
    phrases and articles are dropped."""
    run: list[str] = []
    names: set[str] = set()
    opening = begins = True
    for piece in [*pieces, QuestionPiece("stop", "")]:
        if piece.kind in ("word", "name"):
            run.append(piece.text)
            names.update([piece.text] if piece.kind == "name" else ())
            continue
        if run:
            found = list(_read_words(run, opening, begins))
            opening = opening and not found
            yield from (replace(item, keys=frozenset({item.text})) if item.text in names else item for item in found)
            run = []
        begins = piece.kind == "stop"
        if piece.kind in ("exact", "number"):
            opening = False
            yield Item(piece.kind, piece.text)
        elif piece.kind == "owner":
            yield Item("of", piece.text)
        elif piece.text not in ("-", "'", "’"):
            yield Item("break", piece.text)


def _read_words(words: list[str], opening: bool, begins: bool) -> Iterator[Item]:
    """Yield the items for consecutive words. ``opening``: no content stands before them in the question; ``begins``:
    they begin a sentence or a part of one."""
    bases = [base(word) for word in words]
    place = 0
    while place < len(bases):
        found, size = _phrase(words, bases, place, opening)
        if found is None:
            item = _item(words, place)
            found, size = ([item] if item is not None else []), 1
        yield from found
        if place == 0 and begins and _is_decisive(words, bases) and not any(item.kind == "asks" for item in found):
            yield Item("asks", "@polar")
        opening = opening and not any(map(_weighs, found))
        place += size


def _weighs(item: Item) -> bool:
    """Whether ``item`` ends the opening of a question, in which polite phrases and wishes ("I want to") are looked for:
    a content word, a number, a denial, or a question word that is not just "what"."""
    return item.kind in ("word", "number", "exact", "not") or (item.kind == "asks" and item.text not in phrases.LOOSE)


def _is_decisive(words: Sequence[str], bases: Sequence[str]) -> bool:
    """Whether the words begin with a verb such as "is" or "can", as a question does that asks for yes or no; false for
    a polite request such as "can you list"."""
    return words[0] in forms.QUESTION_VERBS and not _is_polite_request(bases, 0)


def _phrase(words: Sequence[str], bases: list[str], place: int, opening: bool) -> tuple[list[Item] | None, int]:
    """Return the items for the phrase at ``place`` and the number of its words; ``None`` instead of items if no phrase
    starts there."""
    if opening and _is_polite_request(bases, place):
        return [], 2
    tables: tuple[Phrases, ...] = (POLITE, FIRST, ANYWHERE) if opening else (ANYWHERE,)
    if opening and not any(word in forms.QUESTION_VERBS for word in words[:place]):
        tables = (WISHES, *tables)
    found = [
        (meaning, size, table) for table in tables for meaning, size in [table.at(bases, place) or ((), 0)] if size
    ]
    if not found:
        return ([], 1) if words[place] in phrases.FILLERS else (None, 1)
    meaning, size, table = max(found, key=lambda one: one[1])
    if table is WISHES and _next(bases, place + size) in phrases.WRITTEN:
        return [], size
    if size == 1 and words[place] in forms.CONNECTING and not (opening or place == 0):
        return None, 1
    if meaning == ("@when",) and place and size <= 2 and bases[place] in ("when", "whenever", "every", "each"):
        return [Item("break", "when")], size  # "it crashes when I save" does not ask when
    return [_make_item(one) for one in meaning], size


def _is_polite_request(bases: Sequence[str], place: int) -> bool:
    """Whether "can you" at ``place`` is followed by an order ("list"), so that it is only polite."""
    if bases[place] not in ("can", "could", "would", "will") or _next(bases, place + 1) != "you":
        return False
    after = _next(bases, place + 2)
    return after in phrases.ORDERS or after in phrases.FILLERS


def _next(bases: Sequence[str], place: int) -> str:
    return bases[place] if place < len(bases) else ""


def _make_item(name: str) -> Item:
    if name.startswith("@"):
        return Item("asks", name)
    if name in forms.DENIALS:
        return Item("not", name)
    place = forms.PLACING.get(name)
    if name == "using" and place is not None:
        return Item("place", place)
    return Item("word", name, frozenset({name}))


def _item(words: list[str], place: int) -> Item | None:
    """Return the item for the word at index ``place`` of ``words``, which is in no known phrase; ``None`` if it is
    dropped, as articles are."""
    word = words[place]
    if word in forms.DENIALS:
        return Item("not", word)
    if word == "a" and place + 1 < len(words) and words[place + 1] in forms.PLACING:
        return Item("exact", word)  # a name: no article stands there
    if word in ("i", "me", "we", "us", "you"):
        return Item("self", _SELVES[word])
    if word in forms.CONNECTING and not (word == "will" and words[place - 1 : place] in (["a"], ["my"], ["the"])):
        return Item("place", forms.PLACING[word]) if word in forms.PLACING else _break(word)
    known = forms.IRREGULAR.get(word)
    return Item("word", word, frozenset({known} if known is not None else candidates(word)))


def _break(word: str) -> Item | None:
    return Item("break", word) if word in forms.BREAKS else None


def _trim_items(items: list[Item]) -> list[Item]:
    """Remove, in place, the items at the end of a question that say nothing: stops, prepositions, and then "mean" (as
    in "what does X mean") if other items are left. Returns the same list."""
    while items and items[-1].kind in ("break", "place"):
        items.pop()
    if len(items) > 2 and items[-1].text == "mean":
        items.pop()
    return items


def _tenses(words: Sequence[str]) -> Iterator[str]:
    """Yield "past", "present" or "future" for each verb form that shows a tense, such as "was", "does" and "will"; not
    for the "was" of "I was wondering"."""
    for word, behind in itertools.pairwise([*words, ""]):
        if word in forms.PAST and behind != "wondering":
            yield "past"
        elif word in forms.PRESENT:
            yield "present"
        elif word in forms.FUTURE:
            yield "future"


def _passives(words: Sequence[str]) -> Iterator[str]:
    """Yield the meanings of verbs in the passive voice: participles behind a form of "be", with at most three words
    between."""
    for place, word in enumerate(words):
        known = forms.IRREGULAR.get(word)
        done = word.endswith("ed") if known is None else word != known and not word.endswith(("ing", "s"))
        behind = words[place - 1 : place] in (["be"], ["been"], ["being"]) and not word.endswith("ing")
        if behind or (done and not forms.BEING.isdisjoint(words[max(0, place - 4) : place])):
            yield from meanings(word)


def _predicates(words: Sequence[str]) -> Iterator[str]:
    """Yield the meanings of words right behind a form of "be" that does not begin the question."""
    for be, word in itertools.pairwise(words[1:]):
        if be in forms.BEING:
            yield from meanings(word)
