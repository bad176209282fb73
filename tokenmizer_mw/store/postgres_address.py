"""Parse a PostgreSQL address: where the database is, and how the store uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args
from urllib.parse import parse_qsl, quote, urlencode

from tokenmizer_mw.errors import ConfigError

NAME: Final = "PostgreSQL"
"""The name of the store in messages, in place of its address, which may contain a password."""

Erase = Literal["autovacuum", "vacuum", "full"]
"""What ``forget`` and ``rewrite`` do about the old rows that PostgreSQL keeps in its files after a deletion.
"autovacuum": nothing, the server removes them later. "vacuum": free their space now, if the role owns the tables.
"full": write the tables anew, during which nobody can read or append."""

SCHEMA_BYTES_MAX: Final = 63
"""Longest name of a schema, in bytes. PostgreSQL cuts longer names off."""

PASSED_ON: Final = frozenset((
    "application_name", "channel_binding", "dbname", "gssencmode", "gsslib", "host", "hostaddr", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts", "passfile",
    "password", "port", "require_auth", "requirepeer", "service", "ssl_max_protocol_version",
    "ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcrl", "sslcrldir", "sslkey", "sslmode",
    "sslnegotiation", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout", "user",
))  # fmt: skip
"""Options of libpq, the client library of PostgreSQL, that an address may have. They are passed on unchanged."""


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed PostgreSQL address, with the store's own options.

    - ``dsn``: the address for the driver; may contain a password.
    - ``schema``: the schema with the tables.
    - ``pool``: maximum number of connections that one process opens for reads and appends.
    - ``timeout``: seconds after which a read or an append gives up.
    - ``erase``: what is done about deleted rows, which PostgreSQL leaves in its files: "autovacuum": nothing; "vacuum":
      free their space; "full": write the tables anew. ``erase_timeout``: seconds that erasing, rewriting or restoring
      sessions may take.
    """

    dsn: str = field(repr=False)
    schema: str = "tokenmizer"
    pool: int = 8
    timeout: float = 5.0
    erase: Erase = "vacuum"
    erase_timeout: float = 600.0

    @property
    def place(self) -> str:
        """Host, port and database for messages to people, such as "db.example:5432/shop": without user, password and
        options; "PostgreSQL" if the address has none of the three."""
        return self.dsn.removeprefix("postgresql://").partition("?")[0].rpartition("@")[2] or "PostgreSQL"


def parse(rest: str) -> Address:
    """Parse the part of an address after ``postgresql://``. Raises ``ConfigError`` for an option that is unknown or not
    of the form name=value, and for an invalid value of one of the store's own options. The message does not repeat the
    address. Host, port and database are not checked."""
    place, _, query = rest.partition("?")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), errors="strict"))
    except ValueError:
        raise ConfigError("a PostgreSQL address has options of the form name=value") from None
    if not options.keys() <= _OWN.keys() | PASSED_ON:
        raise ConfigError(
            f"a PostgreSQL address takes the options {', '.join(sorted(_OWN))}, those of libpq, and no other ones"
        )
    passed_on = urlencode({name: value for name, value in options.items() if name in PASSED_ON}, quote_via=quote)
    own = {name: _OWN[name](name, value) for name, value in options.items() if name in _OWN}
    dsn = f"postgresql://{place}" + (passed_on and f"?{passed_on}")
    return Address(dsn, **own)  # type: ignore[arg-type]


def _schema(name: str, value: str) -> str:
    if not 0 < len(value.encode()) <= SCHEMA_BYTES_MAX or not value.isprintable() or value.startswith("pg_"):
        raise ConfigError(f"{name} is 1 to {SCHEMA_BYTES_MAX} bytes of printable text that do not begin with pg_")
    return value


def _count(name: str, value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value) <= 1000:
        raise ConfigError(f"{name} is a number from 1 to 1000")
    return int(value)


def _seconds(name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ConfigError(f"{name} is a number of seconds, above 0 and at most a day")
    return seconds


def _erase(name: str, value: str) -> Erase:
    if value not in get_args(Erase):
        raise ConfigError(f"{name} is one of {', '.join(get_args(Erase))}")
    return cast(Erase, value)


_OWN: Final[Mapping[str, Callable[[str, str], object]]] = {
    "schema": _schema,
    "pool": _count,
    "timeout": _seconds,
    "erase": _erase,
    "erase_timeout": _seconds,
}
"""The store's own options, each with the function that reads its value."""
