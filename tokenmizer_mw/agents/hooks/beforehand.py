"""Builds the blocks that sessions start with when no worker runs, for ``start`` to read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress

from tokenmizer_mw.errors import StoreError
from tokenmizer_mw.session.project import project_of
from tokenmizer_mw.store.sqlite_blocks import BlockName, BuiltBlock, at, chats_of, ends_of, find_block, keep_block

from .place import WorkerFiles
from .start import reader_of

_NEXT = "the next session of this project"
"""In place of the host's id of a session that there is not yet."""

_ATTEMPTS = 2
"""Building a block may extract facts first, which changes the session."""


class BlockBuilder:
    """Keeps blocks in the database file ``path``, for the workers of ``spot``.

    ``build``: returns the block of a session's id, "" for none; ``separator``: between a project and a session.
    """

    def __init__(self, path: str, spot: WorkerFiles, build: Callable[[str], str], separator: str) -> None:
        self._path = path
        self._reader = reader_of(spot)
        self._build = build
        self._separator = separator

    def build_for(self, chat: str, session: str, project: str) -> None:
        """Build the block of a recorded session and that of a new session of ``project``. Errors are ignored: the next
        start takes longer then."""
        with suppress(StoreError, sqlite3.Error, OSError):
            self._keep(BlockName(self._reader, chat=chat), session, self._siblings(session))
            siblings = f"{project}{self._separator}"
            self._keep(BlockName(self._reader, project=project), f"{siblings}{_NEXT}", siblings)

    def build_again(self, project: str) -> None:
        """Build the outdated blocks of the sessions of ``project``. Errors are ignored."""
        with suppress(StoreError, sqlite3.Error, OSError):
            with at(self._path) as cursor:
                chats = chats_of(cursor, self._reader)
            for chat, session in chats.items():
                if project_of(session, self._separator) == project:
                    self._keep(BlockName(self._reader, chat=chat), session, self._siblings(session))

    def _siblings(self, session: str) -> str:
        project = project_of(session, self._separator)
        return f"{project}{self._separator}" if project else ""

    def _keep(self, name: BlockName, session: str, siblings: str) -> None:
        for _ in range(_ATTEMPTS):
            with at(self._path) as cursor:
                if find_block(cursor, name) is not None:
                    return
                ends = ends_of(cursor, session, siblings)
            if not ends or keep_block(self._path, name, BuiltBlock(session, siblings, ends, self._build(session))):
                return
