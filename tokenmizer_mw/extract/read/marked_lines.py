"""Split a user's message into lines, each with the features that make it look like part of somebody else's document."""

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
"""Longest paragraph, in characters, that may be the user's request before or after a document."""

TITLE_MAX: Final = 60
"""Longest line, in characters, that may be the title of the document below it, a name with a time, or a salutation."""

CHARS_MAX: Final = 100_000
"""Number of characters of a message that are split into lines; its last paragraph is read in any case."""

LINES_MAX: Final = 2_000
"""Number of lines of a message that are read; its last paragraph is read in any case."""

LINE_LOOK: Final = 240
"""Number of characters at the start of a line that are looked at."""

_TABLE_MIN: Final = 3
"""Fewest lines in a row with the same number of delimiters that count as a table."""

_NAME_MAX: Final = 25
"""Longest name of a speaker, in characters."""

_TURNS_MIN: Final = 3
"""Fewest lines that begin with a speaker's name in a text that counts as a conversation."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty, at characters ``[start, end)`` of the message.

    - ``text``: its first ``LINE_LOOK`` characters; ``paragraph``: number of its paragraph.
    - ``runs``: whether the line is copied text, such as a line of a log, a row of a table, or a line of speakers who
      take turns.
    - ``opens``: whether it begins somebody else's document, as "Subject:" does, so that the following lines belong to
      it.
    - ``hints``: whether it has a weaker feature of documents, ``runs`` or ``opens``.

    ``runs`` and ``opens`` may follow from neighbouring lines, such as the other rows of a table.
    """

    start: int
    end: int
    text: str
    paragraph: int
    runs: bool
    opens: bool
    hints: bool

    @property
    def marked(self) -> bool:
        """Whether the line is copied text or begins somebody else's document (``runs`` or ``opens``)."""
        return self.runs or self.opens

    @property
    def addresses(self) -> bool:
        """Whether the line addresses its reader or mentions its writer."""
        return PERSON.search(self.text) is not None


def read_lines(text: str) -> list[Line]:
    """Return the lines of ``text`` that are not empty, with their features, except those in code blocks. The text
    between the limits (``CHARS_MAX``, ``LINES_MAX``) and the last paragraph is one ``Line`` whose ``text`` is "".
    Linear time."""
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
    """``lines``, with those marked as copied that begin with a name ("Ann: ..."), if speakers take turns in them."""
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
    """``lines``, with those marked as the opening of a document that are one of two adjacent fields such as "From:"."""
    fields = [ORIGIN_FIELD.match(line.text) is not None for line in lines]
    for at in range(1, len(lines)):
        if fields[at - 1] and fields[at]:
            lines[at - 1 : at + 1] = [replace(line, opens=True, hints=True) for line in lines[at - 1 : at + 1]]
    return lines


def _mark_tables(lines: list[Line]) -> list[Line]:
    """``lines``, with those marked as copied that are rows of a table: neighbours have as many delimiters."""
    for delimiter in ";", ",", "\t":
        done = 0
        for _, group in groupby(lines, key=lambda line: (line.paragraph, line.text.count(delimiter))):
            rows = list(group)
            if _is_table(rows, delimiter):
                lines[done : done + len(rows)] = [replace(row, runs=True, hints=True) for row in rows]
            done += len(rows)
    return lines


def _is_table(rows: Sequence[Line], delimiter: str) -> bool:
    """Whether lines with equally many delimiters are rows of a table. In prose, blanks follow the delimiters."""
    columns = rows[0].text.count(delimiter) if len(rows) >= _TABLE_MIN else 0
    return columns > 1 and not any(f"{delimiter} " in row.text for row in rows)
