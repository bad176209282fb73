"""Readers for JSON, JSON Lines, TOML and YAML files. They describe the paths in a file ("orders[].price"), and the
types and statistics of the values at each. JSON and YAML are read as a stream."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import yaml

from .digest import DigestLine, Report, format_count
from .reading import TOO_LARGE, FileSource, Stopped, clip_text
from .tree import DEPTH_MAX, Tree, item, member_path

T = TypeVar("T")

WHOLE_MAX: Final = 16 * 1024 * 1024
"""Largest document in bytes that is read in one piece: TOML, and JSON if the library ijson is missing."""

NESTED_MAX: Final = 10_000
"""Depth of nesting at which reading stops, because the parser remembers each level."""

TEXT_MAX: Final = 8 * 1024 * 1024
"""Bytes of one text or number in a JSON document at which reading stops, because the parser scans it anew with every
piece."""

_Event = tuple[str, str, str | None]
"""One value in a file: its path, its type, and its text (``None`` for an object or a list)."""

_SCALARS: Final = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}


def read_json(source: FileSource) -> Report:
    """Describe one JSON document: the paths in it ("orders[].price"), and for each the types and statistics of its
    values. Invalid JSON raises nothing: ``Report.broke`` says where and why reading stopped."""
    return _read_events("JSON", source, _json_events(source), _json_fault)


def _read_events(
    title: str, source: FileSource, events: Iterable[_Event], describe: Callable[[Exception], str]
) -> Report:
    """Describe the values that ``events`` yields. If it raises, the report is partial; ``describe`` returns the reason
    for an error."""
    tree = Tree()
    broke = _fill(tree, events, describe)
    return _report(title, tree, source, broke)


def _fill(tree: Tree, events: Iterable[_Event], describe: Callable[[Exception], str]) -> str:
    """Add the values that ``events`` yields to ``tree``. Return why reading stopped early, "" if it did not."""
    try:
        for event in events:
            tree.add(*event)
    except Stopped:
        return "stopped before the end"
    except MemoryError:
        return TOO_LARGE
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        return describe(error)
    return ""


def _json_fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}; what follows is not read"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    found = _BEFORE_QUOTED.match(str(error).removeprefix("b'").removeprefix('b"'))
    return f"{(found.group().strip() if found is not None else '') or 'not JSON'}; what follows is not read"


_BEFORE_QUOTED: Final = re.compile(r"[^\n\\'\"]+")
"""The beginning of a parser's message, before it quotes the file: what it quotes may be part of a secret, which nothing
recognises any more. For bytes that are not UTF-8 the parser's message is the literal of a byte string."""


def _json_events(source: FileSource) -> Iterator[_Event]:
    try:
        import ijson
    except ImportError:
        yield from _whole(source, json.loads, "need the extra `files`")
        return
    reader = _Reader(source)
    try:
        yield from _add_paths(reader.follow(ijson.basic_parse(reader, use_float=True)))
    except ijson.JSONError as error:
        raise ValueError(error) from None


def _add_paths(events: Iterable[tuple[str, Any]]) -> Iterator[_Event]:
    """Yield the values that ijson reports, with their paths. A value deeper than ``DEPTH_MAX`` has the path of its
    ancestor."""
    paths = [""]  # of the containers around, each followed by that of the value to come
    depth = 0
    for event, value in events:
        if event == "map_key":
            if depth <= DEPTH_MAX:
                paths[depth] = member_path(paths[depth - 1] if depth else "", value)
        elif event in _ENDS:
            depth -= 1
        else:
            yield paths[min(depth, DEPTH_MAX)], _IJSON[event], _text(value) if event not in _STARTS else None
            if event in _STARTS:
                depth += 1
                if depth > NESTED_MAX:
                    raise ValueError(f"it is nested more than {NESTED_MAX:,} deep")
                if depth <= DEPTH_MAX:
                    around = paths[depth - 1]
                    del paths[depth:]
                    paths.append(item(around) if event == "start_array" else around)


_STARTS: Final = frozenset({"start_map", "start_array"})
_ENDS: Final = frozenset({"end_map", "end_array"})
_IJSON: Final = {
    "start_map": "object", "start_array": "list", "string": "string", "number": "number", "integer": "number",
    "double": "number", "boolean": "boolean", "null": "null",
}  # fmt: skip


class _Reader:
    """The bytes of a source as a file for a parser. It fails if the parser reads a lot without yielding an event in
    ``follow``."""

    def __init__(self, source: FileSource) -> None:
        self._pieces = source.pieces()
        self._left = b""
        self._since = 0

    def follow(self, events: Iterable[T]) -> Iterator[T]:
        """Yield ``events``, those of the parser that reads this file, and note with each one that the parser makes
        progress."""
        for event in events:
            self._since = 0
            yield event

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; b"" at the end. Raises ``ValueError`` if more than ``TEXT_MAX`` bytes were
        read since the last event."""
        if not size:
            return b""
        if self._since > TEXT_MAX:
            raise ValueError(f"a text in it is longer than {TEXT_MAX:,} bytes")
        if not self._left:
            self._left = next(self._pieces, b"")
        piece, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        self._since += len(piece)
        return piece


def _whole(source: FileSource, parse: Callable[[str], Any], else_: str) -> Iterator[_Event]:
    """Yield the values of a document that is read in one piece. A larger one than ``WHOLE_MAX`` raises ``ValueError``;
    its text ends with ``else_``."""
    if source.size > WHOLE_MAX:
        raise ValueError(f"documents above {WHOLE_MAX:,} bytes {else_}")
    yield from _walk(parse("".join(source.texts())), "")


def _walk(value: Any, path: str) -> Iterator[_Event]:
    if isinstance(value, dict):
        yield path, "object", None
        for name, one in value.items():
            yield from _walk(one, member_path(path, name))
    elif isinstance(value, list):
        yield path, "list", None
        for one in value:
            yield from _walk(one, item(path))
    else:
        yield path, _SCALARS.get(type(value), "date"), _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, default=str).strip('"')


def read_json_lines(source: FileSource) -> Report:
    """Describe a file with one JSON document per line: the paths in the documents ("orders[].price"), and for each the
    types and statistics of its values. Lines that are not JSON are skipped; ``Report.broke`` says how many there
    are."""
    tree = Tree()
    documents = wrong = first_wrong = 0
    broke = ""
    try:
        for number, line in enumerate(source.lines(), 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                wrong += 1
                first_wrong = first_wrong or number
                continue
            documents += 1
            for event in _walk(value, ""):
                tree.add(*event)
    except Stopped:
        broke = f"stopped after {documents:,} documents"
    except MemoryError:
        broke = TOO_LARGE
    if wrong:
        broke = broke or f"no JSON: {format_count(wrong, 'line')}, the first is line {first_wrong:,}"
    return _report(f"JSON Lines, {format_count(documents, 'document')}", tree, source, broke, source.cut)


def read_toml(source: FileSource) -> Report:
    """Describe a TOML document: the paths in it ("orders[].price"), and for each the types and statistics of its
    values. Of an invalid or too large document nothing is described; ``Report.broke`` says why."""
    return _read_events("TOML", source, _whole(source, tomllib.loads, "are not read"), str)


def read_yaml(source: FileSource) -> Report:
    """Describe the YAML documents of a file: the paths in them ("orders[].price"), and for each the types and
    statistics of its values.

    Aliases are counted but not resolved, so that a small file cannot expand into a huge one. Invalid YAML raises
    nothing: what stands before the error is described, and ``Report.broke`` says where and why reading stopped.
    """
    tree = Tree()
    counts: Counter[str] = Counter()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader(source)
    events = _yaml_events(_count_events(reader.follow(yaml.parse(reader, Loader=loader)), counts))
    broke = _fill(tree, events, _yaml_fault)
    documents, aliases = counts["DocumentStartEvent"], counts["AliasEvent"]
    some = f", {format_count(documents, 'document')}" if documents > 1 else ""
    extra = f"not followed: {format_count(aliases, 'alias reference')}" if aliases else ""
    return _report(f"YAML{some}", tree, source, broke, extra)


def _yaml_fault(error: Exception) -> str:
    return f"{clip_text(' '.join(str(error).split()), 200)}; what follows is not read"


def _count_events(events: Iterable[Any], counts: Counter[str]) -> Iterator[Any]:
    for event in events:
        counts[type(event).__name__] += 1
        yield event


def _yaml_events(events: Iterable[Any]) -> Iterator[_Event]:
    """Yield the values that the YAML parser reports, with their paths. The keys of a mapping become names in paths."""
    open_: list[tuple[str, bool]] = []  # the path of each container around, and whether it is a mapping
    key: list[str | None] = []
    for event in events:
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            open_.pop()
            key.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        path, mapping = open_[-1] if open_ else ("", False)
        deep = len(open_) > DEPTH_MAX
        if mapping and key[-1] is None:
            key[-1] = event.value if isinstance(event, yaml.ScalarEvent) else "(key)"
            if not isinstance(event, yaml.CollectionStartEvent):
                continue
            place = path if deep else member_path(path, "(key)")
        elif mapping:
            place, key[-1] = path if deep else member_path(path, key[-1] or ""), None
        else:
            place = path if deep else item(path) if open_ else ""
        if isinstance(event, yaml.ScalarEvent):
            yield place, "scalar", event.value
        elif isinstance(event, yaml.CollectionStartEvent):
            yield place, "object" if isinstance(event, yaml.MappingStartEvent) else "list", None
            if len(open_) >= NESTED_MAX:
                raise ValueError(f"it is nested more than {NESTED_MAX:,} deep")
            open_.append((place, isinstance(event, yaml.MappingStartEvent)))
            key.append(None)


def _report(title: str, tree: Tree, source: FileSource, broke: str, extra: str = "") -> Report:
    lines = [*([DigestLine(extra, 8.0)] if extra else []), *tree.lines(source.mask)]
    return Report(title, tuple(lines), broke, ("--lines 1:20", "--find TEXT"), {"paths": tree.facts()})
