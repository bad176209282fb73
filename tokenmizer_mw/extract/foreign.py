"""Where a message carries words that are not its speaker's: documents between tags, texts that are handed over, and
quotations in a line.

Files, errors and tasks are still read there. Only what nobody but the speaker may say is not taken from them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

import re2

from .pattern import PatternTable
from .rules.handed import HANDED

Span = tuple[int, int]

_OPENED: Final = re2.compile(
    r"(?m)^[ \t]*<(documents?|doc|files?|file[_-]contents?|attachments?|attached[_-]files?|web[_-]?(?:page|site)|page|"
    r"e?-?mail|article|transcript|logs?|output|std(?:out|err)|(?:tool|search|function)[_-](?:results?|output)|source|"
    r"snippet|excerpt|(?:block)?quote|paste|readme)(?:[ \t][^<>\n]*)?>"
)

# fmt: off
_MARKS: Final = (
    ('"', '"'), ("“", "”"), ("„", "“”\""), ("‚", "‘’"), ("«", "»"), ("»", "«"), ("‹", "›"), ("›", "‹"),
    ("「", "」"), ("『", "』"), ("\uff62", "\uff63"), ("《", "》"),
)
# fmt: on
"""What opens a quotation, and what may close it."""

_QUOTATION: Final = re2.compile("|".join(rf"{opens}[^{closes}\n]+[{closes}]" for opens, closes in _MARKS))
_OPENING: Final = dict(_MARKS)
_CLAUSE: Final = re2.compile(r"([^\n:：.!?。।]{2,200})(?:[?!.]?[ \t]*([:：])[ \t*_]*(\n)?|[.。।]?[ \t]*\n)")
_INTRODUCING: Final = PatternTable(
    [*(row.announcing for row in HANDED), *(row.showing for row in HANDED), *(row.heading for row in HANDED)]
)
_FENCE: Final = re2.compile(r"^(```|~~~|\"\"\"|'''|---|===|\*\*\*|___)")
_BARE: Final = re2.compile(r"^[^\s]+[ \t]*(?:\n|$)")

_LEAST: Final = 24
"""Columns that a text takes at least which is handed over: fewer are a word or a name. Where a character is a syllable
or a word, it takes two."""

_SENTENCE: Final = 200
"""Characters before a reported quotation in which its sentence begins."""

_VERB: Final = 16
"""Characters behind it in which it is said that somebody spoke so."""

_ENDS: Final = re2.compile(r"[.!?。！？\n]")
_REPORTING: Final = re2.compile(
    r"と(?:の(?:こと|連絡|返事)|書(?:きま|いた|いてあ|いてい|かれ)|言(?:いま|った|って(?:い|ま)|われ)|述べ(?:ま|た|て)|"
    r"記(?:さ|載)|話しま|話した|伝え(?:て(?:き|い)|られ|ま)|聞い(?:た|て)|あり(?:ま|、)|あ(?:る|った)|主張|説明され|答え(?:ま|た))|"
    r"(?:이?라고|고)[ \t]*(?:말(?:했|하|씀)|썼|쓰여|적(?:혀|었|힌)|했|하(?:네|던|더|셨)|합니다|전했|들었|답했)"
)
"""What stands behind a quotation in languages that say last who speaks in it."""

_ANNOUNCED: Final = re2.compile(rf"\s*[:：]\s*[{re2.escape(''.join(opens for opens, _ in _MARKS))}]")

_LOOK: Final = 400
"""Characters in which a text that is handed over shows what it is."""


def foreign(text: str, *, handed: bool = False) -> list[Span]:
    """The places of such words in ``text``, in order, without overlaps. A document without a closing tag goes on to
    the end of the text; a quotation ends in its line. ``handed``: texts that are introduced ("Here is the mail:") are
    documents, too, up to the end of what opens there, or of the text. Time is linear in the text."""
    spans = list(_documents(text)) if "<" in text else []
    if handed:
        spans = _apart([*spans, *_handed(text)])
    if not ('"' in text if text.isascii() else any(opens in text for opens in _OPENING)):
        return spans
    quotations = [span for span in _quotations(text) if not lies_in(spans, span[0])]
    return sorted([*spans, *quotations])


def lies_in(spans: list[Span], place: int) -> bool:
    """Whether the character at ``place`` lies in one of ``spans``."""
    index = bisect_right(spans, place, key=lambda span: span[0])
    return index > 0 and place < spans[index - 1][1]


def _quotations(text: str) -> Iterator[Span]:
    """Quotations in a line; one that is reported, with what its sentence says before it."""
    done = 0
    for match in _QUOTATION.finditer(text):
        # A sentence may begin with a quoted word, hence the first character of a quotation is still the speaker's.
        start, end = match.start() + 2, match.end()
        if _REPORTING.match(text[end : end + _VERB]) is not None:
            least = max(done, match.start() - _SENTENCE)
            ends = [found.end() for found in _ENDS.finditer(text[least : match.start()])]
            start = least + ends[-1] if ends else least
        yield start, end
        done = end


def announces_quotation(text: str, end: int) -> bool:
    """Whether the words that end at ``end`` only say where a quotation comes from."""
    return _ANNOUNCED.match(text[end : end + _VERB]) is not None


def _documents(text: str) -> Iterator[Span]:
    end = 0
    for opened in _OPENED.finditer(text):
        if opened.start() >= end:
            closed = text.find(f"</{opened.group(1)}>", opened.end())
            end = closed if closed >= 0 else len(text)
            yield opened.start(), end


def _handed(text: str) -> Iterator[Span]:
    """Texts that are introduced."""
    end = 0
    for clause in _CLAUSE.finditer(text):
        start = clause.end()
        if start < end or not _introduces(*clause.groups()):
            continue
        while text[start : start + 1].isspace():
            start += 1
        end = _end(text, start)
        if _columns(text[start : min(end, start + _LEAST)]) >= _LEAST:
            yield start, end


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _introduces(clause: str, colon: str | None, line: str | None) -> bool:
    """Whether a text of somebody else follows a clause, which ends with a colon or with its line, or with both."""
    sorts = {number // len(HANDED) for number in _INTRODUCING.matching(clause)}
    return 0 in sorts or (colon is not None and (1 in sorts or (2 in sorts and line is not None)))


def _end(text: str, start: int) -> int:
    """Where the text that begins at ``start`` ends: at the mark that opens it, else with all of the text."""
    look = text[start : start + _LOOK]
    fence = _FENCE.search(look)
    if fence is not None:
        return _found(text, ["\n" + fence.group(1)], start + fence.end())
    if look[:1] in _OPENING:
        return _found(text, _OPENING[look[0]], start + 1)
    bare = _BARE.search(look)  # an address, or the name of a file
    return start + bare.end() if bare is not None else len(text)


def _found(text: str, closings: Iterable[str], start: int) -> int:
    """Behind the first of some closing marks from ``start`` on; the end of the text when there is none."""
    ends = [place + len(closing) for closing in closings if (place := text.find(closing, start)) >= 0]
    return min(ends, default=len(text))


def _apart(spans: list[Span]) -> list[Span]:
    """The same in order, those that overlap made one."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart
