"""The commands that read a file without a store: ``analyze`` and ``compress``."""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.runtime.terminal import inert, progress, show_json, show_result
from tokenmizer_mw.safety.redact.config import redactor_of
from tokenmizer_mw.saving.files import BUDGET, ReadingLimits, analyze, excerpt
from tokenmizer_mw.saving.files.digest import format_count
from tokenmizer_mw.settings import Settings

from .running import read_input

if TYPE_CHECKING:
    from tokenmizer_mw.saving.compress import Compressed


def run_analyze(arguments: argparse.Namespace) -> int:
    """Run the command ``analyze``: print the digest (a short description) of a file, or the lines of it that
    ``--lines`` or ``--find`` select. Secrets in the output are redacted. Returns 0, also if no line is selected; the
    reason is then on standard error. Raises ``CallerError`` if the path is no regular file or the budget is too small
    for a digest."""
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
                lines=_line_range(arguments.lines),
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
    if not (text or arguments.json):
        print(_explain_empty(arguments), file=sys.stderr)
        return 0
    show_result(arguments.json, document, text)
    return 0


def _explain_empty(arguments: argparse.Namespace) -> str:
    """Return the message for the user that says why nothing is printed: no line is selected, or none fits into the
    budget. Raises ``CallerError`` if the whole file was to be described: then the budget is too small for any part of a
    digest."""
    name = inert(Path(arguments.file).name)
    if arguments.find:
        return f"no line of {name} holds {inert(arguments.find)}, or none fits into the budget"
    if arguments.lines is not None:
        return f"{name} has no such lines, or none fits into the budget"
    budget = format_count(arguments.budget or BUDGET, "token")
    raise CallerError(f"a budget of {budget} is too small to describe {name}: pass a larger --budget")


def _line_range(given: str | None) -> tuple[int, int] | None:
    """Parse the value of ``--lines`` into the first and the last line number, both included, counted from 1. "A:B" is a
    range, "A:" everything from line A, ":B" everything up to line B, "A" a single line. ``None`` gives ``None``. Raises
    ``CallerError`` for any other text, and if B is before A."""
    if given is None:
        return None
    first, colon, last = given.partition(":")
    try:
        start = int(first) if first else 1
        end = int(last) if last else (1 << 62 if colon else start)
    except ValueError:
        raise CallerError(f"--lines takes A:B, such as 100:120, not {given!r:.40}") from None
    if start < 1 or end < start:
        raise CallerError("--lines takes a first line of at least 1 and a last one not before it")
    return start, end


def run_compress(arguments: argparse.Namespace) -> int:
    """Run the command ``compress``: print the compressed chat or text to standard output, and the tokens saved to
    standard error. With ``--json``, print both as one object to standard output. Returns 0; errors are raised."""
    from tokenmizer_mw.saving.compress import compress  # reads sessions: ``analyze`` has no use for that

    settings = Settings.load(arguments.config)
    stages = arguments.stages or settings.compress or "all"
    settings = settings.with_(compress=stages)
    text = _read(arguments.file, settings)
    chat = None if arguments.text else _messages(text)
    messages = chat if chat is not None else _output(text, arguments)
    done = compress(messages, settings, model=arguments.model)
    result = done.messages if chat is not None else done.messages[-1]["content"]
    if arguments.json:
        show_json({"result": result, **_saved_tokens(done)})
        return 0
    if isinstance(result, str):
        sys.stdout.write(inert(result) + ("" if result.endswith("\n") else "\n"))
    else:
        show_json(result)
    for line in _describe_savings(done):
        print(line, file=sys.stderr)
    return 0


def _read(name: str | None, settings: Settings) -> str:
    """Return the text of the file ``name``, or of standard input for ``None`` and "-". Bytes that are not UTF-8 are
    replaced. Secrets are redacted unless ``settings`` switch that off. Raises ``CallerError`` if the file cannot be
    read."""
    text = read_input(name).decode("utf-8", "replace")
    return redactor_of(settings, os.urandom(32)).redact(text) if settings.redact else text


def _messages(text: str) -> list[dict[str, Any]] | None:
    """Parse a chat in JSON or JSON Lines: a list of objects that each have a ``role``, or an object with such a list in
    ``messages`` or ``turns``. ``None`` for any other text and for an empty list."""
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        loaded = _json_lines(text)
    if isinstance(loaded, dict):
        loaded = loaded.get("messages", loaded.get("turns"))
    if not isinstance(loaded, list) or not loaded:
        return None
    return loaded if all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in loaded) else None


def _json_lines(text: str) -> list[Any] | None:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _output(text: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the two messages of a chat in which an assistant calls a tool and the tool returns ``text``, so that the
    text is compressed as a tool result. ``--ran`` and ``--path`` say which command or file it comes from."""
    name, given = ("bash", {"command": arguments.ran}) if arguments.ran else ("", {})
    if not name:
        path = arguments.path or (arguments.file if arguments.file not in (None, "-") else "")
        name, given = ("read_file", {"path": path}) if path else ("tool", {})
    function = {"name": name, "arguments": json.dumps(given)}
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }
    return [called, {"role": "tool", "tool_call_id": "1", "content": text}]


def _saved_tokens(done: Compressed) -> dict[str, Any]:
    stages = {one.stage: {"before": one.tokens_before, "after": one.tokens_after} for one in done.savings}
    return {
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "stages": stages,
        "failed": done.failed,
    }


def _describe_savings(done: Compressed) -> list[str]:
    saved = done.tokens_before - done.tokens_after
    share = saved / done.tokens_before if done.tokens_before else 0.0
    lines = [f"{one.stage:10} {one.tokens_before:>10,} -> {one.tokens_after:>10,} tokens" for one in done.savings]
    lines += [f"{name:10} failed: its texts are as they were" for name in done.failed]
    return [*lines, f"{'all':10} {done.tokens_before:>10,} -> {done.tokens_after:>10,} tokens ({share:.0%} saved)"]
