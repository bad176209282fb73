"""Tables in text: values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from .columns import Column, looks_like_data
from .digest import Line, Report, counted, listed
from .reading import Source, Stopped

COLUMNS_MAX: Final = 200
"""Columns that are looked at one by one."""

DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_LOOKED_AT: Final = 50
_BLOCK: Final = 500


def read(source: Source) -> Report:
    """Rows and columns of the table in ``source``."""
    head = source.head.decode(source.encoding or "utf-8", "replace")
    delimiter = delimiter_of(head)
    rows = csv.reader(source.lines(), delimiter=delimiter)
    return _read(source, rows, delimiter)


def delimiter_of(text: str) -> str:
    """The delimiter by which the first lines fall into the same number of values, more than one; else a comma."""
    lines = [line for line in text.splitlines()[:_LOOKED_AT] if line.strip()]
    lines = lines[:-1] if len(lines) > 1 else lines  # the last one may be cut
    best, most = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        common = max(set(counts), key=counts.count, default=0)
        if common and (score := (counts.count(common) / len(counts), common)) > most:
            best, most = delimiter, score
    return best


class _Table:
    """What has been read of a table so far."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.header = False
        self.rows = self.uneven = self.first_uneven = 0
        self.broke = ""

    def take(self, rows: Iterator[list[str]]) -> None:
        """All ``rows``, of which the first two tell whether there is a header."""
        first = next(rows, None)
        if first is None:
            return
        second = next(rows, None)
        self.header = _is_header(first, second)
        names = first if self.header else [f"column {number}" for number in range(1, len(first) + 1)]
        self.columns = [Column(name.strip() or f"column {number}") for number, name in enumerate(names, 1)]
        self.add([*([] if self.header else [first]), *([] if second is None else [second])])
        block: list[list[str]] = []
        try:
            for row in rows:
                block.append(row)
                if len(block) >= _BLOCK:
                    self.add(block)
                    block = []
        finally:
            self.add(block)

    def add(self, block: Sequence[list[str]]) -> None:
        """More rows; an empty line is none."""
        rows = [row for row in block if row]
        wide = len(self.columns)
        for number, row in enumerate(rows, self.rows + 1):
            if len(row) != wide:
                self.uneven += 1
                self.first_uneven = self.first_uneven or number
        self.rows += len(rows)
        for column, values in zip(self.columns[:COLUMNS_MAX], zip_longest(*rows, fillvalue=""), strict=False):
            column.add(values)


def _is_header(first: list[str], second: list[str] | None) -> bool:
    """A row of different names, none of them a number or a date, is one, above a row that is not itself."""
    names = [name.strip() for name in first]
    return second is not None and all(names) and len({*names}) == len(names) and not looks_like_data(names)


def _read(source: Source, rows: Iterator[list[str]], delimiter: str) -> Report:
    table = _Table()
    try:
        table.take(rows)
    except csv.Error as error:
        table.broke = _why(error, table.rows)
    except Stopped:
        table.broke = f"stopped after {table.rows:,} rows"
    return _report(source, table, delimiter)


def _why(error: csv.Error, rows: int) -> str:
    quoting = "field larger" in str(error)  # than the module's own limit
    what = "a field does not end, or a quotation mark is opened and not closed" if quoting else str(error)
    return f"behind row {rows:,}, {what}; what follows is not counted"


def _report(source: Source, table: _Table, delimiter: str) -> Report:
    columns = table.columns
    header = "header" if table.header else "no header"
    name = "TSV" if delimiter == "\t" else "CSV"
    extent = f"{counted(table.rows, 'row')} x {counted(len(columns), 'column')}"
    title = f"{name}, {extent}, {DELIMITERS[delimiter]}-separated, {header}"
    lines = [Line("columns:", 9.0)] if columns else []
    lines += [
        Line(column.line(source.mask), 5.0 - index / len(columns)) for index, column in enumerate(columns[:COLUMNS_MAX])
    ]
    if len(columns) > COLUMNS_MAX:
        lines.append(Line(f"further columns: {listed((c.name for c in columns[COLUMNS_MAX:]), 10)}", 2.0))
    if table.uneven:
        lines.append(
            Line(
                f"with another number of values: {counted(table.uneven, 'row')}, first row {table.first_uneven:,}", 8.0
            )
        )
    if source.cut:
        lines.append(Line(source.cut, 8.0))
    facts = {
        "rows": table.rows,
        "header": table.header,
        "delimiter": delimiter,
        "uneven_rows": table.uneven,
        "columns": [column.to_dict() for column in columns[:COLUMNS_MAX]],
    }
    return Report(title, tuple(lines), table.broke, ("--lines 100:120", "--find TEXT"), facts)
