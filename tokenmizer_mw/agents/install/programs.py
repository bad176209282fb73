"""The programs that a coding agent's configuration starts for this package, and whether they are there."""

from __future__ import annotations

import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .json_text import NotPlain, value_of

_OWN: Final = "tokenmizer-mw"


def find_missing_programs(path: Path) -> list[str]:
    """Return the programs of this package that the configuration file ``path`` starts and that cannot be run: paths
    without a program, and names that are not on the ``PATH``. A file that cannot be parsed has none."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text) if path.suffix == ".toml" else value_of(text)
    except (OSError, ValueError, NotPlain):
        return []
    return [program for program in dict.fromkeys(_find_programs(values)) if shutil.which(program) is None]


def _find_programs(value: Any) -> Iterator[str]:
    """The programs of this package in all members ``command``."""
    if isinstance(value, list):
        for item in value:
            yield from _find_programs(item)
    elif isinstance(value, dict):
        command = value.get("command")
        program = _program_of(command) if isinstance(command, str) else ""
        if program:
            yield program
        for item in value.values():
            yield from _find_programs(item)


def _program_of(command: str) -> str:
    """The program that a command starts if it is this package's, else "". An MCP server's command is a path alone,
    which may have spaces."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return next((program for program in (command, *words[:1]) if _is_own(program)), "")


def _is_own(program: str) -> bool:
    return program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") == _OWN
