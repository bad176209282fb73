"""The usage ledger, which stores what calls cost and saved, summed by session, model, stage and day: its protocol, and
the ledgers in SQLite and PostgreSQL, where an addition is one statement.

A call counts once however often it is added, so an addition can be retried. Additions of several workers all count.
When a session is erased, its calls are erased, but their sums stay with the tenant without the session's name, so that
past bills do not change. The same holds for calls of sessions that the store does not have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, get_args

from tokenmizer_mw.errors import CallerError, InvalidSession, StoreCorrupt
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import NAMES, Stages, Sum, UsageRecord, UsageSums

from .log import require_valid, require_valid_tenant

if TYPE_CHECKING:
    import sqlite3

    from .postgres_connections import Connections


_SUMS: Final = (
    "calls, estimated, unpriced, input_tokens, cached_tokens, written_tokens, output_tokens, cost, client_tokens,"
    " client_cost"
)

SQLITE_TABLES: Final = (
    "CREATE TABLE spending (tenant TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL,"
    f" day TEXT NOT NULL, {_SUMS.replace(',', ' INTEGER NOT NULL,')} INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, session, model, stage, day)) WITHOUT ROWID",
    "CREATE TABLE calls (tenant TEXT NOT NULL, call TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,"
    " model TEXT NOT NULL, stages TEXT NOT NULL, PRIMARY KEY (tenant, call)) WITHOUT ROWID",
    "CREATE INDEX calls_of_session ON calls (tenant, session, at)",
)

By = Literal["session", "model", "stage", "day"]
"""The fields by which sums of calls can be grouped."""

BY: Final = get_args(By)
BY_STAGE: Final[tuple[By, ...]] = ("stage",)
NAME_MAX: Final = 200
"""Longest name of a call, in characters. Names of models are stored up to this length."""


class UsageLedger(Protocol):
    """Protocol of the usage ledger: stores what the calls of a store's sessions cost and saved. Synchronous; safe to
    call from several threads and processes.

    It is part of a store and closes with it. Its methods raise ``StoreUnavailable`` as the store's do, and
    ``InvalidSession`` for an invalid tenant or session.
    """

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. Returns true; or ``False``, and does nothing, when the tenant already
        has a call named ``spent.call``. Raises ``InvalidSession`` for a name that is empty, too long or not printable.

        If the session does not exist, the figures only count in the tenant's sums.
        """

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
        """Return the summed cost and savings of the tenant's calls; ``[]`` if there are none.

        - ``by``: the fields to group by, some of "session", "model", "stage" and "day"; ``CallerError`` for others.
          Empty: one sum of everything. Without "stage", the figures of a call and of its stages are added up.
        - ``session``, ``model``: only calls of this session or model; ``None``: all.
        - ``since``, ``until``: first and last day, such as "2026-11-21" (UTC); "": no limit.

        The sums are sorted by the fields in ``by``, in the order session, model, stage, day.
        """

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first; ``[]`` for none, and for a
        ``limit`` below 1."""


def day_of(at: float) -> str:
    """Return the date in UTC, such as "2026-11-21", of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def require_by(by: Collection[str]) -> None:
    """Raise ``CallerError`` for a group that is not a value of ``By`` ("session", "model", ...)."""
    if unknown := [group for group in by if group not in BY]:
        raise CallerError(f"sums can be grouped by {', '.join(BY)}, not {', '.join(map(str, unknown))[:60]}")


def require_call(spent: UsageRecord) -> None:
    """Raise ``InvalidSession`` for a call whose name is empty, longer than ``NAME_MAX`` or not printable."""
    if not spent.call or len(spent.call) > NAME_MAX or not spent.call.isprintable():
        raise InvalidSession(f"a call's name is 1 to {NAME_MAX} printable characters")


def plain_model(model: str) -> str:
    """Return a model's name in the form in which it is stored: at most ``NAME_MAX`` characters, "?" for each one that
    is not printable."""
    return "".join(sign if sign.isprintable() else "?" for sign in model[:NAME_MAX])


def encode_stages(stages: Stages) -> str:
    """Encode a call's figures as JSON text: an object of figures for each stage, in which zeros are left out."""
    return json.dumps(
        {
            stage: {name: value for name in NAMES if (value := getattr(figures, name))}
            for stage, figures in sorted(stages.items())
        }
    )


def decode_stages(text: str) -> Stages:
    """Decode the text that ``encode_stages`` returned. Raises ``ValueError`` for anything else."""
    try:
        return {stage: UsageSums(**figures) for stage, figures in json.loads(text).items()}
    except (TypeError, AttributeError) as error:
        raise ValueError("no figures of a call") from error


_COLUMNS: Final = ", ".join(NAMES)
_SUMMED: Final = ", ".join(f"sum({name})" for name in NAMES)
_ADDED: Final = ", ".join(f"{name} = {name} + excluded.{name}" for name in NAMES)
_KEYS: Final = "tenant, session, model, stage, day"
_HELD: Final = "SELECT EXISTS (SELECT 1 FROM sessions WHERE tenant = ? AND session = ?)"
_NAME: Final = "INSERT OR IGNORE INTO calls (tenant, call, session, at, model, stages) VALUES (?, ?, ?, ?, ?, ?)"
_ADD: Final = (
    f"INSERT INTO spending ({_KEYS}, {_COLUMNS}) VALUES ({', '.join('?' * (5 + len(NAMES)))})"
    f" ON CONFLICT ({_KEYS}) DO UPDATE SET {_ADDED}"
)
_CALLS: Final = (
    "SELECT call, at, model, stages FROM calls WHERE tenant = ? AND session = ? ORDER BY at DESC, call DESC LIMIT ?"
)
_WITHOUT_NAME: Final = (
    f"INSERT INTO spending ({_KEYS}, {_COLUMNS}) SELECT tenant, '', model, stage, day, {_COLUMNS} FROM spending"
    f" WHERE tenant = ? AND session = ? ON CONFLICT ({_KEYS}) DO UPDATE SET {_ADDED}"
)
_ERASE: Final = "DELETE FROM spending WHERE tenant = ? AND session = ?"
_UNNAMED: Final = "UPDATE calls SET session = '', stages = '{}' WHERE tenant = ? AND session = ?"
Select = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]


class _SqlLedger:
    """The queries that are the same in SQLite and PostgreSQL. ``select`` runs a query with parameters and returns its
    rows."""

    table = "spending"
    summed = _SUMMED
    newest = _CALLS

    def __init__(self, select: Select) -> None:
        self._select = select

    @staticmethod
    def mark(place: int) -> str:
        """Return the placeholder in an SQL statement for its parameter number ``place``, counted from 1: "?"."""
        return "?"

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
        """Return the summed cost and savings of the tenant's calls, grouped by the fields in ``by``; ``[]`` if there
        are none. ``session``, ``model``: only calls of this session id or model; ``None``: all. ``since``, ``until``:
        first and last day in UTC, such as "2026-11-21"; "": no limit. Raises ``CallerError`` for an unknown field."""
        require_valid_tenant(tenant)
        require_by(by)
        bounds = [("session =", session), ("model =", model), ("day >=", since or None), ("day <=", until or None)]
        given = [(column, value) for column, value in bounds if value is not None]
        where = "".join(f" AND {column} {self.mark(place)}" for place, (column, _) in enumerate(given, 2))
        chosen = ", ".join(name if name in by else f"'' AS {name}" for name in BY)
        grouping = ", ".join(name for name in BY if name in by)
        behind = f" GROUP BY {grouping} ORDER BY {grouping}" if grouping else ""
        statement = f"SELECT {chosen}, {self.summed} FROM {self.table} WHERE tenant = {self.mark(1)}{where}{behind}"
        rows = self._select(statement, (tenant, *(value for _, value in given)))
        # a query without groups returns one empty row when there are no calls
        return [
            Sum(whose, model, stage, day, UsageSums(*figures))
            for whose, model, stage, day, *figures in rows
            if figures[0] is not None
        ]

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first; ``[]`` for none, and for a
        ``limit`` below 1. Raises ``StoreCorrupt`` for an invalid row."""
        require_valid(session)
        rows = self._select(self.newest, (session.tenant, session.id, max(0, limit)))
        try:
            return [UsageRecord(call, at, model, decode_stages(stages)) for call, at, model, stages in rows]
        except ValueError as error:
            raise StoreCorrupt("the figures of a call are damaged") from error


class SqliteLedger(_SqlLedger):
    """A ``UsageLedger`` that uses the connections of a SQLite store.

    ``select``: runs a query and returns its rows; ``changed``: runs a function in a transaction, with a
    cursor, and returns its result.
    """

    def __init__(self, select: Select, changed: Callable[[Callable[[sqlite3.Cursor], bool]], bool]) -> None:
        super().__init__(select)
        self._changed = changed

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. Returns whether it was added: not if the tenant already has a call
        named ``spent.call``. If the store does not have the session, the call counts only in the tenant's sums. Raises
        ``InvalidSession`` for an invalid session or name."""
        require_valid(session)
        require_call(spent)
        return self._changed(lambda cursor: _add_call(cursor, session, spent))


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


def erase_names(cursor: sqlite3.Cursor, sessions: Iterable[SessionKey]) -> None:
    """Remove the names of erased sessions from the ledger, in the open transaction. Their figures stay in the tenant's
    sums. Of their single calls only the names stay, so that none is counted again."""
    keys = [(key.tenant, key.id) for key in sessions]
    for statement in (_WITHOUT_NAME, _ERASE, _UNNAMED):
        cursor.executemany(statement, keys)


_POSTGRES_ADDED: Final = ", ".join(f"{name} = s.{name} + excluded.{name}" for name in NAMES)
_POSTGRES_SUMS: Final = ", ".join(f"sum({name})::bigint" for name in NAMES)

_POSTGRES_ADD: Final = f"""
WITH held AS MATERIALIZED (
  SELECT session FROM {{schema}}.sessions WHERE tenant = $1 AND session = $2 FOR KEY SHARE
), of AS MATERIALIZED (
  SELECT coalesce((SELECT session FROM held), '') AS session
), named AS (
  INSERT INTO {{schema}}.calls (tenant, call, session, at, model, stages)
  SELECT $1, $3, of.session, $4, $5, CASE WHEN of.session = '' THEN '{{}}' ELSE $6 END FROM of
  ON CONFLICT (tenant, call) DO NOTHING RETURNING session
), added AS (
  INSERT INTO {{schema}}.spending AS s ({_KEYS}, {_COLUMNS})
  SELECT $1, named.session, $5, row.stage, $7, {", ".join(f"row.{name}" for name in NAMES)}
  FROM named, unnest($8::text[], {", ".join(f"${place}::bigint[]" for place in range(9, 9 + len(NAMES)))})
    AS row (stage, {_COLUMNS})
  ON CONFLICT ({_KEYS}) DO UPDATE SET {_POSTGRES_ADDED}
)
SELECT count(*) FROM named
"""
_POSTGRES_CALLS: Final = """
SELECT call, at, model, stages FROM {schema}.calls WHERE tenant = $1 AND session = $2
ORDER BY at DESC, call DESC LIMIT $3
"""
POSTGRES_ERASE: Final = f"""
WITH gone AS (
  DELETE FROM {{schema}}.spending AS s USING unnest($1::text[], $2::text[]) AS k (tenant, session)
  WHERE s.tenant = k.tenant AND s.session = k.session RETURNING s.*
), unnamed AS (
  UPDATE {{schema}}.calls AS c SET session = '', stages = '{{}}'
  FROM unnest($1::text[], $2::text[]) AS k (tenant, session) WHERE c.tenant = k.tenant AND c.session = k.session
)
INSERT INTO {{schema}}.spending AS s ({_KEYS}, {_COLUMNS})
SELECT tenant, '', model, stage, day, {_POSTGRES_SUMS} FROM gone GROUP BY tenant, model, stage, day
ON CONFLICT ({_KEYS}) DO UPDATE SET {_POSTGRES_ADDED}
"""
"""Statement that moves the figures of erased sessions to the sums without a session's name. Its parameters are two
lists: the tenants of the sessions and their ids."""


class PostgresLedger(_SqlLedger):
    """A ``UsageLedger`` that uses the connections of a PostgreSQL store, which ``connections`` returns."""

    table = "{schema}.spending"
    summed = _POSTGRES_SUMS
    newest = _POSTGRES_CALLS

    def __init__(self, connections: Callable[[], Connections]) -> None:
        super().__init__(lambda statement, parameters: connections().select(statement, *parameters))
        self._connections = connections

    @staticmethod
    def mark(place: int) -> str:
        """Return the placeholder in an SQL statement for its parameter number ``place``, counted from 1: "$1" for
        1."""
        return f"${place}"

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. Returns whether it was added: not if the tenant already has a call
        named ``spent.call``. If the store does not have the session, the call counts only in the tenant's sums. Raises
        ``InvalidSession`` for an invalid session or name."""
        require_valid(session)
        require_call(spent)
        stages = sorted(spent.stages)  # always in one order: two additions never wait for each other
        columns = [[getattr(spent.stages[stage], name) for stage in stages] for name in NAMES]
        parameters = (
            *(session.tenant, session.id, spent.call, spent.at, plain_model(spent.model)),
            *(encode_stages(spent.stages), day_of(spent.at), stages, *columns),
        )
        return int(self._connections().run(lambda connection: connection.fetch_value(_POSTGRES_ADD, *parameters))) > 0
