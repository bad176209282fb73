"""Split a message into sentences, list items, headings, code, diffs, quotes, tables and logs.

There is one pass over the lines. The first character of a line selects the functions that may read it and the following
lines; a line that none of them reads is prose. Consecutive lines of prose, or of one list item, are collected and split
into sentences when something else begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.text.prose import replace_surrogates, strip_markdown

from .reader import HEADING_MAX, Reader

SEGMENTS_MAX: Final = 4_000
"""Greatest number of segments of one message; the text after them is not read."""

CHARS_MAX: Final = 200_000
"""Number of characters of one message that are read."""

TEXTS_KEPT: Final = 4
"""Number of messages whose segments are cached, because the message that a reply answers is read again with the
reply."""

_BULLETS: Final = "-*+•‣◦–·▪"
_CHECKED: Final = "✅☑✔✓"
_UNCHECKED: Final = "☐⬜🔲"
_BOXES: Final = {"x": True, "X": True, "✓": True, "✔": True, "*": True, " ": False, "~": False, "/": False, "-": False}
_DIFF_STARTS: Final = ("diff --git ", "Index: ", "@@ -", "*** Begin Patch", "*** Update File: ", "*** Add File: ")
_DIFF_LINES: Final = ("+", "-", "@@", " ", "\\ ", "diff ", "index ", "new file", "deleted file", "rename ", "***")
_CODE_MARKS: Final = frozenset("=<>{}[]|/\\_#")
_TOLD_WORDS: Final = 4
"""Fewest words after "ERROR:" of a line that may be somebody's sentence rather than copied from a log."""

_LOG_LINE: Final = re2.compile(
    r"(?m)^(?:[ \t]*(?:"
    r"Traceback \(most recent call last\)|File \"[^\"\n]+\", line \d+"
    r"|(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Interrupt|Failure|Fault|Timeout|Warning)(?:\[\w+\])?: \S"
    r"|at [\w$.<>\[\]/@ ]+\([^()\n]*:\d+|at (?:file:|/)\S+:\d+:\d+"
    r"|Caused by: |Exception in thread |panic: |goroutine \d+ \[|thread '[^'\n]*' panicked|error\[E\d+\]: |E   )"
    r"|[\w./\\@+-]+\.\w+[:(]\d+(?:[:,]\d+)?\)?: "
    r"|(?:[\w./-]+: )?line \d+: [^\n]+: "
    r"|(?:[A-Za-z]:)?[^\n:]{1,200} ?: (?:[a-z]+ )?(?:error|warning) [A-Z]+\d+ ?: "
    r"|-?(?:ba|z|da)?sh: |fatal: |fatal error: |ERROR|\[(?:ERROR|FATAL)\] |FAILED |FAIL\b|--- FAIL|--- PASS"
    r"|npm (?:ERR!|error|WARN)"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,]|={8,}|_{8,}|(?:\$|➜|PS [A-Z]:\\) ?\S"
    r"|\d+ (?:failed|passed)\b[^\n]* in [\d.]+s|[.FEsxX]{4,} +\[ *\d+%\]|Error: Process completed with exit"
    r"|#\d+ (?:\[|\d+\.\d|ERROR|CACHED|DONE)"
    r")"
)


def segment(text: str, *, segments_max: int = SEGMENTS_MAX, chars_max: int = CHARS_MAX) -> list[Segment]:
    """Return the segments of a message's text, in order, without overlaps; [] for an empty text. Never raises.

    Only the first ``chars_max`` characters are read, and at most ``segments_max`` segments are returned. Linear time.
    """
    return list(_segments(text[:chars_max], segments_max))


@lru_cache(maxsize=TEXTS_KEPT)
def _segments(text: str, segments_max: int) -> tuple[Segment, ...]:
    text = replace_surrogates(text)
    reader = Reader(text, frozenset(match.start() for match in _LOG_LINE.finditer(text)), segments_max)
    lines, count = reader.lines, len(reader.lines)
    while reader.at < count and not reader.full:
        line = lines[reader.at]
        body = line.strip()
        if not body:
            reader.blank()
        elif not (_may_be_more(reader, line, body) and _take(reader, body)):
            reader.collect(line)
        reader.at += 1
    reader.flush()
    return tuple(reader.found[:segments_max])


def _may_be_more(reader: Reader, line: str, body: str) -> bool:
    """Whether a line may be something other than plain prose, which most lines are."""
    return (
        body[0] in _READERS
        or line[0] in " \t"
        or body[1:2] == ")"
        or "|" in body
        or reader.starts[reader.at] in reader.logs
    )


def _take(reader: Reader, body: str) -> bool:
    """Let the reader for this kind of line take it and the following lines. Returns whether one did; ``at`` is then the
    last line that it took."""
    if reader.starts[reader.at] in reader.logs:
        return _read_log(reader, body)
    line_reader = _READERS.get(body[0], _read_number)
    if line_reader(reader, body):
        return True
    if reader.lines[reader.at].startswith(("    ", "\t")) and reader.before_blank and not reader.in_list:
        return _read_indented(reader)
    return "|" in body and _read_table(reader, body)


def _begin(reader: Reader, body: str, marker: str, content: int) -> bool:
    """Open a list item, or a checkbox if its text begins with a box. Always returns true. ``body``: the line without
    the space around it; ``content``: how many characters of it stand before the text of the item."""
    box = _box(body[content:], bulleted=True)
    if box is None:
        return reader.begin_item(marker, content)
    width, checked = box
    return reader.begin_item(body[: content + width].rstrip(), content + width, checked)


def _box(content: str, *, bulleted: bool) -> tuple[int, bool] | None:
    """The width in characters of the checkbox at the start of an item's text, and whether it is ticked; ``None`` for
    none."""
    if content[:1] == "[" and content[2:4] in ("] ", "]") and content[1] in _BOXES:
        return 4 if len(content) > 4 else len(content), _BOXES[content[1]]
    mark = content[:1]
    if mark and mark in _CHECKED + _UNCHECKED and (bulleted or mark not in "✅✔✓"):
        rest = content[1:].lstrip("\ufe0f ")
        return len(content) - len(rest), mark in _CHECKED
    return None


def _read_fence(reader: Reader, body: str) -> bool:
    mark = body[0]
    width = len(body) - len(body.lstrip(mark))
    info = body[width:].strip()
    if width < 3 or (mark == "`" and "`" in info):
        return False
    first = last = reader.at + 1
    lines = reader.lines
    while last < len(lines) and not (mark in lines[last] and _is_closing(lines[last].strip(), mark, width)):
        last += 1
    start = reader.starts[first] if first < len(lines) else len(reader.text)
    end = max(start, reader.starts[last] - 1) if last < len(lines) else len(reader.text)
    kind = SegmentKind.DIFF if _is_diff(info, lines[first : first + 3]) else SegmentKind.CODE
    reader.flush()
    reader.before_blank = False
    reader.found.append(Segment(kind, reader.text[start:end], start, end, info, None, reader.heading()))
    reader.at = last
    return True


def _is_closing(body: str, mark: str, width: int) -> bool:
    return body.startswith(mark) and len(body) >= width and not body.strip(mark)


def _is_diff(info: str, head: list[str]) -> bool:
    if info.split(" ", 1)[0].lower() in ("diff", "patch", "udiff"):
        return True
    return any(line.startswith((*_DIFF_STARTS, "<<<<<<< SEARCH", "------- SEARCH")) for line in head) or (
        len(head) > 1 and head[0].startswith("--- ") and head[1].startswith("+++ ")
    )


def _read_heading(reader: Reader, body: str) -> bool:
    level = len(body) - len(body.lstrip("#"))
    if level > 6 or body[level : level + 1] not in (" ", "\t"):
        return False
    start, end = reader.range_of(reader.at)
    reader.flush()
    reader.lead = reader.title = ""
    reader.add_speech(SegmentKind.HEADING, (start + level + 1, end), level=str(level))
    reader.title = strip_markdown(body.strip("# \t")).rstrip(":：")
    reader.in_list = reader.before_blank = False
    return True


def _read_quote(reader: Reader, body: str) -> bool:
    last = reader.at
    words = []
    while last < len(reader.lines) and reader.lines[last].lstrip().startswith(">"):
        words.append(reader.lines[last].strip().lstrip("> "))
        last += 1
    text = "\n".join(words).strip()
    return reader.block(SegmentKind.QUOTE, last - 1, text or ">")


def _read_table(reader: Reader, body: str) -> bool:
    lines, last = reader.lines, reader.at + 1
    ruled = last < len(lines) and "-" in lines[last] and "|" in lines[last] and not lines[last].strip("|-: \t\r")
    if not ruled and not (body[0] == "|" and body[-1] == "|" and len(body) > 2):
        return False
    while last < len(lines) and "|" in lines[last]:
        last += 1
    return reader.block(SegmentKind.TABLE, last - 1)


def _read_bullet(reader: Reader, body: str) -> bool:
    if body[1:2] not in (" ", "\t"):
        return _read_rule(reader, body) or _read_diff(reader, body) or _read_bold(reader, body)
    return _begin(reader, body, body[0], len(body) - len(body[1:].lstrip()))


def _read_number(reader: Reader, body: str) -> bool:
    """Read a numbered list item: ``1. ``, ``2) ``, ``(3) ``, ``a) `` or ``4、``. Returns whether the line is one."""
    opened = body[0] == "("
    end = 1
    while end < 5 and body[end : end + 1].isdigit():
        end += 1
    label, close = body[opened:end], body[end : end + 1]
    if opened and not label:
        label, end, close = body[1:2], 2, body[2:3]
    if not label or len(label) > 3 or (not label.isdigit() and not label.isalpha()):
        return False
    wanted = ")" if opened or label.isalpha() else ".)、．"
    if not close or close not in wanted or (close in ".)" and body[end + 1 : end + 2] not in (" ", "\t")):
        return False
    rest = body[end + 1 :].lstrip()
    return bool(rest) and _begin(reader, body, body[: end + 1], len(body) - len(rest))


def _read_mark(reader: Reader, body: str) -> bool:
    """Read ``[x] text`` and ``☑ text`` without a bullet; returns whether the line is such a checkbox. A check mark
    without a box ("✅") counts only if a line beside it has one."""
    if len(body) < 3:
        return False
    beside = any(
        0 <= index < len(reader.lines) and reader.lines[index].lstrip()[:1] in _CHECKED + _UNCHECKED + "❌"
        for index in (reader.at - 1, reader.at + 1)
        if 0 <= index < len(reader.lines) and reader.lines[index].strip()
    )
    box = _box(body, bulleted=beside)
    if box is None or len(body) <= box[0]:
        return False
    width, checked = box
    return reader.begin_item(body[:width].rstrip(), width, checked)


def _read_rule(reader: Reader, body: str) -> bool:
    """Read a line of dashes: a horizontal rule, or the underline that makes the short line above it a heading."""
    if len(body) < 3 or body.strip(body[0] + " "):
        return False
    titled = (
        len(reader.collected) == 1 and reader.item is None and reader.is_title(*reader.range_of(reader.collected[0]))
    )
    if titled and body[0] in "-=":
        span = reader.range_of(reader.collected[0])
        reader.collected = []
        reader.title = reader.lead = ""
        reader.add_speech(SegmentKind.HEADING, span, level="1" if body[0] == "=" else "2")
        reader.title = strip_markdown(reader.text[slice(*span)])
    reader.flush()
    reader.in_list = False
    reader.before_blank = True
    return True


def _read_bold(reader: Reader, body: str) -> bool:
    """Read a bold line that is no sentence as a heading."""
    inner = body.rstrip(":：")
    if not (inner.startswith("**") and inner.endswith("**")) or len(body) > HEADING_MAX + 4:
        return False
    words = inner[2:-2]
    if not words.strip() or "**" in words or words.rstrip()[-1] in ".!?。！？":
        return False
    start, end = reader.range_of(reader.at)
    reader.flush()
    reader.lead = reader.title = ""
    reader.add_speech(SegmentKind.HEADING, (start, end))
    reader.title = strip_markdown(words).rstrip(":： ")
    reader.in_list = reader.before_blank = False
    return True


def _read_diff(reader: Reader, body: str) -> bool:
    lines, at = reader.lines, reader.at
    paired = body.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    if not paired and not body.startswith(_DIFF_STARTS):
        return False
    last = at + 1
    while last < len(lines) and (lines[last].startswith(_DIFF_LINES) or _is_blank_inside(lines, last)):
        last += 1
    return reader.block(SegmentKind.DIFF, last - 1)


def _is_blank_inside(lines: list[str], index: int) -> bool:
    """Whether an empty line is part of a diff: the next line is a line of a diff and no list item."""
    if lines[index].strip() or index + 1 >= len(lines):
        return False
    behind = lines[index + 1]
    return behind.startswith(_DIFF_LINES) and not behind.startswith(("- ", "* ", "+ "))


def _read_conflict(reader: Reader, body: str) -> bool:
    """Read a search-and-replace block ("<<<<<<< SEARCH") that stands outside a code block."""
    if not body.startswith("<<<<<<< "):
        return False
    for last in range(reader.at + 1, len(reader.lines)):
        if reader.lines[last].startswith(">>>>>>> "):
            return reader.block(SegmentKind.DIFF, last)
        if reader.lines[last].startswith("<<<<<<< "):
            break
    return False


def _read_indented(reader: Reader) -> bool:
    last = reader.at
    lines = reader.lines
    while last < len(lines) and (lines[last].startswith(("    ", "\t")) or not lines[last].strip()):
        last += 1
    while not lines[last - 1].strip():
        last -= 1
    return reader.block(SegmentKind.CODE, last - 1)


def _read_log(reader: Reader, body: str) -> bool:
    """Read a log or a stack trace. It continues over lines that look like one, and over a blank line before such a
    line."""
    last = reader.at + 1
    count = len(reader.lines)
    while last < count:
        line = reader.lines[last]
        if line.strip():
            if not _is_log_continuation(reader, last):
                break
        elif last + 1 >= count or not _is_log(reader, last + 1):
            break
        last += 1
    if last == reader.at + 1 and _is_error_sentence(body):
        return False
    return reader.block(SegmentKind.LOG, last - 1)


def _is_error_sentence(body: str) -> bool:
    """Whether a line is a sentence marked as an error: "FAIL: the import chokes on empty rows"."""
    head, colon, said = body.partition(": ")
    plain = bool(colon) and head.isalpha() and head.isupper() and _CODE_MARKS.isdisjoint(said)
    return plain and len(said.split()) >= _TOLD_WORDS and said.rstrip(" .!").rpartition(" ")[2].isalpha()


def _is_log(reader: Reader, index: int) -> bool:
    return reader.starts[index] in reader.logs


def _is_log_continuation(reader: Reader, index: int) -> bool:
    line = reader.lines[index]
    if _is_log(reader, index) or line[0] in " \t":
        return True
    if line.startswith(("- ", "* ", "```", "~~~", "# ", "> ")):
        return False
    return not _CODE_MARKS.isdisjoint(line) or not any(char.isalpha() for char in line)


_LineReader = Callable[[Reader, str], bool]

_READERS: Final[dict[str, _LineReader]] = {
    "`": _read_fence,
    "~": _read_fence,
    "#": _read_heading,
    ">": _read_quote,
    "|": _read_table,
    "[": _read_mark,
    "=": _read_rule,
    "_": _read_rule,
    "<": _read_conflict,
    "@": _read_diff,
    "d": _read_diff,
    "I": _read_diff,
    **dict.fromkeys(_BULLETS, _read_bullet),
    **dict.fromkeys("0123456789(", _read_number),
    **dict.fromkeys(_CHECKED + _UNCHECKED, _read_mark),
}
