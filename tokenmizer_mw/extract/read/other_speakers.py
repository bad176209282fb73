"""Find the words of a message that are not its speaker's: documents between tags, pasted texts, and quotations within a
line.

Files, errors and tasks are still extracted from such words, but no decisions and goals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Final

import re2

from .documents import MARKS_MAX, find_documents, find_tagged, join_spans
from .layout import OPENING, QUOTATION_MARKS, Span
from .pasted_text import find_pasted

_QUOTATION: Final = re2.compile("|".join(rf"{opens}[^{closes}\n]+[{closes}]" for opens, closes in QUOTATION_MARKS))
_SENTENCE: Final = 200
"""Characters before a reported quotation in which the beginning of its sentence is looked for."""

_VERB: Final = 16
"""Characters after a quotation in which a verb of speaking is looked for."""

_ENDS: Final = re2.compile(r"[.!?。！？\n]")
_REPORTING: Final = re2.compile(
    r"と(?:の(?:こと|連絡|返事)|書(?:きま|いた|いてあ|いてい|かれ)|言(?:いま|った|って(?:い|ま)|われ)|述べ(?:ま|た|て)|"
    r"記(?:さ|載)|話しま|話した|伝え(?:て(?:き|い)|られ|ま)|聞い(?:た|て)|あり(?:ま|、)|あ(?:る|った)|主張|説明され|答え(?:ま|た))|"
    r"(?:이?라고|고)[ \t]*(?:말(?:했|하|씀)|썼|쓰여|적(?:혀|었|힌)|했|하(?:네|던|더|셨)|합니다|전했|들었|답했)"
)
"""Verbs of speaking after a quotation, in languages in which they follow it."""

_ANNOUNCED: Final = re2.compile(rf"\s*[:：]\s*[{re2.escape(''.join(opens for opens, _ in QUOTATION_MARKS))}]")


def find_foreign(text: str, *, handed: bool = False) -> list[Span]:
    """Return the spans of words in ``text`` that are not the speaker's, in order, without overlaps; [] for none. Linear
    time.

    ``handed``: whether texts that the user introduces ("Here is the mail:") or pastes are looked for as well; true for
    users' messages. Otherwise only documents between tags and quotations are. A document whose end is not found extends
    to the end of the text; a quotation ends with its line.
    """
    spans = join_spans([*find_documents(text), *find_pasted(text)]) if handed else join_spans(find_tagged(text))
    if not ('"' in text if text.isascii() else any(opens in text for opens in OPENING)):
        return spans
    quotations = [span for span in _quotations(text) if not is_in_spans(spans, span[0])]
    return sorted([*spans, *quotations])


def is_in_spans(spans: list[Span], place: int) -> bool:
    """Whether the character at ``place`` is in one of ``spans``, which are in order and do not overlap."""
    index = bisect_right(spans, place, key=lambda span: span[0])
    return index > 0 and place < spans[index - 1][1]


def _quotations(text: str) -> Iterator[Span]:
    """Iterate over the spans of quotations within a line, without the opening mark and the first character. If a verb
    of speaking follows, the span includes the words before the quotation in its sentence."""
    done = 0
    for match in islice(_QUOTATION.finditer(text), MARKS_MAX):
        # A sentence may begin with a quoted word, hence the first character of a quotation is still the speaker's.
        start, end = match.start() + 2, match.end()
        if _REPORTING.match(text[end : end + _VERB]) is not None:
            least = max(done, match.start() - _SENTENCE)
            ends = [found.end() for found in _ENDS.finditer(text[least : match.start()])]
            start = least + ends[-1] if ends else least
        yield start, end
        done = end


def is_introducing_quotation(text: str, end: int) -> bool:
    """Whether a colon and a quotation mark follow at position ``end`` of ``text``, so that the words before ``end``
    only name the source of the quotation."""
    return _ANNOUNCED.match(text[end : end + _VERB]) is not None
