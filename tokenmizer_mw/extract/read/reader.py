"""``Reader``: the state of the single pass over the lines of a message that splits it into segments. It has the lines
collected so far, and the headings above them."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.text.prose import find_sentences, strip_markdown

HEADING_MAX: Final = 60
"""Longest line, in characters, that counts as a heading because it ends with a colon or is bold."""

_TITLE_SPACES: Final = 6
_SENTENCE_MARKS: Final = frozenset(".,;?!。，；？！、")
_WRAP_MIN: Final = 60
"""Shortest line, in characters, whose sentence may continue on the next line. Shorter lines end where a thought
ends."""


class Reader:
    """Collects the lines of prose or of a list item, and turns them into segments when something else begins.

    - ``text``: the text of the message; ``lines``: its lines; ``starts``: the positions where they begin.
    - ``at``: index of the line to read; ``found``: the segments so far; ``limit``: the greatest number of segments.
    - ``collected``: indexes of the lines of the prose or list item that is being collected; ``item``: kind, marker,
      state of the checkbox and start of the list item that is being collected, ``None`` for prose.
    - ``in_list``: whether the last lines belong to a list; ``before_blank``: whether the line read last was empty.
    - ``title``: the nearest heading above; ``lead``: the line that introduces the current list ("Next steps"); "" for
      none.
    - ``logs``: starts of the lines that look like a log.
    """

    __slots__ = (
        "at",
        "before_blank",
        "collected",
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

    def __init__(self, text: str, logs: frozenset[int], limit: int) -> None:
        self.text = text
        self.limit = limit
        self.lines = text.split("\n")
        self.starts = [0, *(total + index for index, total in enumerate(accumulate(map(len, self.lines)), 1))]
        self.logs = logs
        self.found: list[Segment] = []
        self.at = 0
        self.collected: list[int] = []
        self.item: tuple[SegmentKind, str, bool | None, int] | None = None
        self.in_list = self.before_blank = False
        self.title = self.lead = ""

    @property
    def full(self) -> bool:
        """Whether there are ``limit`` segments, so that no further one is added."""
        return len(self.found) >= self.limit

    def blank(self) -> None:
        """Read an empty line: end the prose or list item that is being collected."""
        self.flush()
        self.before_blank = True

    def collect(self, line: str) -> None:
        """Add the current line to the prose or list item that is being collected. A line without indentation ends an
        open list item and begins prose."""
        indented = line[0] in " \t"
        if self.item is not None and not indented:
            self.flush()
        if not self.collected and not indented:
            self.in_list = False
        self.collected.append(self.at)
        self.before_blank = False

    def end_of(self, index: int) -> int:
        """The position where the text of line ``index`` ends, without the space after it."""
        return self.starts[index] + len(self.lines[index].rstrip())

    def range_of(self, index: int) -> tuple[int, int]:
        """Start and end of the text of line ``index``, without the space around it."""
        line, start = self.lines[index], self.starts[index]
        return start + len(line) - len(line.lstrip()), start + len(line.rstrip())

    def heading(self) -> str:
        """The heading of the segments that follow: the line that introduces the current list, else the nearest title
        above."""
        return self.lead or self.title

    def add(self, kind: SegmentKind, start: int, end: int, text: str = "", info: str = "") -> None:
        """Add a segment for a block, after those of the lines collected so far. ``text``: the text of the segment,
        "" for that of the message between ``start`` and ``end``; ``info``: as in ``Segment``."""
        self.flush()
        self.before_blank = False
        if start < end and not self.full:
            text = text or self.text[start:end]
            self.found.append(Segment(kind, text, start, end, info, None, self.heading()))

    def block(self, kind: SegmentKind, last: int, text: str = "", info: str = "") -> bool:
        """Add the lines from ``at`` to ``last`` as one block, and set ``at`` to ``last``. Always returns true, so that
        the caller can return it to say that it has read the line. ``text``, ``info``: as in ``add``."""
        start, end = self.range_of(self.at)[0], self.end_of(last)
        self.add(kind, start, end, text, info)
        self.at = last
        return True

    def flush(self) -> None:
        """Turn the collected lines into segments; nothing is collected afterwards."""
        lines, item = self.collected, self.item
        if not lines:
            return
        self.collected, self.item = [], None
        if item is None:
            self.flush_prose(lines)
            return
        kind, marker, checked, start = item
        for span in find_sentences(self.text, start, self.end_of(lines[-1])):
            self.add_speech(kind, span, marker, checked)
            kind, marker, checked = SegmentKind.LIST_ITEM, "", None

    def flush_prose(self, lines: list[int]) -> None:
        """Turn the lines of prose with the indexes ``lines`` into segments: sentences, and headings for lines that
        introduce what follows ("Next steps:")."""
        chunks = self.chunks(lines)
        if not self.in_list:
            self.lead = ""
        for first, last in chunks:
            if self.full:
                break
            begin, end = self.range_of(first)
            if last != first:
                end = self.end_of(last)
            if self.text[end - 1] in ":：" and self.is_title(begin, end):
                self.lead = ""
                self.add_speech(SegmentKind.HEADING, (begin, end))
                self.lead = strip_markdown(self.text[begin:end]).rstrip(":： ")
                continue
            for span in find_sentences(self.text, begin, end):
                self.add_speech(SegmentKind.PROSE, span)
            if self.text[end - 1] in ":：" and self.found:
                self.lead = self.found[-1].text.rstrip(":： ")

    def is_title(self, begin: int, end: int) -> bool:
        """Whether the text between the positions ``begin`` and ``end`` is as short as a heading and has no punctuation
        of a sentence."""
        return (
            end - begin <= HEADING_MAX
            and self.text.count(" ", begin, end) < _TITLE_SPACES
            and _SENTENCE_MARKS.isdisjoint(self.text[begin:end])
        )

    def chunks(self, lines: list[int]) -> list[tuple[int, int]]:
        """Return the first and last line index of each run of ``lines`` that belong together. A line continues on the
        next one if it ends with a comma, or if it is long, has no mark of an end, and the next one begins in lower
        case."""
        found = [(lines[0], lines[0])]
        if len(lines) == 1:
            return found
        for index in lines[1:]:
            before = self.lines[index - 1].rstrip()
            here = self.lines[index].lstrip()
            if before[-1] == "," or (len(before) >= _WRAP_MIN and here[0].islower() and before[-1] not in ".!?:;"):
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found

    def add_speech(
        self, kind: SegmentKind, span: tuple[int, int], info: str = "", checked: bool | None = None, level: str = ""
    ) -> None:
        """Add a segment of words at the characters ``span``, without Markdown marks, unless no words are left or there
        are ``limit`` segments. ``info`` and ``checked``: as in ``Segment``; ``level``: level of a heading, used if
        ``info`` is ""."""
        start, end = span
        text = strip_markdown(self.text[start:end])
        if text and len(self.found) < self.limit:
            self.found.append(Segment(kind, text, start, end, info or level, checked, self.lead or self.title))

    def begin_item(self, marker: str, content: int, checked: bool | None = None) -> bool:
        """Begin to collect the list item whose text starts ``content`` characters into the current line. Always returns
        true, so that the caller can return it to say that it has read the line. ``marker``: such as "1."; ``checked``:
        the state of its checkbox, ``None`` if it has none."""
        self.flush()
        if not self.in_list:
            self.adopt_title()
        self.in_list = True
        kind = SegmentKind.LIST_ITEM if checked is None else SegmentKind.CHECKBOX
        self.item = (kind, marker, checked, self.range_of(self.at)[0] + content)
        self.collected = [self.at]
        self.before_blank = False
        return True

    def adopt_title(self) -> None:
        """Turn the last segment, if it is a short line directly above a list, into the heading of the list."""
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
