"""Find the pasted parts of a message: lines of logs, quoted sentences, and text after words that announce it as
somebody else's.

``documents`` finds, in addition, the texts that a user introduces as something to work on.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import re2

from .documents import MARKS_MAX
from .layout import Span

_LOG_LINE: Final = re2.compile(
    r"(?m)^[ \t]*(?:(?:npm )?(?:WARN(?:ING)?|ERROR|ERR!|INFO|DEBUG|FATAL|TRACE|NOTICE)\b|(?:error|warning|note"
    r"|help|hint|w|e|i)"
    r"(?:\[\w+\])?: |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[\d\d:\d\d:\d\d|SQLSTATE|Traceback |\s+at [\w.$]+\(|-->|\*{3}"
    r"|\d+ \d+ \* \* |\w[\w.-]* = (?:\"|\d|true|false|[\w.]+\()|[\w-]+: \[(?:emerg|error|warn|alert)\])[^\n]*"
)
"""Matches a line of a log, a console, a banner or a configuration file."""

_QUOTED: Final = re2.compile(
    r"(?:^|[\s:(])(?:'((?:[^'\n]|\w['’]\w){16,}?[.!?…,]?)'(?:$|[\s.,;:!?)])|[\"“„«「]([^\"”“»」\n]{24,}?)[\"”“»」])"
)
"""Matches a quoted sentence; shorter text in quotation marks is a name."""

_QUOTATION_MARKS: Final = "'\"“„«「"

_ANNOUNCES: Final = re2.compile(
    r"(?im)^[^\n]{0,160}(?:\b(?:vendor|found|forwarded|stumbled|downloaded|inbox|release notes|minutes of|old server"
    r"|tutorial|the book|handbook|manual|catalogue|flyer|footer|banner|brochure|wrote(?: again)?|prints"
    r"|crontab of|example from|file of a|mail from|ad in|back of|by default|gefunden|weitergeleitet|schreibt|aus dem"
    r"|aus den|vom verband|mail vom|je lis|trouvé|reçu|encontré|recibí|цитата|пишут|нашёл|прислали)\b"
    r"|贴给你|公告|日志|转发|说明书|手册)[^\n]{0,80}[:：][ \t]*\n"
)
"""Matches a line that announces what somebody else wrote."""

_TELLS_WORDS: Final = re2.compile(
    r"(?im)(?:\b(?:here(?:'s| is)|this is|that's) what [^\n:：.!?]{2,60}? (?:says?|said|writes?|wrote|told|answers?"
    r"|answered"
    r"|replied|replies|reads?|recommends?|recommended|suggests?|suggested|shows?)|\b(?:das|hier ist,?|dies) (?:sagt"
    r"|schreibt|steht"
    r"|schrieb|sagte) [^\n:：.!?]{2,60}?|\bvoici ce que [^\n:：.!?]{2,60}?|\besto (?:es lo que )?(?:dice|escribe|dijo)"
    r" [^\n:：.!?]{2,60}?)[:：][ \t]*"
)
"""Matches words that announce, in the same line, what somebody or something says ("here is what the linter says:")."""

_OWN_MAX: Final = 400
"""Longest last paragraph, in characters, in which the user may go on after the pasted text."""


def find_pasted(text: str) -> Iterator[Span]:
    """Iterate over the spans (start, end) of the parts of ``text`` that look pasted: lines of logs, quoted sentences,
    lines such as "here is what the manual says: ...", and the text below the first line that announces one ("mail from
    Ann:"). Spans may overlap. Linear time."""
    quotes = any(mark in text for mark in _QUOTATION_MARKS)
    for pattern in (_LOG_LINE, _QUOTED) if quotes else (_LOG_LINE,):
        for match in islice(pattern.finditer(text), MARKS_MAX):
            yield match.span()
    if ":" not in text and "：" not in text:
        return
    for match in islice(_TELLS_WORDS.finditer(text), MARKS_MAX):
        end = text.find("\n", match.end())
        yield match.start(), end if end >= 0 else len(text)
    announced = _ANNOUNCES.search(text) if "\n" in text else None
    if announced is not None:
        start = len(text) - len(text[announced.end() :].lstrip())
        yield start, _find_end_of_paste(text, start)


def _find_end_of_paste(text: str, start: int) -> int:
    """Where a pasted text ends: before a short last paragraph, which is the user's, else at the end of the message."""
    last = text.rstrip().rfind("\n\n")
    return last if last > start and len(text) - last <= _OWN_MAX else len(text)
