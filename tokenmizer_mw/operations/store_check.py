"""Checks a store address and reports problems in plain words, without using the network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.errors import ConfigError, StoreError
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.store.choosing import sqlite_path
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.sqlite_file import examine, try_creating

POSTGRES_SCHEMES: Final = ("postgresql", "postgres")


class Grade(StrEnum):
    """Severity of a check's result. ``WRONG``: a server would not work with this configuration."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: the ``place`` in the configuration, its grade, and a text."""

    grade: Grade
    place: str
    text: str


def check_store(address: str, *, reaching: bool = False) -> Iterator[CheckResult]:
    """Check whether a store can be used; yield the results.

    ``reaching``: true if a remote store is tried afterwards; otherwise the results say that it was not tried.
    """
    try:
        open_log(address).close()
    except ConfigError as error:
        yield CheckResult(Grade.WRONG, "store", str(error))
        return
    scheme, _, rest = address.partition("://")
    file = sqlite_path(rest.partition("?")[0]) if scheme.lower() == "sqlite" else None
    if file is not None:
        yield _check_sqlite(os.path.realpath(file))
    elif scheme.lower() not in POSTGRES_SCHEMES:
        text = f"{scheme}://: sessions are gone when the server ends, and each worker has its own"
        yield CheckResult(Grade.NOTE, "store", text)
    elif not reaching:
        yield CheckResult(Grade.NOTE, "store", f"{scheme}://: not tried; --reach connects to it")


def _check_sqlite(file: str) -> CheckResult:
    try:
        if not os.path.exists(file):
            try_creating(file)
            return CheckResult(Grade.FINE, "store", f"{file} will be created")
        count = examine(file, LOCAL_TENANT)
    except StoreError as error:
        return CheckResult(Grade.WRONG, "store", str(error))
    if count is None:
        return CheckResult(Grade.FINE, "store", f"{file} opens; its tables will be made")
    return CheckResult(Grade.FINE, "store", f"{file} opens; sessions of the default tenant, {LOCAL_TENANT}: {count:,}")
