"""Estimate the tokens of a text without a tokenizer's table: a weighted sum over classes of characters, rather too
high.

The weights were fitted as a high expectile of the larger of the cl100k_base and o200k_base counts over prose, source
code, JSON, tool output, base64 and chats in ten languages, then rounded up. The estimate for English prose is about a
fifth too high. For the other kinds it was never too low for paragraphs; for single lines of JSON and listings of files
it was too low in one case of thirty, by up to a tenth. A short text in another language than English, written in plain
ASCII letters, can be estimated a fifth too low. All passes are over bytes in C; the time is linear.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

_RANGES: Final = (
    (0x20, 0x7F, "."), (0x09, 0x0B, "n"), (0x0D, 0x0E, "n"), (0x20, 0x21, " "), (0x30, 0x3A, "0"), (0x41, 0x5B, "A"),
    (0x61, 0x7B, "a"), (0xC0, 0xCD, "l"), (0xCD, 0xD0, "h"), (0xD0, 0xD4, "y"), (0xD4, 0xE2, "h"), (0xE2, 0xE3, "s"),
    (0xE3, 0xEA, "c"), (0xEA, 0xEE, "k"), (0xEE, 0x100, "m"),
)  # fmt: skip
"""First byte, the byte behind the last one, and the letter of a class; a later row takes from an earlier one."""


def _classes() -> bytes:
    """For each byte of UTF-8 the letter of its class. Continuation bytes are dropped before."""
    table = bytearray(b"x" * 256)
    for first, end, letter in _RANGES:
        table[first:end] = letter.encode() * (end - first)
    return bytes(table)


_CLASS: Final = _classes()
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_LETTERS: Final = bytes(b if b < 0x80 and chr(b).isalpha() else 0x20 for b in range(256))
_LONG_WORD: Final = 11

_WEIGHTS: Final[tuple[tuple[float, tuple[bytes, ...]], ...]] = (
    (0.13, (b"a",)),
    (0.01, (b" ",)),
    (1.4, (b"aA",)),
    (0.34, (b"0",)),
    (1.15, (b"a0", b"A0", b" 0", b".0", b"n0")),
    (0.63, (b".",)),
    (0.85, (b"n",)),
    (1.15, (b"a  ", b"A  ", b"0  ", b".  ", b"n  ", b"l  ", b"y  ", b"h  ", b"s  ", b"c  ", b"k  ", b"m  ")),
    (2.0, (b"x",)),
    (0.95, (b"l",)),
    (1.1, (b"al", b"la")),
    (0.6, (b"y",)),
    (1.35, (b"h",)),
    (1.0, (b"s",)),
    (1.2, (b"c",)),
    (1.5, (b"k",)),
    (3.3, (b"m",)),
)
"""Tokens per occurrence of a class or a sequence of classes. Classes: a lower, A upper case, 0 digits, n line breaks
and tabs, x other controls, l Latin beyond ASCII, y Cyrillic, h other alphabets up to U+1FFF, s symbols
(U+2000 to U+2FFF), c kana and Han, k Hangul, m emoji and the rest."""

_WORD: Final = 0.56
_CAPITAL: Final = 0.45
_LONG_LETTER: Final = 0.5
_FLAT: Final = 2.0


def estimate(text: str) -> int:
    """Estimate the number of tokens in ``text``, rather too high than too low; 0 for the empty text. Linear time."""
    if not text:
        return 0
    raw = text.encode("utf-8", "replace")
    classes = raw.translate(_CLASS, _CONTINUATION)
    lengths = Counter(map(len, raw.translate(_LETTERS).split()))
    total = _FLAT + _WORD * lengths.total()
    total += _LONG_LETTER * sum((length - _LONG_WORD) * n for length, n in lengths.items() if length > _LONG_WORD)
    total += _CAPITAL * (classes.count(b"A") - classes.count(b"Aa"))
    for weight, parts in _WEIGHTS:
        total += weight * sum(map(classes.count, parts))
    return math.ceil(total)
