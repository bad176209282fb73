"""Where a message carries words that are not its speaker's: documents between tags, and quotations in a line.

Files, errors and tasks are still read there. Only what nobody but the speaker may say is not taken from them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

import re2

Span = tuple[int, int]

_OPENED: Final = re2.compile(
    r"(?m)^[ \t]*<(documents?|doc|files?|file[_-]contents?|attachments?|attached[_-]files?|web[_-]?(?:page|site)|page|"
    r"e?-?mail|article|transcript|logs?|output|std(?:out|err)|(?:tool|search|function)[_-](?:results?|output)|source|"
    r"snippet|excerpt|(?:block)?quote|paste|readme)(?:[ \t][^<>\n]*)?>"
)
_QUOTATION: Final = re2.compile(r"\"[^\"\n]+\"|\x{201c}[^\x{201d}\n]+\x{201d}")


def foreign(text: str) -> list[Span]:
    """The places of such words in ``text``, in order, without overlaps. A document without a closing tag goes on to
    the end of the text; a quotation ends in its line. Time is linear in the text."""
    spans = list(_documents(text)) if "<" in text else []
    if '"' not in text and "\u201c" not in text:
        return spans
    # A sentence may begin with a quoted word, hence the first character of a quotation is still the speaker's.
    quotations = ((match.start() + 2, match.end()) for match in _QUOTATION.finditer(text))
    return sorted([*spans, *(span for span in quotations if not lies_in(spans, span[0]))])


def lies_in(spans: list[Span], place: int) -> bool:
    """Whether the character at ``place`` lies in one of ``spans``."""
    index = bisect_right(spans, place, key=lambda span: span[0])
    return index > 0 and place < spans[index - 1][1]


def _documents(text: str) -> Iterator[Span]:
    end = 0
    for opened in _OPENED.finditer(text):
        if opened.start() >= end:
            closed = text.find(f"</{opened.group(1)}>", opened.end())
            end = closed if closed >= 0 else len(text)
            yield opened.start(), end
