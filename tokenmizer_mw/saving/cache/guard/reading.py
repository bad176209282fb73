"""Analyses a question: what it asks, about what, and what must be equal in a matching question.

One linear pattern splits the text; words are reduced to base forms, and phrases to their meanings. Articles, polite
phrases and fillers are dropped. Everything else must be the same in both questions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import re2

from tokenmizer_mw.extract.languages import tongues_of

from . import forms, same
from .table import ANYWHERE, FIRST, POLITE, VOCABULARY, WISHES, Phrases, base, candidates

CHARACTERS_MAX: Final = 2_000
"""Longer questions are not compared: what matters in them is too easily overlooked."""


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 32 << 20
    return options


_PIECES: Final = re2.compile(
    r"(?P<code>```[^`]*```|`[^`]+`)"
    r"|(?P<quote>\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»)"
    r"|(?P<link>[A-Za-z][A-Za-z0-9+.-]*://[^\s)>\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<path>[~.]?(?:/[\w.~-]+)+/?|[\w.~-]+(?:/[\w.~-]+)+|[\w-]*[A-Za-z_][\w-]*(?:\.[A-Za-z0-9_]+)+|\.[A-Za-z]\w+)"
    r"|(?P<name>[A-Za-z]\w*(?:\+\+|#)|\w+_\w+|_\w+|--?[A-Za-z][\w-]*)"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<word>[\pL\pM]+(?:['’][\pL]+)*[\pL\pN]*)"
    r"|(?P<stop>[.,;:!?()…\"'’“”—–−-])"
    r"|(?P<sign>[^\s\w])",
    _options(),
)
_PRONOUNS: Final = frozenset({"it", "them", "him", "her"})
_NAMELESS: Final = {
    **{word: word for word in ("it", "he", "she", "they", "this", "that", "these", "those")},
    **{"him": "he", "her": "she", "them": "they"},
}
_BEHIND_NAMES: Final = frozenset({*forms.PLACING, "and", "or", "vs", "is"})
_SELVES: Final = {"i": "does", "we": "does", "me": "is done to", "us": "is done to"}
_THOUSANDS: Final = re2.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_KINDS: Final = {number: kind for kind, number in _PIECES.groupindex.items()}
_SIGNS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound-sterling", "°": "degree", "&": "and"}


@dataclass(frozen=True, slots=True)
class QuestionPiece:
    """A piece of a text: its ``kind`` (one of ``_PIECES``) and its text; words in lower case."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a question.

    ``kind``: "exact", "number", "word" (``keys``: the meanings it may have), "asks" (a question word), "place" (a place
    follows), "of" (the word before owns what follows), "self" (the speaker, or who is addressed), "verb" (a verb
    follows), "not" or "break".
    """

    kind: str
    text: str
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The analysed question, as far as questions are compared.

    - ``asks``: kinds of questions; ``persons``: possessives and other persons; ``begins``: the first word.
    - ``selves``: whether the speaker acts or is acted upon; ``suffer``: words in the passive voice.
    - ``object``: whether it asks whom or what somebody does something to.
    - ``said``: all words; ``stood_for``: the words right before pronouns; ``nameless``: the pronouns, in order.
    - ``stranded``: a final word that usually has something after it, "" if there is none.
    - ``english``: whether a word of it is known to be English.
    """

    items: tuple[Item, ...]
    asks: frozenset[str]
    tenses: frozenset[str]
    persons: frozenset[str]
    selves: frozenset[str]
    suffer: frozenset[str]
    object: bool
    begins: str
    said: frozenset[str]
    stood_for: frozenset[str]
    nameless: tuple[str, ...]
    stranded: str
    english: bool

    def of_kind(self, kind: str) -> list[Item]:
        """Return the items of one kind, in order."""
        return [item for item in self.items if item.kind == kind]


def read(text: str) -> QuestionReading | None:
    """Analyse the question in ``text``; return ``None`` if it cannot be compared (too long, or not recognised as
    English).

    Linear time.
    """
    if len(text) > CHARACTERS_MAX:
        return None
    pieces = list(_pieces(_with_quotes(text)))
    words = [piece.text for piece in pieces if piece.kind in ("word", "name")]
    if not _may_be_english(text, words):
        return None
    items = _trim_items(list(_items(pieces)))
    asks = frozenset(item.text for item in items if item.kind == "asks")
    return QuestionReading(
        tuple(item for item in items if item.kind != "asks"),
        asks - same.LOOSE or asks,
        frozenset(_tenses(words)),
        forms.PERSONS.intersection(words),
        frozenset(_SELVES[word] for word in words if word in _SELVES),
        frozenset(_suffering(words)),
        _asks_for_object(words),
        words[0] if words else "",
        frozenset(words),
        frozenset(before for before, word in itertools.pairwise(words) if word in _PRONOUNS),
        tuple(_NAMELESS[word] for word in words if word in _NAMELESS),
        words[-1] if words and words[-1] in forms.PLACING else "",
        not forms.ENGLISH.isdisjoint(words),
    )


def _with_quotes(text: str) -> str:
    """``text`` with single quotation marks as other ones: an apostrophe has a letter before it."""
    found, opened = list(text), -1
    for place, character in enumerate(text):
        if character != "'":
            continue
        if opened < 0 and not text[place - 1 : place].isalnum() and text[place + 1 : place + 2].strip():
            opened = place
        elif opened >= 0 and not text[place + 1 : place + 2].isalnum():
            found[opened], found[place], opened = "“", "”", -1
    return "".join(found)


def _may_be_english(text: str, words: Sequence[str]) -> bool:
    """Whether nothing in a text is of another language, as far as can be told."""
    if not text.isascii() and any(ord(character) > 0x24F and character.isalpha() for character in text):
        return False
    return forms.FOREIGN.isdisjoint(words) and not tongues_of(text)


def _pieces(text: str) -> Iterator[QuestionPiece]:
    shouted, titled = text.isupper(), text.istitle()
    for found in _PIECES.finditer(text):
        kind, piece, before = _KINDS[found.lastindex], found.group(), text[: found.start()]
        if kind == "word" and _looks_like_name(piece, before) and not titled:
            yield QuestionPiece("name", piece.casefold())
        elif piece == "A" and before.rstrip()[-1:].isalnum() and not (shouted or titled):
            yield QuestionPiece("exact", piece)
        elif kind == "word":
            yield from _words(piece, shouted)
        elif kind == "name" and piece.startswith("-") and before[-1:].isalnum():
            for part in piece.strip("-").split("-"):  # a hyphen, and no option of a command
                yield QuestionPiece("word", part.casefold())
        elif _calculates(piece, before, text[found.end() : found.end() + 1]):
            yield QuestionPiece("exact", piece)
        else:
            yield _exact(kind, piece)


def _calculates(piece: str, before: str, after: str) -> bool:
    """Whether a minus or a bracket stands at a number."""
    if piece in ("-", "−"):
        return after.isdigit() and not before[-1:].isalnum()
    return (piece == "(" and after.isdigit()) or (piece == ")" and before[-1:].isdigit())


def _exact(kind: str, piece: str) -> QuestionPiece:
    """A piece that stays as it is, as far as its kind does."""
    match kind:
        case "code":
            return QuestionPiece("exact", piece.strip("`").strip())
        case "quote":
            return QuestionPiece("exact", piece[1:-1].strip())
        case "link" | "path" | "name":
            return (
                QuestionPiece("word", piece.casefold()) if _plain(piece) else QuestionPiece("exact", piece.rstrip("."))
            )
        case "sign":
            return QuestionPiece("word", _SIGNS[piece]) if piece in _SIGNS else QuestionPiece("exact", piece)
        case "number":
            return QuestionPiece("number", piece.replace(",", "") if _THOUSANDS.fullmatch(piece) else piece)
    return QuestionPiece(kind, piece)


def _looks_like_name(piece: str, before: str) -> bool:
    """Whether a word with a capital is a name: no sentence begins with it, and no table knows it."""
    if not (before and piece[0].isupper() and piece[1:].islower() and piece.isalpha()):
        return False
    word = piece.casefold()
    begins = before.rstrip(" \t\"'([“„«-")[-1:] in ("", ".", "!", "?", ":", "\n")
    known = base(word) in VOCABULARY or word in forms.CONNECTING or word in forms.NUMBERS
    return not (begins or known)


def _plain(piece: str) -> bool:
    """Whether what looks like a file is a framework spelled with a dot."""
    return piece.casefold().rstrip(".") in ("node.js", "react.js", "vue.js", "next.js")


def _words(piece: str, shouted: bool) -> Iterator[QuestionPiece]:
    word = piece.replace("’", "'")
    if word.isupper() and 1 < len(word) < 6 and not shouted and word.casefold() in forms.CONNECTING:
        yield QuestionPiece("exact", word)  # an abbreviation that looks like a word: US, IT, WHO
        return
    word = word.casefold()
    if word in forms.CONTRACTIONS:
        for part in forms.CONTRACTIONS[word]:
            yield QuestionPiece("word", part)
        return
    for ending, parts in forms.ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            yield QuestionPiece("word", word[: -len(ending)])
            for part in parts:
                yield QuestionPiece("word", part)
            return
    head, mark, tail = word.partition("'")
    if mark and tail in ("s", ""):
        yield QuestionPiece("word", head)
        yield QuestionPiece("word", "is") if head in forms.OPENERS else QuestionPiece("owner", head)
    elif word in forms.NUMBERS:
        yield QuestionPiece("number", forms.NUMBERS[word])
    else:
        yield QuestionPiece("word", word)


def _items(pieces: Sequence[QuestionPiece]) -> Iterator[Item]:
    """What the pieces say, phrases as what they mean."""
    run: list[str] = []
    names: set[str] = set()
    opening = begins = True
    for piece in [*pieces, QuestionPiece("stop", "")]:
        if piece.kind in ("word", "name"):
            run.append(piece.text)
            names.update([piece.text] if piece.kind == "name" else ())
            continue
        if run:
            found = [] if _only_manners(run) else list(_read_words(run, opening, begins))
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


def _only_manners(words: Sequence[str]) -> bool:
    """Whether a run of words asks for nothing."""
    bases = tuple(map(base, words))
    return POLITE.meanings.get(bases) is not None


def _read_words(words: list[str], opening: bool, begins: bool) -> Iterator[Item]:
    """What a run of words says; ``opening``: nothing of weight stands before it; ``begins``: a part of a sentence does
    with it."""
    words = _without_thanks(words)
    bases = [base(word) for word in words]
    place = 0
    while place < len(bases):
        found, size = _phrase(words, bases, place, opening)
        if found is None:
            item = _item(words, place)
            found, size = ([item] if item is not None else []), 1
        yield from found
        if place == 0 and begins and _decides(words, bases) and not any(item.kind == "asks" for item in found):
            yield Item("asks", "@polar")
        opening = opening and not any(map(_weighs, found))
        place += size


def _weighs(item: Item) -> bool:
    """Whether what follows is no opening any more."""
    return item.kind in ("word", "number", "exact", "not") or (item.kind == "asks" and item.text not in same.LOOSE)


def _without_thanks(words: list[str]) -> list[str]:
    """Without "please" at the end, unless that may be what is asked about."""
    polite = words[-1] in ("please", "thanks") and len(words) > 2 and "say" not in words and "write" not in words
    return words[:-1] if polite else words


def _decides(words: Sequence[str], bases: Sequence[str]) -> bool:
    """Whether the words begin like a question for a yes or a no."""
    return words[0] in forms.QUESTION_VERBS and not _polite_request(bases, 0)


def _phrase(words: Sequence[str], bases: list[str], place: int, opening: bool) -> tuple[list[Item] | None, int]:
    """What the phrase at ``place`` says, and its words; ``None``: no table has one."""
    if opening and _polite_request(bases, place):
        return [], 2
    tables: tuple[Phrases, ...] = (POLITE, FIRST, ANYWHERE) if opening else (ANYWHERE,)
    if opening and not any(word in forms.QUESTION_VERBS for word in words[:place]):
        tables = (WISHES, *tables)
    found = [
        (meaning, size, table) for table in tables for meaning, size in [table.at(bases, place) or ((), 0)] if size
    ]
    if not found:
        return ([], 1) if words[place] in same.FILLERS else (None, 1)
    meaning, size, table = max(found, key=lambda one: one[1])
    if table is WISHES and _next(bases, place + size) in same.WRITTEN:
        return [], size
    if size == 1 and words[place] in forms.CONNECTING and not (opening or place == 0):
        return None, 1
    if meaning == ("@when",) and place and size <= 2 and bases[place] in ("when", "whenever", "every", "each"):
        return [Item("break", "when")], size  # "it crashes when I save" does not ask when
    return [_make_item(one, words[place]) for one in meaning], size


def _polite_request(bases: Sequence[str], place: int) -> bool:
    """Whether "can you" stands before what somebody is told to do."""
    if bases[place] not in ("can", "could", "would", "will") or _next(bases, place + 1) != "you":
        return False
    after = _next(bases, place + 2)
    return after in same.ORDERS or after in same.FILLERS


def _next(bases: Sequence[str], place: int) -> str:
    return bases[place] if place < len(bases) else ""


def _make_item(name: str, word: str) -> Item:
    if name.startswith("@"):
        return Item("asks", name)
    place = forms.PLACING.get(name)
    if name == "using" and place is not None:
        return Item("place", place)
    return Item("word", name, frozenset({name}))


def _item(words: list[str], place: int) -> Item | None:
    """What a word says by itself; ``None``: nothing."""
    word = words[place]
    if word in forms.DENIALS:
        return Item("not", word)
    if word == "a" and place + 1 < len(words) and words[place + 1] in _BEHIND_NAMES:
        return Item("exact", word)  # a name: no article stands there
    if word in ("i", "me", "we", "us", "you"):
        return Item("self", "you" if word == "you" else "self")
    if word == "to" and place and words[place - 1] in forms.TAKES_VERB:
        return Item("verb", "to")
    if word in forms.CONNECTING and not (word == "will" and words[place - 1 : place] in (["a"], ["my"], ["the"])):
        return Item("place", forms.PLACING[word]) if word in forms.PLACING else _break(word)
    known = forms.IRREGULAR.get(word)
    return Item("word", word, frozenset({known} if known is not None else candidates(word)))


def _break(word: str) -> Item | None:
    return Item("break", word) if word in forms.BREAKS else None


def _trim_items(items: list[Item]) -> list[Item]:
    """Without what stands at the end for nothing: "mean" behind "what does it", and "1" before a unit."""
    while items and items[-1].kind in ("break", "place"):
        items.pop()
    if len(items) > 2 and items[-1].text == "mean":
        items.pop()
    behind = [*items[1:], None]
    return [item for item, after in zip(items, behind, strict=False) if not _one_of(item, after)]


def _one_of(item: Item, behind: Item | None) -> bool:
    return item.kind == "number" and item.text == "1" and behind is not None and behind.text in forms.UNITS


def _tenses(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word in forms.PAST:
            yield "past"
        elif word in forms.PRESENT:
            yield "present"
        elif word in forms.FUTURE:
            yield "future"


def _suffering(words: Sequence[str]) -> Iterator[str]:
    """Words in the passive voice: behind a form of "be" with at most one word between."""
    for place, word in enumerate(words):
        known = forms.IRREGULAR.get(word)
        done = word.endswith("ed") if known is None else word != known and not word.endswith(("ing", "s"))
        if done and not forms.BEING.isdisjoint(words[max(0, place - 2) : place]):
            yield from [known] if known is not None else candidates(word)


def _asks_for_object(words: Sequence[str]) -> bool:
    """Whether "who" or "what" stands before "do" and somebody who is not a person of the talk."""
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        if first in ("who", "whom", "what", "which") and second in ("do", "does", "did"):
            return third not in ("i", "you", "we", "it", "they", "he", "she", "one", "this", "that")
    return False
