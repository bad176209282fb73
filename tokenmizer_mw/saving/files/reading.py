"""A file as the readers of each kind see it: opened, decompressed up to a limit, decoded, and split into lines of
bounded length."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from tokenmizer_mw.errors import CallerError

from .digest import format_size

PIECE: Final = 1 << 18
LINE_MAX: Final = 1 << 20
"""Characters of one line that are read. A longer one is cut, and the digest says so."""

HEAD: Final = 1 << 16
"""Bytes at the start of a file by which its kind and encoding are recognised."""

TOO_LARGE: Final = "it takes more memory than may be used; what follows is not read"
"""Note in a report if reading a file exceeded the memory limit."""

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Progress = Callable[[int], None]
"""Function that is called with the number of bytes read since the last call. It may raise ``Stopped`` to end the
reading; the digest is then partial."""


Mask = Callable[[str, str], str]
"""Function that redacts a value: gets the name of the column or field, and the value, and returns what may be shown."""

Clean = Callable[[str], str]
"""Function that redacts secrets in a text and returns the result."""


class Stopped(Exception):
    """Raised by a progress function to stop reading: ``analyze`` then returns a partial digest, ``excerpt`` passes it
    on."""


class BrokenFile(Exception):
    """Raised when a file is malformed; the message says from where on. What was read before still counts."""


@dataclass(slots=True)
class FileSource:
    """An open file that a reader reads.

    - ``size``: bytes on disk; ``head``: its first bytes, decompressed; ``encoding``: such as "utf-8", "" if it is not
      text.
    - ``advance``: called with the number of bytes read, may raise ``Stopped``; ``mask``, ``clean``: redact a value,
      or a text.
    - ``line_max``: characters at which lines are cut; ``cut_lines``: number of lines that were cut.
    """

    file: BinaryIO
    size: int
    head: bytes
    encoding: str
    advance: Progress
    mask: Mask
    clean: Clean
    line_max: int = LINE_MAX
    cut_lines: int = 0

    @property
    def broke(self) -> str:
        """Why a compressed file could not be read to its end (its data is damaged, or larger than the limit); "" if it
        could, as far as it was read, and for other files."""
        return getattr(self.file, "broke", "")

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the whole file in pieces, from its start. ``advance`` is called for each piece and may
        raise ``Stopped``."""
        self.file.seek(0)
        while piece := self.file.read(PIECE):
            self.advance(len(piece))
            yield piece

    def texts(self) -> Iterator[str]:
        """Yield the whole file as text; undecodable bytes become replacement characters."""
        decoder = codecs.getincrementaldecoder(self.encoding or "utf-8")("replace")
        for piece in self.pieces():
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends. Longer ones than ``line_max`` characters are cut, and counted in
        ``cut_lines``."""
        pieces: list[str] = []
        length = 0
        for text in self.texts():
            for line in io.StringIO(text, newline=""):
                room = self.line_max - length
                if room > 0:
                    pieces.append(line[:room])
                ended = line.endswith(("\n", "\r"))
                length += len(line)
                if not ended:
                    continue
                yield self._whole(pieces, length)
                pieces, length = [], 0
        if length:
            yield self._whole(pieces, length)

    def _whole(self, pieces: list[str], length: int) -> str:
        line = "".join(pieces)
        if length > self.line_max:
            self.cut_lines += 1
            return line + "\n"
        return line

    @property
    def cut(self) -> str:
        """A note for the digest with the number of lines that ``lines`` has cut because they were too long; "" if there
        were none."""
        lines = "line" if self.cut_lines == 1 else "lines"
        return f"{self.cut_lines} {lines} longer than {self.line_max:,} characters cut" if self.cut_lines else ""


def clip_text(text: str, size: int) -> str:
    """Return at most the first ``size`` characters, cut at the end of a word; "..." for a longer word.

    Words are never cut, because part of a secret would not be recognised as one.
    """
    if len(text) <= size:
        return text
    if text[size].isspace():
        return text[:size]
    start = text[:size]
    words = start[: len(start) - len(start.split()[-1])] if start[-1:].strip() else start
    return words.rstrip() or "..."


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file, such as "utf-8", judged by its first bytes; "" if it is not text."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\0" in head:
        return _wide(head)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8"
    except UnicodeDecodeError:
        steering = sum(byte < 9 or 13 < byte < 32 for byte in head)
        return "cp1252" if steering * 100 < len(head) else ""


def _wide(head: bytes) -> str:
    """Return "utf-16-le" or "utf-16-be" if ``head``, the first bytes of a file, looks like UTF-16 without a byte order
    mark: more than half of every other byte are zero, and none of the rest. "" if it does not."""
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[first::2].count(0) * 2 > len(head[first::2]) and head[1 - first :: 2].count(0) == 0:
            return name
    return ""


UNPACKED_MAX: Final = 4 * 1024**3
"""Bytes up to which the contents of a compressed file are read."""

_OPENERS: Final[tuple[tuple[bytes, str, Callable[[BinaryIO], object]], ...]] = (
    (b"\x1f\x8b", ".gz", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", ".bz2", bz2.BZ2File),
    (b"\xfd7zXZ", ".xz", lambda file: io.BufferedReader(_Xz(file))),
)
_XZ_MEMORY_MAX: Final = 128 * 1024 * 1024
"""Bytes of memory that decompressing an .xz file may take; `xz -9` needs 65 MB."""
_TAR_HEAD: Final = 512
_READ: Final = 1 << 16


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins with the bytes ``head`` is compressed with gzip, bzip2 or xz."""
    return any(head.startswith(mark) for mark, _, _ in _OPENERS)


def unpack_file(file: BinaryIO, name: str) -> tuple[str, BinaryIO]:
    """Return name and contents of a compressed file ("a.csv" for "a.csv.gz"). If it is not compressed, or contains a
    tar archive, the name and the file itself."""
    file.seek(0)
    head = file.read(8)
    file.seek(0)
    for mark, ending, opener in _OPENERS:
        if head.startswith(mark):
            inner = _Limited(cast(BinaryIO, opener(file)))
            if _is_tar(inner):
                break
            return name.removesuffix(ending), cast(BinaryIO, inner)
    file.seek(0)
    return name, file


def _is_tar(file: _Limited) -> bool:
    try:
        block = file.read(_TAR_HEAD)
        tarfile.TarInfo.frombuf(block, "utf-8", "replace")
    except (tarfile.HeaderError, OSError, EOFError, lzma.LZMAError):
        return False
    finally:
        file.seek(0)
    return True


class _Xz(io.RawIOBase):
    """An .xz file that is decompressed while it is read, in bounded memory; the standard library's reader sets no
    limit."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = self._begin()
        self._rest = b""

    def _begin(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_MAX)

    def readable(self) -> bool:
        """Return true: the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return true, although the file can go back only to its start (``seek``)."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the start of the file, whatever the arguments say, and return 0."""
        self._file.seek(0)
        self._decoder, self._rest = self._begin(), b""
        return 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with the next bytes and return how many; 0 at the end. Raises ``EOFError`` if the file breaks
        off."""
        piece = self._next(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _next(self, size: int) -> bytes:
        while True:
            if self._decoder.eof:
                self._rest = self._decoder.unused_data.lstrip(b"\0") or self._file.read(_READ).lstrip(b"\0")
                if not self._rest:
                    return b""
                self._decoder = self._begin()
            if self._decoder.needs_input and not self._rest:
                self._rest = self._file.read(_READ)
                if not self._rest:
                    raise EOFError("it ends before its end marker")
            piece, self._rest = self._decoder.decompress(self._rest, size), b""
            if piece:
                return piece


class _Limited:
    """The contents of a compressed file. They end, instead of raising an error, at ``UNPACKED_MAX`` bytes or where the
    data is damaged; ``broke`` then says why."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = UNPACKED_MAX
        self.broke = ""

    def seek(self, place: int) -> int:
        """Go to byte ``place`` of the contents and return it. Only 0 is meant: from there, ``UNPACKED_MAX`` bytes can
        be read again."""
        self._left = UNPACKED_MAX
        return self._file.seek(place)

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; b"" at the end, at damaged data and at the limit."""
        if self._left <= 0:
            self.broke = f"read up to {format_size(UNPACKED_MAX)} of contents"
            return b""
        try:
            piece = self._file.read(min(size, self._left) if size >= 0 else self._left)
        except (OSError, EOFError, lzma.LZMAError) as error:
            self.broke = f"the compressed data breaks off: {error}"
            return b""
        self._left -= len(piece)
        return piece


def open_source(
    file: BinaryIO, name: str, progress: Progress, mask: Mask, clean: Clean, *, unpack: bool = True
) -> tuple[str, FileSource]:
    """Return the name that determines the file's kind (without ".gz" and the like), and the file as a source for
    readers.

    ``progress``, ``mask``, ``clean``: the fields ``advance``, ``mask`` and ``clean`` of the source. ``unpack``: whether
    to decompress a compressed file. Raises ``CallerError`` if the file cannot be read.
    """
    try:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        inner, plain = unpack_file(file, name) if unpack else (name, file)
        plain.seek(0)
        head = plain.read(HEAD)
        plain.seek(0)
    except OSError as error:
        raise CallerError(f"{name}: {error.strerror or error}") from None
    return inner, FileSource(plain, size, head, encoding_of(head), progress, mask, clean)
