"""Graphs on a terminal, and the formats that they are written in."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from tokenmizer_mw.export.faces import tree
from tokenmizer_mw.graph.fold import SessionGraph

from .parser import FORMATS

_BY_SUFFIX: Final = {suffix: name for name, suffix in FORMATS.items() if suffix != ".json"}
"""A name that ends in ".json" may be meant for the log as well."""


def format_of(named: str | None, output: str | None) -> str | None:
    """The format that was asked for, by name or by what the file's name ends in; ``None`` is the log."""
    if named is not None:
        return named if named in FORMATS else None
    return _BY_SUFFIX.get(PurePath(output).suffix.lower()) if output is not None else None


def grow(graph: SessionGraph, title: str, *, most: int) -> None:
    """Print the graph as a tree, in colours where somebody looks. Raises ``ConfigError`` where ``rich`` is missing."""
    drawn = tree(graph, title, most=most)
    from rich.console import Console

    Console(highlight=False, emoji=False, markup=False).print(drawn)
