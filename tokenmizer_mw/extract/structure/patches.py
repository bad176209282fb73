"""Read which files a patch, a diff or an edit block changes, and how."""

from __future__ import annotations

from itertools import islice
from typing import Final

import re2

from .tools import PATHS_MAX, clean_path

_HEADERS_MAX: Final = 500
_HEADERS: Final = re2.compile(
    r"(?m)^(?:\*\*\* (Add|Update|Delete) File: (.+)|\*\*\* (Move) to: (.+)|diff --git a/(.+) b/(.+)"
    r"|--- (\S.*)\n\+\+\+ (\S.*)|(?:rename to) (.+)|(new file mode|deleted file mode) .*|([MAD]) ([\w./@+-]+))\r?$"
)
_VERBS: Final = {
    "Add": "created",
    "Update": "edited",
    "Delete": "deleted",
    "M": "edited",
    "A": "created",
    "D": "deleted",
}
_NOTHING: Final = "/dev/null"


def read_patched_files(patch: str) -> dict[str, str]:
    """Return the files of a patch, in order, at most ``PATHS_MAX``: maps each path to what the patch does to it.

    The values are "created", "edited" and "deleted"; for a file that was moved, "moved to <new path>" under its old
    path and "moved from <old path>" under its new one; "moved" under the new path if the patch does not give the old
    one. {} for a text that is no patch.
    """
    found: dict[str, str] = {}
    last = ""
    for match in islice(_HEADERS.finditer(patch), _HEADERS_MAX):
        groups = match.groups()
        path, verb = _read(groups, last)
        if groups[2] and last and path:
            found[last] = f"moved to {path}"
        if path:
            if verb or path not in found:
                found[path] = verb or "edited"
            last = path
        if len(found) >= PATHS_MAX:
            break
    return found


def _read(groups: tuple[str | None, ...], last: str) -> tuple[str, str]:
    """Path and verb of one header of a patch; with an empty verb, the verb of an earlier header of the same file stays.
    ``last``: the path of the header before."""
    verb, path, move, target, _, git_new, old, new, renamed, mode, letter, listed = groups
    if verb and path:
        return clean_path(path), _VERBS[verb]
    if move and target:
        return clean_path(target), f"moved from {last}" if last else "edited"
    if git_new:
        return clean_path(git_new), ""
    if old and new:
        return _of_pair(_without_stamp(old), _without_stamp(new))
    if renamed:
        return clean_path(renamed), "moved"
    if mode:
        return last, "created" if mode.startswith("new") else "deleted"
    return (clean_path(listed), _VERBS[letter]) if letter and listed else ("", "")


def _of_pair(old: str, new: str) -> tuple[str, str]:
    if new == _NOTHING:
        return clean_path(old.removeprefix("a/")), "deleted"
    return clean_path(new.removeprefix("b/")), "created" if old == _NOTHING else ""


def _without_stamp(path: str) -> str:
    return path.split("\t", 1)[0].strip()
