"""Readers for Excel workbooks and PDF documents; they need the libraries of the extra ``files``.

The texts that cells of a workbook share ("shared strings") are read as a stream, because the library would load all of
them, slowly.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, BinaryIO, Final

from .columns import Column, looks_like_data
from .digest import DigestLine, Report, format_count, format_size, join_names
from .reading import PIECE, TOO_LARGE, BrokenFile, FileSource, Stopped, clip_text
from .tree import make_parser

STRINGS_MAX: Final = 400_000
"""Largest number of shared texts that are read; a cell with a further one counts as empty."""

TEXT_MAX: Final = 32_767
"""Largest number of characters of a shared text; Excel allows no more in a cell."""

STRINGS_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of the shared texts up to which they are read."""


class Strings(list[str]):
    """The shared texts of a workbook, by index. ``cut``: whether there were more than the limit; those read as ""."""

    cut = False

    def __getitem__(self, number: Any) -> Any:
        """Return the text with the index ``number``; "" if it is beyond those that were read because of the limit.
        Raises ``IndexError`` for any other unknown index."""
        return "" if self.cut and number >= len(self) else super().__getitem__(number)


def read_strings(file: BinaryIO, source: FileSource) -> Strings:
    """Read the shared texts of a workbook from the XML part ``file``, up to the limits. ``source``: the workbook, whose
    ``advance`` can stop the reading.

    Raises ``BrokenFile`` for a document that declares entities, and the parser's error for invalid XML.
    """
    texts = _Texts()
    parser = make_parser(texts)
    left = STRINGS_BYTES_MAX
    while len(texts.items) < STRINGS_MAX and left > 0 and (piece := file.read(PIECE)):
        source.advance(0)
        left -= len(piece)
        parser.Parse(piece, False)
    strings = Strings(texts.items[:STRINGS_MAX])
    strings.cut = bool(len(texts.items) > len(strings) or file.read(1))
    return strings


class _Texts:
    """Collects the shared texts from XML: the element ``si`` is one text, of all ``t`` in it, except phonetic spellings
    (``rPh``)."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._open: list[str] = []
        self._size = 0
        self._reads = self._sounds = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of the XML element ``name``."""
        kind = name.rpartition(":")[2]
        if kind == "si":
            self._open, self._size = [], 0
        self._sounds = self._sounds or kind == "rPh"
        self._reads = kind == "t" and not self._sounds

    def text(self, text: str) -> None:
        """Collect ``text`` if it stands in an element ``t`` of a shared text."""
        if self._reads and self._size < TEXT_MAX:
            self._open.append(text[:TEXT_MAX])
            self._size += len(text)

    def end(self, name: str) -> None:
        """Handle the end of the XML element ``name``; at the end of an ``si`` its text is complete."""
        kind = name.rpartition(":")[2]
        self._reads = False
        if kind == "rPh":
            self._sounds = False
        elif kind == "si":
            self.items.append("".join(self._open)[:TEXT_MAX].replace("x005F_", ""))

    def entity(self, *declared: object) -> None:
        """Raise ``BrokenFile``. Called for each entity that the XML declares: entities could expand a small file into
        a huge one."""
        raise BrokenFile("its texts declare entities, which are not expanded")


UNPACKED_MAX: Final = 256 * 1024 * 1024
"""Bytes that a workbook may have when unpacked; a larger one is not opened."""

WHOLE_MAX: Final = 4 * 1024 * 1024
"""Bytes that the parts of a workbook may have that the library loads whole, such as its styles: all but sheets, shared
texts and media."""

ROWS_MAX: Final = 100_000
"""Rows of one sheet that are read, empty ones included, because a file may number a row a thousand million."""

CELL_MAX: Final = 10_000
"""Characters of one cell that are read."""

PAGE_TEXT_MAX: Final = 20_000
"""Characters of one page of a PDF document that are read."""

SHEETS_MAX: Final = 50
PAGES_MAX: Final = 5
"""Number of pages of a PDF document whose text is read."""

_IN_PIECES: Final = (
    "xl/worksheets/", "xl/sharedstrings.xml", "xl/media/", "xl/drawings/", "xl/charts/", "xl/embeddings/",
    "xl/externallinks/", "xl/pivotcache/", "xl/vbaproject.bin", "xl/calcchain.xml", "customxml/",
)  # fmt: skip
"""Beginnings of the names of parts that the library reads piece by piece, or not at all."""

_COLUMNS_MAX: Final = 60
_BLOCK: Final = 500
_TEXT_MAX: Final = 300
_NAME_MAX: Final = 100
_REASON_MAX: Final = 160


def read_workbook(source: FileSource) -> Report:
    """Report the sheets of a workbook, and their columns with statistics of the values. Needs the extra ``files``.

    Never raises for a broken file or without the extra: ``Report.broke`` says why reading failed or stopped.
    """
    try:
        from openpyxl.reader.excel import ExcelReader
    except ImportError:
        return Report("Excel workbook", broke="workbooks need the extra `files`")
    try:
        if swollen := _swollen(source):
            return Report("Excel workbook", broke=swollen)
        source.file.seek(0)
        reader = ExcelReader(source.file, read_only=True, data_only=True, keep_links=False)
        reader.read_strings = partial(_share, reader, source)
        reader.read()
        book, cut = reader.wb, getattr(reader.shared_strings, "cut", False)
    except Stopped:
        return Report("Excel workbook", broke="stopped before its sheets")
    except Exception as error:  # a foreign library on a foreign file: whatever it raises means that it cannot be read
        return Report("Excel workbook", broke=f"it cannot be opened: {_reason(error)}")
    try:
        report = _sheets(book, source)
    finally:
        book.close()
    some = "not all of its shared texts were read: further cells count as empty" if cut else ""
    return replace(report, broke=report.broke or some)


def _swollen(source: FileSource) -> str:
    """Return why a workbook is not opened, if it is too large when unpacked; else ""."""
    with zipfile.ZipFile(source.file) as archive:
        sizes = [(info.filename.lower(), info.file_size) for info in archive.infolist()]
    every = sum(size for _, size in sizes)
    whole = sum(size for name, size in sizes if not name.startswith(_IN_PIECES))
    if every > UNPACKED_MAX:
        return f"it unpacks to {format_size(every)} and is not opened"
    if whole > WHOLE_MAX:
        return f"its styles and other parts unpack to {format_size(whole)} and are not opened"
    return ""


def _share(reader: Any, source: FileSource) -> None:
    """Read the shared texts with ``read_strings``, in place of the library's own function."""
    from openpyxl.xml.constants import SHARED_STRINGS

    part = reader.package.find(SHARED_STRINGS)
    if part is not None:
        with reader.archive.open(part.PartName[1:]) as file:
            reader.shared_strings = read_strings(file, source)


def _sheets(book: Any, source: FileSource) -> Report:
    lines: list[DigestLine] = []
    facts: list[dict[str, Any]] = []
    broke = ""
    names = list(book.sheetnames)
    for place, name in enumerate(names[:SHEETS_MAX]):
        try:
            columns, rows, more = _sheet(book[name], source)
        except Stopped:
            broke = f"stopped in sheet {name}"
            break
        except Exception as error:  # as above
            broke = f"sheet {name}: {_reason(error)}"
            continue
        shown = f"{rows:,} rows in the first {ROWS_MAX:,}" if more else f"{rows:,} rows"
        lines.append(DigestLine(f"sheet {name}: {shown} x {format_count(len(columns), 'column')}", 7.0 - place / 100))
        lines += [
            DigestLine(column.line(source.mask), 4.0 - place - number / 100) for number, column in enumerate(columns)
        ]
        facts.append({"name": name, "rows": rows, "columns": [column.to_dict() for column in columns]})
    return Report(f"Excel workbook, {format_count(len(names), 'sheet')}", tuple(lines), broke, (), {"sheets": facts})


def _sheet(sheet: Any, source: FileSource) -> tuple[list[Column], int, bool]:
    """Return the columns of a sheet, the number of rows that are not empty, and whether there are more rows than were
    read."""
    every = sheet.iter_rows(values_only=True)
    rows = (
        ["" if value is None else str(value)[:CELL_MAX] for value in row[:_COLUMNS_MAX]]
        for row in islice(every, ROWS_MAX)
    )
    filled = (row for row in rows if any(row))
    first = next(filled, None)
    if first is None:
        return [], 0, next(every, None) is not None
    header = all(first) and not looks_like_data(first)
    columns = [Column(name if header else f"column {number}") for number, name in enumerate(first, 1)]
    count = 0
    for block in _blocks(filled if header else chain([first], filled)):
        source.advance(0)
        count += len(block)
        for number, column in enumerate(columns):
            column.add([row[number] if number < len(row) else "" for row in block])
    return columns, count, next(every, None) is not None


def _blocks(rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    while block := list(islice(rows, _BLOCK)):
        yield block


def read_pdf(source: FileSource) -> Report:
    """Report a PDF document: number of pages, title, author, subject, creation date, outline, and the beginning of the
    text of each of the first ``PAGES_MAX`` pages.

    Needs the extra ``files``. Does not raise: ``Report.broke`` says why reading failed or stopped.
    """
    try:
        import pypdf
    except ImportError:
        return Report("PDF document", broke="PDF documents need the extra `files`")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every flaw of a file, with pieces of it
    try:
        source.file.seek(0)
        document = pypdf.PdfReader(source.file)
        if document.is_encrypted:
            return Report("PDF document", broke="it is encrypted")
        pages = len(document.pages)
    except Exception as error:  # a foreign library on a foreign file: whatever it raises means that it cannot be read
        return Report("PDF document", broke=f"it cannot be opened: {_reason(error)}")
    lines: list[DigestLine] = []
    broke = ""
    try:
        lines += _describe_document(document)
        for number in range(min(pages, PAGES_MAX)):
            source.advance(0)
            text = " ".join((document.pages[number].extract_text() or "")[:PAGE_TEXT_MAX].split())
            if text:
                lines.append(
                    DigestLine(f"page {number + 1}: {clip_text(source.clean(text), _TEXT_MAX)}", 4.0 - number / 2)
                )
    except Stopped:
        broke = "stopped before the end"
    except Exception as error:  # as above
        broke = _reason(error)
    if not broke and not any(line.text.startswith("page ") for line in lines):
        lines.append(DigestLine(f"no text on the first {min(pages, PAGES_MAX)} pages: it may be scanned", 5.0))
    return Report(f"PDF document, {format_count(pages, 'page')}", tuple(lines), broke, (), {"pages": pages})


def _describe_document(document: Any) -> list[DigestLine]:
    metadata = document.metadata or {}
    names = ("/Title", "/Author", "/Subject", "/CreationDate")
    known = [f"{name[1:].lower()}: {clip_text(str(metadata[name]), _NAME_MAX)}" for name in names if metadata.get(name)]
    lines = [DigestLine("; ".join(known), 6.0)] if known else []
    headings = [str(one.title) for one in document.outline if hasattr(one, "title")]
    return [*lines, *([DigestLine(f"outline: {join_names(headings, 12)}", 5.0)] if headings else [])]


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return TOO_LARGE
    return clip_text((str(error).splitlines() or [type(error).__name__])[0], _REASON_MAX)
