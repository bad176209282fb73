"""Opens a file for its reader: decompresses it, and detects its encoding."""

from __future__ import annotations

import io
from typing import BinaryIO

from tokenmizer_mw.errors import CallerError

from .packed import unpack_file
from .reading import HEAD, Clean, FileSource, Mask, Progress, encoding_of


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
