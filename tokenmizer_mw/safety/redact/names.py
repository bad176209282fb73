"""Distinguishes names made by people (identifiers, paths, versions) from random strings."""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of ``text``; word tables are written as text."""
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

_USUAL_SHARE: Final = 0.62
_PART_LENGTH: Final = 2.7
_DIGITS_MAX: Final = 8
_GLUED_MAX: Final = 1
_READ_MAX: Final = 96

_SORTS: Final = bytes(
    ord("a") if 97 <= code <= 122 else ord("A") if 65 <= code <= 90 else ord("0") if 48 <= code <= 57 else ord(" ")
    for code in range(256)
)
"""For every byte its sort: a small letter, a capital, a digit, anything else."""

_KINDS: Final = _SORTS.replace(b"A", b"a")
"""The same with one sort for all letters."""

_CUTS: Final = ((b"AAa", b"A|Aa"), (b"aA", b"a|A"), (b"a0", b"a|0"), (b"0a", b"0|a"), (b"A0", b"A|0"), (b"0A", b"0|A"))


def identifier(text: str) -> bool:
    """Return whether ``text`` consists of words, abbreviations and short numbers. True also for a text without
    letters."""
    raw = text[:_READ_MAX].encode("latin-1", "replace")
    kinds = raw.translate(_KINDS)
    if min(kinds.count(b"a0"), kinds.count(b"0a")) > _GLUED_MAX:  # numbers between letters, nothing between them
        return False
    words, numbers = _parts(raw)
    if not words:
        return True
    if len(numbers) > 1 + len(words) or max(map(len, numbers), default=0) > _DIGITS_MAX:
        return False
    return sum(map(len, words)) >= _PART_LENGTH * len(words) and _usual(words)


def _parts(raw: bytes) -> tuple[list[str], list[bytes]]:
    """The words and the numbers of a name."""
    sorts = raw.translate(_SORTS)
    for before, after in _CUTS:
        sorts = sorts.replace(before, after)
    parts = sorts.replace(b" ", b"| |").split(b"|")
    said, words, numbers, place = raw.decode("latin-1").lower(), [], [], 0
    for part in parts:
        end = place + len(part)
        if part[:1] == b"0":
            numbers.append(part)
        elif part[:1] in (b"a", b"A"):
            words.append(said[place:end])
        place = end
    return words, numbers


def _usual(words: list[str]) -> bool:
    pairs = [word[place : place + 2] for word in words for place in range(len(word) - 1)]
    if len(pairs) < 3:
        return True
    return sum(map(_USUAL.__contains__, pairs)) >= _USUAL_SHARE * len(pairs)
