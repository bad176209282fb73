"""Collects the paths in nested files (JSON, YAML, XML) and the values at each; and the reader for XML files, which are
read as a stream."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

from .columns import Column
from .digest import DigestLine, Report, format_count
from .reading import TOO_LARGE, BrokenFile, FileSource, Mask, Stopped

PATHS_MAX: Final = 500
"""Largest number of paths; values at further ones are only counted."""

DEPTH_MAX: Final = 12
"""Largest depth of a path; values below it are counted at their ancestor, or only counted."""

_BUFFER: Final = 500
_LONG: Final = 200
"""Characters from which on a value is evaluated at once, instead of together with others."""
_ITEM: Final = "[]"
_ANY: Final = "*"
_ID_NAME: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*[0-9])[0-9a-f]{16,}", re.IGNORECASE)
"""Names of object members that are ids (UUIDs and long hexadecimal numbers), so that all members count as one path."""


@dataclass(slots=True)
class _Place:
    column: Column
    kinds: Counter[str] = field(default_factory=Counter)
    waiting: list[str] = field(default_factory=list)

    def add(self, kind: str, value: str | None) -> None:
        self.kinds[kind] += 1
        if value is not None:
            self.waiting.append(value)
            if len(self.waiting) >= _BUFFER or len(value) > _LONG:
                self.settle()

    def settle(self) -> None:
        if self.waiting:
            self.column.add(self.waiting)
            self.waiting.clear()


@dataclass(slots=True)
class Tree:
    """The paths that a file contains, each with the types of the values there and statistics of them.

    A path is names separated by dots (in XML by "/"), such as "orders[].price": "[]" stands for the items of a list,
    "*" for all members of an object whose names are ids. ``ignored``: number of values that were only counted.
    """

    places: dict[str, _Place] = field(default_factory=dict)
    ignored: int = 0

    def add(self, path: str, kind: str, value: str | None = None) -> None:
        """Add a value at ``path``.

        ``kind``: its type, as the file format calls it ("object", "number"). ``value``: its text; ``None`` for an
        object or a list.
        """
        place = self.places.get(path)
        if place is None:
            if len(self.places) >= PATHS_MAX or path.count(".") > DEPTH_MAX:
                self.ignored += 1
                return
            place = self.places[path] = _Place(Column(path or "(top)"))
        place.add(kind, value)

    def lines(self, mask: Mask) -> list[DigestLine]:
        """Return one digest line per path, in the order in which the paths first occurred.

        A line's weight falls with the number of dots in its path, so that the deep paths of JSON, YAML and TOML are
        dropped first when a digest is too long; the paths of XML, which have "/" instead, all weigh the same. If values
        were only counted (more than ``PATHS_MAX`` paths, or too deep), a last line gives their number. ``mask`` redacts
        a value, given the name of its path.
        """
        shown = [
            DigestLine(self._line(path, place, mask), 6.0 / (1 + path.count(".") - path.count(f".{_ANY}")))
            for path, place in self.places.items()
        ]
        if self.ignored:
            shown.append(DigestLine(f"{self.ignored:,} values at further or deeper paths are not told", 3.0))
        return shown

    def facts(self) -> list[dict[str, Any]]:
        """Return a list for JSON with a dict for each path: the ``path``, the number of values by type (``kinds``), and
        the statistics of the ``values``, if it has any."""
        return [
            {
                "path": path,
                "kinds": dict(place.kinds),
                **({"values": place.column.to_dict()} if place.column.rows else {}),
            }
            for path, place in self._settle_places()
        ]

    def _settle_places(self) -> list[tuple[str, _Place]]:
        for place in self.places.values():
            place.settle()
        return list(self.places.items())

    def _line(self, path: str, place: _Place, mask: Mask) -> str:
        place.settle()
        kinds = " or ".join(f"{count:,} x {kind}" if count > 1 else kind for kind, count in place.kinds.most_common(3))
        if place.column.rows:
            return f"{place.column.line(mask)} ({kinds})" if len(place.kinds) > 1 else place.column.line(mask)
        return f"- {path or '(top)'}: {kinds}"


def member_path(path: str, name: str) -> str:
    """Return the path of the member ``name`` of the object at ``path``, such as "user.age"; "user.*" if the name is an
    id."""
    name = _ANY if _ID_NAME.fullmatch(name) else name
    return f"{path}.{name}" if path else name


def item(path: str) -> str:
    """Return the path of the items of the list at ``path``: "orders[]"."""
    return path + _ITEM


TEXT_MAX: Final = 2_000
"""Characters of the text of one XML element that are read."""

NESTED_MAX: Final = 10_000
"""Depth of nesting at which reading stops, because the parser remembers each element around."""


class _Handlers:
    """Adds the elements and attributes of an XML file to a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.elements = 0
        self._open: list[list[str]] = []  # the path of each element around, then its text

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of the XML element ``name``: count it, and add its attributes to the tree. Raises
        ``BrokenFile`` if the elements are nested too deeply."""
        self.elements += 1
        if len(self._open) > NESTED_MAX:
            raise BrokenFile(f"it is nested more than {NESTED_MAX:,} deep; what follows is not read")
        deep = len(self._open) > DEPTH_MAX
        path = self._open[-1][0] if deep else f"{self._open[-1][0]}/{name}" if self._open else name
        self._open.append([path])
        for attribute, value in attributes.items():
            self.tree.add(f"{path}@{attribute}", "attribute", value)

    def text(self, text: str) -> None:
        """Collect ``text``, a piece of the text inside the element that is open."""
        if self._open and len(self._open[-1]) <= TEXT_MAX:
            self._open[-1].append(text[:TEXT_MAX])

    def end(self, name: str) -> None:
        """Handle the end of the XML element ``name``: add it with its text to the tree."""
        path, *texts = self._open.pop()
        text = "".join(texts).strip()
        self.tree.add(path, "element", text[:TEXT_MAX] if text else None)

    def entity(self, *declared: object) -> None:
        """Raise ``BrokenFile``. Called for each entity that the XML declares: entities could expand a small file into
        a huge one."""
        raise BrokenFile("it declares entities, which are not expanded; what follows is not read")


def make_parser(handlers: Any) -> expat.XMLParserType:
    """Return an XML parser that calls the methods of ``handlers``: ``start(name, attributes)`` and ``end(name)`` for
    an element, ``text(text)`` for a piece of text, and ``entity(...)`` for the declaration of an entity."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handlers.start
    parser.EndElementHandler = handlers.end
    parser.CharacterDataHandler = handlers.text
    parser.EntityDeclHandler = handlers.entity
    return parser


def read(source: FileSource) -> Report:
    """Report the elements and attributes of an XML file by path ("feed/entry@id"), and the texts in them. Entities are
    not expanded. Does not raise for invalid XML: ``Report.broke`` says where reading stopped."""
    tree = Tree()
    handlers = _Handlers(tree)
    parser = make_parser(handlers)
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
