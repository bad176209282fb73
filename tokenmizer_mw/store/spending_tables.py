"""Tables of the usage ledger: one migration step per store. A released step is never edited."""

from __future__ import annotations

from typing import Final

_SUMS: Final = (
    "calls, estimated, unpriced, input_tokens, cached_tokens, written_tokens, output_tokens, cost, client_tokens,"
    " client_cost"
)
_TEXT: Final = 'text COLLATE "C" NOT NULL'

SQLITE: Final = (
    "CREATE TABLE spending (tenant TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL,"
    f" day TEXT NOT NULL, {_SUMS.replace(',', ' INTEGER NOT NULL,')} INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, session, model, stage, day)) WITHOUT ROWID",
    "CREATE TABLE calls (tenant TEXT NOT NULL, call TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,"
    " model TEXT NOT NULL, stages TEXT NOT NULL, PRIMARY KEY (tenant, call)) WITHOUT ROWID",
    "CREATE INDEX calls_of_session ON calls (tenant, session, at)",
)

POSTGRES: Final = (
    f"CREATE TABLE {{schema}}.spending (tenant {_TEXT}, session {_TEXT}, model {_TEXT}, stage {_TEXT}, day {_TEXT},"
    f" {_SUMS.replace(',', ' bigint NOT NULL,')} bigint NOT NULL,"
    " PRIMARY KEY (tenant, session, model, stage, day)) WITH (fillfactor = 70)",
    f"CREATE TABLE {{schema}}.calls (tenant {_TEXT}, call {_TEXT}, session {_TEXT}, at double precision NOT NULL,"
    f" model {_TEXT}, stages text NOT NULL, PRIMARY KEY (tenant, call))",
    "CREATE INDEX calls_of_session ON {schema}.calls (tenant, session, at)",
)
