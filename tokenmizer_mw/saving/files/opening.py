"""Opens a file for its reader: decompresses it up to a limit, and detects its encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from tokenmizer_mw.errors import CallerError

from .digest import format_size
from .reading import HEAD, Clean, FileSource, Mask, Progress, encoding_of

UNPACKED_MAX: Final = 4 * 1024**3
"""Bytes that a compressed file is read for."""

_OPENERS: Final[tuple[tuple[bytes, str, Callable[[BinaryIO], object]], ...]] = (
    (b"\x1f\x8b", ".gz", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", ".bz2", bz2.BZ2File),
    (b"\xfd7zXZ", ".xz", lambda file: io.BufferedReader(_Xz(file))),
)
_XZ_MEMORY_MAX: Final = 128 * 1024 * 1024
"""Bytes that a dictionary may take; those of `xz -9` take 65 MB."""
_TAR_HEAD: Final = 512
_READ: Final = 1 << 16


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins with ``head`` is compressed."""
    return any(head.startswith(mark) for mark, _, _ in _OPENERS)


def unpack_file(file: BinaryIO, name: str) -> tuple[str, BinaryIO]:
    """Return name and content of a compressed file; the file itself if it is not compressed or contains an archive."""
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
    """An .xz file of one stream or several, whose dictionary is bounded: the library's own reader has no such limit."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = self._begin()
        self._rest = b""

    def _begin(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_MAX)

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """To the start, at least."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the start, the only place that can be sought."""
        self._file.seek(0)
        self._decoder, self._rest = self._begin(), b""
        return 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with what comes next; 0 at the end. Raises ``EOFError`` where the data breaks off."""
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
    """A compressed file that breaks off behind a limit, and where it is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = UNPACKED_MAX
        self.broke = ""

    def seek(self, place: int) -> int:
        """Go back to the start."""
        self._left = UNPACKED_MAX
        return self._file.seek(place)

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes; b"" where it ends, breaks or grows too large."""
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
    """Return the name that determines the file's kind, and the file as a source for readers.

    ``unpack``: whether to decompress a compressed file. Raises ``CallerError`` if the file cannot be read.
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
