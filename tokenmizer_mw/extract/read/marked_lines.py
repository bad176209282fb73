"""Lines of a user's message, with the features that make them look like part of somebody else's document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from tokenmizer_mw.extract.rules.layout import (
    COPIED_LINE,
    NAME_AND_TIME,
    OPENING_LINE,
    ORIGIN_FIELD,
    PERSON,
    SALUTATION,
    SET_LINE,
    SPEAKER,
)

OWN_MAX: Final = 400
"""Characters of a paragraph that may be the user's request beside a document."""

TITLE_MAX: Final = 60
"""Characters of a line above a document that may be its title, a name with a time, or a salutation."""

CHARS_MAX: Final = 100_000
"""Characters of a message whose layout is read, beside its last paragraph."""

LINES_MAX: Final = 2_000
"""Lines of a message whose layout is read, beside its last paragraph."""

LINE_LOOK: Final = 240
"""Characters of a line that are looked at."""

_TABLE_MIN: Final = 3
"""Lines in a row with equally many delimiters that make a table."""

_NAME_MAX: Final = 25
"""Characters of a speaker's name."""

_TURNS_MIN: Final = 3
"""Lines with names of speakers that a conversation has at least."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with text. ``paragraph``: number of its paragraph; ``runs``: it is copied by itself; ``opens``: a document
    follows; ``hints``: it looks like a line of a document."""

    start: int
    end: int
    text: str
    paragraph: int
    runs: bool
    opens: bool
    hints: bool

    @property
    def marked(self) -> bool:
        """Whether the line itself shows that it belongs to a document."""
        return self.runs or self.opens

    @property
    def addresses(self) -> bool:
        """Whether the line addresses its reader or mentions its writer."""
        return PERSON.search(self.text) is not None


def read_lines(text: str) -> list[Line]:
    """Lines with text and their features, except those between fences. What exceeds the limits is one line. Linear
    time."""
    return _mark_fields(_mark_speakers(_mark_tables(_split_lines(text))))


def _split_lines(text: str) -> list[Line]:
    count = count_characters(text)
    if count == len(text):
        return list(_read_part(text, 0, count, 0))
    last = max(count, len(text) - OWN_MAX)
    last = max(last, text.rfind("\n\n", 0, len(text.rstrip())))
    read = list(_read_part(text, 0, count, 0))
    paragraph = read[-1].paragraph if read else 0
    unread = Line(count, last, "", paragraph, runs=False, opens=False, hints=False)
    return [*read, unread, *_read_part(text, last, len(text), paragraph + 1)]


def count_characters(text: str) -> int:
    """Return how many characters from the start of ``text`` are read.

    These are its first ``LINES_MAX`` lines, cut at ``CHARS_MAX`` characters; the whole text if it is shorter.
    """
    end = -1
    for _ in range(LINES_MAX):
        end = text.find("\n", end + 1, CHARS_MAX)
        if end < 0:
            return min(len(text), CHARS_MAX)
    return end


def _read_part(text: str, start: int, end: int, paragraph: int) -> Iterator[Line]:
    fenced = False
    for line in text[start:end].split("\n"):
        look = line[:LINE_LOOK]
        if look.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not look.strip():
            paragraph += 1
        elif not fenced:
            yield _read_line(look, start, start + len(line), paragraph)
        start += len(line) + 1


def _read_line(look: str, start: int, end: int, paragraph: int) -> Line:
    short = len(look) <= TITLE_MAX
    named = short and NAME_AND_TIME.search(look) is not None and PERSON.search(look) is None
    runs = named or COPIED_LINE.search(look) is not None
    salutes = short and paragraph > 0 and SALUTATION.search(look) is not None
    opens = salutes or OPENING_LINE.search(look) is not None
    return Line(start, end, look, paragraph, runs, opens, runs or opens or SET_LINE.search(look) is not None)


def _mark_speakers(lines: list[Line]) -> list[Line]:
    """``lines`` with those marked that begin with names of speakers who take turns."""
    found = [SPEAKER.match(line.text) for line in lines]
    labels = [match.group(1) or match.group(2) if match is not None else "" for match in found]
    turns = Counter(label for label in labels if 0 < len(label) <= _NAME_MAX)
    if len(turns) <= 1 or max(turns.values()) <= 1 or turns.total() < max(_TURNS_MIN, len(lines) // 2):
        return lines
    return [
        replace(line, runs=True, hints=True) if turns[label] > 1 else line
        for line, label in zip(lines, labels, strict=True)
    ]


def _mark_fields(lines: list[Line]) -> list[Line]:
    """``lines`` with those marked that, two of them in a row, say where a text comes from."""
    fields = [ORIGIN_FIELD.match(line.text) is not None for line in lines]
    for at in range(1, len(lines)):
        if fields[at - 1] and fields[at]:
            lines[at - 1 : at + 1] = [replace(line, opens=True, hints=True) for line in lines[at - 1 : at + 1]]
    return lines


def _mark_tables(lines: list[Line]) -> list[Line]:
    """``lines`` with those marked that have as many delimiters as their neighbours."""
    for delimiter in ";", ",", "\t":
        done = 0
        for _, group in groupby(lines, key=lambda line: (line.paragraph, line.text.count(delimiter))):
            rows = list(group)
            if _is_table(rows, delimiter):
                lines[done : done + len(rows)] = [replace(row, runs=True, hints=True) for row in rows]
            done += len(rows)
    return lines


def _is_table(rows: Sequence[Line], delimiter: str) -> bool:
    """Whether lines with equally many delimiters are rows: in prose, blanks stand behind them."""
    columns = rows[0].text.count(delimiter) if len(rows) >= _TABLE_MIN else 0
    return columns > 1 and not any(f"{delimiter} " in row.text for row in rows)
