"""Usage accounting: count the tokens of finished calls, record what they cost and saved, and return the sums."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.prices import PUBLISHED, PriceList
from tokenmizer_mw.context.savings import Savings, SentCall, figures, refinement_figures
from tokenmizer_mw.context.tokens import MessageCounter, ModelCounters
from tokenmizer_mw.context.tokens.counter import MESSAGE_TOKENS
from tokenmizer_mw.context.window import Rewrite, count_resent_messages
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import CALL, REFINE, Completion, Stages, StageSaving, UsageRecord, UsageSums
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.settings import Settings, read_mapping
from tokenmizer_mw.store.ledger import By, UsageLedger
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.wire.dialect import ChatRequest, Reply

if TYPE_CHECKING:
    from tokenmizer_mw.saving.compress.requests import Moved

_logger = logging.getLogger("tokenmizer_mw")
_MARK: Final = '"cache_control"'


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A finished call, for usage accounting.

    ``request``: the client's request; ``rewrite``: how it was cut; ``stages``: what compression removed; ``moved``: the
    step in which old tool results were pruned, ``None`` if there was none; ``answered``: true if the reply came from
    the cache.
    """

    request: ChatRequest
    reply: Reply | None
    rewrite: Rewrite | None = None
    stages: Sequence[StageSaving] = ()
    answered: bool = False
    moved: Moved | None = None


def measure_sent_call(call: EndedCall, counter: MessageCounter, elapsed: float | None) -> SentCall:
    """Return the token counts of a call. ``counter``: counts as the call's model does. ``elapsed``: seconds since the
    previous call of its session; ``None``: the first call.

    The counts say, for the client's own request and for the request that was sent, how many tokens at its beginning the
    previous call contained as well, so that the provider may have cached them. These are all messages before the
    model's newest reply. If the provider reported its usage and the request was sent unchanged, no tokens of the
    request are counted.
    """
    request, reply, rewrite = call.request, call.reply, call.rewrite
    sent = SentCall(
        request.model,
        elapsed=elapsed,
        usage=reply.usage if reply is not None else {},
        output=counter.count(reply.message) if reply is not None and reply.message is not None else 0,
        marked=_MARK in request.text,
        cut=rewrite is not None,
        stages=call.stages,
        answered=call.answered,
    )
    if sent.is_reported and not sent.changed:
        return sent
    before = list(accumulate(counter.request_counts(request), initial=counter.text(request.overhead)))
    known = before[count_resent_messages(request)]
    ours, ours_known = before[-1], known
    if rewrite is not None:
        ours, ours_known = _cut(request, rewrite, before, counter)
    gone = sum(stage.tokens_before - stage.tokens_after for stage in call.stages)
    same = ours_known - gone
    if call.moved is not None:
        same = min(same, ours - before[-1] + before[call.moved.message] - call.moved.left_out)
    return replace(sent, ours=max(0, ours - gone), client=before[-1], ours_known=max(0, same), client_known=known)


def _cut(request: ChatRequest, rewrite: Rewrite, before: Sequence[int], counter: MessageCounter) -> tuple[int, int]:
    """Return the tokens of the request as it was cut, and how many of them, from its start, the previous call had sent,
    too. ``before``: tokens before each message of the client's request. After a cut that was made for this very
    request, only what precedes the block was sent before."""
    stay = request.staying(rewrite.keep_from)
    reminder = rewrite.reminder.tokens if rewrite.reminder is not None else 0
    put = counter.text(rewrite.block) + MESSAGE_TOKENS + sum(before[at + 1] - before[at] for at in stay)
    head = before[request.prefix]
    ours = head + put + reminder + before[-1] - before[rewrite.keep_from]
    if rewrite.made:
        return ours, head if PUBLISHED.caching(request.model).anywhere else 0
    return ours, max(
        head, ours - reminder - before[-1] + before[max(rewrite.keep_from, count_resent_messages(request))]
    )


_NAME_BYTES = 8
_RECENT = 8
"""The newest call of the chat itself is searched among this many calls, because refinements are recorded in between."""


class UsageAccounting:
    """Records cost and savings of calls: in the store's ledger, and, since this process began, in ``totals``.

    If the store has no ledger, nothing is recorded.
    """

    def __init__(
        self,
        log: EventLog,
        settings: Settings,
        counters: ModelCounters,
        count: Callable[[str], None],
    ) -> None:
        self._ledger: UsageLedger | None = getattr(log, "ledger", None)
        self.open = settings.savings and self._ledger is not None
        """Whether calls are recorded: ``Settings.savings`` is on and the store has a ledger."""
        self._prices = price_list(settings)
        warn_without_prices(settings)
        self._counters = counters
        self._count = count
        self._lock = make_lock()
        self._totals: dict[str, UsageSums] = {}

    def entry(self, call: EndedCall) -> Callable[[SessionKey], None] | None:
        """Return the work that records a call which has just ended, to be called with its session; ``None`` for a
        failed call, which is not billed, and if usage accounting is off.
        """
        reply = call.reply
        failed = reply is None or (reply.outcome is Outcome.ERROR and not reply.usage)
        if not self.open or (failed and not call.answered):
            return None
        name, at = token_hex(_NAME_BYTES), time.time()
        return lambda key: self._record_usage(key, call, name, at)

    def add_refinement(self, key: SessionKey, completions: Iterable[Completion], prompt_tokens: int) -> None:
        """Record the cost of one refinement of the session. Blocks.

        ``completions``: all replies of the model, usable or not. ``prompt_tokens``: size of the prompt, as this package
        counts. If the provider did not report the tokens of a reply, they are counted here. A record that the store
        refuses is dropped and counted (``savings_not_kept``).
        """
        ledger = self._ledger
        if ledger is None or not self.open:
            return
        for one in completions:
            output = self._counters.of(one.model).counter.count(one.text) if "completion_tokens" not in one.usage else 0
            at = time.time()
            stages = refinement_figures(one.model, one.usage, prompt_tokens, output, self._prices, _time(at))
            try:
                self._add(ledger, key, UsageRecord(token_hex(_NAME_BYTES), at, one.model, stages))
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
        """Return what model calls of ``tenant`` cost and what each stage (cut, compression, cache and so on) saved.

        - ``session``, ``model``: count only calls of this session id or model; ``None``: all.
        - ``since``, ``until``: first and last day in UTC, such as "2026-11-21"; "": no limit.
        - ``by``: group the sums also by any of "session", "model" and "day".

        The result has no rows if nothing was recorded or the store has no ledger (table of calls). If usage accounting
        was switched off, it has the calls that were recorded before.
        """
        if self._ledger is None:
            return Savings([])
        apart: set[By] = {"stage", *by}
        return Savings(self._ledger.sums(tenant, by=apart, session=session, model=model, since=since, until=until))

    def calls(self, key: SessionKey, limit: int) -> list[UsageRecord]:
        """Return cost and savings of a session's newest ``limit`` calls, newest first; ``[]`` if the store has no
        ledger."""
        return self._ledger.calls(key, limit=limit) if self._ledger is not None else []

    def totals(self) -> dict[str, UsageSums]:
        """Return the sums of tokens and costs that this object has recorded since it was made, by the name of the
        stage. Calls that other processes recorded are not in them. ``{}`` if none was recorded."""
        with self._lock:
            return dict(self._totals)

    def _record_usage(self, key: SessionKey, call: EndedCall, name: str, at: float) -> None:
        ledger = self._ledger
        if ledger is None:
            return
        try:
            before = next((one for one in ledger.calls(key, limit=_RECENT) if REFINE not in one.stages), None)
            elapsed = max(0.0, at - before.at) if before is not None else None
            sent = measure_sent_call(call, self._counters.of(call.request.model), elapsed)
            spent = UsageRecord(name, at, call.request.model, figures(sent, self._prices, _time(at)))
            self._add(ledger, key, spent)
        except StoreUnavailable:
            self._count("savings_not_kept")
            return
        self._remember(spent.stages)
        if spent.stages[CALL].saved < 0:
            self._count("call_cost_more")

    def _add(self, ledger: UsageLedger, key: SessionKey, spent: UsageRecord) -> None:
        """Add a call to the ledger; if that fails, try once more. The ledger counts a call once, even if both attempts
        succeed."""
        try:
            ledger.add(key, spent)
        except StoreUnavailable:
            ledger.add(key, spent)

    def _remember(self, stages: Stages) -> None:
        with self._lock:
            for stage, each in stages.items():
                self._totals[stage] = self._totals.get(stage, UsageSums()) + each


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def name_prices() -> str:
    """Return the name and release of the package with the published prices, or a note that it is not installed."""
    from importlib.metadata import (  # it loads the parser of e-mail, and hardly anybody asks
        PackageNotFoundError,
        version,
    )

    try:
        return f"genai-prices {version('genai-prices')}"
    except PackageNotFoundError:
        return "no package (the extra prices is not installed)"


def has_prices(settings: Settings) -> bool:
    """Whether any price is known: the package with the published prices is installed, or the settings name a file."""
    return settings.prices is not None or _has_published_prices()


def _has_published_prices() -> bool:
    return find_spec("genai_prices") is not None


def warn_without_prices(settings: Settings) -> None:
    """Log a warning if the settings need prices that are not known: ``cut`` "economy" needs the package with the
    published prices, ``savings`` that or a file of prices."""
    if settings.cut == "economy" and not _has_published_prices():
        asked = 'cut="economy"'
    else:
        asked = "savings" if settings.savings and not has_prices(settings) else ""
    if asked:
        _logger.warning("%s: no prices of models are known; to have them: %s", asked, install_hint("prices"))


def price_list(settings: Settings) -> PriceList:
    """Return the published prices, overridden by those in the file that the settings name. Raises ``ConfigError`` for
    an invalid price.
    """
    if settings.prices is None:
        return PUBLISHED
    path = Path(settings.prices)
    rows = read_mapping(path)
    if not all(isinstance(row, dict) for row in rows.values()):
        raise ConfigError(f"{path}: prices are given by model, each with input and output")
    return PriceList.parse_prices(rows, where=str(path))
