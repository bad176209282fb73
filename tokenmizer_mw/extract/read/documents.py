"""Find the parts of a user's message that somebody else wrote: elements between tags, introduced texts, mail, passages.

The parts are returned as spans (start and end in characters). A part is recognised by its delimiters, by words that
introduce it ("Here is the mail:") or that say who speaks in it. Nothing in it counts as the user's statement.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.rules.handover_phrases import HANDED, RESUMES
from tokenmizer_mw.extract.text.pattern import PatternTable
from tokenmizer_mw.runtime.lazy import expression

from .layout import OPENING, Span, find_laid_out, find_set_apart
from .shown_text import BORDERS, find_shown
from .whole_files import find_whole_files

TEXTS_KEPT: Final = 4
"""Number of messages whose documents are cached, because the message that a reply answers is read again with the
reply."""

_TAG: Final = expression(r"(?m)(^[ \t]*)?<([A-Za-z][\w.:-]*)(?:[ \t][^<>\n]*)?>")
_CLOSING_TAG: Final = expression(r"</([A-Za-z][\w.:-]*)[ \t]*>")
_DOCUMENT_TAG: Final = expression(
    r"documents?|doc|files?|file[_-]contents?|attachments?|attached[_-]files?|web[_-]?(?:page|site)|page|"
    r"e?-?mail|article|transcript|logs?|output|std(?:out|err)|(?:tool|search|function)[_-](?:results?|output)|source|"
    r"snippet|excerpt|(?:block)?quote|paste|readme"
)
"""Matches names of tags, such as "file" or "email", whose elements are documents wherever they begin. Without a closing
tag, such an element extends to the end of the text if its tag begins a line; otherwise it does not count."""
_OWN_TAG: Final = expression(
    r"(?i)(?:user|human|my)[_-]?\w*|query|question|request|prompt|tasks?|instructions?|rules?|requirements?|goals?|"
    r"objectives?|constraints?|guidelines|feedback|answer|todos?|preferences?|decisions?"
)
"""Matches names of tags between which users, or hosts for them, put the user's own words."""

_CLAUSE: Final = expression(r"([^\n:：.!?？。।]{2,200})(?:[?!.？]?[ \t]*([:：])[ \t*_]*(\n)?|[?？.。।]?[ \t]*\n)")
_ANNOUNCING, _SHOWING, _HEADING, _SHOWING_FILE, _HEADING_FILE, _REPORTING = range(6)
_INTRODUCING: Final = PatternTable(
    [
        *(row.announcing for row in HANDED),
        *(row.showing for row in HANDED),
        *(row.heading for row in HANDED),
        *(row.showing_file for row in HANDED),
        *(row.heading_file for row in HANDED),
        *(row.reporting for row in HANDED),
    ]
)
_FENCE: Final = expression(r"^(```|~~~|\"\"\"|'''|---|===|\*\*\*|___)")
_BARE: Final = expression(r"^[^\s]*[\p{L}\p{N}][^\s]*[ \t]*(?:\n|$)")
_QUOTED_LINES: Final = expression(r"(?:[ \t]*>[^\n]*(?:\n|$))+")
_INDENTED_LINES: Final = expression(r"[^\n]*(?:\n(?:[ \t]+[^\n]*)?)*")
_TRIPLE_QUOTES: Final = expression(r"(?m)^[ \t]*(?:\"\"\"|''')[ \t]*$")
_PASSAGE: Final = expression(r"(?m)^[ \t]*\[\d{1,3}\][ \t:]")
_PASSAGES_MIN: Final = 2
_FORWARDED: Final = expression(
    r"(?mi)^(?:-{2,} ?(?:forwarded message|original message|weitergeleitete nachricht|ursprüngliche nachricht|"
    r"message transféré|message d'origine|mensaje reenviado|mensaje original|转发的邮件|原始邮件)|"
    r"begin forwarded message:|"
    r"(?:from|von|de|发件人)[:：] [^\n]+\n(?:[^\n]+\n){0,4}(?:subject|betreff|objet|asunto|主题)[:：])"
)
_MAIL_LINE: Final = expression(
    r"(?m)^(?:On|Am|Le|El|Il|Em)\b[^\n]{8,150}(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu)\b[^\n]{0,80}[:：]"
    r"[ \t]*\n\s*"
)
_ABOVE: Final = expression(
    r"(?i)^[ \t]*(?:\^|↑|☝|👆)|\b(?:text|passage|document|article|message|e-?mail|letter|page|paragraphs?) above\b|"
    r"\babove (?:text|passage|document|article|message|e-?mail|letter|page|paragraphs?)\b|"
    r"\b(?:text|brief|mail|seite|artikel) oben\b|\bobige[nrs]? |\bci-dessus\b|"
    r"\btexto (?:de arriba|anterior)\b|上面的|上述"
)
_RESUMES: Final = expression(RESUMES)

MARKS_MAX: Final = 20_000
"""Number of tags, and of marks of each other kind, that are looked at in one message; text after the last of them
counts as the user's."""

CLAUSES_MAX: Final = 8_000
"""Number of clauses of one message that are tested for words that introduce a text."""

_LEAST: Final = 24
"""Width in columns from which on what follows an introduction counts as a text; less is a word or a name. A character
of a wide script, such as Chinese, takes two columns."""

_LEAST_LINE: Final = 8
"""The same for a file, a log or somebody's words on a line of their own."""

_LOOK: Final = 400
"""How many characters of a text are looked at to find out how it is delimited."""

_OWN_MAX: Final = 400
"""Longest last paragraph, in characters, that may be the user's own words after a text, or refer to the text above
it."""


@lru_cache(maxsize=TEXTS_KEPT)
def _find_documents(text: str) -> tuple[Span, ...]:
    tagged = join_spans(find_tagged(text))
    starts = dict(tagged)
    introduced = [*tagged, *_find_introduced(text, starts), *_find_shown(text, starts)]
    introduced += [*_find_mail(text), *_find_passages(text)]
    quotes = '"""' in text or "'''" in text
    marks = list(islice(_TRIPLE_QUOTES.finditer(text), MARKS_MAX)) if quotes else []
    introduced += [(first.start(), last.end()) for first, last in zip(marks[::2], marks[1::2], strict=False)]
    above = [] if introduced else _find_above(text)
    files = list(find_whole_files(text))
    return tuple(join_spans([*introduced, *above, *files, *find_laid_out(text), *find_set_apart(text)]))


def _find_above(text: str) -> Iterator[Span]:
    """The whole text above the last line, if that line refers to it ("translate the text above")."""
    last = text.rfind("\n", 0, len(text.rstrip())) + 1
    if 0 < len(text) - last <= _OWN_MAX and _ABOVE.search(text[last:]) is not None and "```" not in text:
        yield 0, last


def find_documents(text: str) -> list[Span]:
    """Return the spans of a user's message ``text`` that somebody else wrote, in order, without overlaps; [] for none.
    Code blocks and lines quoted with ">" count only if the user introduces them. Linear time."""
    return list(_find_documents(text))


def find_tagged(text: str) -> Iterator[Span]:
    """Iterate over the spans of elements between tags that contain a document, in order, without overlaps.

    These are elements whose name says so, such as ``<file>...</file>``. Other elements count, too, if their tag begins
    a line, is closed, and there are several lines in them, unless their name says that they contain the user's words
    (``<task>``).
    """
    if "<" not in text:
        return
    closings: dict[str, list[Span]] = defaultdict(list)
    for closing in islice(_CLOSING_TAG.finditer(text), MARKS_MAX):
        closings[closing.group(1)].append(closing.span())
    end = 0
    for opened in islice(_TAG.finditer(text), MARKS_MAX):
        if opened.start() < end:
            continue
        first, name = opened.group(1) is not None, opened.group(2)
        places = closings.get(name, [])
        number = bisect_left(places, opened.end(), key=lambda place: place[0])
        closed = places[number] if number < len(places) else None
        if _DOCUMENT_TAG.fullmatch(name) is not None:
            if closed is None and not first:
                continue
        elif (
            not first
            or closed is None
            or text.find("\n", opened.end(), closed[0]) < 0
            or _OWN_TAG.fullmatch(name) is not None
        ):
            continue
        end = closed[1] if closed is not None else len(text)
        yield opened.start(), end


def join_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping and adjacent ones merged."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def blank_out(text: str, spans: Iterable[Span]) -> str:
    """Return ``text`` with white space in place of each span, with a line break at both of its ends; all other
    characters keep their positions. A span of one character stays. ``spans``: in order, without overlaps."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], "\n", " " * (end - start - 2), "\n"] if end - start > 1 else [text[done:end]]
        done = end
    return "".join([*pieces, text[done:]])


def _find_mail(text: str) -> Iterator[Span]:
    """Spans of forwarded mail, and of mail to which the user replies ("On Monday Ann wrote:"), up to the end of the
    text. If the mail is quoted with ">", only the line that introduces it."""
    if not any(sign in text for sign in ("--", ":", "：")):
        return
    forwarded = _FORWARDED.search(text)
    if forwarded is not None:
        yield forwarded.start(), len(text)
    for line in _MAIL_LINE.finditer(text):
        quoted = _QUOTED_LINES.match(text[line.end() : line.end() + 1]) is not None
        yield line.start(), line.end() if quoted else len(text)
        if not quoted:
            return


def _find_passages(text: str) -> Iterator[Span]:
    """The span from the first of several numbered passages ("[1] ...") to the end of the paragraph of the last one."""
    passages = list(islice(_PASSAGE.finditer(text), MARKS_MAX)) if "[" in text else []
    if len(passages) >= _PASSAGES_MIN:
        end = text.find("\n\n", passages[-1].end())
        yield passages[0].start(), end if end >= 0 else len(text)


def _find_introduced(text: str, tagged: dict[int, int]) -> Iterator[Span]:
    """Spans of texts that words introduce. ``tagged``: maps the starts of elements between tags to their ends."""
    if not any(border in text for border in BORDERS):
        return
    end, resumed = 0, _find_resumed(text)
    outside = (clause for clause in _CLAUSE.finditer(text) if clause.end() >= end)
    for clause in islice(outside, CLAUSES_MAX):
        start = clause.end()
        sorts = _read_introduction(*clause.groups())
        if not sorts:
            continue
        while text[start : start + 1].isspace():
            start += 1
        of_place = sorts.isdisjoint((_ANNOUNCING, _SHOWING, _HEADING))
        end = tagged[start] if start in tagged else _find_end(text, start)
        if end == len(text) and of_place and start < resumed and not _is_marked(text, start):
            end = resumed
        least = _LEAST_LINE if of_place and clause.group(3) else _LEAST
        if _columns(text[start : min(end, start + _LEAST)]) >= least:
            yield start, end


def _find_shown(text: str, tagged: dict[int, int]) -> Iterator[Span]:
    """Spans of the texts that ``find_shown`` finds. ``tagged``: as for ``_find_introduced``."""
    end, resumed = 0, _find_resumed(text)
    for shown in find_shown(text):
        start = shown.start
        while text[start : start + 1].isspace():
            start += 1
        if start < end:
            continue
        found = tagged[start] if start in tagged else _find_end(text, start)
        is_open = found == len(text) and not _is_marked(text, start)
        if is_open and shown.quoted:
            found = _find_first(text, ["\n\n"], start)
        elif is_open and shown.resumes and start < resumed:
            found = resumed
        least = _LEAST if shown.in_line or not shown.resumes else _LEAST_LINE
        if _columns(text[start : min(found, start + _LEAST)]) >= least:
            yield start, found
            end = found


def _find_resumed(text: str) -> int:
    """The start of the last paragraph if the user goes on in own words there; else the length of the text."""
    last = _last_paragraph(text)
    return last if len(text) - last <= _OWN_MAX and _RESUMES.match(text[last : last + _LOOK]) else len(text)


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _read_introduction(clause: str, colon: str | None, line: str | None) -> set[int]:
    """The ways, such as ``_ANNOUNCING``, in which a clause introduces a text; empty if it does not. ``colon`` and
    ``line``: the colon and the line end after the clause, ``None`` if it has none."""
    sorts = {number // len(HANDED) for number in _INTRODUCING.matching(clause)}
    if colon is None:
        return sorts & {_ANNOUNCING}
    return sorts if line is not None else sorts & {_ANNOUNCING, _SHOWING}


def _find_end(text: str, start: int) -> int:
    """The end of the text that begins at ``start``: its closing delimiter, such as a fence or a quotation mark; the end
    of its lines if they are indented or quoted with ">"; the end of a line that holds one word, such as an address;
    else the end of the whole message."""
    look = text[start : start + _LOOK]
    fence = _FENCE.search(look)
    if fence is not None:
        return _find_first(text, ["\n" + fence.group(1)], start + fence.end())
    if look[:1] in OPENING:
        return _find_first(text, OPENING[look[0]], start + 1)
    if look[:1] == ">":
        quoted = _QUOTED_LINES.match(text, start)
        return quoted.end() if quoted is not None else len(text)
    if text[max(0, start - 4) : start] == "    ":
        indented = _INDENTED_LINES.match(text, start)
        return indented.end() if indented is not None else len(text)
    bare = _BARE.search(look)  # an address, or the name of a file
    return start + bare.end() if bare is not None else len(text)


def _is_marked(text: str, start: int) -> bool:
    """Whether a fence or a quotation mark opens the text at ``start``, so that its end is known."""
    look = text[start : start + _LOOK]
    return look[:1] in OPENING or _FENCE.match(look) is not None


def _find_first(text: str, closings: Iterable[str], start: int) -> int:
    """The position after the first of some closing marks from ``start`` on; the length of the text if there is none."""
    ends = [place + len(closing) for closing in closings if (place := text.find(closing, start)) >= 0]
    return min(ends, default=len(text))


def _last_paragraph(text: str) -> int:
    """Where the last paragraph begins; 0 when there is one only."""
    return text.rfind("\n\n", 0, len(text.rstrip())) + 2 if "\n\n" in text.rstrip() else 0
