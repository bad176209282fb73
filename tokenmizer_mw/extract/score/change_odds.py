"""The log odds that a passage of a user changes an earlier statement, judged by its words alone.

A linear classifier over single words, 2- and 3-grams of words and 4-grams of letters, trained by
``python -m benchmarks.contrast_fit --write`` on chats by many authors. Half of its training texts only look like a
change ("what would it cost on Oracle?"). ``contrast`` finds out which fact is changed.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from .classifier import Model, load_change_model

PASSAGE_MAX: Final = 400
"""How many characters of a passage are read."""
WORDS_MAX: Final = 90
LETTERS: Final = 4
LETTERS_SHARE: Final = 0.1
"""Weight of a known 4-gram of letters in the length of a passage; that of a known word is 1."""
BIAS: Final = "="
"""The feature that every passage has."""

_WIDE: Final = "\u2e80"
_DIGITS: Final = re.compile(r"\d+")
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|9|[^\w\s]")


def word_cues(text: str) -> set[str]:
    """Return features of a passage: its words, and their 2- and 3-grams. All numbers count as the same word."""
    words = ["^", *_words_of(text), "$"]
    found = {f"w {word}" for word in words}
    found |= {f"b {one} {other}" for one, other in pairwise(words)}
    found |= {f"t {one} {other} {third}" for one, other, third in zip(words, words[1:], words[2:], strict=False)}
    return found


def letter_cues(text: str) -> set[str]:
    """Return features of a passage: the 4-grams of letters within its words and, in scripts without spaces, the 2- and
    3-grams of its characters."""
    found = set(chain.from_iterable(map(_letters_of, _words_of(text))))
    wide = "" if text.isascii() else "".join(sign for sign in text[:PASSAGE_MAX] if sign >= _WIDE)
    if wide:
        found |= {f"p{wide[at : at + 2]}" for at in range(len(wide) - 1)}
        found |= {f"q{wide[at : at + 3]}" for at in range(len(wide) - 2)}
    return found


@lru_cache(maxsize=4096)
def _letters_of(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple(f"n{padded[at : at + LETTERS]}" for at in range(max(1, len(padded) - LETTERS + 1)))


@lru_cache(maxsize=8)
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(_DIGITS.sub("9", text[:PASSAGE_MAX].casefold()))[:WORDS_MAX])


@lru_cache(maxsize=64)
def change_odds(text: str) -> float:
    """Return the log odds that a passage changes something."""
    return odds_by_model(load_change_model(), text)


def odds_by_model(model: Model, text: str) -> float:
    """Return the log odds that a passage changes something, by a given model."""
    words, in_words = model.total(word_cues(text))
    letters, in_letters = model.total(letter_cues(text))
    length = in_words + LETTERS_SHARE * in_letters
    return (words + letters) / math.sqrt(max(1.0, length)) + model.total([BIAS])[0]


__all__ = ["change_odds", "letter_cues", "odds_by_model", "word_cues"]
