"""Compare labels: the words of a label, and a key that is equal for labels of the same fact."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from tokenmizer_mw.model.node import NodeType

_STOP: Final = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or",
    "our", "that", "the", "this", "to", "was", "we", "were", "will", "with", "i", "my", "you", "your", "now", "also",
    "so", "then", "just", "use", "using",
))  # fmt: skip
_CASED: Final = frozenset({NodeType.FILE, NodeType.ENDPOINT, NodeType.API, NodeType.SCHEMA})


@lru_cache(maxsize=4096)
def words(label: str) -> frozenset[str]:
    """Return the meaningful words of a label: in lower case (case-folded, NFKC), without English function words.

    A word with dots, slashes, underscores or hyphens inside counts as a whole ("api/auth.py"), and so do its parts of
    more than one character. Runs of Chinese, Japanese and Korean text are split into overlapping pairs of characters.
    """
    found: set[str] = set()
    for raw in _split(unicodedata.normalize("NFKC", label).casefold()):
        if raw.isascii() and raw.isalnum():
            if raw not in _STOP:
                found.add(raw)
            continue
        word = raw.strip("./-_#@:+")
        if not word or word in _STOP:
            continue
        if _is_cjk(word[0]):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
            continue
        found.add(word)
        found.update(part for part in _parts(word) if part not in _STOP and len(part) > 1)
    return frozenset(found)


# fmt: off
ASKING: Final = frozenset((
    "about", "after", "all", "any", "been", "before", "between", "can", "could", "did", "do", "doe", "does", "had",
    "ha", "has", "have", "how", "if", "me", "more", "not", "should", "tell", "than", "there", "their", "them",
    "these", "those", "us", "what", "when", "where", "which", "who", "why", "would",
))
# fmt: on
"""Words of questions that say nothing about what is asked for. Those that end with "s" are listed without it as well,
because ``singular`` removes it."""


def singular(word: str) -> str:
    """Return ``word`` without the "s" at its end, if it has more than three letters and no second "s" before that one.
    The word need not be a plural."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


_SUFFIXES: Final = ("ations", "ation", "ings", "ing", "ed")
_STEM_MIN: Final = 4
"""Endings that ``stem`` removes, and how many letters must stand before them."""


def stem(word: str) -> str:
    """Return what the inflected forms of an English word have in common: "cancel" for "cancelling", "cancelled" and
    "cancellation". Words in other scripts, and short ones, stay as they are."""
    if not (word.isascii() and word.isalpha()):
        return word
    found = singular(word)
    ending = next((one for one in _SUFFIXES if found.endswith(one) and len(found) - len(one) >= _STEM_MIN), "")
    found = found.removesuffix(ending)
    found = found.removesuffix("e") if len(found) > _STEM_MIN else found
    return found[:-1] if len(found) >= _STEM_MIN and found[-1] == found[-2] else found


def pick_asked_words(question: str) -> frozenset[str]:
    """Return the words (see ``words``) that a question is about, in the singular, without question words. If it has
    only question words, these are returned."""
    found = {singular(word) for word in words(question)}
    return frozenset(found - ASKING) or frozenset(found)


_JOINERS: Final = frozenset("./-_#@:+")
_ASCII_SPLIT: Final = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in _JOINERS}
_ASCII_PARTS: Final = {ord(char): " " for char in _JOINERS}


def _split(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_ASCII_SPLIT).split()
    return "".join(char if char.isalnum() or char in _JOINERS else " " for char in text).split()


def _parts(word: str) -> list[str]:
    return word.translate(_ASCII_PARTS).split()


def _is_cjk(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" or "\u4e00" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"


@lru_cache(maxsize=4096)
def label_key(type_: NodeType, label: str) -> str:
    """Return a key by which labels of a type are compared: labels with the same key are the same fact. Case, spacing,
    and signs other than ``. / - _ # @ : +`` do not count. For files, endpoints, APIs and schemas everything counts but
    spaces at the ends."""
    text = unicodedata.normalize("NFKC", label).strip()
    if type_ in _CASED:
        return f"{type_.value}:{text}"
    return f"{type_.value}:{' '.join(_split(text.casefold()))}"
