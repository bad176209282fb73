"""Tables of the SQLite store, and their migration from any earlier version.

``PRAGMA application_id`` identifies the owner of the database, ``PRAGMA user_version`` counts the migrations applied.
Rows of ``events`` are stored in the order in which they were written, with an index over (tenant, session, seq): events
of a turn are stored together, and messages fit into pages better than in a table clustered by that key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tokenmizer_mw.errors import StoreCorrupt, StoreTooNew
from tokenmizer_mw.model.event import Rewritten, encode
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.ledger import SQLITE_TABLES as SPENDING
from tokenmizer_mw.store.log import SECRET_BYTES, PassageRows
from tokenmizer_mw.store.sqlite_blocks import TABLE as BLOCKS

APPLICATION_ID: Final = 0x746D697A
"""The number in a database file that marks it as one of this package: the bytes of "tmiz"."""

Migration = Sequence[str]
"""SQL statements, one per item, that lift a database by one version."""

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        "CREATE TABLE sessions (tenant TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,"
        " created_at REAL NOT NULL, updated_at REAL NOT NULL, PRIMARY KEY (tenant, session)) WITHOUT ROWID",
        "CREATE TABLE events (tenant TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,"
        " recorded_at REAL NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, payload TEXT NOT NULL,"
        " UNIQUE (tenant, session, seq))",
        "CREATE TABLE installation (secret BLOB NOT NULL)",
        f"INSERT INTO installation (secret) VALUES (randomblob({SECRET_BYTES}))",
    ),
    (
        "CREATE TABLE snapshots (tenant TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL,"
        " recorded_at REAL NOT NULL, fold_version INTEGER NOT NULL, payload BLOB NOT NULL,"
        " UNIQUE (tenant, session))",
    ),
    SPENDING,
    ("CREATE TABLE traces (id BLOB NOT NULL PRIMARY KEY, rewritten INTEGER NOT NULL) WITHOUT ROWID",),
    (
        "CREATE TABLE passages (tenant TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL,"
        " passage BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (tenant, session, passage))",
    ),
    BLOCKS,
)
"""All migrations since the first release, in order. A released one is never edited."""


def is_current(cursor: sqlite3.Cursor, path: str, migrations: Sequence[Migration] = MIGRATIONS) -> bool:
    """Whether the database has the current version of the tables and needs no migration. ``path``: the file, for error
    messages; ``migrations``: all that there are, oldest first.

    Raises ``StoreTooNew`` when a newer release wrote it, ``StoreCorrupt`` when it belongs to something else.
    """
    cursor.execute("BEGIN")
    try:
        return _version(cursor, path, migrations) == len(migrations)
    finally:
        roll_back(cursor)


def migrate(cursor: sqlite3.Cursor, path: str, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the migrations that the database does not have yet, all or none.

    Several processes may do this at once: one works, the others wait. ``path``: the file, for error messages;
    ``migrations``: all that there are, oldest first. Raises ``StoreTooNew`` when a newer release wrote the database,
    ``StoreCorrupt`` when it belongs to something else, and ``sqlite3.Error``.
    """
    with immediate(cursor):
        for step in migrations[_version(cursor, path, migrations) :]:
            for statement in step:
                cursor.execute(statement)
        cursor.execute(f"PRAGMA user_version = {len(migrations)}")
        cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _begin(cursor: sqlite3.Cursor) -> None:
    cursor.execute("BEGIN IMMEDIATE")


@contextmanager
def immediate(cursor: sqlite3.Cursor, begin: Callable[[sqlite3.Cursor], None] = _begin) -> Iterator[None]:
    """Run the block in a transaction that holds the database's write lock from its start (BEGIN IMMEDIATE).

    Commits at the end of the block; rolls back if the block or the commit raises. ``begin``: a function that begins the
    transaction instead. Raises ``sqlite3.Error`` if the lock is not free within the connection's busy timeout.
    """
    begin(cursor)
    try:
        yield
        cursor.execute("COMMIT")
    except BaseException:
        roll_back(cursor)
        raise


def roll_back(cursor: sqlite3.Cursor) -> None:
    """Roll back the open transaction of the cursor's connection; nothing happens if none is open, because SQLite has
    already rolled it back."""
    if cursor.connection.in_transaction:
        cursor.execute("ROLLBACK")


def _version(cursor: sqlite3.Cursor, path: str, migrations: Sequence[Migration]) -> int:
    """Return how many migrations the database has seen, 0 for an empty file. Call it inside a transaction. Raises
    ``StoreCorrupt`` for a database of another application, and ``StoreTooNew`` for one of a newer release."""
    (application,) = cursor.execute("PRAGMA application_id").fetchone()
    (version,) = cursor.execute("PRAGMA user_version").fetchone()
    (tables,) = cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreCorrupt(f"{path}: is a database of another application: name another file")
    if version > len(migrations):
        raise StoreTooNew(
            f"{path}: was written by a newer version of tokenmizer-mw"
            f" (its schema is {version}, this version reads up to {len(migrations)}): upgrade tokenmizer-mw here"
        )
    return int(version)


READ_PASSAGES: Final = (
    "SELECT passage, vector FROM passages WHERE tenant = ? AND session = ? AND model = ? ORDER BY passages.rowid"
)
DROP_PASSAGES: Final = "DELETE FROM passages WHERE tenant = ? AND session = ?"
_REWRITTEN: Final = encode(Rewritten(0))[0]
_OF_SESSION: Final = "SELECT 1 FROM events WHERE tenant = :tenant AND session = :session"
IS_CURRENT: Final = (
    f"EXISTS ({_OF_SESSION} AND seq = :seq AND recorded_at = :recorded_at)"
    f" AND NOT EXISTS ({_OF_SESSION} AND seq > :seq AND kind = '{_REWRITTEN}')"
)
"""SQL condition: the session has the event ``:seq`` of time ``:recorded_at``, and was not rewritten after it."""

_DROP_OTHERS: Final = f"{DROP_PASSAGES} AND model <> ?"
_ADD: Final = "INSERT OR IGNORE INTO passages (tenant, session, model, passage, vector) VALUES (?, ?, ?, ?, ?)"
_PRUNE: Final = (
    "DELETE FROM passages WHERE rowid IN (SELECT rowid FROM passages WHERE tenant = ? AND session = ?"
    " ORDER BY rowid DESC LIMIT -1 OFFSET ?)"
)


def keep_passages(cursor: sqlite3.Cursor, session: SessionKey, passages: PassageRows, seq: int, most: int) -> bool:
    """Store the vectors in ``passages`` in the open transaction, and delete those of other models. A passage that
    already has a vector keeps it. Returns whether they were stored; false if the session was erased or rewritten since
    they were computed.

    ``seq``: the number in ``passages``, limited to the largest that SQLite can store. ``most``: maximum number of
    vectors of the session; those stored first are deleted.
    """
    key = (session.tenant, session.id)
    place = {"tenant": session.tenant, "session": session.id, "seq": seq, "recorded_at": passages.recorded_at}
    if not cursor.execute(f"SELECT {IS_CURRENT}", place).fetchone()[0]:
        return False
    cursor.execute(_DROP_OTHERS, (*key, passages.model))
    cursor.executemany(_ADD, [(*key, passages.model, *row) for row in passages.rows.items()])
    cursor.execute(_PRUNE, (*key, most))
    return True
