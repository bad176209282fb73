"""Installation into configurations of coding agents: plan changes, show them, apply them, and remove them again."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import CallerError

from .hosts import HOSTS, Edit, InstallTarget
from .json_text import NotPlain, value_of

BACKUP: Final = ".before-tokenmizer"
"""What is appended to the name of a file to keep what it was."""


class LeftAlone(CallerError):
    """Raised for a file that is not changed; ``by_hand``: what the user should add by hand, "" for nothing."""

    def __init__(self, sentence: str, by_hand: str = "") -> None:
        super().__init__(sentence)
        self.by_hand = by_hand


_NOTHING: Final[tuple[dict[str, object], ...]] = ({}, {"version": 1}, {"version": 1, "hooks": {}})


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after a change; ``None`` if it does not exist."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """Return the difference as text."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        was, is_ = (str(self.path) if text is not None else os.devnull for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, was, is_)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def carry_out(self) -> Path | None:
        """Write the file atomically; return the path of the backup of its old content, if it existed.

        Raises ``CallerError`` if the file has changed meanwhile.
        """
        path = self.path.resolve()  # people link such files from elsewhere
        if _text(path) != self.before:
            raise CallerError(f"{self.path} has changed meanwhile: run this again")
        kept = _back_up(path) if self.before is not None else None
        if self.after is None:
            path.unlink()
            return kept
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(self.after)
            if kept is not None:
                shutil.copymode(path, name)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        return kept


def plan_changes(host: str, home: Path, folder: Path, *, project: bool = False, remove: bool = False) -> list[Change]:
    """Return the changes that would install this package for ``host``, or remove it. Writes nothing.

    Raises ``CallerError`` for a file that cannot be read, and ``LeftAlone`` for one that cannot be changed.
    """
    return [_change(edit, remove) for edit in HOSTS[host](InstallTarget(home, folder, project))]


def _change(edit: Edit, remove: bool) -> Change:
    before = _text(edit.path)
    try:
        after: str | None = edit.drop(before or "") if remove else edit.add(before or "")
    except NotPlain as error:
        raise LeftAlone(f"{edit.path} is left alone: {error}", "" if remove else edit.add("")) from None
    if remove and (before is None or (after != before and _is_nothing(after or ""))):
        after = None
    return Change(edit.path, before, after)


def _is_nothing(text: str) -> bool:
    """Whether a file holds nothing any more."""
    try:
        return not text.strip() or value_of(text) in _NOTHING
    except NotPlain:
        return False


def _text(path: Path) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CallerError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _back_up(path: Path) -> Path:
    """A copy of the file under a name that nothing has yet."""
    number = 0
    while True:
        copy = path.with_name(f"{path.name}{BACKUP}{f'-{number}' if number else ''}")
        if not copy.exists():
            shutil.copy2(path, copy)
            return copy
        number += 1
