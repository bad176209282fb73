"""Print text and JSON without control sequences that could manipulate a terminal, and show progress on one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

_STEERING: Final = (
    *(code for code in range(0x20) if chr(code) not in "\n\t"),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
    *range(0xD800, 0xE000),
)
"""Code points of control characters, line separators, marks that turn the direction of text, and halves of surrogate
pairs."""

_SHOWN: Final = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _STEERING}
_ESCAPED: Final = {code: f"\\u{code:04x}" for code in _STEERING}


def inert(text: str) -> str:
    """Return ``text`` with control characters, line separators and marks that turn the direction of text made visible:
    an escape character becomes the four characters ``\\x1b``. Newlines and tabs stay."""
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """Return ``text`` on a single line, with control characters made visible. Line breaks and runs of blanks become one
    blank."""
    return inert(" ".join(text.split()))


def show(text: str) -> None:
    """Print ``text`` and a line break to standard output, with control characters made visible: an escape character is
    printed as the four characters ``\\x1b``."""
    print(inert(text))


def show_result(as_json: bool, document: object, text: str) -> None:
    """Print a result to standard output: ``document`` as JSON if ``as_json`` is true, else ``text``."""
    if as_json:
        show_json(document)
    else:
        show(text)


def show_json(value: Any) -> None:
    """Print ``value`` as indented JSON to standard output, with control characters as ``\\u001b``."""
    print(json.dumps(value, ensure_ascii=False, indent=2).translate(_ESCAPED))


def complain(text: str) -> None:
    """Print "tokenmizer-mw: error: ..." with ``text`` to standard error, on one line. Does nothing if standard error is
    closed."""
    with suppress(OSError, ValueError):
        print(f"tokenmizer-mw: error: {one_line(text)}", file=sys.stderr, flush=True)


def tolerate_any_character() -> None:
    """Change standard output and error so that they print characters outside of their encoding as ``\\u2713``, instead
    of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Send the rest of standard output to nowhere. Call it after a broken pipe, so that the end of the process does not
    fail."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


Advance = Callable[[int], None]
"""A function to call with the number of steps done since the last call."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Show ``what`` and a progress bar on standard error while the context is active.

    ``total``: the number of steps. The context manager yields a function; call it with the number of steps done
    since the last call. Nothing is shown if standard error is not a terminal or the package rich is missing.
    """
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
