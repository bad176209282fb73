"""Index terms of a text in any language.

A term is a case-folded word (NFKC), the beginning of a longer word, a part of a compound identifier, or two
neighbouring characters of a script that is written without spaces. Beginnings let inflected forms meet: they stand for
stemming, and need no table of a language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from tokenmizer_mw.graph.text import ASKING, words

PREFIX_CHARACTERS: Final = 4
"""Longer words are also found by so many of their first characters."""

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean characters."""
_HUMP: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def index_terms(text: str) -> list[str]:
    """The terms of ``text``, as often as they stand in it."""
    found: list[str] = []
    spoken = text if text.isascii() else unicodedata.normalize("NFKC", text)
    for raw in _WORD.findall(spoken):
        word = raw.casefold()
        if not word.isascii() and _UNSPACED.search(word):
            found += _bigrams(word)
            continue
        found.append(word)
        if len(word) > PREFIX_CHARACTERS and word.isalpha():
            found.append(word[:PREFIX_CHARACTERS] + "*")
        if raw != word and not raw.istitle() and not raw.isupper():
            found += _humps(raw)
    return found


def is_function_word(term: str) -> bool:
    """Whether a term is a word, or the beginning of one, that English questions are made of whatever they are about."""
    return term in _FUNCTION_TERMS or (term.isascii() and term.isalpha() and not words(term))


_FUNCTION_TERMS: Final = ASKING | {f"{word[:PREFIX_CHARACTERS]}*" for word in ASKING if len(word) > PREFIX_CHARACTERS}


def _bigrams(word: str) -> Iterator[str]:
    """Pairs of neighbouring characters of unspaced scripts, and the words of other scripts between them."""
    start = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > start:
            yield word[start : run.start()]
        characters = run.group()
        yield from (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
        start = run.end()
    if start < len(word):
        yield word[start:]


def _humps(word: str) -> list[str]:
    """The parts of an identifier such as ``LocalDebugButtons``, with their beginnings."""
    parts = [part.lower() for part in _HUMP.findall(word)]
    longer = [part[:PREFIX_CHARACTERS] + "*" for part in parts if len(part) > PREFIX_CHARACTERS and part.isalpha()]
    return parts + longer if len(parts) > 1 else []
