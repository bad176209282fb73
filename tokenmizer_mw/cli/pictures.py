"""Graphs on a terminal, and the file formats of graphs."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.export.faces import tree
from tokenmizer_mw.graph.fold import SessionGraph

from .parser import FORMATS

_BY_SUFFIX: Final = {suffix: name for name, suffix in FORMATS.items()}
_LOG_SUFFIXES: Final = (".jsonl", ".ndjson")


def format_of(named: str | None, output: str | None) -> str | None:
    """Return the format requested by name or by the file's ending; ``None`` for the log.

    Raises ``CallerError`` for an unknown ending.
    """
    if named is not None:
        return named if named in FORMATS else None
    if output is None:
        return None
    suffix = PurePath(output).suffix.lower()
    if suffix not in _BY_SUFFIX and suffix not in _LOG_SUFFIXES:
        known = ", ".join((*_BY_SUFFIX, *_LOG_SUFFIXES))
        raise CallerError(f"{output}: which format is {suffix or 'a name without an ending'}? Use {known}, or --format")
    return _BY_SUFFIX.get(suffix)


def grow(graph: SessionGraph, title: str, *, most: int) -> None:
    """Print the graph as a tree, in colours on a terminal. Raises ``ConfigError`` if ``rich`` is not installed."""
    drawn = tree(graph, title, most=most)
    from rich.console import Console

    Console(highlight=False, emoji=False, markup=False).print(drawn)
