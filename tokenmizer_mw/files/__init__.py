"""A file in a few hundred tokens: what it is, what is in it, what is odd about it, and how to ask for more.

    digest = analyze("orders.csv")
    print(digest.text)

Files are read once, from front to back, in bounded memory. What is malformed gives a partial digest that says where it
broke. Secrets are taken out, and what a file says is one flat line after the other: data, never markup.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.labels import flatten
from tokenmizer_mw.redact import Redactor
from tokenmizer_mw.tokens import counter_for, estimate

from .digest import BUDGET, Digest, told
from .kinds import reader_of
from .packed import unpacked
from .reading import HEAD, Progress, Source, Stopped, encoding_of
from .windows import shown

__all__ = ["BUDGET", "Digest", "Progress", "Stopped", "analyze", "excerpt"]


INDENT_MAX: Final = 40
LINE_MAX: Final = 1_000
"""Characters of a line that an excerpt shows."""


def analyze(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    name: str = "",
    budget: int = BUDGET,
    model: str = "",
    redactor: Redactor | None = None,
    progress: Progress | None = None,
) -> Digest:
    """The digest of a file within ``budget`` tokens, counted as ``model`` counts.

    Without a model they are estimated, and rather too many: a tokenizer's table takes more memory than all else.

    ``file`` is a path, or an open binary file that can be sought in; ``name`` is what it is called where it has no
    path. ``redactor`` takes secrets out of what is told (default: with the built-in rules). ``progress`` is told how
    many more bytes were read, and may raise ``Stopped`` to get what is known so far.

    Raises ``CallerError`` for a file that cannot be opened and for a budget below 1.
    """
    if budget < 1:
        raise CallerError("a budget is at least 1 token")
    redactor = redactor or _redactor()
    with _opened(file, name, progress, redactor) as (called, source, size):
        kind, reader = reader_of(called, source)
        report = reader(source)
        if source.broke and not report.broke:
            report = replace(report, broke=source.broke)
    return told(
        _shown(file, name),
        kind,
        size,
        report,
        budget=budget,
        count=_counter(model),
        clean=redactor.redact,
    )


def excerpt(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    lines: tuple[int, int] | None = None,
    find: str = "",
    name: str = "",
    budget: int = 1_000,
    model: str = "",
    redactor: Redactor | None = None,
    progress: Progress | None = None,
) -> str:
    """Lines of a text file with their numbers, within ``budget`` tokens.

    Those from ``lines[0]`` to ``lines[1]``, and of these only those that hold ``find`` (in any case), where it is
    given. Says from where on there are more.

    Raises ``CallerError`` for a file that cannot be opened or is no text.
    """
    first, last = lines or (1, 1 << 62)
    count, redactor = _counter(model), redactor or _redactor()
    told_lines: list[str] = []
    left, wanted = budget, find.casefold()

    def asked(number: int, line: str) -> bool:
        return first <= number <= last and wanted in line.casefold()

    with _opened(file, name, progress, redactor) as (_, source, _):
        if not source.encoding:
            raise CallerError("only lines of text can be shown")
        for number, line in shown(source.lines(), asked, last, redactor):
            text = line.rstrip()
            indent = len(text) - len(text.lstrip())
            line_shown = f"{number}: {' ' * min(indent, INDENT_MAX)}{flatten(text, LINE_MAX)}"
            left -= count(line_shown) + 1
            if left < 0:
                told_lines.append(f"(more from line {number:,} on)")
                break
            told_lines.append(line_shown)
    return "\n".join(told_lines)


@contextmanager
def _opened(
    file: str | os.PathLike[str] | BinaryIO, name: str, progress: Progress | None, redactor: Redactor
) -> Iterator[tuple[str, Source, int]]:
    """The name by which a file is judged, the file as readers see it, and its size on disk."""
    called = _shown(file, name)
    if not isinstance(file, str | os.PathLike):
        yield _source(file, called, progress, redactor)
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise CallerError(f"{os.fspath(file)}: {error.strerror or error}") from None
    with closing(opened):
        yield _source(opened, called, progress, redactor)


def _source(file: BinaryIO, called: str, progress: Progress | None, redactor: Redactor) -> tuple[str, Source, int]:
    try:
        size = file.seek(0, io.SEEK_END)
        inner, plain = unpacked(file, called)
        plain.seek(0)
        head = plain.read(HEAD)
        plain.seek(0)
    except OSError as error:
        raise CallerError(f"{called}: {error.strerror or error}") from None

    def mask(name: str, value: str) -> str:
        (masked,) = redactor.redact_json({name: value}).values()  # under another name, when that is a secret itself
        return redactor.redact(str(masked))

    return (
        inner,
        Source(plain, size, head, encoding_of(head), progress or (lambda done: None), mask, redactor.redact),
        size,
    )


def _counter(model: str) -> Callable[[str], int]:
    return counter_for(model).count if model else estimate


def _redactor() -> Redactor:
    """One whose placeholders nobody can compare with those of another call."""
    return Redactor(key=os.urandom(32))


def _shown(file: str | os.PathLike[str] | BinaryIO, name: str) -> str:
    return name or (Path(file).name if isinstance(file, str | os.PathLike) else "file")
