"""Findings of shell programs such as ``rm`` and ``cp`` that write, edit, delete, move or copy files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.text.names import as_path
from tokenmizer_mw.extract.text.similar import split_words

from . import certain
from .commands import Command
from .tools import clean_path

_TEMPORARY: Final = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/", "/proc/")
_PRODUCTS: Final = split_words(
    "node_modules dist build target out coverage .next .nuxt .cache .venv venv __pycache__ .pytest_cache .mypy_cache"
    " .turbo .gradle bin obj vendor tmp temp logs"
)
"""Folders that builds make; deleting them is not work on the project."""


def parse_kept_path(word: str) -> str:
    """Return ``word`` as a path if it names a file that is not in a temporary folder; else ""."""
    path = clean_path(word)
    return path if path and not path.startswith(_TEMPORARY) and as_path(path) else ""


def select_kept_paths(words: list[str]) -> list[str]:
    """Return the paths among ``words`` for which ``parse_kept_path`` returns one."""
    return [path for word in words if (path := parse_kept_path(word))]


def _tee(command: Command, quote: str) -> Iterator[Finding]:
    for path in select_kept_paths(command.operands):
        yield certain.file(path, "written", quote)


def _edit_in_place(command: Command, quote: str) -> Iterator[Finding]:
    """Files that ``sed`` or ``perl`` edits in place ("-i"); without that flag it reads them."""
    flags = [word for word in command.words[1:] if word[:1] == "-"]
    in_place = any(word == "--in-place" or (word[:2] != "--" and "i" in word) for word in flags)
    for path in select_kept_paths(command.operands if len(command.operands) < 2 else command.operands[1:]):
        yield certain.file(path, "edited" if in_place else "read", quote)


def remove(command: Command, quote: str) -> Iterator[Finding]:
    """Iterate over the findings of files that ``rm`` or ``git rm`` removed; with ``-r`` also of folders of the project.
    ``quote``: the evidence of the findings."""
    deep = any(word[:1] == "-" and word[:2] != "--" and "r" in word.lower() for word in command.words)
    for word in command.operands:
        if path := parse_kept_path(word) or (_parse_kept_folder(word) if deep else ""):
            yield certain.file(path, "deleted", quote)


def _parse_kept_folder(word: str) -> str:
    path = clean_path(word)
    known = "/" in path and not path.startswith(_TEMPORARY) and " " not in path
    return path if known and _PRODUCTS.isdisjoint(path.split("/")) else ""


def move(command: Command, quote: str) -> Iterator[Finding]:
    """Iterate over the two findings of a file that ``mv`` or ``git mv`` moved: its old and its new path.
    There are none if one of the paths is temporary. ``quote``: the evidence of the findings."""
    if len(command.operands) == 2:
        old, new = parse_kept_path(command.operands[0]), _target(*command.operands)
        if old and new:
            yield certain.file(old, f"moved to {new}", quote)
            yield certain.file(new, f"moved from {old}", quote)


def _copy(command: Command, quote: str) -> Iterator[Finding]:
    if len(command.operands) == 2 and (new := _target(*command.operands)):
        yield certain.file(new, "written", quote)


def _target(source: str, target: str) -> str:
    """The file that copying or moving ``source`` to ``target`` makes; "" if it is temporary or cannot be told."""
    if target.endswith("/"):
        name = source.replace("\\", "/").rsplit("/", 1)[-1]
        return parse_kept_path(target + name)
    return parse_kept_path(target)


EFFECTS: Final = {
    "tee": _tee,
    "touch": _tee,
    "sed": _edit_in_place,
    "perl": _edit_in_place,
    "rm": remove,
    "unlink": remove,
    "mv": move,
    "cp": _copy,
}
"""Maps the name of a program to a function that gets a ``Command`` of it and the evidence, and yields the findings of
the files in its command line."""
