"""A file as readers see it: bytes in pieces, decoded text, lines of bounded length."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

PIECE: Final = 1 << 18
LINE_MAX: Final = 1 << 20
"""Bytes of one line that are read; what is longer is cut there, and said."""

HEAD: Final = 1 << 16
"""Bytes of the start by which a file's kind and encoding are told."""

TOO_LARGE: Final = "it takes more memory than may be used; what follows is not read"
"""What a report says of a file that ran into the limit of memory."""

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Progress = Callable[[int], None]
"""Called with how many more bytes were read. May raise to stop the reading: ``Stopped`` gives a partial digest."""


Mask = Callable[[str, str], str]
"""From the name of a column or a member and a value of it to the value as it may be told."""

Clean = Callable[[str], str]
"""From a text to the text as it may be told."""


class Stopped(Exception):
    """Raised by a progress function to stop reading and get a partial digest."""


class BrokenFile(Exception):
    """Raised when a file is malformed from some position on, which the message names."""


@dataclass(slots=True)
class FileSource:
    """An open file.

    ``size``: in bytes; ``head``: its first bytes; ``encoding``: "" if it is not text; ``cut_lines``: number of lines
    that were cut because they were longer than ``line_max``.
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
        """Why the file could not be read to its end; "" if it could."""
        return getattr(self.file, "broke", "")

    def pieces(self) -> Iterator[bytes]:
        """Yield the whole file in pieces, from its start."""
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
        """Yield lines with their line ends, each at most ``line_max`` long."""
        kept: list[str] = []
        length = 0
        for text in self.texts():
            for line in io.StringIO(text, newline=""):
                room = self.line_max - length
                if room > 0:
                    kept.append(line[:room])
                ended = line.endswith(("\n", "\r"))
                length += len(line)
                if not ended:
                    continue
                yield self._whole(kept, length)
                kept, length = [], 0
        if length:
            yield self._whole(kept, length)

    def _whole(self, kept: list[str], length: int) -> str:
        line = "".join(kept)
        if length > self.line_max:
            self.cut_lines += 1
            return line + "\n"
        return line

    @property
    def cut(self) -> str:
        """A note about lines that were too long; "" if there were none."""
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
    kept = text[:size]
    words = kept[: len(kept) - len(kept.split()[-1])] if kept[-1:].strip() else kept
    return words.rstrip() or "..."


def encoding_of(head: bytes) -> str:
    """Return the encoding of a file from its first bytes; "" if it is not text."""
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
    """UTF-16 without a mark: every other byte of ordinary text is zero."""
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[first::2].count(0) * 2 > len(head[first::2]) and head[1 - first :: 2].count(0) == 0:
            return name
    return ""
