"""Usage ledger in a SQLite file, in the database of the event log."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, TypeVar

from tokenmizer_mw.errors import StoreCorrupt
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import NAMES, Sum, UsageRecord, UsageSums
from tokenmizer_mw.store.ledger import (
    BY,
    BY_STAGE,
    By,
    day_of,
    decode_stages,
    encode_stages,
    plain_model,
    require_by,
    require_call,
)
from tokenmizer_mw.store.log import require_valid, require_valid_tenant

T = TypeVar("T")

_COLUMNS: Final = ", ".join(NAMES)
_SUMS: Final = ", ".join(f"sum({name})" for name in NAMES)
_ADDED: Final = ", ".join(f"{name} = {name} + excluded.{name}" for name in NAMES)
_KEPT: Final = "tenant, session, model, stage, day"

_HELD: Final = "SELECT EXISTS (SELECT 1 FROM sessions WHERE tenant = ? AND session = ?)"
_NAME: Final = "INSERT OR IGNORE INTO calls (tenant, call, session, at, model, stages) VALUES (?, ?, ?, ?, ?, ?)"
_ADD: Final = (
    f"INSERT INTO spending ({_KEPT}, {_COLUMNS}) VALUES ({', '.join('?' * (5 + len(NAMES)))})"
    f" ON CONFLICT ({_KEPT}) DO UPDATE SET {_ADDED}"
)
_CALLS: Final = (
    "SELECT call, at, model, stages FROM calls WHERE tenant = ? AND session = ? ORDER BY at DESC, call DESC LIMIT ?"
)
_WITHOUT_NAME: Final = (
    f"INSERT INTO spending ({_KEPT}, {_COLUMNS}) SELECT tenant, '', model, stage, day, {_COLUMNS} FROM spending"
    f" WHERE tenant = ? AND session = ? ON CONFLICT ({_KEPT}) DO UPDATE SET {_ADDED}"
)
_ERASE: Final = "DELETE FROM spending WHERE tenant = ? AND session = ?"
_UNNAMED: Final = "UPDATE calls SET session = '', stages = '{}' WHERE tenant = ? AND session = ?"

Select = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]


class SqliteLedger:
    """A ``UsageLedger`` that uses the connections of a SQLite store.

    ``select``: runs a query and returns its rows; ``changed``: runs a function in a transaction.
    """

    def __init__(self, select: Select, changed: Callable[[Callable[[sqlite3.Cursor], bool]], bool]) -> None:
        self._select = select
        self._changed = changed

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. See ``UsageLedger.add``."""
        require_valid(session)
        require_call(spent)
        return self._changed(lambda cursor: _add_call(cursor, session, spent))

    def sums(
        self,
        tenant: str,
        *,
        by: Collection[By] = BY_STAGE,
        session: str | None = None,
        model: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Sum]:
        """Return the summed cost and savings of the tenant's calls, grouped and sorted by ``by``. See
        ``UsageLedger.sums``.
        """
        require_valid_tenant(tenant)
        statement, bounds = grouped_query(by, session, model, since, until)
        return read_sums(self._select(statement, (tenant, *bounds)))

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first."""
        require_valid(session)
        return read_calls(self._select(_CALLS, (session.tenant, session.id, max(0, limit))))


def grouped_query(
    by: Collection[By],
    session: str | None,
    model: str | None,
    since: str,
    until: str,
    *,
    table: str = "spending",
    mark: Callable[[int], str] = lambda place: "?",
    sums: str = _SUMS,
) -> tuple[str, Sequence[str]]:
    """Return the SQL statement for ``UsageLedger.sums`` and its parameters after the tenant's.

    ``mark``: returns the placeholder of a parameter by its position, from 1. Raises ``CallerError`` for a group that
    does not exist.
    """
    require_by(by)
    bounds = [("session =", session), ("model =", model), ("day >=", since or None), ("day <=", until or None)]
    given = [(column, value) for column, value in bounds if value is not None]
    where = "".join(f" AND {column} {mark(place)}" for place, (column, _) in enumerate(given, 2))
    chosen = ", ".join(name if name in by else f"'' AS {name}" for name in BY)
    grouping = ", ".join(name for name in BY if name in by)
    behind = f" GROUP BY {grouping} ORDER BY {grouping}" if grouping else ""
    statement = f"SELECT {chosen}, {sums} FROM {table} WHERE tenant = {mark(1)}{where}{behind}"
    return statement, [value for _, value in given]


def read_sums(rows: Iterable[Sequence[Any]]) -> list[Sum]:
    """Convert rows to sums. A query without groups returns one empty row when there are no calls; it is dropped."""
    found = []
    for session, model, stage, day, *figures in rows:
        if figures[0] is not None:
            found.append(Sum(session, model, stage, day, UsageSums(*figures)))
    return found


def read_calls(rows: Iterable[Sequence[Any]]) -> list[UsageRecord]:
    """Convert rows to calls. Raises ``StoreCorrupt`` for an invalid row."""
    try:
        return [UsageRecord(call, at, model, decode_stages(stages)) for call, at, model, stages in rows]
    except ValueError as error:
        raise StoreCorrupt("the figures of a call are damaged") from error


def _add_call(cursor: sqlite3.Cursor, session: SessionKey, spent: UsageRecord) -> bool:
    (held,) = cursor.execute(_HELD, (session.tenant, session.id)).fetchone()
    name, model = (session.id if held else ""), plain_model(spent.model)
    stages = encode_stages(spent.stages) if held else "{}"
    if not cursor.execute(_NAME, (session.tenant, spent.call, name, spent.at, model, stages)).rowcount:
        return False
    rows = [
        (session.tenant, name, model, stage, day_of(spent.at), *(getattr(figures, each) for each in NAMES))
        for stage, figures in spent.stages.items()
    ]
    cursor.executemany(_ADD, rows)
    return True


def erase(cursor: sqlite3.Cursor, sessions: Iterable[SessionKey]) -> None:
    """Remove the names of erased sessions from the ledger, in the open transaction; their figures stay in the tenant's
    sums.
    """
    keys = [(key.tenant, key.id) for key in sessions]
    for statement in (_WITHOUT_NAME, _ERASE, _UNNAMED):
        cursor.executemany(statement, keys)
