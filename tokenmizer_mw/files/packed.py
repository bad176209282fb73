"""One compressed file that is no archive ("events.csv.gz"): read as what is in it, up to a limit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from .digest import measured

UNPACKED_MAX: Final = 4 * 1024**3
"""Bytes that a compressed file is read for."""

_OPENERS: Final[tuple[tuple[bytes, str, Callable[[BinaryIO], object]], ...]] = (
    (b"\x1f\x8b", ".gz", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", ".bz2", bz2.BZ2File),
    (b"\xfd7zXZ", ".xz", lzma.LZMAFile),
)
_TAR_HEAD: Final = 512


def unpacked(file: BinaryIO, name: str) -> tuple[str, BinaryIO]:
    """The name and the contents of a compressed file; itself when it is not compressed, or is an archive inside."""
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
            self.broke = f"read up to {measured(UNPACKED_MAX)} of contents"
            return b""
        try:
            piece = self._file.read(min(size, self._left) if size >= 0 else self._left)
        except (OSError, EOFError, lzma.LZMAError) as error:
            self.broke = f"the compressed data breaks off: {error}"
            return b""
        self._left -= len(piece)
        return piece
