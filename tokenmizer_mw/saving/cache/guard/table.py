"""The word tables prepared for lookup: words to base forms, phrases to meanings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from .forms import IRREGULAR, UNCHANGED
from .phrases import KNOWN, MANNERS, MEANINGS, QUESTIONS, STARTS, WANTS

Phrase = tuple[str, ...]


class Phrases(NamedTuple):
    """Meanings of phrases, by their base forms; ``longest``: number of words of the longest phrase."""

    meanings: Mapping[Phrase, Phrase]
    longest: int

    def at(self, bases: Sequence[str], place: int) -> tuple[Phrase, int] | None:
        """Return the meaning of the longest phrase at an index, and the phrase's words; ``None`` if no phrase starts
        there."""
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
"""Base forms that some phrase has."""


@cache
def _suffixes() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
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
    """Return a word and the words that it may be a form of, the word itself first."""
    if len(word) < 4 or word in UNCHANGED or word.endswith(("ss", "us", "is")):
        return (word,)
    for suffix, endings in _suffixes():
        if word.endswith(suffix) and len(word) - len(suffix) >= 2:
            stem = word[: -len(suffix)]
            found = [stem + ending for ending in endings if len(stem + ending) > 2]
            if suffix in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2]:
                found.insert(0, stem[:-1])
            return (word, *found)
    return (word,)


def base(word: str) -> str:
    """Return the base form of a word if the tables know one, else the word."""
    known = IRREGULAR.get(word)
    if known is not None:
        return known
    return next((one for one in candidates(word) if one in VOCABULARY), word)


def meanings(word: str) -> tuple[str, ...]:
    """Return what a word by itself may mean: the names of its row, or the words that it may be a form of."""
    return (*ANYWHERE.meanings.get((base(word),), ()), base(word), *candidates(word))
