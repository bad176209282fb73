"""Store in files how far transcripts were read. A lost note only costs time, because the transcript is then read again.

A transcript that is not a regular file is not read, because reading a pipe could block.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

_HOW: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def part_of(path: str, start: int, most: int) -> bytes | None:
    """Return at most ``most`` bytes of the file at ``path`` from byte ``start`` on; b"" behind its end, ``None`` if it
    cannot be read or is not a regular file."""
    try:
        with open(path, "rb", opener=_open_regular_file) as file:
            file.seek(start)
            return file.read(most)
    except (OSError, ValueError):  # ValueError: the path has a NUL or half of a surrogate pair
        return None


def _open_regular_file(path: str, flags: int) -> int:
    handle = os.open(path, _HOW | flags)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError("no regular file")


_HEAD: Final = 256


@dataclass(frozen=True, slots=True)
class Note:
    """How far one transcript was read.

    - ``head``: number and hash of its first bytes, by which the file is recognised; "" if there is no note.
    - ``start``: byte position to continue from, some already recorded messages before the new ones.
    - ``given``: length of the transcript in bytes when a resume block was last returned to the host, -1 for never.
    - ``end``: byte position up to which every message is recorded.
    """

    head: str = ""
    start: int = 0
    given: int = -1
    end: int = 0


class Notes:
    """Remembers how far each transcript file of an agent was read: one ``Note`` for each path.

    - ``folder``: directory of the notes, created if missing; ``None`` keeps them in this process only.
    - ``store``: identifies the store. Notes that were made for another store are not found, because that store may have
      other messages.
    """

    def __init__(self, folder: Path | None, store: bytes = b"") -> None:
        self._folder = folder
        self._store = store
        self._known: dict[str, Note] = {}

    def of(self, transcript: str) -> Note:
        """Return the note about the file ``transcript``; an empty ``Note`` if there is none, or if the file was
        replaced or became shorter than what was read."""
        note = self._known.get(transcript) or self._load(transcript)
        shrunk = note.start > length_of(transcript)
        return note if note.head and note.head == _head(transcript, note.head) and not shrunk else Note()

    def keep(self, transcript: str, note: Note) -> None:
        """Store a note about the file ``transcript``. Its ``head`` is computed from the file, unless it already covers
        256 bytes. Errors of writing are ignored: the file is then read again later."""
        whole = note.head.startswith(f"{_HEAD}:")
        note = note if whole else replace(note, head=_head(transcript))
        if note == self._known.get(transcript):
            return
        self._known[transcript] = note
        if self._folder is not None:
            with suppress(OSError, ValueError):  # ValueError: as in ``part_of``
                self._folder.mkdir(mode=0o700, exist_ok=True)
                fresh = self._folder / f"{os.getpid()}.new"
                fresh.write_text(json.dumps(asdict(note)), encoding="utf-8")
                fresh.replace(self._file(transcript))

    def _load(self, transcript: str) -> Note:
        if self._folder is None:
            return Note()
        try:
            values = json.loads(self._file(transcript).read_text(encoding="utf-8"))
            note = Note(str(values["head"]), int(values["start"]), int(values["given"]), int(values.get("end", 0)))
            return note if note.head.partition(":")[0].isdecimal() else Note()
        except (OSError, ValueError, TypeError, KeyError):
            return Note()

    def _file(self, transcript: str) -> Path:
        assert self._folder is not None
        values = self._store + transcript.encode("utf-8", "surrogateescape")
        return self._folder / hashlib.blake2b(values, digest_size=8).hexdigest()


def _head(transcript: str, like: str = "") -> str:
    """Return the number of bytes at the start of a transcript, at most ``_HEAD``, and their hash ("256:..."); "" if it
    cannot be read. ``like``: an earlier result, whose number of bytes is used again."""
    count = int(like.partition(":")[0]) if like else _HEAD
    begins = part_of(transcript, 0, count)
    if begins is None:
        return ""
    return f"{len(begins)}:{hashlib.blake2b(begins, digest_size=8).hexdigest()}"


def length_of(path: str) -> int:
    """Return the size of the file at ``path`` in bytes; 0 if it does not exist or cannot be examined."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):  # ValueError: as in ``part_of``
        return 0
