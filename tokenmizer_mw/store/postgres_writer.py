"""Appends on their way to PostgreSQL: all that wait go in one statement, and what became of each is found out.

A connection may break after a statement was sent: then nobody knows whether it was done, or will still be done. So
the same appends are sent again, until one of two things is sure. Either they are written now, and the first statement
finds the sessions at other ends and does nothing, however late it comes. Or they are refused, and the token of the
event in their place says whose it is: their own, written by the first statement, or that of somebody who was faster.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any, Final

import asyncpg

from tokenmizer_mw.errors import Conflict, StoreError, StoreTooNew
from tokenmizer_mw.model.session import SessionKey

from .group_commit import GroupCommit
from .log import Clock
from .postgres_connections import Connections
from .postgres_errors import BUSY, LOST, NAME, translate
from .postgres_schema import MIGRATIONS
from .postgres_statements import SEQ_MAX, Statements

_AGAIN_SECONDS: Final = 0.05
_UNKNOWN: Final = "whether the append was kept is not known: read the session's tail"

EncodedEvent = tuple[str, int, str]
"""kind, version, payload"""


class PostgresAppend:
    """One append on its way: what to write, then when it was written or why it was not."""

    __slots__ = ("doubtful", "error", "events", "expected_seq", "recorded_at", "session", "token")

    def __init__(self, session: SessionKey, events: Sequence[EncodedEvent], expected_seq: int) -> None:
        self.session = session
        self.events = events
        # No log ends at -1, so that what PostgreSQL cannot hold is a conflict like any other wrong number.
        self.expected_seq = expected_seq if 0 <= expected_seq < SEQ_MAX - len(events) else -1
        self.token = secrets.randbits(63)
        self.doubtful = False
        """It was sent, and what became of that is not known."""
        self.recorded_at: float | None = None
        self.error: StoreError | None = None

    @property
    def settled(self) -> bool:
        """Whether its outcome is known."""
        return self.recorded_at is not None or self.error is not None


class PostgresWriter:
    """Writes appends in groups. Appends do not harm each other: one that fails is left out, the rest is written."""

    def __init__(self, connections: Connections, statements: Statements, clock: Clock, timeout: float) -> None:
        self._connections = connections
        self._statements = statements
        self._clock = clock
        self._timeout = timeout
        self._group = GroupCommit(self._write_group)

    def append(self, append: PostgresAppend) -> float:
        """Write it, or all of it not. Returns its ``recorded_at``; raises its ``StoreError``."""
        self._group.submit(append)
        if append.error is not None:
            raise append.error
        assert append.recorded_at is not None
        return append.recorded_at

    def _write_group(self, appends: list[PostgresAppend]) -> None:
        # In one order in all processes: they never wait for each other in a circle.
        ordered = sorted(appends, key=lambda append: append.session)
        writing = _Writing(self._connections, self._statements, self._clock())
        try:
            self._connections.run(lambda: writing.settle(ordered), self._timeout)
        except StoreError as error:
            for append in ordered:
                if not append.settled:
                    # One error object each: they are raised in different threads.
                    append.error = error.again(f"{error}; {_UNKNOWN}" if append.doubtful else None)


class _Writing:
    """A group on its way."""

    def __init__(self, connections: Connections, statements: Statements, now: float) -> None:
        self._connections = connections
        self._statements = statements
        self._now = now

    async def settle(self, appends: list[PostgresAppend]) -> None:
        """Find out what became of each. Raises the driver's error where nothing could be sent."""
        while pending := [append for append in appends if not append.settled]:
            sent = False
            try:
                async with self._connections.connection() as connection:
                    sent = True
                    await self._write(connection, _one_a_session(pending))
            except LOST:
                if not _note_doubt(pending, sent):
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)
            except asyncpg.PostgresError as error:
                await self._handle_refusal(pending, error)
            except asyncio.CancelledError:  # the time is over
                _note_doubt(pending, sent)
                raise

    async def _handle_refusal(self, pending: list[PostgresAppend], error: asyncpg.PostgresError) -> None:
        """The server did nothing of the group, and says why."""
        if isinstance(error, BUSY) or any(append.doubtful for append in pending):
            await asyncio.sleep(_AGAIN_SECONDS)
        elif len(pending) == 1:
            pending[0].error = translate(error)
        else:
            for append in pending:
                await self.settle([append])

    async def _write(self, connection: asyncpg.Connection, appends: list[PostgresAppend]) -> None:
        written = await connection.fetch(self._statements.append, *_columns(appends, self._now))
        for place, recorded_at in written:
            appends[place - 1].recorded_at = recorded_at
        for append in appends:
            if append.recorded_at is None:
                await self._explain(connection, append)

    async def _explain(self, connection: asyncpg.Connection, append: PostgresAppend) -> None:
        """Why it was not written; nothing where it could be by now."""
        key, expected = append.session, append.expected_seq
        row = await connection.fetchrow(self._statements.outcome, key.tenant, key.id, expected + 1)
        version, seq, token, recorded_at = row
        if token == append.token:
            append.recorded_at = recorded_at
        elif version != len(MIGRATIONS):
            append.error = StoreTooNew(f"{NAME}: a newer version of tokenmizer-mw took it over")
        elif seq != expected:
            append.error = Conflict(f"the session's log ends at {seq}, and not where the caller expected it")


def _note_doubt(appends: Sequence[PostgresAppend], sent: bool) -> bool:
    """Note that they were sent to no known end. Returns whether that is so of any of them, now or before."""
    for append in appends:
        append.doubtful = append.doubtful or sent
    return any(append.doubtful for append in appends)


def _one_a_session(appends: list[PostgresAppend]) -> list[PostgresAppend]:
    """The first append of each session; of two behind the same number only one can succeed."""
    return list({append.session: append for append in reversed(appends)}.values())[::-1]


def _columns(appends: Sequence[PostgresAppend], now: float) -> tuple[Any, ...]:
    """The parameters of the statement ``append``."""
    events = [
        (place, position, event)
        for place, append in enumerate(appends, 1)
        for position, event in enumerate(append.events, 1)
    ]
    return (
        [append.session.tenant for append in appends],
        [append.session.id for append in appends],
        [append.expected_seq for append in appends],
        [len(append.events) for append in appends],
        [append.token for append in appends],
        len(MIGRATIONS),
        now,
        [place for place, _, _ in events],
        [position for _, position, _ in events],
        [version for _, _, (_, version, _) in events],
        [kind for _, _, (kind, _, _) in events],
        [payload for _, _, (_, _, payload) in events],
    )
