"""Statements for the vectors of passages in a SQLite store."""

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
_IS_CURRENT: Final = (
    "SELECT EXISTS (SELECT 1 FROM events WHERE tenant = ?1 AND session = ?2 AND seq = ?3 AND recorded_at = ?4)"
    f" AND NOT EXISTS (SELECT 1 FROM events WHERE tenant = ?1 AND session = ?2 AND seq > ?3 AND kind = '{_REWRITTEN}')"
)
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
    if not cursor.execute(_IS_CURRENT, (*key, seq, passages.recorded_at)).fetchone()[0]:
        return False
    cursor.execute(_DROP_OTHERS, (*key, passages.model))
    cursor.executemany(_ADD, [(*key, passages.model, *row) for row in passages.rows.items()])
    cursor.execute(_PRUNE, (*key, most))
    return True
