"""Erase, rewrite and restore sessions in a PostgreSQL store.

Each function is one unit of work on its own connection. Those with several statements are a transaction in which this
process only sends data, so that others never wait for its computations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asyncpg import Connection

from tokenmizer_mw.errors import Conflict, StoreUnavailable
from tokenmizer_mw.model.event import Event, Recorded, Rewritten, encode
from tokenmizer_mw.model.session import SessionKey

from .postgres_address import Erase
from .postgres_errors import NAME
from .postgres_schema import MIGRATIONS
from .postgres_statements import SEQ_MAX, Statements

Row = tuple[int, float, str, int, str]
"""seq, recorded_at, kind, version, payload"""


@dataclass(frozen=True, slots=True)
class Whole:
    """A session at one moment: its number in the tables (0 when it is not there), its end, and its events."""

    number: int
    seq: int
    rows: Sequence[Row]


async def erase(
    connection: Connection, statements: Statements, sessions: Sequence[SessionKey], before: float
) -> tuple[list[SessionKey], int]:
    """Delete those sessions whose last event was recorded before ``before``: which ones, and of how many events."""
    ordered = sorted(sessions)
    columns = ([key.tenant for key in ordered], [key.id for key in ordered])
    async with connection.transaction(isolation="read_committed"):
        gone = await connection.fetch(statements.erase_sessions, *columns, before)
        # Whoever was appending to these sessions has finished, now that their rows are gone: no event is overlooked.
        numbers = [number for number, _, _ in gone]
        count = await connection.fetchval(statements.erase_events, numbers)
        await connection.execute(statements.drop_derived, numbers)
        named = [tenant for _, tenant, _ in gone], [id_ for _, _, id_ in gone]
        await connection.execute(statements.erase_spending, *named)
    keys = {SessionKey(tenant, id_) for _, tenant, id_ in gone}
    return [key for key in sessions if key in keys], int(count)


async def whole(connection: Connection, statements: Statements, session: SessionKey) -> Whole:
    """All of a session, from one snapshot."""
    key = (session.tenant, session.id)
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        found = await connection.fetchrow(statements.find, *key)
        rows = await connection.fetch(statements.read, *key, 0, SEQ_MAX) if found else []
    number, seq = found or (0, 0)
    return Whole(number, seq, [tuple(row) for row in rows])


async def rewrite(
    connection: Connection, statements: Statements, was: Whole, changed: Mapping[int, Event | None], now: float
) -> bool:
    """Write new events over old ones, erase where there is ``None``, and say so behind, in one step.

    False, and nothing done, when the session is not any more as it was.
    """
    new = [(seq, *encode(event)) for seq, event in changed.items() if event is not None]
    kind, version, payload = encode(Rewritten(len(changed)))
    async with connection.transaction(isolation="read_committed"):
        written = await connection.fetchval(
            statements.rewrite,
            *(was.number, was.seq, now, len(MIGRATIONS)),
            [seq for seq, _, _, _ in new],
            [version for _, _, version, _ in new],
            [kind for _, kind, _, _ in new],
            [payload for _, _, _, payload in new],
            [seq for seq, event in changed.items() if event is None],
            *(version, kind, payload),
        )
        # Whoever was keeping a snapshot of it has finished, now that its row is changed.
        await connection.execute(statements.drop_derived, [was.number] if written is not None else [])
    return written is not None


async def put_back(
    connection: Connection,
    statements: Statements,
    session: SessionKey,
    events: Sequence[Recorded],
    expected_seq: int,
) -> None:
    """Write events with the numbers and times that they have. Raises ``Conflict``."""
    encoded = [encode(one.event) for one in events]
    last, key = events[-1], (session.tenant, session.id)
    async with connection.transaction(isolation="read_committed"):
        if expected_seq:
            number = await connection.fetchval(
                statements.move_end, *key, last.seq, last.recorded_at, min(expected_seq, SEQ_MAX)
            )
        else:
            number = await connection.fetchval(
                statements.start, *key, last.seq, last.recorded_at, events[0].recorded_at
            )
        if number is None:
            raise Conflict(f"{NAME}: the session's log does not end at {expected_seq}")
        await connection.execute(statements.put_back, number, *_columns(events, encoded))
        await connection.execute(statements.drop_derived, [number])


def _columns(events: Sequence[Recorded], encoded: Sequence[tuple[str, int, str]]) -> tuple[list[Any], ...]:
    return (
        [one.seq for one in events],
        [one.recorded_at for one in events],
        [version for _, version, _ in encoded],
        [kind for kind, _, _ in encoded],
        [payload for _, _, payload in encoded],
    )


async def wipe(connection: Connection, statements: Statements, how: Erase) -> None:
    """Free what was deleted before. Raises ``StoreUnavailable`` where all of it was to go and the role may not."""
    if how == "autovacuum":
        return
    if await connection.fetchval(statements.may_vacuum):
        await connection.execute(statements.vacuum_full if how == "full" else statements.vacuum)
    elif how == "full":
        raise StoreUnavailable(f"{NAME}: the role does not own the tables")
