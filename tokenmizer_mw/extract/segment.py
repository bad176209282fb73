"""A message cut into what it is made of: sentences, list items, headings, code, diffs, quotes, tables and logs.

One pass over the lines. The first character of a line chooses the reader that may take it and the lines behind it;
what no reader takes is prose. Consecutive lines of prose, or of one list item, are collected and cut into sentences
when something else begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import re2

from .finding import Segment, SegmentKind
from .prose import encodable, plain, sentences

SEGMENTS_MAX: Final = 4_000
"""Segments of one message; what lies behind them is not read."""

CHARS_MAX: Final = 200_000
"""Characters of one message that are read."""

HEADING_MAX: Final = 60
"""Longest lead-in or bold line that counts as a heading, in characters."""

_TITLE_SPACES: Final = 6
_SENTENCE_MARKS: Final = frozenset(".,;?!。，；？！、")

_WRAP_MIN: Final = 60
"""Shortest line that may go on in the next one; people who type end their lines where their thoughts end."""

_BULLETS: Final = "-*+•‣◦–·▪"
_CHECKED: Final = "✅☑✔✓"
_UNCHECKED: Final = "☐⬜🔲"
_BOXES: Final = {"x": True, "X": True, "✓": True, "✔": True, "*": True, " ": False, "~": False, "/": False, "-": False}
_DIFF_STARTS: Final = ("diff --git ", "Index: ", "@@ -", "*** Begin Patch", "*** Update File: ", "*** Add File: ")
_DIFF_LINES: Final = ("+", "-", "@@", " ", "\\ ", "diff ", "index ", "new file", "deleted file", "rename ", "***")
_CODE_MARKS: Final = frozenset("=<>{}[]|/\\_#")

_LOG_LINE: Final = re2.compile(
    r"(?m)^(?:[ \t]*(?:"
    r"Traceback \(most recent call last\)|File \"[^\"\n]+\", line \d+"
    r"|(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Interrupt|Failure|Fault|Timeout|Warning)(?:\[\w+\])?: \S"
    r"|at [\w$.<>\[\]/@ ]+\([^()\n]*:\d+|at (?:file:|/)\S+:\d+:\d+"
    r"|Caused by: |Exception in thread |panic: |goroutine \d+ \[|thread '[^'\n]*' panicked|error\[E\d+\]: |E   )"
    r"|[\w./\\@+-]+\.\w+[:(]\d+(?:[:,]\d+)?\)?: "
    r"|(?:[\w./-]+: )?line \d+: [^\n]+: "
    r"|-?(?:ba|z|da)?sh: |fatal: |fatal error: |ERROR|FAILED |FAIL\b|--- FAIL|--- PASS|npm (?:ERR!|error|WARN)"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,]|={8,}|_{8,}|(?:\$|➜|PS [A-Z]:\\) ?\S"
    r"|#\d+ (?:\[|\d+\.\d|ERROR|CACHED|DONE)"
    r")"
)


def segment(text: str, *, segments_max: int = SEGMENTS_MAX, chars_max: int = CHARS_MAX) -> list[Segment]:
    """The segments of a message's text, in order; their ranges do not overlap. Never raises.

    ``segments_max`` and ``chars_max`` cap what is read. Time is linear in the characters read.
    """
    reader = _Reader(encodable(text[:chars_max]), segments_max)
    reader.read()
    return reader.found


class _Reader:
    """The state of one pass: the line that comes next, what is being collected, and the headings in force."""

    __slots__ = (
        "at",
        "before_blank",
        "collected",
        "ends",
        "found",
        "in_list",
        "item",
        "lead",
        "limit",
        "lines",
        "logs",
        "starts",
        "text",
        "title",
    )

    def __init__(self, text: str, limit: int) -> None:
        self.text = text
        self.limit = limit
        self.lines = text.split("\n")
        self.starts: list[int] = []
        start = 0
        for line in self.lines:
            self.starts.append(start)
            start += len(line) + 1
        self.logs = frozenset(match.start() for match in _LOG_LINE.finditer(text))
        self.found: list[Segment] = []
        self.at = 0
        self.collected: list[int] = []
        self.item: tuple[SegmentKind, str, bool | None, int] | None = None
        self.in_list = self.before_blank = False
        self.title = self.lead = ""

    def read(self) -> None:
        lines, count = self.lines, len(self.lines)
        while self.at < count and len(self.found) < self.limit:
            line = lines[self.at]
            body = line.strip()
            if not body:
                self.flush()
                self.before_blank = True
            elif not (self.may_be_more(line, body) and self.take(body)):
                self.collect(line)
            self.at += 1
        self.flush()
        del self.found[self.limit :]

    def may_be_more(self, line: str, body: str) -> bool:
        """False for the plain prose that most lines are."""
        return body[0] in _READERS or line[0] in " \t" or "|" in body or self.starts[self.at] in self.logs

    def take(self, body: str) -> bool:
        """Whether a reader took the line (and moved ``at`` to the last line that it took)."""
        if self.starts[self.at] in self.logs:
            return _read_log(self, body)
        line_reader = _READERS.get(body[0])
        if line_reader is not None and line_reader(self, body):
            return True
        if self.lines[self.at].startswith(("    ", "\t")) and self.before_blank and not self.in_list:
            return _read_indented(self)
        return "|" in body and _read_table(self, body)

    def collect(self, line: str) -> None:
        """Adds the line to the prose or the list item that is open."""
        indented = line[0] in " \t"
        if self.item is not None and not indented:
            self.flush()
        if not self.collected and not indented:
            self.in_list = False
        self.collected.append(self.at)
        self.before_blank = False

    def range_of(self, index: int) -> tuple[int, int]:
        """Where a line's text is, without the space around it."""
        line, start = self.lines[index], self.starts[index]
        return start + len(line) - len(line.lstrip()), start + len(line.rstrip())

    def heading(self) -> str:
        return self.lead or self.title

    def add(self, kind: SegmentKind, start: int, end: int, text: str = "", info: str = "") -> None:
        """Adds a block after what was collected; its text is the source's unless given."""
        self.flush()
        self.before_blank = False
        if start < end:
            text = text or self.text[start:end]
            self.found.append(Segment(kind, text, start, end, info, None, self.heading()))

    def block(self, kind: SegmentKind, last: int, text: str = "", info: str = "") -> bool:
        """Adds the lines from ``at`` to ``last`` as one block."""
        start, end = self.range_of(self.at)[0], self.starts[last] + len(self.lines[last].rstrip())
        self.add(kind, start, end, text, info)
        self.at = last
        return True

    def flush(self) -> None:
        """Turns what was collected into segments."""
        lines, item = self.collected, self.item
        if not lines:
            return
        self.collected, self.item = [], None
        if item is None:
            self.flush_prose(lines)
            return
        kind, marker, checked, start = item
        for span in sentences(self.text, start, self.range_of(lines[-1])[1]):
            self.say(kind, span, marker, checked)
            kind, marker, checked = SegmentKind.LIST_ITEM, "", None

    def flush_prose(self, lines: list[int]) -> None:
        chunks = self.chunks(lines)
        if not self.in_list:
            self.lead = ""
        for first, last in chunks:
            begin, end = self.range_of(first)[0], self.range_of(last)[1]
            if self.text[end - 1] in ":：" and self.is_title(begin, end):
                self.lead = ""
                self.say(SegmentKind.HEADING, (begin, end))
                self.lead = plain(self.text[begin:end]).rstrip(":： ")
                continue
            for span in sentences(self.text, begin, end):
                self.say(SegmentKind.PROSE, span)
            if self.text[end - 1] in ":：" and self.found:
                self.lead = self.found[-1].text.rstrip(":： ")

    def is_title(self, begin: int, end: int) -> bool:
        """Whether the line is as short as a heading and no sentence."""
        return (
            end - begin <= HEADING_MAX
            and self.text.count(" ", begin, end) < _TITLE_SPACES
            and _SENTENCE_MARKS.isdisjoint(self.text[begin:end])
        )

    def chunks(self, lines: list[int]) -> list[tuple[int, int]]:
        """First and last lines of the pieces that were wrapped: a long line goes on in one that starts small."""
        found = [(lines[0], lines[0])]
        for index in lines[1:]:
            before = self.lines[index - 1].rstrip()
            here = self.lines[index].lstrip()
            if before[-1] == "," or (len(before) >= _WRAP_MIN and here[0].islower() and before[-1] not in ".!?:;"):
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found

    def say(
        self, kind: SegmentKind, span: tuple[int, int], info: str = "", checked: bool | None = None, level: str = ""
    ) -> None:
        start, end = span
        text = plain(self.text[start:end])
        if text:
            self.found.append(Segment(kind, text, start, end, info or level, checked, self.lead or self.title))

    def begin_item(self, marker: str, content: int) -> bool:
        """Opens the list item whose text starts ``content`` characters into the line's text."""
        self.flush()
        if not self.in_list:
            self.adopt_title()
        self.in_list = True
        body = self.lines[self.at].strip()
        box = _box(body[content:], bulleted=True)
        kind, checked = SegmentKind.LIST_ITEM, None
        if box is not None:
            width, checked = box
            marker = body[: content + width].rstrip()
            kind, content = SegmentKind.CHECKBOX, content + width
        self.item = (kind, marker, checked, self.range_of(self.at)[0] + content)
        self.collected = [self.at]
        self.before_blank = False
        return True

    def adopt_title(self) -> None:
        """A few words alone on a line right above a list are its heading."""
        if not self.found or self.lead:
            return
        last = self.found[-1]
        alone = len(self.found) < 2 or self.text.find("\n", self.found[-2].end, last.start) >= 0
        if (
            last.kind is SegmentKind.PROSE
            and alone
            and last.text[0].isupper()
            and last.text[-1].isalnum()
            and self.is_title(last.start, last.end)
            and not self.text[last.end : self.starts[self.at]].strip("*_ \r\n\t")
        ):
            self.found[-1] = Segment(SegmentKind.HEADING, last.text, last.start, last.end, "", None, self.title)
            self.lead = last.text


def _box(content: str, *, bulleted: bool) -> tuple[int, bool] | None:
    """Width and state of the box that an item's text begins with."""
    if content[:1] == "[" and content[2:4] in ("] ", "]") and content[1] in _BOXES:
        return 4 if len(content) > 4 else len(content), _BOXES[content[1]]
    mark = content[:1]
    if mark and mark in _CHECKED + _UNCHECKED and (bulleted or mark not in "✅✔✓"):
        rest = content[1:].lstrip("\ufe0f ")
        return len(content) - len(rest), mark in _CHECKED
    return None


def _read_fence(reader: _Reader, body: str) -> bool:
    mark = body[0]
    width = len(body) - len(body.lstrip(mark))
    info = body[width:].strip()
    if width < 3 or (mark == "`" and "`" in info):
        return False
    first = last = reader.at + 1
    lines = reader.lines
    while last < len(lines) and not _closes(lines[last].strip(), mark, width):
        last += 1
    start = reader.starts[first] if first < len(lines) else len(reader.text)
    end = max(start, reader.starts[last] - 1) if last < len(lines) else len(reader.text)
    kind = SegmentKind.DIFF if _is_diff(info, lines[first : first + 3]) else SegmentKind.CODE
    reader.flush()
    reader.before_blank = False
    reader.found.append(Segment(kind, reader.text[start:end], start, end, info, None, reader.heading()))
    reader.at = last
    return True


def _closes(body: str, mark: str, width: int) -> bool:
    return body.startswith(mark) and len(body) >= width and not body.strip(mark)


def _is_diff(info: str, head: list[str]) -> bool:
    if info.split(" ", 1)[0].lower() in ("diff", "patch", "udiff"):
        return True
    return any(line.startswith((*_DIFF_STARTS, "<<<<<<< SEARCH", "------- SEARCH")) for line in head) or (
        len(head) > 1 and head[0].startswith("--- ") and head[1].startswith("+++ ")
    )


def _read_heading(reader: _Reader, body: str) -> bool:
    level = len(body) - len(body.lstrip("#"))
    if level > 6 or body[level : level + 1] not in (" ", "\t"):
        return False
    start, end = reader.range_of(reader.at)
    reader.flush()
    reader.lead = reader.title = ""
    reader.say(SegmentKind.HEADING, (start + level + 1, end), level=str(level))
    reader.title = plain(body.strip("# \t")).rstrip(":：")
    reader.in_list = reader.before_blank = False
    return True


def _read_quote(reader: _Reader, body: str) -> bool:
    last = reader.at
    words = []
    while last < len(reader.lines) and reader.lines[last].lstrip().startswith(">"):
        words.append(reader.lines[last].strip().lstrip("> "))
        last += 1
    text = "\n".join(words).strip()
    return reader.block(SegmentKind.QUOTE, last - 1, text or ">")


def _read_table(reader: _Reader, body: str) -> bool:
    lines, last = reader.lines, reader.at + 1
    ruled = last < len(lines) and "-" in lines[last] and "|" in lines[last] and not lines[last].strip("|-: \t\r")
    if not ruled and not (body[0] == "|" and body[-1] == "|" and len(body) > 2):
        return False
    while last < len(lines) and "|" in lines[last]:
        last += 1
    return reader.block(SegmentKind.TABLE, last - 1)


def _read_bullet(reader: _Reader, body: str) -> bool:
    if body[1:2] not in (" ", "\t"):
        return _read_rule(reader, body) or _read_diff(reader, body) or _read_bold(reader, body)
    content = len(body) - len(body[1:].lstrip())
    return reader.begin_item(body[0], content)


def _read_number(reader: _Reader, body: str) -> bool:
    """``1. ``, ``2) ``, ``(3) ``, ``a) ``, ``4、``."""
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
    return bool(rest) and reader.begin_item(body[: end + 1], len(body) - len(rest))


def _read_mark(reader: _Reader, body: str) -> bool:
    """``[x] text`` and ``☑ text`` without a bullet. A check mark alone is decoration, beside others it is a box."""
    beside = any(
        0 <= index < len(reader.lines) and reader.lines[index].lstrip()[:1] in _CHECKED + _UNCHECKED + "❌"
        for index in (reader.at - 1, reader.at + 1)
        if 0 <= index < len(reader.lines) and reader.lines[index].strip()
    )
    box = _box(body, bulleted=beside)
    if box is None or len(body) <= box[0]:
        return False
    return reader.begin_item("", 0)


def _read_rule(reader: _Reader, body: str) -> bool:
    """A line of dashes: a rule, or the underline of the short line above."""
    if len(body) < 3 or body.strip(body[0] + " "):
        return False
    titled = (
        len(reader.collected) == 1 and reader.item is None and reader.is_title(*reader.range_of(reader.collected[0]))
    )
    if titled and body[0] in "-=":
        span = reader.range_of(reader.collected[0])
        reader.collected = []
        reader.title = reader.lead = ""
        reader.say(SegmentKind.HEADING, span, level="1" if body[0] == "=" else "2")
        reader.title = plain(reader.text[slice(*span)])
    reader.flush()
    reader.in_list = False
    reader.before_blank = True
    return True


def _read_bold(reader: _Reader, body: str) -> bool:
    """A line that is bold from end to end and no sentence is a heading."""
    inner = body.rstrip(":：")
    if not (inner.startswith("**") and inner.endswith("**")) or len(body) > HEADING_MAX + 4:
        return False
    words = inner[2:-2]
    if not words.strip() or "**" in words or words.rstrip()[-1] in ".!?。！？":
        return False
    start, end = reader.range_of(reader.at)
    reader.flush()
    reader.lead = reader.title = ""
    reader.say(SegmentKind.HEADING, (start, end))
    reader.title = plain(words).rstrip(":： ")
    reader.in_list = reader.before_blank = False
    return True


def _read_diff(reader: _Reader, body: str) -> bool:
    lines, at = reader.lines, reader.at
    paired = body.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    if not paired and not body.startswith(_DIFF_STARTS):
        return False
    last = at + 1
    while last < len(lines) and (lines[last].startswith(_DIFF_LINES) or _blank_inside(lines, last)):
        last += 1
    return reader.block(SegmentKind.DIFF, last - 1)


def _blank_inside(lines: list[str], index: int) -> bool:
    """An empty context line of a diff: what follows is a diff line and no list item."""
    if lines[index].strip() or index + 1 >= len(lines):
        return False
    behind = lines[index + 1]
    return behind.startswith(_DIFF_LINES) and not behind.startswith(("- ", "* ", "+ "))


def _read_conflict(reader: _Reader, body: str) -> bool:
    """A search-and-replace block outside a fence."""
    if not body.startswith("<<<<<<< "):
        return False
    for last in range(reader.at + 1, len(reader.lines)):
        if reader.lines[last].startswith(">>>>>>> "):
            return reader.block(SegmentKind.DIFF, last)
        if reader.lines[last].startswith("<<<<<<< "):
            break
    return False


def _read_indented(reader: _Reader) -> bool:
    last = reader.at
    lines = reader.lines
    while last < len(lines) and (lines[last].startswith(("    ", "\t")) or not lines[last].strip()):
        last += 1
    while not lines[last - 1].strip():
        last -= 1
    return reader.block(SegmentKind.CODE, last - 1)


def _read_log(reader: _Reader, body: str) -> bool:
    """A log or a stack trace: goes on over lines that look like one, and over a blank line when one follows it."""
    last = reader.at + 1
    count = len(reader.lines)
    while last < count:
        line = reader.lines[last]
        if line.strip():
            if not _goes_on_as_log(reader, last):
                break
        elif last + 1 >= count or not _is_log(reader, last + 1):
            break
        last += 1
    return reader.block(SegmentKind.LOG, last - 1)


def _is_log(reader: _Reader, index: int) -> bool:
    return reader.starts[index] in reader.logs


def _goes_on_as_log(reader: _Reader, index: int) -> bool:
    line = reader.lines[index]
    if _is_log(reader, index) or line[0] in " \t":
        return True
    if line.startswith(("- ", "* ", "```", "~~~", "# ", "> ")):
        return False
    return not _CODE_MARKS.isdisjoint(line) or (" " not in line.strip() and line.strip().isascii())


_LineReader = Callable[[_Reader, str], bool]

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
for _letter in "abcdefghABCDEFGH":
    _READERS.setdefault(_letter, _read_number)
