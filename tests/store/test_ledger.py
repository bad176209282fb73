"""The books on every store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import UsageRecord, UsageSums
from tokenmizer_mw.store.conformance import MakeLog
from tokenmizer_mw.store.ledger import SQLITE_TABLES, decode_stages, encode_stages
from tokenmizer_mw.store.ledger_conformance import LEDGER_CHECKS, MakeKeeping
from tokenmizer_mw.store.memory import MemoryLedger, MemoryLog
from tokenmizer_mw.store.postgres_schema import MIGRATIONS


@pytest.mark.parametrize("check", LEDGER_CHECKS.values(), ids=LEDGER_CHECKS)
def test_the_ledger_conforms(check: Callable[[MakeKeeping], None], make_log: MakeLog) -> None:
    check(make_log)  # type: ignore[arg-type]


class Forgetful(MemoryLedger):
    """Counts a call as often as it is added."""

    def add(self, session: SessionKey, spent: UsageRecord) -> bool:
        self._names.clear()
        return super().add(session, spent)


class Clinging(MemoryLedger):
    """Keeps the names of sessions that were erased."""

    def erase(self, sessions: object) -> None:
        pass


@pytest.mark.parametrize(("broken", "caught_by"), [(Forgetful, "once"), (Clinging, "erase")])
def test_the_suite_catches_a_broken_ledger(broken: type[MemoryLedger], caught_by: str) -> None:
    class Broken(MemoryLog):
        def __init__(self, clock: Callable[[], float]) -> None:
            super().__init__(clock)
            self.ledger = broken(self._holds)

    with pytest.raises(AssertionError):
        LEDGER_CHECKS[caught_by](Broken)


def test_the_tables_have_a_column_for_every_figure() -> None:
    postgres = next(made for step in MIGRATIONS for made in step if ".spending " in made)
    for table in (SQLITE_TABLES[0], postgres):
        columns = [part.split()[0] for part in table[table.index("day ") :].split(", ")[1 : 1 + len(fields(UsageSums))]]
        assert columns == [field.name for field in fields(UsageSums)]


def test_figures_as_text() -> None:
    stages = {"": UsageSums(1, cost=-5), "cut": UsageSums()}
    assert decode_stages(encode_stages(stages)) == stages
    for damaged in ('{"": {"weather": 1}}', "[1]", "{", '{"": 1}'):
        with pytest.raises(ValueError):
            decode_stages(damaged)
