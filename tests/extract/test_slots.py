"""Slots: what is a value of what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.extract.match.slots import find_member, find_versions, is_same_value, members_of, read_slot

SLOTS = [
    ("Python 3.12", "python.version", "3.12"),
    ("Python 3.12 runtime", "python.version", "3.12"),
    ("node v20.17.0", "node.version", "20.17.0"),
    ("Postgres 16", "postgres.version", "16"),
    ("PostgreSQL", "database", "postgresql"),
    ("postgres", "database", "postgresql"),
    ("SQLite as the database", "database", "sqlite"),
    ("database: SQLite", "database", "sqlite"),
    ("PostgreSQL for orders", "database@ord", "postgresql"),
    ("bcrypt for password hashing", "password hashing", "bcrypt"),
    ("argon2", "password hashing", "argon2"),
    ("GitHub Actions", "ci", "github-actions"),
    ("port 8080", "port", "8080"),
    ("the port is 8080", "port", "8080"),
    ("listen on port 8471", "port", "8471"),
    ("port: 8081", "port", "8081"),
    ("port 9001 for the api", "port@api", "9001"),
    ("port 9003 for worker 3", "port@3 worker", "9003"),
    ("timeout of 30 s", "timeout", "30 s"),
    ("weekly target: 1,350 words", "weekly target", "1,350 words"),
    ("REST", "api style", "rest"),
]


@pytest.mark.parametrize(("label", "name", "value"), SLOTS)
def test_slot(label: str, name: str, value: str) -> None:
    slot = read_slot(label)
    assert slot is not None
    assert (slot.name, slot.value) == (name, value)


@pytest.mark.parametrize("label", ["pytest", "JWT stored in httpOnly cookie", "DistilBERT", "Docker", "FastAPI"])
def test_values_that_can_stand_beside_others_share_no_slot(label: str) -> None:
    slot = read_slot(label)
    assert slot is not None
    assert slot.name == ""
    assert slot.category


@pytest.mark.parametrize(
    "label", ["three in a row", "the rest of the tests", "go with the second one", "note: use X", "", "make it blue"]
)
def test_no_slot(label: str) -> None:
    assert read_slot(label) is None


def test_scopes_make_different_slots() -> None:
    orders, cache = read_slot("PostgreSQL for orders"), read_slot("SQLite for the offline cache")
    assert orders is not None
    assert cache is not None
    assert orders.name != cache.name


def test_a_scope_that_names_the_category_again_is_none() -> None:
    plain, scoped = read_slot("PostgreSQL"), read_slot("PostgreSQL for the database")
    assert plain == scoped


def test_scope_given_from_outside() -> None:
    slot = read_slot("SQLite", "sessions")
    assert slot is not None
    assert slot.name == "database@session"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3.12", "3.12.1", True),
        ("3.12", "3.12", True),
        ("3.1", "3.12", False),
        ("MySQL", "mysql", True),
        ("a", "b", False),
    ],
)
def test_same_value(one: str, other: str, same: bool) -> None:
    assert is_same_value(one, other) is same
    assert is_same_value(other, one) is same


def test_versions_in_order() -> None:
    assert find_versions("Laravel 11, PHP 8.3, MySQL 8") == [("Laravel", "11"), ("PHP", "8.3"), ("MySQL", "8")]
    assert find_versions("Training 3x faster") == []


@pytest.mark.parametrize(
    "text",
    [
        "We only use the standard library's sqlite3 module.",
        "import json, sqlite3",
        "from sqlite3 import connect",
        "Use `sqlite3` for the log",
        "sqlite3 from Python's standard library",
    ],
)
def test_a_module_with_a_digit_in_its_name_says_no_version(text: str) -> None:
    assert find_versions(text) == []
    assert "version" not in str(read_slot(text))


def test_a_version_glued_to_its_name_is_read() -> None:
    assert find_versions("postgres16, node18 and `python3.12`") == [
        ("postgres", "16"),
        ("node", "18"),
        ("python", "3.12"),
    ]


def test_known_names() -> None:
    assert find_member("Postgres") == ("database", "postgresql")
    assert find_member("bananas") is None
    assert "sqlite" in members_of("database")
    assert members_of("bananas") == ()


@given(st.text(max_size=400))
def test_any_text_is_read_without_complaint(text: str) -> None:
    slot = read_slot(text.encode("utf-8", "replace").decode())
    assert slot is None or slot.value == slot.value.strip()
