"""The shared strings of a workbook, read as a stream, because the library loads all of them and is slow."""

from __future__ import annotations

from typing import Any, BinaryIO, Final
from xml.parsers import expat

from .reading import PIECE, BrokenFile, FileSource

STRINGS_MAX: Final = 400_000
"""Shared texts that are kept; a cell with a further one reads as if it were empty."""

TEXT_MAX: Final = 32_767
"""Characters of one that are kept: more are not allowed in a cell."""

UNPACKED_MAX: Final = 32 * 1024 * 1024
"""Bytes of them that are read."""


class Strings(list[str]):
    """Strings by index. ``cut``: true if there were more than the limit; those read as empty."""

    cut = False

    def __getitem__(self, number: Any) -> Any:
        """Return the string with this index."""
        return "" if self.cut and number >= len(self) else super().__getitem__(number)


def read_strings(file: BinaryIO, source: FileSource) -> Strings:
    """Read the shared strings.

    Raises ``BrokenFile`` for a document that declares entities, and the parser's error for invalid XML.
    """
    texts = _Texts()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = texts.start
    parser.EndElementHandler = texts.end
    parser.CharacterDataHandler = texts.text
    parser.EntityDeclHandler = texts.entity
    left = UNPACKED_MAX
    while len(texts.kept) < STRINGS_MAX and left > 0 and (piece := file.read(PIECE)):
        source.advance(0)
        left -= len(piece)
        parser.Parse(piece, False)
    told = Strings(texts.kept[:STRINGS_MAX])
    told.cut = bool(len(texts.kept) > len(told) or file.read(1))
    return told


class _Texts:
    """Elements as they open and close: an ``si`` is one text, of all ``t`` in it but those that tell how it sounds."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self._open: list[str] = []
        self._size = 0
        self._reads = self._sounds = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        kind = name.rpartition(":")[2]
        if kind == "si":
            self._open, self._size = [], 0
        self._sounds = self._sounds or kind == "rPh"
        self._reads = kind == "t" and not self._sounds

    def text(self, text: str) -> None:
        """Text inside the element that is open."""
        if self._reads and self._size < TEXT_MAX:
            self._open.append(text[:TEXT_MAX])
            self._size += len(text)

    def end(self, name: str) -> None:
        """An element closes."""
        kind = name.rpartition(":")[2]
        self._reads = False
        if kind == "rPh":
            self._sounds = False
        elif kind == "si":
            self.kept.append("".join(self._open)[:TEXT_MAX].replace("x005F_", ""))

    def entity(self, *declared: object) -> None:
        """A document that declares entities."""
        raise BrokenFile("its texts declare entities, which are not expanded")
