"""Readers of secrets in columns: Markdown tables, comma-separated values, SQL inserts.

The header names the columns; a cell in a column with a secret's name is judged like a value of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .found import FindingRank, PlaceReading, SecretSpan, refusal
from .keyed import SecretValue, doubts
from .keys import NAME_MAX, NameKind, sort
from .pattern import compile_pattern

TABLE_MAX: Final = 16384
"""Bytes of a table that are read behind its head."""

HEAD_MAX: Final = 1024
"""Bytes that the head of a table has at most."""

_NAMES: Final = (
    r"(?:pass(?:word|wort|wd|phrase)?|pwd|pw|secret|token|credentials?|(?:secret|api|access|private|auth)[ _-]?"
    r"(?:access[ _-]?)?key|contrase\xc3\xb1a|senha|mot de passe|wachtwoord)"
)
_CELL: Final = r"[ \t*`\"']*"
HEAD: Final = rf"(?i:[|,;\t]{_CELL}(?:[a-z]{{1,12}}[ _-])?{_NAMES}{_CELL}(?:[|,;\t][^\n\\]{{0,80}})?(?:\r?\n|\\+n))"
"""A line of cells of which one is a telling name."""

INSERT: Final = rf"(?i:insert[ \t]+into[ \t]+[^\s(]{{1,80}}[ \t]*\([^()]{{0,200}}\b{_NAMES}[a-z_]{{0,16}}\b)"
"""A statement that fills a column with a telling name."""

_DECORATION: Final = b" \t*`\"'"
_ROW: Final = compile_pattern(r"([^\r\n\\]*)(?:\r?\n|\\+n|$)")
_COLUMNS: Final = compile_pattern(r"(?i)insert[ \t]+into[ \t]+[^\s(]+[ \t]*\(([^()]*)\)\s*values\s*")
_TUPLE: Final = compile_pattern(r"[\s,]*\(((?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^()'\"])*)\)")
_FIELD: Final = compile_pattern(r"\s*((?:[NE]?'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,'\"])+),?")


def read_table(text: bytes, start: int) -> PlaceReading:
    """Read the cells in columns with secrets' names below the header at ``start``, up to the end of the table."""
    mark = text[start : start + 1]
    line = _line(text, start)
    head = _ROW.match(text, line, min(len(text), line + HEAD_MAX))
    if head is None or head.end() <= start:
        return refusal("value", start, start + 3, "no head of a table", start + 3)
    names = [_cell_text(cell) for cell in head.group(1).split(mark)]
    kinds = [
        (place, kind) for place, name in enumerate(names) if (kind := sort(name)) in (NameKind.PASSWORD, NameKind.TOKEN)
    ]
    found: list[SecretSpan] = []
    place, limit = head.end(), min(len(text), head.end() + TABLE_MAX)
    while kinds and place < limit and (row := _ROW.match(text, place, limit)) is not None:
        cells = row.group(1).split(mark)
        if len(cells) != len(names) or any(sort(_cell_text(cells[column])) is kind for column, kind in kinds):
            break
        for column, kind in kinds:
            first = row.start(1) + sum(map(len, cells[:column])) + column
            found += _judge_cell(text, _bare(text, first, first + len(cells[column])), kind, names[column])
        place = max(row.end(), place + 1)
    return PlaceReading(place if found else max(start + 3, head.end() - 1), tuple(found))


def _line(text: bytes, start: int) -> int:
    """Where the line around ``start`` begins, behind a new line or an escaped one."""
    before = text[max(0, start - HEAD_MAX) : start]
    return start - len(before) + max(before.rfind(b"\n") + 1, before.rfind(b"\\n") + 2 if b"\\n" in before else 0)


def _cell_text(cell: bytes) -> str:
    """What a cell says, without what decorates it."""
    return cell[:NAME_MAX].strip(_DECORATION).decode("utf-8", "replace")


def _bare(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Where what a cell says stands."""
    cell = text[start:end]
    first = start + len(cell) - len(cell.lstrip(_DECORATION))
    return first, max(first, start + len(cell.rstrip(_DECORATION)))


def _judge_cell(text: bytes, cell: tuple[int, int], kind: NameKind, name: str) -> list[SecretSpan]:
    """The cell, when it is a secret by its name."""
    start, end = cell
    said = text[start : min(end, start + HEAD_MAX)].decode("latin-1")
    if not any(map(str.isdigit, said)) or " " in said or doubts(said, kind, name, SecretValue(start, end, quoted=True)):
        return []
    return [SecretSpan(kind.value, start, end, f"the column {name!r}", FindingRank.NAMED, name)]


def read_insert(text: bytes, start: int) -> PlaceReading:
    """Read the values that an SQL statement inserts into columns with secrets' names."""
    columns = _COLUMNS.match(text, start, min(len(text), start + HEAD_MAX))
    if columns is None:
        return refusal("value", start, start + 6, "no columns and values", start + 6)
    names = [name.strip(b' \t\r\n`"[]').decode("utf-8", "replace") for name in columns.group(1).split(b",")]
    kinds = [
        (place, kind) for place, name in enumerate(names) if (kind := sort(name)) in (NameKind.PASSWORD, NameKind.TOKEN)
    ]
    found: list[SecretSpan] = []
    place, limit = columns.end(), min(len(text), columns.end() + TABLE_MAX)
    while kinds and (values := _TUPLE.match(text, place, limit)) is not None:
        fields = list(_fields(text, *values.span(1)))
        for column, kind in kinds:
            if column < len(fields):
                found += _judge_cell(text, fields[column], kind, names[column])
        place = values.end()
    return PlaceReading(max(columns.end(), start + 6), tuple(found))


def _fields(text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the fields of a row say something, inside quotes; an empty place for those without."""
    while start < end and (field := _FIELD.match(text, start, end)) is not None and field.end() > start:
        first, last = field.span(1)
        if text[first:last].rstrip()[-1:] in (b"'", b'"'):
            yield _bare(text, first + (text[first : first + 1] in (b"N", b"E")), last)
        else:
            yield first, first
        start = field.end()
