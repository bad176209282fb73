"""Splits a question into words, numbers and literals (code, quotes, paths), and finds the base forms and meanings of
words.

One linear pattern splits; contractions become the words that they stand for.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import re2

from tokenmizer_mw.runtime.lazy import re2_options

from . import forms
from .forms import IRREGULAR, UNCHANGED
from .phrases import KNOWN, MANNERS, MEANINGS, QUESTIONS, STARTS, WANTS

Phrase = tuple[str, ...]


class Phrases(NamedTuple):
    """The meanings of phrases, by the base forms of their words; ``longest``: number of words of the longest phrase."""

    meanings: Mapping[Phrase, Phrase]
    longest: int

    def at(self, bases: Sequence[str], place: int) -> tuple[Phrase, int] | None:
        """Return the meaning of the longest phrase that starts at index ``place`` of ``bases``, and the number of its
        words; ``None`` if no phrase starts there."""
        for size in range(min(self.longest, len(bases) - place), 0, -1):
            found = self.meanings.get(tuple(bases[place : place + size]))
            if found is not None:
                return found, size
        return None


def _rows(table: str) -> Iterator[tuple[str, Phrase]]:
    for row in " ".join(table.split()).split(";"):
        name, _, forms = row.partition(": ")
        for form in forms.split(" | "):
            parts = [part.split("/") for part in re.split(r"[()]", form)]
            yield from ((name.strip(), tuple(" ".join(one).split())) for one in itertools.product(*parts))


def _phrases(*tables: str) -> Phrases:
    found: dict[Phrase, Phrase] = {}
    for table in tables:
        for name, form in _rows(table):
            bases = tuple(IRREGULAR.get(word, word) for word in form)
            found.setdefault(bases, () if name == "=" else tuple(name.split()))
    return Phrases(found, max(map(len, found)))


ANYWHERE: Final = _phrases(QUESTIONS, MEANINGS)
FIRST: Final = _phrases(STARTS)
WISHES: Final = _phrases(WANTS)
POLITE: Final = _phrases(MANNERS)

VOCABULARY: Final = frozenset(
    word for table in (ANYWHERE, FIRST, WISHES, POLITE) for phrase in table.meanings for word in phrase
).union(KNOWN)
"""All words (base forms) that occur in the tables of phrases or in ``KNOWN``."""


_SUFFIXES: Final = (
    ("ies", ("y", "ie")),
    ("ied", ("y",)),
    ("sses", ("ss",)),
    ("xes", ("x",)),
    ("ches", ("ch",)),
    ("shes", ("sh",)),
    ("zes", ("z", "ze")),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
    ("s", ("",)),
    ("ation", ("", "e")),
    ("ment", ("",)),
    ("ly", ("",)),
    ("al", ("",)),
)


def candidates(word: str) -> tuple[str, ...]:
    """Return a word and its possible base forms, the word itself first: "making" gives "making", "mak" and "make"."""
    if len(word) < 4 or word in UNCHANGED or word.endswith(("ss", "us", "is")):
        return (word,)
    for suffix, endings in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 2:
            stem = word[: -len(suffix)]
            found = [stem + ending for ending in endings if len(stem + ending) > 2]
            if suffix in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2]:
                found.insert(0, stem[:-1])
            return (word, *found)
    return (word,)


def base(word: str) -> str:
    """Return the base form of a word ("went": "go"), or the word itself if the tables do not know it."""
    known = IRREGULAR.get(word)
    if known is not None:
        return known
    return next((one for one in candidates(word) if one in VOCABULARY), word)


def meanings(word: str) -> tuple[str, ...]:
    """Return the possible meanings of a single word: the name of its row in the tables of phrases, its base form, and
    its other possible base forms."""
    return (*ANYWHERE.meanings.get((base(word),), ()), base(word), *candidates(word))


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
    re2_options(32 << 20),
)
_THOUSANDS: Final = re2.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_KINDS: Final = {number: kind for kind, number in _PIECES.groupindex.items()}
_SIGNS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound-sterling", "°": "degree", "&": "and"}


@dataclass(frozen=True, slots=True)
class QuestionPiece:
    """A piece of a text and its kind: a name of a group in ``_PIECES``, or "exact" (must stay as it is) or "owner"
    (before "'s"). Words are in lower case."""

    kind: str
    text: str


def split(text: str) -> Iterator[QuestionPiece]:
    """Yield the pieces of a question in order: words in lower case, numbers, literals such as code and paths, and
    stops. White space is dropped, contractions become the words that they stand for. Linear time."""
    text = _with_quotes(text)
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


def _with_quotes(text: str) -> str:
    """Return ``text`` with single quotation marks replaced by double ones. An apostrophe, which has a letter before it,
    stays."""
    found, opened = list(text), -1
    for place, character in enumerate(text):
        if character != "'":
            continue
        if opened < 0 and not text[place - 1 : place].isalnum() and text[place + 1 : place + 2].strip():
            opened = place
        elif opened >= 0 and not text[place + 1 : place + 2].isalnum():
            found[opened], found[place], opened = "“", "”", -1
    return "".join(found)


def _calculates(piece: str, before: str, after: str) -> bool:
    """Whether ``piece`` is a minus sign or a bracket that belongs to a number or a calculation, judged by the text
    ``before`` it and the character ``after`` it."""
    if piece in ("-", "−"):
        return after.isdigit() and not before[-1:].isalnum()
    return (piece == "(" and after.isdigit()) or (piece == ")" and before[-1:].isdigit())


def _exact(kind: str, piece: str) -> QuestionPiece:
    """Return a piece of a question for ``piece``, a text of the kind "code", "quote", "link", "path", "name", "sign" or
    "number". It is "exact" (compared as it is) without its quote marks; plain names and common signs become words, and
    numbers lose their commas. A piece of another kind is returned with that kind."""
    match kind:
        case "code":
            return QuestionPiece("exact", piece.strip("`").strip())
        case "quote":
            return QuestionPiece("exact", piece[1:-1].strip())
        case "link" | "path" | "name":
            return (
                QuestionPiece("word", piece.casefold())
                if _is_plain(piece)
                else QuestionPiece("exact", piece.rstrip("."))
            )
        case "sign":
            return QuestionPiece("word", _SIGNS[piece]) if piece in _SIGNS else QuestionPiece("exact", piece)
        case "number":
            return QuestionPiece("number", piece.replace(",", "") if _THOUSANDS.fullmatch(piece) else piece)
    return QuestionPiece(kind, piece)


def _looks_like_name(piece: str, before: str) -> bool:
    """Whether a capitalised word is a name: it does not begin a sentence, and no table knows it."""
    if not (before and piece[0].isupper() and piece[1:].islower() and piece.isalpha()):
        return False
    word = piece.casefold()
    begins = before.rstrip(" \t\"'([“„«-")[-1:] in ("", ".", "!", "?", ":", "\n")
    known = base(word) in VOCABULARY or word in forms.CONNECTING or word in forms.NUMBERS
    return not (begins or known)


def _is_plain(piece: str) -> bool:
    """Whether a piece that looks like a file name is the name of a framework ("node.js"), so that it is compared like
    a word."""
    return piece.casefold().rstrip(".") in ("node.js", "react.js", "vue.js", "next.js")


def _words(piece: str, shouted: bool) -> Iterator[QuestionPiece]:
    word = piece.replace("’", "'")
    if word.isupper() and 1 < len(word) < 6 and not shouted and word.casefold() in forms.CONNECTING:
        yield QuestionPiece("exact", word)  # an abbreviation that looks like a word: US, IT, WHO
        return
    word = word.casefold()
    if word in forms.CONTRACTIONS:
        for part in forms.CONTRACTIONS[word].split():
            yield QuestionPiece("word", part)
        return
    for ending, full in forms.ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            yield QuestionPiece("word", word[: -len(ending)])
            yield QuestionPiece("word", full)
            return
    head, mark, tail = word.partition("'")
    if mark and tail in ("s", ""):
        yield QuestionPiece("word", head)
        yield QuestionPiece("word", "is") if head in forms.OPENERS else QuestionPiece("owner", head)
    elif word in forms.NUMBERS:
        yield QuestionPiece("number", forms.NUMBERS[word])
    else:
        yield QuestionPiece("word", word)
