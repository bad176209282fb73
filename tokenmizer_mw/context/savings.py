"""The cost of calls with and without this package, and the savings. Pure.

The tokens sent are those that the provider reported, else counted here with its published caching rules. For
comparison, the client would have sent its whole transcript, cached by the same rules. A cut that makes a provider write
its cache again is a loss for that call, and reported as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tokenmizer_mw.context.prices import ANNOUNCED, NANO, PUBLISHED, Caching, Price, PriceList
from tokenmizer_mw.model.message import short_repr
from tokenmizer_mw.model.usage import ANSWERED, CALL, CUT, REFINE, StageSaving, Sum, UsageRecord, UsageSums, total


@dataclass(frozen=True, slots=True)
class SentCall:
    """The token counts of one model call, as this package counts tokens.

    - ``ours``, ``client``: tokens of the request as it was sent, and as the client wrote it.
    - ``ours_known``, ``client_known``: tokens at the beginning of each of the two that equal the beginning of the
      session's previous request. ``elapsed``: seconds since that request; ``None``: there was none.
    - The four token counts above are needed only if the request was changed or the provider reported no usage.
    - ``usage``: token counts that the provider reported, under the names "prompt_tokens", "completion_tokens",
      "cached_tokens" and "cache_write_tokens"; a missing one was not reported. ``output``: tokens of the reply, used if
      the provider did not report them.
    - ``marked``: the request contains prompt cache markers.
    - ``cut``: a resume block replaced old messages; ``stages``: what other stages saved; ``answered``: the reply came
      from the response cache.
    """

    model: str
    ours: int = 0
    client: int = 0
    ours_known: int = 0
    client_known: int = 0
    elapsed: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    output: int = 0
    marked: bool = False
    cut: bool = False
    stages: Sequence[StageSaving] = ()
    answered: bool = False

    @property
    def changed(self) -> bool:
        """Whether this package changed the request so that its tokens differ from the client's (by a cut or another
        stage), or answered the call from the response cache."""
        return self.cut or self.answered or bool(self.stages)

    @property
    def is_reported(self) -> bool:
        """Whether the provider reported how many tokens the request took. False for a call that the response cache
        answered."""
        return "prompt_tokens" in self.usage and not self.answered


@dataclass(frozen=True, slots=True)
class _Input:
    """Tokens of a request. ``cached``: how many of them were read from the provider's cache; ``written``: how many were
    written to it."""

    tokens: int
    cached: int = 0
    written: int = 0

    def cost(self, price: Price | None, output: int) -> int:
        if price is None:
            return 0
        fresh = self.tokens - self.cached - self.written
        return price.nano(fresh=fresh, cached=self.cached, written=self.written, output=output)


def figures(sent: SentCall, prices: PriceList = PUBLISHED, at: datetime = ANNOUNCED) -> dict[str, UsageSums]:
    """Return token counts, cost and savings of one call, by stage: the whole call under ``CALL``, and each stage of
    this package that had an effect under its name ("cut", "cache" and so on). Costs are in billionths of a dollar at
    the prices of time ``at``; without a known price they are 0, and the call counts as "unpriced"."""
    price = prices.of(sent.model, at)
    caching = _in_force(sent, prices.caching(sent.model))
    output = sent.usage.get("completion_tokens", sent.output)
    ours = _price_sent(sent, price, caching)
    client = _price_original(sent, ours, price, caching) if sent.changed else ours
    cost = 0 if sent.answered else ours.cost(price, output)
    whole = UsageSums(
        calls=1,
        estimated=int(not sent.is_reported),
        unpriced=int(price is None),
        input_tokens=ours.tokens,
        cached_tokens=ours.cached,
        written_tokens=ours.written,
        output_tokens=0 if sent.answered else output,
        cost=cost,
        client_tokens=client.tokens,
        client_cost=client.cost(price, output),
    )
    return {CALL: whole, **_by_stage(sent, whole, client, price)}


def refinement_figures(
    model: str,
    usage: Mapping[str, int],
    prompt: int,
    output: int,
    prices: PriceList = PUBLISHED,
    at: datetime = ANNOUNCED,
) -> dict[str, UsageSums]:
    """Return cost and savings of one refinement call: the whole call under ``CALL``, and its loss under ``REFINE``.
    Without this package there would be no such call, so its whole cost is a loss. With an unknown price the costs are
    0, and the call counts as unpriced.

    - ``usage``: token counts that the provider reported; ``prompt``, ``output``: tokens of prompt and reply, used if
      ``usage`` does not contain them.
    - ``prices``: prices of models; ``at``: the time of the call, which selects the price.
    """
    whole = figures(SentCall(model, prompt, prompt, usage=usage, output=output), prices, at)[CALL]
    whole = replace(whole, client_tokens=0, client_cost=0)
    return {CALL: whole, REFINE: _stage(0, whole.input_tokens, -whole.cost)}


def _in_force(sent: SentCall, caching: Caching) -> Caching | None:
    """Return how the provider cached this call; ``None`` if it did not: the request has no cache markers where they are
    needed, or the provider reported its usage without cached tokens."""
    if (caching.explicit and not sent.marked) or (sent.is_reported and "cached_tokens" not in sent.usage):
        return None
    return caching


def _price_sent(sent: SentCall, price: Price | None, caching: Caching | None) -> _Input:
    if sent.answered:
        return _Input(0)
    if not sent.is_reported:
        return _price_input(sent.ours, sent.ours_known, sent.elapsed, price, caching)
    tokens = sent.usage["prompt_tokens"]
    cached = min(tokens, sent.usage.get("cached_tokens", 0))
    return _Input(tokens, cached, min(tokens - cached, sent.usage.get("cache_write_tokens", 0)))


def _price_original(sent: SentCall, ours: _Input, price: Price | None, caching: Caching | None) -> _Input:
    """Return the tokens that the client's own request would have taken, counted as the provider counts if it reported
    the usage."""
    scale = ours.tokens / sent.ours if sent.is_reported and sent.ours else 1.0
    tokens = max(0, ours.tokens + round((sent.client - (0 if sent.answered else sent.ours)) * scale))
    return _price_input(tokens, round(sent.client_known * scale), sent.elapsed, price, caching)


def _price_input(
    tokens: int, known: int, elapsed: float | None, price: Price | None, caching: Caching | None
) -> _Input:
    """Return how many of the ``tokens`` of a request are read from and written to the cache by the published rules.

    ``known``: number of its first tokens that the previous request also began with. ``elapsed``: seconds since that
    request, ``None`` if there was none. ``caching``: ``None`` if nothing is cached. Nothing counts as written if the
    provider does not charge extra for writing.
    """
    if caching is None:
        return _Input(tokens)
    alive = elapsed is not None and elapsed <= caching.seconds
    cached = caching.count_cached_tokens(min(known, tokens)) if alive else 0
    writes = price is not None and price.write > price.input and tokens >= caching.least
    return _Input(tokens, cached, tokens - cached if writes else 0)


def _by_stage(sent: SentCall, whole: UsageSums, client: _Input, price: Price | None) -> dict[str, UsageSums]:
    """Return what each stage saved, by its name. A call that the response cache answered saves everything there
    (``ANSWERED``). Otherwise each token that a stage removed from a message saves the average price of the client's
    input. The cut, or without a cut the last stage, gets the rest of the saving, which includes the loss from writing
    the provider's cache again."""
    if sent.answered:
        return {ANSWERED: _stage(whole.client_tokens, 0, whole.saved)}
    each = client.cost(price, 0) / client.tokens if client.tokens else 0.0
    scale = whole.input_tokens / sent.ours if sent.is_reported and sent.ours else 1.0
    found: dict[str, UsageSums] = {}
    tokens, money = whole.saved_tokens, whole.saved
    for place, stage in enumerate(sent.stages):
        last = not sent.cut and place == len(sent.stages) - 1
        before, after = round(stage.tokens_before * scale), round(stage.tokens_after * scale)
        gone = tokens if last else before - after
        worth = money if last else round(gone * each)
        found[stage.stage] = found.get(stage.stage, UsageSums()) + _stage(after + gone, after, worth)
        tokens, money = tokens - gone, money - worth
    if sent.cut:
        found[CUT] = _stage(whole.input_tokens + tokens, whole.input_tokens, money)
    return found


def _stage(before: int, after: int, worth: int) -> UsageSums:
    return UsageSums(calls=1, input_tokens=after, client_tokens=before, client_cost=worth)


@dataclass(frozen=True, slots=True)
class Savings:
    """What model calls cost and saved.

    ``rows``: sums of tokens, and of costs in billionths of a dollar, one row for each combination of stage and, as far
    as the caller asked for these, session, model and day. A stage is a part of this package that saves tokens, or
    ``CALL``, which stands for whole calls. ``[]`` if nothing was recorded.
    """

    rows: Sequence[Sum]

    def __repr__(self) -> str:
        return short_repr(self, f"{len(self.rows)} rows, {self.whole!r}")

    @property
    def whole(self) -> UsageSums:
        """The sums of all rows that stand for whole calls (``CALL``): tokens, and costs in billionths of a dollar."""
        return total(row.figures for row in self.rows if row.stage == CALL)

    @property
    def stages(self) -> Mapping[str, UsageSums]:
        """The sums of the rows of each stage, by its name, such as "cut" or "cache"; whole calls (``CALL``) are not
        among them."""
        names = sorted({row.stage for row in self.rows} - {CALL})
        return {name: total(row.figures for row in self.rows if row.stage == name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of JSON values: the sums of all calls as in ``whole_to_dict``, "stages" as in
        ``stages_to_list``, and, if the rows are separated by session, model or day, "groups": the same sums for each
        combination. Money is in US dollars."""
        report: dict[str, Any] = {**whole_to_dict(self.whole), "stages": stages_to_list(self.stages)}
        groups = {(row.session, row.model, row.day): row for row in self.rows if row.stage == CALL}
        if any(any(key) for key in groups):
            report["groups"] = [
                {
                    **{name: value for name, value in zip(("session", "model", "day"), key, strict=True) if value},
                    **whole_to_dict(row.figures),
                }
                for key, row in groups.items()
            ]
        return report


def whole_to_dict(figures: UsageSums) -> dict[str, Any]:
    """Return the token and cost sums of whole model calls (not of single stages) as JSON values. Costs are in US
    dollars. Calls without a known price cost 0 and are counted as "unpriced"."""
    return {
        "calls": figures.calls,
        "estimated": figures.estimated,
        "unpriced": figures.unpriced,
        "input_tokens": figures.input_tokens,
        "cached_tokens": figures.cached_tokens,
        "written_tokens": figures.written_tokens,
        "output_tokens": figures.output_tokens,
        "input_tokens_without": figures.client_tokens,
        "saved_tokens": figures.saved_tokens,
        "cost": dollars(figures.cost),
        "cost_without": dollars(figures.client_cost),
        "saved": dollars(figures.saved),
    }


def stages_to_list(stages: Mapping[str, UsageSums]) -> list[dict[str, Any]]:
    """Return JSON values for each stage of ``stages``, the stage that saved the most money first. Money is in US
    dollars.

    A stage is a part of this package that saves tokens, by its name: "cut" (a resume block replaces old messages),
    "cache" (a stored response is returned), a compression stage of the setting ``compress``, or "refine" (a model
    refines sessions, which only costs).
    """
    return [
        {
            "stage": name,
            "calls": figures.calls,
            "tokens_before": figures.client_tokens,
            "tokens_after": figures.input_tokens,
            "saved_tokens": figures.saved_tokens,
            "saved": dollars(figures.saved),
        }
        for name, figures in sorted(stages.items(), key=lambda one: (-one[1].saved, one[0]))
    ]


def call_to_dict(spent: UsageRecord) -> dict[str, Any]:
    """Return a dictionary of JSON values for one call: its id ("call"), time ("at", as it was recorded) and model, its
    token and cost sums as in ``whole_to_dict``, and "stages" as in ``stages_to_list``. Money is in US dollars."""
    whole = whole_to_dict(spent.stages.get(CALL, UsageSums()))
    stages = {name: figures for name, figures in spent.stages.items() if name != CALL}
    return {"call": spent.call, "at": spent.at, "model": spent.model, **whole, "stages": stages_to_list(stages)}


def dollars(nano: int) -> float:
    """Convert billionths of a US dollar, the unit in which costs are summed up, to dollars: 1_000_000_000 to 1.0."""
    return nano / NANO


def format_dollars(nano: int) -> str:
    """Format an amount, given in billionths of a US dollar, such as "$1,204.50" or "-$0.0031". Amounts of less than one
    dollar have four decimals, others two."""
    amount = dollars(nano)
    digits = 2 if abs(amount) >= 1 else 4
    return f"{'-' if amount < 0 else ''}${abs(amount):,.{digits}f}"
