"""Reader for tables in text files, whose values are separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

from .columns import Column, looks_like_data
from .digest import DigestLine, Report, format_count
from .reading import LINE_MAX, FileSource, Stopped

COLUMNS_MAX: Final = 200
"""Number of columns of a table that are described; of further ones, at most the names are shown."""

ROW_MAX: Final = 2 * LINE_MAX
"""Largest number of characters of one row, which may span lines."""

DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_LOOKED_AT: Final = 50
_NAMED: Final = 10
"""Number of columns beyond ``COLUMNS_MAX`` whose names are shown."""
_BLOCK: Final = 500
_BLOCK_TEXT: Final = 1 << 20
"""Characters of the rows that are evaluated together."""


def read(source: FileSource) -> Report:
    """Report the rows of a table, and its columns with statistics of their values."""
    head = source.head.decode(source.encoding or "utf-8", "replace")
    delimiter = delimiter_of(head)
    lines = _Lines(source.lines())
    return _read(source, lines, lines.rows(csv.reader(lines, delimiter=delimiter)), delimiter)


def delimiter_of(text: str) -> str:
    """Return the delimiter of a table: the one that splits most of its first lines into the same number of values; ","
    if there is none."""
    lines = [line for line in text.splitlines()[:_LOOKED_AT] if line.strip()]
    lines = lines[:-1] if len(lines) > 1 else lines  # the last one may be cut
    best, most = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        common = max(set(counts), key=counts.count, default=0)
        if common and (score := (counts.count(common) / len(counts), common)) > most:
            best, most = delimiter, score
    return best


class _Lines:
    """The lines of a table, as the CSV parser takes them. A row of more than ``ROW_MAX`` characters raises
    ``csv.Error``.

    ``taken``: number of characters taken so far; ``begun``: number of the line on which the newest row begins.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.taken = 0
        self.begun = 0
        self._count = 0
        self._limit = ROW_MAX

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.taken += len(line)
        self._count += 1
        if self.taken > self._limit:
            raise csv.Error(f"a row is longer than {ROW_MAX:,} characters")
        return line

    def rows(self, rows: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield ``rows``, which the CSV parser makes of these lines, and note on which line each begins (``begun``). A
        row may span several lines."""
        following = 1
        for row in rows:
            self._limit = self.taken + ROW_MAX
            self.begun, following = following, self._count + 1
            yield row


class _Table:
    """Columns and counts of a table, as far as it was read.

    ``further``: names of the first columns beyond ``COLUMNS_MAX``; ``wide``: number of all columns; ``uneven``: number
    of rows with another number of values, ``first_uneven``: line of the first.
    """

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.further: list[str] = []
        self.wide = 0
        self.header = False
        self.rows = self.uneven = self.first_uneven = 0
        self.broke = ""

    def take(self, rows: Iterator[list[str]], lines: _Lines) -> None:
        """Read all ``rows`` into the columns; ``lines``: the lines that they are parsed from. The first two rows show
        whether there is a header. Raises ``csv.Error`` and ``Stopped``; the rows before that are counted."""
        first, start = next(rows, None), lines.begun
        if first is None:
            return
        second = next(rows, None)
        self._begin(first, second)
        started = [(second, lines.begun)] if self.header else [(first, start), (second, lines.begun)]
        block = [(self._row(row, line), line) for row, line in started if row is not None]
        begun = lines.taken
        try:
            for row in rows:
                block.append((self._row(row, lines.begun), lines.begun))
                if len(block) >= _BLOCK or lines.taken - begun >= _BLOCK_TEXT:
                    self._add(block)
                    block, begun = [], lines.taken
        finally:
            self._add(block)

    def _begin(self, first: list[str], second: list[str] | None) -> None:
        self.wide = len(first)
        self.header = _is_header(first[:COLUMNS_MAX], second)
        named = min(self.wide, COLUMNS_MAX + _NAMED)
        names = first[:named] if self.header else [""] * named
        names = [name.strip() or f"column {number}" for number, name in enumerate(names, 1)]
        self.columns = [Column(name) for name in names[:COLUMNS_MAX]]
        self.further = names[COLUMNS_MAX:]

    def _row(self, row: list[str], line: int) -> list[str]:
        """Count one row, and return its values in the described columns. An empty line is no row."""
        if row:
            self.rows += 1
            if len(row) != self.wide:
                self.uneven += 1
                self.first_uneven = self.first_uneven or line
        return row[:COLUMNS_MAX]

    def _add(self, block: list[tuple[list[str], int]]) -> None:
        rows = [row for row, _ in block if row]
        lines = [line for row, line in block if row]
        for column, values in zip(self.columns, zip_longest(*rows, fillvalue=""), strict=False):
            column.add(values, lines)


def _is_header(first: list[str], second: list[str] | None) -> bool:
    """Return whether the first row is a header: it has different names, none of them a number or a date, and a second
    row follows."""
    names = [name.strip() for name in first]
    return second is not None and all(names) and len({*names}) == len(names) and not looks_like_data(names)


def _read(source: FileSource, lines: _Lines, rows: Iterator[list[str]], delimiter: str) -> Report:
    table = _Table()
    try:
        table.take(rows, lines)
    except csv.Error as error:
        table.broke = _why(error, table.rows)
    except Stopped:
        table.broke = f"stopped after {table.rows:,} rows"
    return _report(source, table, delimiter)


def _why(error: csv.Error, rows: int) -> str:
    quoting = "field larger" in str(error)  # than the module's own limit
    what = "a field does not end, or a quotation mark is opened and not closed" if quoting else str(error)
    return f"behind row {rows:,}, {what}; what follows is not counted"


def _report(source: FileSource, table: _Table, delimiter: str) -> Report:
    columns = table.columns
    header = "header" if table.header else "no header"
    name = "TSV" if delimiter == "\t" else "CSV"
    extent = f"{format_count(table.rows, 'row')} x {format_count(table.wide, 'column')}"
    title = f"{name}, {extent}, {DELIMITERS[delimiter]}-separated, {header}"
    lines = [DigestLine("columns:", 9.0)] if columns else []
    lines += [DigestLine(column.line(source.mask), 5.0 - index / len(columns)) for index, column in enumerate(columns)]
    if table.further:
        more = table.wide - len(columns) - len(table.further)
        rest = f" and {more:,} more" if more else ""
        lines.append(DigestLine(f"further columns: {', '.join(table.further)}{rest}", 2.0))
    if table.uneven:
        uneven = f"{format_count(table.uneven, 'row')}, first in line {table.first_uneven:,}"
        lines.append(DigestLine(f"with another number of values: {uneven}", 8.0))
    if source.cut:
        lines.append(DigestLine(source.cut, 8.0))
    facts = {
        "rows": table.rows,
        "header": table.header,
        "delimiter": delimiter,
        "uneven_rows": table.uneven,
        "columns": [column.to_dict() for column in columns],
        "further_columns": table.wide - len(columns),
    }
    return Report(title, tuple(lines), table.broke, ("--lines 100:120", "--find TEXT"), facts)
