"""SQL statements for the vectors of passages in a SQLite store."""

from __future__ import annotations

import sqlite3
from typing import Final

from tokenmizer_mw.model.event import Rewritten, encode
from tokenmizer_mw.model.session import SessionKey

from .log import PassageRows

READ: Final = (
    "SELECT passage, vector FROM passages WHERE tenant = ? AND session = ? AND model = ? ORDER BY passages.rowid"
)
DROP: Final = "DELETE FROM passages WHERE tenant = ? AND session = ?"

_REWRITTEN: Final = encode(Rewritten(0))[0]
_OF_SESSION: Final = "SELECT 1 FROM events WHERE tenant = :tenant AND session = :session"
IS_CURRENT: Final = (
    f"EXISTS ({_OF_SESSION} AND seq = :seq AND recorded_at = :recorded_at)"
    f" AND NOT EXISTS ({_OF_SESSION} AND seq > :seq AND kind = '{_REWRITTEN}')"
)
"""Whether a session has event ``:seq`` of that time, and none of its events was rewritten since."""

_DROP_OTHERS: Final = f"{DROP} AND model <> ?"
_ADD: Final = "INSERT OR IGNORE INTO passages (tenant, session, model, passage, vector) VALUES (?, ?, ?, ?, ?)"
_PRUNE: Final = (
    "DELETE FROM passages WHERE rowid IN (SELECT rowid FROM passages WHERE tenant = ? AND session = ?"
    " ORDER BY rowid DESC LIMIT -1 OFFSET ?)"
)


def keep(cursor: sqlite3.Cursor, session: SessionKey, passages: PassageRows, seq: int, most: int) -> bool:
    """Do what ``EventLog.keep_passage_rows`` says, in the open transaction. ``seq``: that of ``passages`` as SQLite can
    hold it."""
    key = (session.tenant, session.id)
    place = {"tenant": session.tenant, "session": session.id, "seq": seq, "recorded_at": passages.recorded_at}
    if not cursor.execute(f"SELECT {IS_CURRENT}", place).fetchone()[0]:
        return False
    cursor.execute(_DROP_OTHERS, (*key, passages.model))
    cursor.executemany(_ADD, [(*key, passages.model, *row) for row in passages.rows.items()])
    cursor.execute(_PRUNE, (*key, most))
    return True
