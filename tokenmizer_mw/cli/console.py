"""Output for people: graphs as trees, progress bars, file formats; input from a file or standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Final

from tokenmizer_mw.cli.arguments import FORMATS
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.export.documents import tree
from tokenmizer_mw.graph.fold import SessionGraph

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


def print_tree(graph: SessionGraph, title: str, *, most: int) -> None:
    """Print the graph as a tree, in colours on a terminal. Raises ``ConfigError`` if ``rich`` is not installed."""
    drawn = tree(graph, title, most=most)
    from rich.console import Console

    Console(highlight=False, emoji=False, markup=False).print(drawn)


Advance = Callable[[int], None]
"""Called with how much more is done."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Show ``what`` and a bar on standard error while the context is active; only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
