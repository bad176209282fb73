"""The command ``analyze``: the digest of a file, or lines of it."""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.runtime.terminal import show, show_json
from tokenmizer_mw.safety.redactors import redactor_of
from tokenmizer_mw.saving.files import BUDGET, ReadingLimits, analyze, excerpt
from tokenmizer_mw.settings import Settings

from .progress import progress


def run_analyze(arguments: argparse.Namespace) -> int:
    """Run the command ``analyze``."""
    path = Path(arguments.file)
    try:
        status = path.stat()
    except OSError as error:
        raise CallerError(f"{arguments.file}: {error.strerror or error}") from None
    if not stat.S_ISREG(status.st_mode):  # a pipe may have no end, and nobody at the other one
        raise CallerError(f"{arguments.file}: not a file")
    size = status.st_size
    settings = Settings.load(arguments.config)
    redactor = redactor_of(settings, os.urandom(32))
    limits = ReadingLimits(settings.file_memory_max, settings.file_seconds)
    with progress("bytes", size) as advance:
        if arguments.lines is not None or arguments.find:
            text = excerpt(
                path,
                lines=_lines(arguments.lines),
                find=arguments.find or "",
                budget=arguments.budget or 1_000,
                redactor=redactor,
                progress=advance,
                limits=limits,
            )
            document: object = {"file": path.name, "text": text}
        else:
            budget = arguments.budget or BUDGET
            digest = analyze(path, budget=budget, redactor=redactor, progress=advance, limits=limits)
            text, document = digest.text, digest.to_dict()
    if arguments.json:
        show_json(document)
    else:
        show(text)
    return 0


def _lines(told: str | None) -> tuple[int, int] | None:
    """From "A:B", "A:", ":B" or "A" to a first and a last line."""
    if told is None:
        return None
    first, colon, last = told.partition(":")
    try:
        start = int(first) if first else 1
        end = int(last) if last else (1 << 62 if colon else start)
    except ValueError:
        raise CallerError(f"--lines takes A:B, such as 100:120, not {told!r:.40}") from None
    if start < 1 or end < start:
        raise CallerError("--lines takes a first line of at least 1 and a last one not before it")
    return start, end
