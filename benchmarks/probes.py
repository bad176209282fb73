"""Whether a text contains what a question asks for, without a model that judges: by values, words and spans.

Token counts here are a quarter of the characters, rounded up, so that figures do not depend on a tokenizer and can be
compared with the literature on this measure.
"""

from __future__ import annotations

import math
import re
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter

CHARACTERS_A_TOKEN: Final = 4
COVERED: Final = 0.6
"""Share of the content stems of a sentence that one line must contain to cover it."""
CONTEXT_WORDS: Final = 2
"""How many content words of the question must occur near the values of its answer."""

_WORD: Final = re.compile(r"[a-z0-9][a-z0-9._/%$:+-]*", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(\[*#-])|\n+")
_EDGES: Final = "._/:+-"
_ENDINGS: Final = ("ing", "ed", "es", "s")
_STEM_MIN: Final = 3
_NAME_MIN: Final = 3
# fmt: off
_STOP: Final = frozenset((
    "a", "an", "the", "and", "or", "but", "if", "then", "else", "of", "in", "on", "at", "to", "for", "from", "by",
    "with", "without", "about", "into", "over", "after", "before", "is", "are", "was", "were", "be", "been", "being",
    "it", "its", "this", "that", "these", "those", "i", "you", "he", "she", "we", "they", "me", "my", "mine", "your",
    "yours", "our", "ours", "his", "her", "their", "them", "us", "as", "do", "does", "did", "done", "have", "has",
    "had", "will", "would", "can", "could", "should", "may", "might", "must", "not", "no", "yes", "so", "than", "too",
    "very", "just", "also", "how", "what", "when", "where", "which", "who", "whom", "why", "there", "here", "up",
    "down", "out", "off", "again", "once", "all", "any", "each", "more", "most", "other", "some", "such", "only",
    "own", "same", "s", "t", "don", "now", "did", "say", "said", "mention", "mentioned", "tell", "told", "use", "used",
    "using", "llm", "response", "state", "states", "contain",
))
_MONTHS: Final = frozenset((
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
))
# fmt: on


def tokens(text: str) -> int:
    """Return the tokens of a text by estimate: a quarter of its characters, rounded up."""
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


QUARTERS: Final = TokenCounter("a quarter of the characters", True, tokens)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, numbers without commas."""
    found = (word.strip(_EDGES).lower() for word in _WORD.findall(text.replace(",", "")))
    return [word for word in found if word]


def stem(word: str) -> str:
    """Return a word without one of its commonest endings ("ing", "ed", "es", "s")."""
    for ending in _ENDINGS:
        if len(word) > len(ending) + _STEM_MIN and word.endswith(ending):
            return word[: -len(ending)]
    return word


def content(text: str) -> list[str]:
    """Return the stems of the words of a text, in order, without words such as "the"."""
    return [stem(word) for word in words(text) if word not in _STOP]


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [said for piece in _SENTENCE.split(text) if piece and (said := piece.strip())]


def values(answer: str, question: str = "") -> list[str]:
    """Return the parts of an answer that can be checked, in lower case and each once: its numbers, months and names
    that are not in the question."""
    given = set(words(question))
    raw = _WORD.findall(answer.replace(",", ""))
    found: list[str] = []
    for at, word in enumerate(raw):
        low = word.strip(_EDGES).lower()
        if low and low not in given and _is_value(word, low, at, len(raw)):
            found.append(low)
    return list(dict.fromkeys(found))


def _is_value(word: str, low: str, at: int, count: int) -> bool:
    if any(char.isdigit() for char in low):
        return True
    if low in _MONTHS and at + 1 < count and word[0].isupper():
        return True
    return word[0].isupper() and at > 0 and low not in _STOP and len(low) >= _NAME_MIN


def states(text: str, wanted: list[str], question: str, least: int = CONTEXT_WORDS) -> bool:
    """Whether three adjacent sentences of ``text`` contain all values in ``wanted``, and enough content words of the
    question: ``least``, or a third of them if that is fewer, but at least one."""
    asked = set(content(question))
    need = min(least, max(1, len(asked) // 3))
    spoken = [words(sentence) for sentence in sentences(text)]
    for at, mine in enumerate(spoken):
        if not any(_holds(mine, value) for value in wanted):
            continue
        span = {word for near in spoken[max(0, at - 1) : at + 2] for word in near}
        if all(_holds(span, value) for value in wanted) and len(asked & {stem(word) for word in span}) >= need:
            return True
    return False


def _holds(said: list[str] | set[str], value: str) -> bool:
    long_number = any(char.isdigit() for char in value) and len(value) >= _NAME_MIN
    return value in said or (long_number and any(value in word for word in said))


def covers(text: str, target: str) -> bool:
    """Whether some line or sentence of ``text`` contains at least the share ``COVERED`` of the content stems of
    ``target``."""
    wanted = set(content(target))
    return bool(wanted) and any(len(wanted & set(content(line))) >= COVERED * len(wanted) for line in sentences(text))
