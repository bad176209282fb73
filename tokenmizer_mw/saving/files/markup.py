"""XML files, read as a stream: elements and attributes by path. Entities are not expanded; nothing is fetched."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from .digest import Report, format_count
from .reading import TOO_LARGE, BrokenFile, FileSource, Stopped
from .tree import DEPTH_MAX, Tree

TEXT_MAX: Final = 2_000
"""Characters of the text of one element that are looked at."""

NESTED_MAX: Final = 10_000
"""Elements within elements, below which nothing is read: the parser remembers each."""


class _Handlers:
    """Elements as they open and close."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.elements = 0
        self._open: list[list[str]] = []  # the path of each element around, then its text

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        self.elements += 1
        if len(self._open) > NESTED_MAX:
            raise BrokenFile(f"it is nested more than {NESTED_MAX:,} deep; what follows is not read")
        deep = len(self._open) > DEPTH_MAX
        path = self._open[-1][0] if deep else f"{self._open[-1][0]}/{name}" if self._open else name
        self._open.append([path])
        for attribute, value in attributes.items():
            self.tree.add(f"{path}@{attribute}", "attribute", value)

    def text(self, text: str) -> None:
        """Text inside the element that is open."""
        if self._open and len(self._open[-1]) <= TEXT_MAX:
            self._open[-1].append(text[:TEXT_MAX])

    def end(self, name: str) -> None:
        """An element closes."""
        path, *texts = self._open.pop()
        text = "".join(texts).strip()
        self.tree.add(path, "element", text[:TEXT_MAX] if text else None)

    def entity(self, *declared: object) -> None:
        """A document that declares entities."""
        raise BrokenFile("it declares entities, which are not expanded; what follows is not read")


def read(source: FileSource) -> Report:
    """Read elements and attributes by path."""
    tree = Tree()
    handlers = _Handlers(tree)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handlers.start
    parser.EndElementHandler = handlers.end
    parser.CharacterDataHandler = handlers.text
    parser.EntityDeclHandler = handlers.entity
    broke = ""
    try:
        for piece in source.pieces():
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except Stopped:
        broke = "stopped before the end"
    except MemoryError:
        broke = TOO_LARGE
    except BrokenFile as error:
        broke = str(error)
    except expat.ExpatError as error:
        broke = f"line {error.lineno}: {expat.ErrorString(error.code)}; what follows is not read"
    title = f"XML, {format_count(handlers.elements, 'element')}"
    return Report(
        title, tuple(tree.lines(source.mask)), broke, ("--lines 1:20", "--find TEXT"), {"paths": tree.facts()}
    )
