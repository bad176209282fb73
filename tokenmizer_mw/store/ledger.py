"""The protocol of the usage ledger, which stores what calls cost and saved, summed by session, model, stage and day;
and its tables.

A call counts once however often it is added, so an addition can be retried. Additions of several workers all count.
When a session is erased, its calls are erased, but their sums stay with the tenant without the session's name, so that
past bills do not change. The same holds for calls of sessions that the store does not have.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, date, datetime
from typing import Final, Literal, Protocol, get_args

from tokenmizer_mw.errors import CallerError, InvalidSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import NAMES, Stages, Sum, UsageRecord, UsageSums

_SUMS: Final = (
    "calls, estimated, unpriced, input_tokens, cached_tokens, written_tokens, output_tokens, cost, client_tokens,"
    " client_cost"
)
_TEXT: Final = 'text COLLATE "C" NOT NULL'

SQLITE_TABLES: Final = (
    "CREATE TABLE spending (tenant TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL,"
    f" day TEXT NOT NULL, {_SUMS.replace(',', ' INTEGER NOT NULL,')} INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, session, model, stage, day)) WITHOUT ROWID",
    "CREATE TABLE calls (tenant TEXT NOT NULL, call TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,"
    " model TEXT NOT NULL, stages TEXT NOT NULL, PRIMARY KEY (tenant, call)) WITHOUT ROWID",
    "CREATE INDEX calls_of_session ON calls (tenant, session, at)",
)

POSTGRES_TABLES: Final = (
    f"CREATE TABLE {{schema}}.spending (tenant {_TEXT}, session {_TEXT}, model {_TEXT}, stage {_TEXT}, day {_TEXT},"
    f" {_SUMS.replace(',', ' bigint NOT NULL,')} bigint NOT NULL,"
    " PRIMARY KEY (tenant, session, model, stage, day)) WITH (fillfactor = 70)",
    f"CREATE TABLE {{schema}}.calls (tenant {_TEXT}, call {_TEXT}, session {_TEXT}, at double precision NOT NULL,"
    f" model {_TEXT}, stages text NOT NULL, PRIMARY KEY (tenant, call))",
    "CREATE INDEX calls_of_session ON {schema}.calls (tenant, session, at)",
)
"""Statements that make the tables. A released step is never edited."""


By = Literal["session", "model", "stage", "day"]
"""What sums can be grouped by."""

BY: Final = get_args(By)
BY_STAGE: Final[tuple[By, ...]] = ("stage",)
NAME_MAX: Final = 200
"""Characters that are kept of a model's name."""


class UsageLedger(Protocol):
    """Protocol of the usage ledger: stores what the calls of a store's sessions cost and saved. Synchronous; safe for
    threads and processes.

    It is part of a store and closes with it. Raises ``StoreUnavailable`` as the store does.
    """

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. Returns ``False`` and does nothing when the tenant already has a call
        of that name.
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
        """Return the summed cost and savings of the tenant's calls, grouped and sorted by ``by``.

        - ``session``, ``model``: only calls of this session or model; ``None``: all.
        - ``since``, ``until``: first and last day, such as "2026-11-21" (UTC); "": no limit.
        """

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first."""


def day_of(at: float) -> str:
    """The date in UTC, such as "2026-11-21", of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def require_day(day: str) -> None:
    """Raise ``CallerError`` unless ``day`` is a date such as "2026-11-21"."""
    try:
        if date.fromisoformat(day).isoformat() == day:
            return
    except ValueError:
        pass
    raise CallerError(f"a day is a date such as 2026-11-21, not {day!r:.40}")


def require_by(by: Collection[str]) -> None:
    """Raise ``CallerError`` for a group that is not a value of ``By`` ("session", "model", ...)."""
    if unknown := sorted(set(by) - set(BY)):
        raise CallerError(f"sums can be grouped by {', '.join(BY)}, not {', '.join(unknown)}")


def require_call(spent: UsageRecord) -> None:
    """Raise ``InvalidSession`` for a call whose name cannot be stored."""
    if not spent.call or len(spent.call) > NAME_MAX or not spent.call.isprintable():
        raise InvalidSession(f"a call's name is 1 to {NAME_MAX} printable characters")


def plain_model(model: str) -> str:
    """Return a model's name in the form in which it is stored."""
    return "".join(sign if sign.isprintable() else "?" for sign in model[:NAME_MAX])


def encode_stages(stages: Stages) -> str:
    """Encode a call's figures as text, without zeros."""
    return json.dumps(
        {
            stage: {name: value for name in NAMES if (value := getattr(figures, name))}
            for stage, figures in sorted(stages.items())
        }
    )


def decode_stages(text: str) -> Stages:
    """Decode the text of ``encode_stages``. Raises ``ValueError`` for anything else."""
    try:
        return {stage: UsageSums(**figures) for stage, figures in json.loads(text).items()}
    except (TypeError, AttributeError) as error:
        raise ValueError("no figures of a call") from error
