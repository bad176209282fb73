"""Does a text read like a name that people gave (an identifier, a path, a version), or like something drawn?"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from .pattern import compiled


def words(text: str) -> frozenset[str]:
    """The words of ``text``, which is how tables of words are written."""
    return frozenset(text.split())


_USUAL: Final = frozenset(
    first + second
    for pair in words(
        "a:bcdgilmnprstuy b:aeilorsu c:acehiklorstu d:adeilorsu e:abcdefgilmnprstvx f:aefiloru g:aehinrs h:aeiot"
        " i:abcdefglmnoprstvxz k:ei l:adeilostuy m:aeimopsu n:acdefgiostu o:abcdgklmnoprstuvw p:aehiloprstuy q:u"
        " r:acdegilmnorstuy s:acehilopstuy t:acehilorstuy u:abceilmnprst v:aei w:aei x:pt y:p z:e"
    )
    for first, second in ((pair[0], letter) for letter in pair[2:])
)
"""Pairs of letters that make up nine tenths of the pairs in English words and in identifiers; a third of all pairs."""

_PARTS: Final = compiled(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_USUAL_SHARE: Final = 0.62
_PART_LENGTH: Final = 2.7
_DIGITS_MAX: Final = 8


def identifier(text: str) -> bool:
    """Whether ``text`` is made of words, abbreviations and short numbers. Also for one without letters."""
    found = [part.decode("latin-1") for part in _PARTS.findall(text.encode("latin-1", "replace"))]
    words = [part for part in found if not part.isdigit()]
    numbers = [part for part in found if part.isdigit()]
    if not words:
        return True
    if any(len(number) > _DIGITS_MAX for number in numbers) or len(numbers) > 1 + len(words):
        return False
    return sum(map(len, words)) >= _PART_LENGTH * len(words) and _usual(words)


def _usual(words: list[str]) -> bool:
    pairs = [first + second for word in words for first, second in pairwise(word.lower())]
    if len(pairs) < 3:
        return True
    return sum(pair in _USUAL for pair in pairs) >= _USUAL_SHARE * len(pairs)
