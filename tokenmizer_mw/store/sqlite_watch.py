"""Notices that a database file was deleted or replaced while connections to it are open.

SQLite does not notice: it goes on writing to the file that has no name any more, and the next process finds nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tokenmizer_mw.runtime.forking import make_lock

_log = logging.getLogger("tokenmizer_mw")

_DELETED: Final = "the store %s was deleted while it was in use: its sessions are gone, new ones go to a new file there"
_REPLACED: Final = "the store %s was replaced by another file while it was in use: that file is used from here on"


class FileWatch:
    """Watches the database file ``path`` for one process. Safe for threads.

    ``generation`` changes with each file that was found at ``path``: connections of earlier ones are to be closed.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = make_lock()
        self._file: tuple[int, int] | None = None
        self._listeners: list[Callable[[], object]] = []
        self.generation = 0

    def when_replaced(self, listener: Callable[[], object]) -> None:
        """Have ``listener`` called each time that the file was deleted or replaced."""
        self._listeners.append(listener)

    def note_file(self) -> None:
        """Note which file a connection was just opened to."""
        if self._file is None:
            self._file = _identity(self._path)

    def look(self) -> int:
        """Return the current generation, after one look at the file. The first look at another file logs it."""
        if self._file is None or _identity(self._path) == self._file:
            return self.generation
        with self._lock:
            found = _identity(self._path)
            if self._file is None or found == self._file:
                return self.generation
            self._file = None
            self.generation += 1
        _log.error(_DELETED if found is None else _REPLACED, self._path)
        if found is not None:
            self._remove_old_wal()
        for listener in self._listeners:
            listener()
        return self.generation

    def _remove_old_wal(self) -> None:
        """Remove the write-ahead log of the file before. SQLite would take it for that of the new file, and write its
        pages over those of, say, a backup. One that was written since the new file came is left alone."""
        wal = f"{self._path}-wal"
        with suppress(OSError):
            if os.stat(wal).st_mtime_ns <= os.stat(self._path).st_ctime_ns:
                os.unlink(wal)


def _identity(path: str) -> tuple[int, int] | None:
    """Which file is at ``path``; ``None``: none that can be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
