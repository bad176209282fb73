"""Graphs on a terminal, and the formats that they are written in."""

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
    """The format that was asked for, by name or by what the file's name ends in; ``None`` is the log. Raises
    ``CallerError`` for a name that ends in something else."""
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
    """Print the graph as a tree, in colours where somebody looks. Raises ``ConfigError`` where ``rich`` is missing."""
    drawn = tree(graph, title, most=most)
    from rich.console import Console

    Console(highlight=False, emoji=False, markup=False).print(drawn)
