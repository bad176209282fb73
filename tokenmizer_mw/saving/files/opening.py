"""From an open file to what its reader sees: unpacked where it is compressed, with its encoding and its first bytes."""

from __future__ import annotations

import io
from typing import BinaryIO

from tokenmizer_mw.errors import CallerError

from .packed import unpacked
from .reading import HEAD, Clean, FileSource, Mask, Progress, encoding_of


def open_source(
    file: BinaryIO, name: str, progress: Progress, mask: Mask, clean: Clean, *, unpack: bool = True
) -> tuple[str, FileSource]:
    """The name by which a file is judged, and the file as readers see it. Raises ``CallerError`` when it cannot be
    read. Without ``unpack``, a compressed file stays as it is."""
    try:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        inner, plain = unpacked(file, name) if unpack else (name, file)
        plain.seek(0)
        head = plain.read(HEAD)
        plain.seek(0)
    except OSError as error:
        raise CallerError(f"{name}: {error.strerror or error}") from None
    return inner, FileSource(plain, size, head, encoding_of(head), progress, mask, clean)
