"""Reads parts of files that hosts name. Only regular files are read, because a pipe could block."""

from __future__ import annotations

import os
import stat
from typing import Final

_HOW: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def part_of(path: str, start: int, most: int) -> bytes | None:
    """Return at most ``most`` bytes of a file from ``start`` on; ``None`` if it cannot be read or is not a regular
    file."""
    try:
        with open(path, "rb", opener=_open_regular_file) as file:
            file.seek(start)
            return file.read(most)
    except OSError:
        return None


def _open_regular_file(path: str, flags: int) -> int:
    handle = os.open(path, _HOW | flags)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError("no regular file")
