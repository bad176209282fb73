"""Resume blocks that were built beforehand, in the SQLite file that holds the sessions which they quote.

The hook of a coding agent that starts a session reads them: the agent waits for it, and it imports too little to build
a block itself. A row is valid while the sessions that it was built from are unchanged; an erasure or a rewrite of any
session deletes all rows. Only sessions of the tenant "local" have blocks.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tokenmizer_mw.model.session import LOCAL_TENANT

TABLE: Final = (
    "CREATE TABLE blocks (reader TEXT NOT NULL, project TEXT NOT NULL, chat TEXT NOT NULL, session TEXT NOT NULL,"
    " siblings TEXT NOT NULL, ends TEXT NOT NULL, block TEXT NOT NULL, UNIQUE (reader, project, chat))",
)
"""Statements that create the table. A released one is never edited."""

DROP_BLOCKS: Final = "DELETE FROM blocks"

ROWS_MAX: Final = 64
"""Most rows that are kept, of all readers together. The oldest ones are deleted."""

_OWN: Final = f"tenant = '{LOCAL_TENANT}'"
_ENDS: Final = (
    f"SELECT session, seq, updated_at FROM sessions WHERE {_OWN} AND (session = :session"
    " OR :siblings <> '' AND substr(session, 1, length(:siblings)) = :siblings) ORDER BY session"
)
_SESSIONS_OF: Final = f"SELECT session FROM sessions WHERE {_OWN} AND substr(session, -length(:chat)) = :chat"
_HAS_PROJECT: Final = f"SELECT EXISTS (SELECT 1 FROM sessions WHERE {_OWN} AND substr(session, 1, length(?)) = ?)"
_FIND: Final = (
    "SELECT session, siblings, ends, block FROM blocks WHERE reader = :reader AND project = :project AND chat = :chat"
)
_KEEP: Final = (
    "INSERT OR REPLACE INTO blocks (reader, project, chat, session, siblings, ends, block)"
    " VALUES (:reader, :project, :chat, :session, :siblings, :ends, :block)"
)
_PRUNE: Final = "DELETE FROM blocks WHERE rowid NOT IN (SELECT rowid FROM blocks ORDER BY rowid DESC LIMIT ?)"
_BUSY_SECONDS: Final = 0.2


class BlockName(NamedTuple):
    """The name of a stored block.

    - ``reader``: name of the hook processes with the same settings, which use the same blocks.
    - ``chat``: for the block of a recorded session, the host's id of it; else "".
    - ``project``: for the block of a project's next new session, what the ids of its sessions begin with; else "".
    """

    reader: str
    project: str = ""
    chat: str = ""


class BuiltBlock(NamedTuple):
    """A resume block that was built beforehand. ``block``: its text, "" if nothing is known of the session.

    - ``session``: id of the session that it was built for.
    - ``siblings``: what the ids of the other sessions begin with that it may quote, such as "shop/"; "" for none.
    - ``ends``: what ``ends_of`` returned for these two before the block was built.
    """

    session: str
    siblings: str
    ends: str
    block: str


@contextmanager
def at(path: str, begin: str = "BEGIN") -> Iterator[sqlite3.Cursor]:
    """Run the block in a transaction, with a cursor of a new connection to the existing database file ``path``.

    ``begin``: the statement that begins the transaction. It is committed at the end of the block; if the block raises,
    the connection is closed and nothing is written. Raises ``sqlite3.Error``, also after ``_BUSY_SECONDS`` of waiting
    for a lock.
    """
    address = f"{Path(path).absolute().as_uri()}?mode=rw"  # a reader of a write-ahead log writes beside it
    with (
        closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        cursor.execute("PRAGMA secure_delete = ON").fetchall()
        cursor.execute(begin)
        yield cursor
        cursor.execute("COMMIT")


def ends_of(cursor: sqlite3.Cursor, session: str, siblings: str) -> str:
    """Return a digest that changes whenever the session ``session`` changes, any session whose id begins with
    ``siblings``, or the version of the database. Returns "" if there is no such session."""
    rows = cursor.execute(_ENDS, {"session": session, "siblings": siblings}).fetchall()
    (version,) = cursor.execute("PRAGMA user_version").fetchone()
    return hashlib.blake2b(repr((version, rows)).encode(), digest_size=16).hexdigest() if rows else ""


def sessions_of(cursor: sqlite3.Cursor, chat: str) -> list[str]:
    """Return all session ids that end with ``chat``, the host's id of a session; ``[]`` for none."""
    return [session for (session,) in cursor.execute(_SESSIONS_OF, {"chat": chat})]


def has_project(cursor: sqlite3.Cursor, project: str) -> bool:
    """Whether the id of any session of the tenant "local" begins with ``project``, such as "shop/"."""
    (found,) = cursor.execute(_HAS_PROJECT, (project, project)).fetchone()
    return bool(found)


def secret_of(cursor: sqlite3.Cursor) -> bytes:
    """Return the store's secret: random bytes, created with the store, that are used to sign data."""
    (secret,) = cursor.execute("SELECT secret FROM installation").fetchone()
    return bytes(secret)


def chats_of(cursor: sqlite3.Cursor, reader: str) -> dict[str, str]:
    """Return the sessions for which ``reader`` has a stored block: a dict from the host's id of each to its id in this
    store. ``{}`` if there are none."""
    return dict(cursor.execute("SELECT chat, session FROM blocks WHERE reader = ? AND chat <> ''", (reader,)))


def find_block(cursor: sqlite3.Cursor, name: BlockName) -> BuiltBlock | None:
    """Return the stored block with this ``name``. Returns ``None`` if there is none, or if the sessions have changed
    since it was built."""
    row = cursor.execute(_FIND, name._asdict()).fetchone()
    found = BuiltBlock(*row) if row is not None else None
    return found if found is not None and ends_of(cursor, found.session, found.siblings) == found.ends else None


def keep_block(path: str, name: BlockName, built: BuiltBlock) -> bool:
    """Store a block in the database file ``path``, in place of one of the same name. Returns ``False`` and stores
    nothing if the sessions have changed since ``built.ends`` was computed. At most ``ROWS_MAX`` blocks are kept. Raises
    ``sqlite3.Error``."""
    with at(path, "BEGIN IMMEDIATE") as cursor:
        if ends_of(cursor, built.session, built.siblings) != built.ends:
            return False
        cursor.execute(_KEEP, {**name._asdict(), **built._asdict()})
        cursor.execute(_PRUNE, (ROWS_MAX,))
        return True
