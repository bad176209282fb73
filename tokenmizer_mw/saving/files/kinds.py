"""Selects the reader for a file, by its first bytes, its name, and its first lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from . import archives, logs, office, records, table, text, tree
from .digest import DigestLine, Report
from .reading import FileSource

Reader = Callable[[FileSource], Report]

READERS: Final[Mapping[str, Reader]] = {
    "csv": table.read,
    "json": records.read_json,
    "jsonl": records.read_json_lines,
    "yaml": records.read_yaml,
    "toml": records.read_toml,
    "xml": tree.read,
    "log": logs.read,
    "markdown": text.read_markdown,
    "text": text.read_plain,
    "pdf": office.read_pdf,
    "workbook": office.read_workbook,
    "zip": archives.read_zip,
    "tar": archives.read_tar,
}

_ENDINGS: Final[Mapping[str, str]] = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".json": "json", ".geojson": "json", ".ipynb": "json",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".xml": "xml",
    ".svg": "xml", ".log": "log", ".md": "markdown", ".markdown": "markdown", ".txt": "",
}  # fmt: skip

_ZIPPED: Final = {".xlsx": "workbook", ".xlsm": "workbook"}
_PLAIN: Final = frozenset({"csv", "log", "markdown", "text", "source", "binary"})

_BINARY: Final = (
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"PAR1", "Parquet file"),
    (b"\x7fELF", "ELF program"),
    (b"MZ", "Windows program"),
    (b"RIFF", "RIFF media file"),
    (b"ID3", "MP3 sound"),
    (b"OggS", "Ogg media file"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!", "RAR archive"),
    (b"\xd0\xcf\x11\xe0", "old Office document"),
)
_PACKED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_LISTS: Final = frozenset("[" + second for second in '{["]-0123456789')
_TAR_MARK: Final = slice(257, 262)


def reader_of(name: str, source: FileSource) -> tuple[str, Reader]:
    """Return the kind of a file, such as "csv", and the function that reads it.

    Archives, PDF files and other content that is not text are recognised by their first bytes, whatever the name (which
    tells ZIP archives from office documents). The kind of a text file is that of its ending; only if the ending is not
    known, its first lines decide.
    """
    kind = _by_contents(name, source)
    if kind:
        return kind, READERS[kind]
    if not source.encoding:
        return "binary", _binary
    language = text.language_of(name)
    if language is not None:
        return "source", partial(text.read_source, language=language)
    kind = _ENDINGS.get(_ending(name), "") or _by_looks(source)
    return kind, READERS[kind]


def is_plain(kind: str) -> bool:
    """Return whether files of a kind are safe to read in the calling process: line by line, in bounded time and
    memory."""
    return kind in _PLAIN


def _by_contents(name: str, source: FileSource) -> str:
    head = source.head
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _ZIPPED.get(_ending(name), "zip")
    if head.startswith(b"%PDF-"):
        return "pdf"
    if head[_TAR_MARK] == b"ustar" or head.startswith(_PACKED):
        return "tar"
    return ""


def _ending(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def _by_looks(source: FileSource) -> str:
    """The kind of a text file, judged by its first lines, if its name does not tell."""
    head = source.head.decode(source.encoding, "replace")
    lines = [line for line in head.splitlines()[:50] if line.strip()]
    start = "".join(head.split())[:2]
    if start[:1] == "{" and len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines[:-1]):
        return "jsonl"
    if start[:1] == "{" or start in _LISTS:
        return "json"
    if head.lstrip().startswith(("<?xml", "<!DOCTYPE")):
        return "xml"
    if logs.looks_like_log(lines):
        return "log"
    delimiter = table.delimiter_of(head)
    counts = {line.count(delimiter) for line in lines[:-1] or lines}
    return "csv" if len(lines) > 2 and len(counts) == 1 and counts != {0} else "text"


def _binary(source: FileSource) -> Report:
    name = next((name for mark, name in _BINARY if source.head.startswith(mark)), "binary file")
    return Report(name, (DigestLine("its contents are not text", 1.0),))
