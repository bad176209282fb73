"""Usage ledger in memory, for the event log in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.spending import Spent, Sum, UsageSums
from tokenmizer_mw.runtime.forking import make_lock

from .ledger import BY_STAGE, By, day_of, plain_model, require_by, require_call
from .log import require_valid, require_valid_tenant

_Row = tuple[str, str, str, str]
"""session, model, stage, day"""


class MemoryLedger:
    """A ``Ledger`` in this process's memory. ``holds`` says whether the store has a session."""

    def __init__(self, holds: Callable[[SessionKey], bool]) -> None:
        self._holds = holds
        self._lock = make_lock()
        self._rows: dict[str, dict[_Row, UsageSums]] = {}
        self._calls: dict[SessionKey, list[Spent]] = {}
        self._names: dict[str, set[str]] = {}

    def add(self, session: SessionKey, spent: Spent) -> bool:
        """See ``Ledger.add``."""
        require_valid(session)
        require_call(spent)
        spent = replace(spent, model=plain_model(spent.model))
        held = self._holds(session)
        with self._lock:
            names = self._names.setdefault(session.tenant, set())
            if spent.call in names:
                return False
            names.add(spent.call)
            for stage, figures in spent.stages.items():
                self._put(session.tenant, (session.id if held else "", spent.model, stage, day_of(spent.at)), figures)
            if held:
                self._calls.setdefault(session, []).append(spent)
        return True

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
        """See ``Ledger.sums``."""
        require_valid_tenant(tenant)
        require_by(by)
        found: dict[_Row, UsageSums] = {}
        with self._lock:
            rows = list(self._rows.get(tenant, {}).items())
        for row, figures in rows:
            wanted = session in (None, row[0]) and model in (None, row[1])
            if wanted and row[3] >= since and (not until or row[3] <= until):
                key = _only(row, by)
                found[key] = found.get(key, UsageSums()) + figures
        return [Sum(*row, figures) for row, figures in sorted(found.items())]

    def calls(self, session: SessionKey, *, limit: int) -> list[Spent]:
        """See ``Ledger.calls``."""
        require_valid(session)
        with self._lock:
            found = list(self._calls.get(session, ()))
        return sorted(found, key=lambda one: (one.at, one.call), reverse=True)[:limit]

    def erase(self, sessions: Iterable[SessionKey]) -> None:
        """These sessions are erased: their figures stay under no name."""
        with self._lock:
            for key in sessions:
                self._calls.pop(key, None)
                rows = self._rows.get(key.tenant, {})
                for row in [row for row in rows if row[0] == key.id]:
                    self._put(key.tenant, ("", *row[1:]), rows.pop(row))

    def _put(self, tenant: str, row: _Row, figures: UsageSums) -> None:
        rows = self._rows.setdefault(tenant, {})
        rows[row] = rows.get(row, UsageSums()) + figures


def _only(row: _Row, by: Collection[By]) -> _Row:
    session, model, stage, day = row
    return (
        session if "session" in by else "",
        model if "model" in by else "",
        stage if "stage" in by else "",
        day if "day" in by else "",
    )
