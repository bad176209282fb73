"""The command ``compress``: compresses a chat or tool output, and prints what each stage saved."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.runtime.terminal import inert, show_json
from tokenmizer_mw.safety.redactors import redactor_of
from tokenmizer_mw.saving.compress import Compressed, compress
from tokenmizer_mw.settings import Settings


def run_compress(arguments: argparse.Namespace) -> int:
    """Run the command. The result goes to standard output, the statistics to standard error."""
    settings = Settings.load(arguments.config)
    stages = arguments.stages or settings.compress or "all"
    settings = settings.with_(compress=stages)
    text = _read(arguments.file, settings)
    chat = None if arguments.text else _messages(text)
    messages = chat if chat is not None else _output(text, arguments)
    done = compress(messages, settings, model=arguments.model)
    result = done.messages if chat is not None else done.messages[-1]["content"]
    if arguments.json:
        show_json({"result": result, **_figures(done)})
        return 0
    if isinstance(result, str):
        sys.stdout.write(inert(result) + ("" if result.endswith("\n") else "\n"))
    else:
        show_json(result)
    for line in _describe_savings(done):
        print(line, file=sys.stderr)
    return 0


def _read(name: str | None, settings: Settings) -> str:
    """The text of a file, or of standard input, without its secrets. Raises ``CallerError``."""
    try:
        raw = sys.stdin.buffer.read() if name in (None, "-") else Path(str(name)).read_bytes()
    except OSError as error:
        raise CallerError(f"{name}: {error.strerror or error}") from None
    text = raw.decode("utf-8", "replace")
    return redactor_of(settings, os.urandom(32)).redact(text) if settings.redact else text


def _messages(text: str) -> list[dict[str, Any]] | None:
    """The messages in JSON or JSON Lines; ``None`` for any other text."""
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        loaded = _lines(text)
    if isinstance(loaded, dict):
        loaded = loaded.get("messages", loaded.get("turns"))
    if not isinstance(loaded, list) or not loaded:
        return None
    return loaded if all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in loaded) else None


def _lines(text: str) -> list[Any] | None:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _output(text: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A chat in which a tool returned ``text``."""
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


def _figures(done: Compressed) -> dict[str, Any]:
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
