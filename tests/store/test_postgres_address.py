"""What a PostgreSQL address may say, and what is said without the driver."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.postgres_address import Address, parse


def test_an_address_says_how_the_store_is_used() -> None:
    found = parse("me:s%40cret@host:1/db?schema=notes&pool=16&sslmode=require&timeout=2.5&erase=full&erase_timeout=9")
    dsn = "postgresql://me:s%40cret@host:1/db?sslmode=require"
    assert found == Address(dsn, "notes", 16, 2.5, "full", 9.0)
    assert parse("host/db") == Address("postgresql://host/db")
    assert parse("/db?host=/var/run/postgresql").dsn == "postgresql:///db?host=%2Fvar%2Frun%2Fpostgresql"
    assert "s%40cret" not in repr(found)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("schema=", "schema is 1 to 63 bytes"),
        ("schema=pg_mine", "schema is 1 to 63 bytes"),
        (f"schema={'é' * 32}", "schema is 1 to 63 bytes"),
        ("schema=a%00b", "schema is 1 to 63 bytes"),
        ("pool=0", "pool is a number from 1 to 1000"),
        ("pool=many", "pool is a number from 1 to 1000"),
        ("timeout=0", "timeout is a number of seconds"),
        ("timeout=nan", "timeout is a number of seconds"),
        ("erase_timeout=-1", "erase_timeout is a number of seconds"),
        ("erase=now", "erase is one of autovacuum, vacuum, full"),
        ("hunter2", "options of the form name=value"),
        ("hunter2=1", "takes the options erase, erase_timeout, pool, schema, timeout"),
        ("search_path=hunter2", "takes the options"),
    ],
)
def test_other_options_are_refused_in_one_clear_line(query: str, sentence: str) -> None:
    for scheme in ("postgresql", "postgres"):
        with pytest.raises(ConfigError) as caught:
            open_log(f"{scheme}://user:hunter2@host/db?{query}")
        assert sentence in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


def test_without_the_extra_the_error_names_it() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from tokenmizer_mw.store.open import open_log\n"
        "try: open_log('postgresql://user:hunter2@host/db')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = f"ConfigError postgresql:// needs the extra `postgres`: {install_hint('postgres')}\n"
    assert run.stdout == expected, run.stderr


def test_the_driver_is_loaded_when_it_is_needed() -> None:
    program = (
        "import sys; from tokenmizer_mw.store.open import open_log\n"
        "open_log('memory://'); print('psycopg' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"
