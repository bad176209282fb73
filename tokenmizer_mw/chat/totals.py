"""Usage accounting of a memory: record calls when they end, and return their sums."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from secrets import token_hex

from tokenmizer_mw.chat.ended_call import Booked, sent_of
from tokenmizer_mw.context.costs.net import figures, refinement_figures
from tokenmizer_mw.context.costs.prices import PUBLISHED, PriceList
from tokenmizer_mw.context.costs.report import Savings
from tokenmizer_mw.context.tokens import ModelCounters
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.model.completion import Completion
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.spending import CALL, REFINE, Spent, Stages, UsageSums
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.settings import Settings, read_mapping
from tokenmizer_mw.store.ledger import By, UsageLedger
from tokenmizer_mw.store.log import EventLog

_NAME_BYTES = 8
_RECENT = 8
"""Calls among which the newest one of the chat itself is looked for: refinements are booked in between."""


class Books:
    """What calls cost and saved: in the store's ledger, and, since this process began, in ``totals``.

    A store without a ledger keeps none: then nothing is booked. ``clock``: seconds since the epoch.
    """

    def __init__(
        self,
        log: EventLog,
        settings: Settings,
        counters: ModelCounters,
        count: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ledger: UsageLedger | None = getattr(log, "ledger", None)
        self._open = settings.savings and self._ledger is not None
        self._prices = price_list(settings)
        self._counters = counters
        self._count = count
        self._clock = clock
        self._lock = make_lock()
        self._totals: dict[str, UsageSums] = {}

    @property
    def open(self) -> bool:
        """Whether calls are booked."""
        return self._open

    def entry(self, call: Booked) -> Callable[[SessionKey], None] | None:
        """Return the work that records a call which has just ended, to be called with its session; ``None`` for a
        failed call, which is not billed.
        """
        reply = call.reply
        failed = reply is None or (reply.outcome is Outcome.ERROR and not reply.usage)
        if not self._open or (failed and not call.answered):
            return None
        name, at = token_hex(_NAME_BYTES), self._clock()
        return lambda key: self._record_usage(key, call, name, at)

    def add_refinement(self, key: SessionKey, completions: Iterable[Completion], prompt_tokens: int) -> None:
        """Record what a refinement of the session cost. ``prompt_tokens``: size of its prompt. The tokens of replies
        are counted here if the provider did not report them. Blocks.
        """
        ledger = self._ledger
        if ledger is None or not self._open:
            return
        for one in completions:
            output = self._counters.of(one.model).counter.count(one.text) if "completion_tokens" not in one.usage else 0
            stages = refinement_figures(one.model, one.usage, prompt_tokens, output, self._prices)
            try:
                self._add(ledger, key, Spent(token_hex(_NAME_BYTES), self._clock(), one.model, stages))
            except StoreUnavailable:
                self._count("savings_not_kept")
                return
            self._remember(stages)

    def savings(
        self,
        tenant: str,
        session: str | None = None,
        *,
        model: str | None = None,
        since: str = "",
        until: str = "",
        by: Collection[By] = (),
    ) -> Savings:
        """See ``SessionMemory.savings``."""
        if self._ledger is None:
            return Savings([])
        apart: set[By] = {"stage", *by}
        return Savings(self._ledger.sums(tenant, by=apart, session=session, model=model, since=since, until=until))

    def calls(self, key: SessionKey, limit: int) -> list[Spent]:
        """The newest calls of a session, the newest first."""
        return self._ledger.calls(key, limit=limit) if self._ledger is not None else []

    def totals(self) -> dict[str, UsageSums]:
        """Return the sums that this process has recorded since it began, by stage."""
        with self._lock:
            return dict(self._totals)

    def _record_usage(self, key: SessionKey, call: Booked, name: str, at: float) -> None:
        ledger = self._ledger
        if ledger is None:
            return
        try:
            before = next((one for one in ledger.calls(key, limit=_RECENT) if REFINE not in one.stages), None)
            elapsed = max(0.0, at - before.at) if before is not None else None
            sent = sent_of(call, self._counters.of(call.request.model), elapsed)
            spent = Spent(name, at, call.request.model, figures(sent, self._prices))
            self._add(ledger, key, spent)
        except StoreUnavailable:
            self._count("savings_not_kept")
            return
        self._remember(spent.stages)
        if spent.stages[CALL].saved < 0:
            self._count("call_cost_more")

    def _add(self, ledger: UsageLedger, key: SessionKey, spent: Spent) -> None:
        """Add a call, a second time where the first one failed: it counts once."""
        try:
            ledger.add(key, spent)
        except StoreUnavailable:
            ledger.add(key, spent)

    def _remember(self, stages: Stages) -> None:
        with self._lock:
            for stage, each in stages.items():
                self._totals[stage] = self._totals.get(stage, UsageSums()) + each


def price_list(settings: Settings) -> PriceList:
    """The published prices, overridden by those of the settings' file. Raises ``ConfigError`` for an invalid price."""
    if settings.prices is None:
        return PUBLISHED
    path = Path(settings.prices)
    rows = read_mapping(path)
    if not all(isinstance(row, dict) for row in rows.values()):
        raise ConfigError(f"{path}: prices are given by model, each with input and output")
    return PriceList.parse_prices(rows, where=str(path))
