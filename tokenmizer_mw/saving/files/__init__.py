"""File digests: describe a file in a few hundred tokens (what it is, what is in it, what is unusual, how to see more),
so that a model need not read it.

    digest = analyze("orders.csv")
    print(digest.text)

Files are read once, from start to end, in bounded memory. Line-based files (text, source code, logs, tables) are read
in the calling process, all others in a child process with memory and time limits. Malformed or too large files give a
partial digest that says where reading stopped. Secrets are redacted, and line breaks in file content are removed, so
that it cannot be taken for markup.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from tokenmizer_mw.context.tokens import counter_for, estimate
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.safety.redact import Redactor

from .apart import ReadingLimits, read_apart
from .digest import BUDGET, Digest, Report, make_digest
from .kinds import is_plain, reader_of
from .reading import FileSource, Mask, Progress, Stopped, is_packed, open_source
from .windows import show_lines

__all__ = ["BUDGET", "Digest", "Progress", "ReadingLimits", "Stopped", "analyze", "excerpt"]
INDENT_MAX: Final = 40
"""Most blanks of indentation that an excerpt shows."""

LINE_MAX: Final = 1_000
"""Largest number of characters of a line that an excerpt shows, without the indentation."""


def analyze(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    name: str = "",
    budget: int = BUDGET,
    model: str = "",
    redactor: Redactor | None = None,
    progress: Progress | None = None,
    limits: ReadingLimits = ReadingLimits(),  # noqa: B008 - frozen
    options: bool = True,
) -> Digest:
    """Return the digest of a file: a description of at most ``budget`` tokens, counted for ``model``.

    - ``file``: a path, or an open seekable binary file; ``name``: its file name if it has no path.
    - ``model``: "" estimates tokens (rather too many), because a tokenizer takes more memory than everything else.
    - ``redactor``: redacts secrets in the digest; ``None``: the built-in rules.
    - ``progress``: called with the number of bytes read since the last call; raise ``Stopped`` to get a partial digest.
    - ``limits``: memory and time of the child process.
    - ``options``: whether to end with a line of options of the command ``analyze`` that show more ("--lines 100:120").

    Raises ``CallerError`` for a file that cannot be opened and for a budget below 1.
    """
    if budget < 1:
        raise CallerError("a budget is at least 1 token")
    redactor = redactor or _redactor()
    mask = _make_mask(redactor)
    with _open_named(file, name) as (called, opened):
        _, source = open_source(opened, called, progress or _ignore, mask, redactor.redact, unpack=False)
        kind, report = _read(called, source, limits)
    report = report if options else replace(report, more=())
    return make_digest(
        _file_name(file, name), kind, source.size, report, budget=budget, count=_counter(model), clean=redactor.redact
    )


def _read(name: str, source: FileSource, limits: ReadingLimits) -> tuple[str, Report]:
    kind, reader = reader_of(name, source)
    if is_packed(source.head) or not is_plain(kind):
        return read_apart(source, name, limits)
    return kind, reader(source)


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
    limits: ReadingLimits = ReadingLimits(),  # noqa: B008 - frozen
) -> str:
    """Return numbered lines of a text file ("12: text") for a model, within ``budget`` tokens. If not all fit, a last
    line, which is not counted, says from which line on there is more. "" if no line is chosen.

    The lines are not verbatim: secrets are redacted, markup has no effect and white space within a line becomes single
    blanks (``flatten``). A line is cut after ``LINE_MAX`` characters, its indentation after ``INDENT_MAX``.

    - ``lines``: first and last line, both included, counted from 1; ``None``: all.
    - ``find``: only lines that contain this text, ignoring case; "": any.
    - ``name``: file name to show in errors; "": that of ``file``.
    - ``model``: count tokens as this model does; "": estimate them.
    - ``redactor``: redacts secrets; ``None``: the built-in rules, with placeholders that match those of no other call.
    - ``progress``: called with the number of bytes read since the last call. A ``Stopped`` that it raises is passed on.
    - ``limits``: a compressed file is read for at most ``limits.seconds``; then a last line says that the rest was not
      read.

    Raises ``CallerError`` for a file that cannot be opened or is not text.
    """
    first, last = lines or (1, 1 << 62)
    count, redactor = _counter(model), redactor or _redactor()
    shown_lines: list[str] = []
    left, wanted = budget, find.casefold()

    def is_wanted(number: int, line: str) -> bool:
        return first <= number and wanted in line.casefold()

    with _open_named(file, name) as (called, opened):
        progress = _until(progress or _ignore, limits.seconds) if is_packed(_start(opened)) else progress or _ignore
        _, source = open_source(opened, called, progress, _make_mask(redactor), redactor.redact)
        if not source.encoding:
            raise CallerError("only lines of text can be shown")
        try:
            for number, line in show_lines(source.lines(), is_wanted, last, redactor):
                text = line.rstrip()
                indent = len(text) - len(text.lstrip())
                line_shown = f"{number}: {' ' * min(indent, INDENT_MAX)}{flatten(text, LINE_MAX)}"
                left -= count(line_shown) + 1
                if left < 0:
                    shown_lines.append(f"(more from line {number:,} on)")
                    break
                shown_lines.append(line_shown)
        except _Overdue:
            shown_lines.append(f"(the rest was not read: it takes more than {limits.seconds:g} s)")
    return "\n".join(shown_lines)


@contextmanager
def _open_named(file: str | os.PathLike[str] | BinaryIO, name: str) -> Iterator[tuple[str, BinaryIO]]:
    """Context manager that yields the name of a file, and the file opened for reading. A file that was passed open
    stays open."""
    called = _file_name(file, name)
    if not isinstance(file, str | os.PathLike):
        yield called, file
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise CallerError(f"{os.fspath(file)}: {error.strerror or error}") from None
    with closing(opened):
        yield called, opened


def _start(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(16)


def _ignore(done: int) -> None:
    """Do nothing with the number of bytes read: the progress function for callers that passed none."""


class _Overdue(Stopped):
    """Raised while a file is read when the time limit for reading it has passed."""


def _until(progress: Progress, seconds: float) -> Progress:
    end = time.monotonic() + seconds

    def advance(done: int) -> None:
        progress(done)
        if time.monotonic() > end:
            raise _Overdue

    return advance


def _make_mask(redactor: Redactor) -> Mask:
    def mask(name: str, value: str) -> str:
        (masked,) = redactor.redact_json({name: value}).values()  # under another name, when that is a secret itself
        return redactor.redact(str(masked))

    return mask


def _counter(model: str) -> Callable[[str], int]:
    return counter_for(model).count if model else estimate


def _redactor() -> Redactor:
    """Return a redactor with the built-in rules and a random key, so that its placeholders match those of no other
    call."""
    return Redactor(key=os.urandom(32))


def _file_name(file: str | os.PathLike[str] | BinaryIO, name: str) -> str:
    return name or (Path(file).name if isinstance(file, str | os.PathLike) else "file")
