"""Find cut marks: notes in place of text that was left out, such as "[... 532 characters cut ...]". Agents, and this
package, write them into the outputs of tools. They are no statements about the work.

A mark is recognised by its words, which may only say how much of what was left out, and by the brackets or dots around
it. In brackets with dots ("[... lines 3 to 90 are left out; they are in log.txt ...]") it may say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .similar import split_words

CUT: Final = "…"
"""What ``replace_cut_marks`` writes in place of a mark."""

MARK_MAX: Final = 240
"""Longest mark, in characters."""

_CUTS: Final = split_words("cut truncated omitted elided clipped snipped abridged")
"""Words that say that text was left out."""

_MAY_CUT: Final = split_words("removed skipped hidden cleared suppressed collapsed trimmed shortened dropped more")
"""Words that say so in a mark with brackets or dots and an amount."""

_AS_CUTS: Final = (("left out", "omitted"), ("not shown", "omitted"), ("cut off", "cut"))
_UNITS: Final = split_words(
    "character characters char chars line lines byte bytes token tokens word words kb kib mb mib row rows item items"
    " result results match matches entry entries message messages"
)
_OTHERS: Final = split_words(
    "output outputs content contents text response log rest middle remainder part parts file stdout stderr tool"
    " observation a an the this that is are was were has have been be to from in of for by at and or due with only"
    " about than longer too long limit length size maximum max context brevity space total original old first last"
    " final next previous remaining other further additional n x k ctrl o r expand press"
)
_KNOWN: Final = _CUTS | _MAY_CUT | _UNITS | _OTHERS
_DOTS: Final = ("...", "…")
_HINTS: Final = (*sorted(_CUTS | _MAY_CUT), *(said for said, _ in _AS_CUTS), *_DOTS)
_OPENING, _CLOSING = ("[", "(", "<", "{"), ("]", ")", ">", "}")
_BRACKETS: Final = "".join((*_OPENING, *_CLOSING))
_WORDS: Final = re.compile(r"[^\W\d_]+|\d[\d.,]*")
_MOST: Final = rf"{{1,{MARK_MAX}}}"
_FRAMED: Final = re.compile(
    rf"\[[^\[\]\n]{_MOST}\]|\([^()\n]{_MOST}\)|<[^<>\n]{_MOST}>|(?:\.\.\.|…)[^.…\n]{_MOST}(?:\.\.\.|…)"
)


def replace_cut_marks(text: str) -> str:
    """Return ``text`` with ``CUT`` in place of each cut mark."""
    pieces: list[str] = []
    done = 0
    for start, end in _find_spans(text):
        pieces += (text[done:start], CUT)
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def find_cut_marks(text: str) -> list[str]:
    """Return the cut marks in ``text``, in order, as they are written."""
    return [text[start:end] for start, end in _find_spans(text)]


def _find_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the marks: lines that are marks, and marks in brackets or between dots within other lines."""
    if not _has_hint(text):
        return
    start = 0
    for line in text.split("\n"):
        if _has_hint(line):
            body = line.strip()
            if _is_mark(body):
                at = start + line.index(body)
                yield at, at + len(body)
            else:
                marks = (match for match in _FRAMED.finditer(line) if _is_mark(match.group()))
                yield from ((start + match.start(), start + match.end()) for match in marks)
        start += len(line) + 1


def _has_hint(text: str) -> bool:
    lowered = text.lower()
    return any(hint in lowered for hint in _HINTS)


def _is_mark(text: str) -> bool:
    if len(text) > MARK_MAX:
        return False
    lowered = text.lower()
    for said, meant in _AS_CUTS:
        lowered = lowered.replace(said, meant)
    found = _WORDS.findall(lowered)
    cuts = not _CUTS.isdisjoint(found)
    may_cut = cuts or not _MAY_CUT.isdisjoint(found)
    inner = text.strip(f"{_BRACKETS} \t")
    if may_cut and text.startswith(_OPENING) and inner.startswith(_DOTS) and inner.endswith(_DOTS):
        return text.endswith(_CLOSING) and "[" not in inner and "]" not in inner
    if not all(word in _KNOWN or word[0].isdigit() for word in found):
        return False
    counted = not _UNITS.isdisjoint(found) and any(word == "n" or word[0].isdigit() for word in found)
    framed = text.startswith((*_OPENING, *_DOTS)) and text.endswith((*_CLOSING, *_DOTS))
    return (cuts and counted) or (framed and (cuts or (counted and (may_cut or text.startswith(_DOTS)))))
