"""Usage ledger in PostgreSQL. An addition is one statement, which can be retried."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import NAMES, Sum, UsageRecord
from tokenmizer_mw.store.ledger import BY_STAGE, By, day_of, encode_stages, plain_model, require_call
from tokenmizer_mw.store.log import require_valid, require_valid_tenant
from tokenmizer_mw.store.postgres_connections import Connections
from tokenmizer_mw.store.sqlite_ledger import grouped_query, read_calls, read_sums

_COLUMNS: Final = ", ".join(NAMES)
_ADDED: Final = ", ".join(f"{name} = s.{name} + excluded.{name}" for name in NAMES)
_SUMS: Final = ", ".join(f"sum({name})::bigint" for name in NAMES)
_KEPT: Final = "tenant, session, model, stage, day"

_ADD: Final = f"""
WITH held AS MATERIALIZED (
  SELECT session FROM {{schema}}.sessions WHERE tenant = $1 AND session = $2 FOR KEY SHARE
), of AS MATERIALIZED (
  SELECT coalesce((SELECT session FROM held), '') AS session
), named AS (
  INSERT INTO {{schema}}.calls (tenant, call, session, at, model, stages)
  SELECT $1, $3, of.session, $4, $5, CASE WHEN of.session = '' THEN '{{}}' ELSE $6 END FROM of
  ON CONFLICT (tenant, call) DO NOTHING RETURNING session
), added AS (
  INSERT INTO {{schema}}.spending AS s ({_KEPT}, {_COLUMNS})
  SELECT $1, named.session, $5, row.stage, $7, {", ".join(f"row.{name}" for name in NAMES)}
  FROM named, unnest($8::text[], {", ".join(f"${place}::bigint[]" for place in range(9, 9 + len(NAMES)))})
    AS row (stage, {_COLUMNS})
  ON CONFLICT ({_KEPT}) DO UPDATE SET {_ADDED}
)
SELECT count(*) FROM named
"""
_CALLS: Final = """
SELECT call, at, model, stages FROM {schema}.calls WHERE tenant = $1 AND session = $2
ORDER BY at DESC, call DESC LIMIT $3
"""
ERASE: Final = f"""
WITH gone AS (
  DELETE FROM {{schema}}.spending AS s USING unnest($1::text[], $2::text[]) AS k (tenant, session)
  WHERE s.tenant = k.tenant AND s.session = k.session RETURNING s.*
), unnamed AS (
  UPDATE {{schema}}.calls AS c SET session = '', stages = '{{}}'
  FROM unnest($1::text[], $2::text[]) AS k (tenant, session) WHERE c.tenant = k.tenant AND c.session = k.session
)
INSERT INTO {{schema}}.spending AS s ({_KEPT}, {_COLUMNS})
SELECT tenant, '', model, stage, day, {_SUMS} FROM gone GROUP BY tenant, model, stage, day
ON CONFLICT ({_KEPT}) DO UPDATE SET {_ADDED}
"""
"""Takes the names of sessions off their figures; tenants and ids of the sessions."""


class PostgresLedger:
    """A ``UsageLedger`` that uses the connections of a PostgreSQL store."""

    def __init__(self, connections: Callable[[], Connections]) -> None:
        self._connections = connections

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        """Add the cost and savings of one call. See ``UsageLedger.add``."""
        require_valid(session)
        require_call(spent)
        stages = sorted(spent.stages)  # always in one order: two additions never wait for each other
        columns = [[getattr(spent.stages[stage], name) for stage in stages] for name in NAMES]
        parameters = (
            *(session.tenant, session.id, spent.call, spent.at, plain_model(spent.model)),
            *(encode_stages(spent.stages), day_of(spent.at), stages, *columns),
        )

        return int(self._connections().run(lambda connection: connection.fetch_value(_ADD, *parameters))) > 0

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
        statement, bounds = grouped_query(
            by, session, model, since, until, table="{schema}.spending", mark=lambda place: f"${place}", sums=_SUMS
        )
        return read_sums(self._connections().select(statement, tenant, *bounds))

    def calls(self, session: SessionKey, *, limit: int) -> list[UsageRecord]:
        """Return cost and savings of the newest ``limit`` calls of a session, newest first."""
        require_valid(session)
        return read_calls(self._connections().select(_CALLS, session.tenant, session.id, max(0, limit)))
