"""Prices of models, how their providers cache prompts, and whether a cut saves money under these rates. Pure.

Prices are US dollars per million tokens at the standard tier, from the package genai-prices (extra ``prices``); nothing
is downloaded. Models are looked up by exact name, because a prefix would take "gpt-5.4-pro" for "gpt-5.4", at a twelfth
of its price. Rows of the YAML file ``Settings.prices`` take precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError

MILLION: Final = 1_000_000
NANO: Final = 1_000_000_000
"""Amounts are kept as whole billionths of a dollar: sums of whole numbers are exact."""

_READ_MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens in dollars. ``cached``: read from the provider's cache; ``write``: written to it.
    ``long_from``: the input of requests with more input tokens costs ``long_input`` times as much, and their output
    ``long_output`` times; 0: no such limit. Raises ``ConfigError`` for values that are negative or not numbers."""

    input: float
    cached: float
    write: float
    output: float
    long_from: int = 0
    long_input: float = 2.0
    long_output: float = 1.5

    def __post_init__(self) -> None:
        if not all(isinstance(getattr(self, field.name), int | float) for field in fields(self)):
            raise ConfigError("prices are numbers")
        if min(getattr(self, field.name) for field in fields(self)) < 0:
            raise ConfigError("prices are not negative")

    def nano(self, *, fresh: int, cached: int, written: int, output: int) -> int:
        """Return the cost of a call in billionths of a dollar. ``fresh``: input tokens neither read from nor written to
        the cache; ``cached``: read from it; ``written``: written to it; ``output``: tokens of the reply."""
        long = 0 < self.long_from < fresh + cached + written
        incoming = fresh * self.input + cached * self.cached + written * self.write
        outgoing = output * self.output
        if long:
            incoming, outgoing = incoming * self.long_input, outgoing * self.long_output
        return round((incoming + outgoing) * NANO / MILLION)


@dataclass(frozen=True, slots=True)
class Caching:
    """How a provider caches the beginnings of prompts, so that repeated ones cost less.

    - ``explicit``: only beginnings that a request marks are cached; false: all are, without marks.
    - ``least``: a beginning with fewer tokens is not cached.
    - ``block``: the number of cached tokens is a multiple of it.
    - ``seconds``: a prompt is assumed to stay in the cache that long after its last use, and not longer.
    - ``anywhere``: a request hits the cache if it begins as an earlier one does (with ``explicit``: up to a mark);
      false: only if it begins with the whole of an earlier one.
    """

    explicit: bool = False
    least: int = 1_024
    block: int = 1
    seconds: int = 300
    anywhere: bool = True

    def count_cached_tokens(self, tokens: int) -> int:
        """Return how many tokens the provider reads from its cache if the first ``tokens`` tokens of a request equal
        those of the previous one: ``tokens`` rounded down to a multiple of ``block``, or 0 if that is below
        ``least``."""
        whole = tokens - tokens % self.block
        return whole if whole >= max(1, self.least) else 0


@dataclass(frozen=True, slots=True)
class CacheRates:
    """Cost of writing to and reading from a provider's cache, as multiples of the price of uncached input."""

    write: float = 1.25
    read: float = 0.1


NO_CACHE: Final = Caching(least=1 << 62)
_CLAUDE: Final = Caching(explicit=True)
_CLAUDE_512: Final = Caching(explicit=True, least=512)
_CLAUDE_2048: Final = Caching(explicit=True, least=2_048)
_CLAUDE_4096: Final = Caching(explicit=True, least=4_096)
_OPENAI: Final = Caching(block=128)
_OPENAI_NEW: Final = Caching(seconds=1_800, anywhere=False)
_GEMINI: Final = Caching(least=4_096)
_GEMINI_2: Final = Caching(least=2_048)
_DEEPSEEK: Final = Caching(least=64, block=64, seconds=3_600)
_XAI: Final = Caching()

# fmt: off
CACHING: Final[tuple[tuple[str, Caching], ...]] = (
    ("claude-fable-5", _CLAUDE_512), ("claude-mythos-5", _CLAUDE_512), ("claude-opus-5", _CLAUDE_512),
    ("claude-opus-4-7", _CLAUDE_2048), ("claude-opus-4-6", _CLAUDE_4096), ("claude-opus-4-5", _CLAUDE_4096),
    ("claude-haiku-5-5", _CLAUDE_4096), ("claude-haiku-4-5", _CLAUDE_4096), ("claude-3-5-haiku", _CLAUDE_2048),
    ("claude", _CLAUDE),
    ("gpt-6", _OPENAI_NEW), ("gpt-5.6", _OPENAI_NEW),
    ("gemini-2.5", _GEMINI_2), ("gemini", _GEMINI),
    ("deepseek", _DEEPSEEK), ("grok", _XAI), ("command", NO_CACHE),
)
# fmt: on
"""Caching rules by the start of a model's name; the first match counts, and all other models cache as OpenAI's do. A
vendor's prefix ("openai/", "us.anthropic.") is ignored. As published on 2026-11-21:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
https://developers.openai.com/api/docs/guides/prompt-caching, https://ai.google.dev/gemini-api/docs/caching,
https://api-docs.deepseek.com/quick_start/pricing, https://docs.x.ai/developers/models."""

ANNOUNCED: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""A time in the far future, at which all price changes that have been announced are in force."""

_BEDROCK: Final = re.compile(r"(\w+\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral)\.")


@dataclass(frozen=True)
class PriceList:
    """The published prices, overridden by the user's rows. The caching rules are always those of the model's provider.

    ``own``: the rows, by the beginning of a model's name in lower case, without a vendor ("openai/"). The longest
    beginning that fits counts. Published prices are looked up by the whole name.
    """

    own: Mapping[str, Price]

    @classmethod
    def parse_prices(cls, mapping: Mapping[str, Any], *, where: str) -> PriceList:
        """Parse a mapping from beginnings of model names to mappings with the fields of ``Price``; ``input`` and
        ``output`` are required, ``cached`` and ``write`` are as ``input`` if missing. A vendor before the last "/" of a
        name is ignored, as in the models' names. Raises ``ConfigError`` that names ``where`` and the row."""
        rows: dict[str, Price] = {}
        for name, row in mapping.items():
            try:
                rows[_plain(str(name)) or str(name).lower()] = Price(
                    **{"cached": row["input"], "write": row["input"], "output": row["output"], **row}
                )
            except (TypeError, KeyError, ConfigError) as error:
                raise ConfigError(f"{where}: {name}: not a price: {error}") from None
        return cls(rows)

    def of(self, model: str, at: datetime = ANNOUNCED) -> Price | None:
        """Return the price of a model at the time ``at`` (an own row: always the same); ``None`` for a model without a
        known price."""
        name = _plain(model)
        starts = [start for start in self.own if name.startswith(start)]
        return self.own[max(starts, key=len)] if starts else _find_published(model.lower(), at)

    def caching(self, model: str) -> Caching:
        """Return how the provider of ``model`` caches prompts, by its name (``CACHING``); for an unknown model, how
        OpenAI's models do. The user's own rows have no effect."""
        return _caching(_plain(model))


PUBLISHED: Final = PriceList({})


@lru_cache(maxsize=256)
def rates(model: str) -> CacheRates:
    """Return what writing to and reading from the cache cost for ``model``, relative to its uncached input, to decide
    whether a cut pays.

    Writing is at least 1.0, and reading at most 0.5, even if the published prices say otherwise (as for models without
    a cache). For models without a known price, or with free input: 1.25 for writing and 0.1 for reading.
    """
    price = PUBLISHED.of(model)
    if price is None or not price.input:
        return CacheRates()
    read, write = round(price.cached / price.input, 6), round(price.write / price.input, 6)
    return CacheRates(max(1.0, write), min(_READ_MOST, read))


def _find_published(model: str, at: datetime) -> Price | None:
    try:
        from genai_prices import Usage, calc_price  # a fifth of a second of CPU: only where something is priced
    except ModuleNotFoundError:
        return None
    for name, provider in _spellings(model):
        try:
            found = calc_price(Usage(), name, provider_id=provider, genai_request_timestamp=at)
        except LookupError:
            continue
        return _read_price(found.model_price)
    return None


def _spellings(model: str) -> Iterator[tuple[str, str | None]]:
    """Yield the names under which the price list may have ``model``, most likely first, each with the provider to look
    in; ``None`` for any provider."""
    name = _plain(model)
    if _BEDROCK.match(name):
        yield name, "aws"
    yield name, None
    if "/" in model:
        yield model, "openrouter"
    yield name.replace("claude-mythos", "claude-fable"), None  # offered to few, at the price of the other
    if name.startswith("gemini-"):
        yield f"{name}-preview", None


def _read_price(listed: Any) -> Price | None:
    """Convert a price of the package genai-prices; ``None`` if it is not per token. If the price rises at several
    lengths, only the first rise is used."""
    input, output = getattr(listed, "input_mtok", None), getattr(listed, "output_mtok", None)
    if input is None or output is None:
        return None
    cached, write = (getattr(listed, name, None) for name in ("cache_read_mtok", "cache_write_mtok"))
    long = {}
    if tiers := getattr(input, "tiers", None):
        out = getattr(output, "tiers", None)
        long = {"long_from": tiers[0].start, "long_input": float(tiers[0].price / input.base)}
        long["long_output"] = float(out[0].price / output.base) if out else 1.0
    parts = (_base(input), _base(input if cached is None else cached), _base(input if write is None else write))
    return Price(*parts, _base(output), **long)


def _base(listed: Any) -> float:
    return float(getattr(listed, "base", listed))


def _plain(model: str) -> str:
    return model.rpartition("/")[2].lower()


@lru_cache(maxsize=256)
def _caching(name: str) -> Caching:
    """Return the first row of ``CACHING`` that fits ``name``, a model's name in lower case without the part before the
    last "/"; OpenAI's rule if none fits. A row fits if its text begins the name or follows a "." in it."""
    return next((rule for start, rule in CACHING if name.startswith(start) or f".{start}" in name), _OPENAI)


PATIENCE: Final = 4.0
"""A cut to save money is made once the provider has been paid, since the cut before, this many times the cost of this
cut for reading the messages that it removes. With 1, long chats would cost the least, and be cut every few turns; with
4 they are cut a fifth as often, and cost a little more than that."""


@dataclass(frozen=True, slots=True)
class CutInForce:
    """The session's newest cut: a resume block replaces the messages before index ``start``.

    ``made``: index of the newest message when the cut was made; ``gone``: tokens of the messages that the cut removed,
    less the tokens of the block.
    """

    start: int
    made: int
    gone: int


@dataclass(frozen=True, slots=True)
class ChatCost:
    """The cost of a chat's calls, in tokens of uncached input, by which it is decided whether a cut saves money.

    A client sends its whole history with every call. The part that the previous call also sent is read from the
    provider's cache at ``CacheRates.read`` times the input price; the rest is written to it at ``CacheRates.write``. A
    cut removes old messages from all later calls, but makes the provider write the block and the kept messages again.
    It is unknown when the chat will end. Therefore a cut is made once the accumulated cost of re-reading the old
    messages is several times the cost of the cut, and never if the cut would cost more than the allowed risk when the
    chat ends right then.

    - ``before[i]``: tokens before message i; the last entry: tokens of all messages.
    - ``calls``: indexes of the model's messages; each stands for a call that sent the messages before it.
    - ``overhead``: tokens that every call sends besides messages.
    - ``block``: tokens of a new resume block; ``head``: tokens before it that the provider must write to its cache
      again. ``standing``: the current cut, ``None`` for none.
    """

    before: Sequence[int]
    calls: Sequence[int]
    overhead: int
    block: int
    rates: CacheRates
    head: int = 0
    standing: CutInForce | None = None

    def bearable(self, start: int, risk: float) -> float:
        """Return how many tokens of the messages from ``start`` on a cut may keep. With that many, a chat that ends
        with this call has cost at most the share ``risk`` (0.01: one percent) more than without any cut. May be
        negative.

        A cut makes this call write the block and the kept messages to the provider's cache, instead of reading the
        unchanged messages from it. The amount that the current cut has saved so far may be spent on that.
        """
        read = self.rates.read * (self.before[-1] - self.before[start])
        head = (self.rates.write - self.rates.read) * self.head
        return (risk * self.cost_without_cut() + self.cost_saved() + read - head) / self.rates.write - self.block

    def pays(self, start: int, keep_from: int) -> bool:
        """Whether it pays now to cut away the messages from index ``start`` up to, but without, ``keep_from``: reading
        them from the cache has cost ``PATIENCE`` times as much, since the cut before, as this cut costs."""
        gone = self.before[keep_from] - self.before[start]
        written = self.head + self.block + self.before[-1] - self.before[keep_from]
        cost = (self.rates.write - self.rates.read) * written
        since = self.standing.made if self.standing is not None else start
        paid = sum(min(self.before[call] - self.before[start], gone) for call in self.calls if call > since)
        return gone > 0 and self.rates.read * paid >= PATIENCE * cost

    def cost_without_cut(self) -> float:
        """Return what the input of all calls, including this one, would have cost without any cut, in tokens of
        uncached input."""
        sent = [0, *(self.overhead + self.before[call] for call in self.calls), self.overhead + self.before[-1]]
        read, write = self.rates.read, self.rates.write
        return sum(read * earlier + write * (later - earlier) for earlier, later in pairwise(sent))

    def cost_saved(self) -> float:
        """Return how much the current cut has saved since it was made, minus its cost, in tokens of uncached input. May
        be negative; 0 without a cut."""
        cut = self.standing
        if cut is None:
            return 0.0
        written = self.head + self.block + self.before[cut.made + 1] - self.before[cut.start]
        served = sum(call > cut.made for call in self.calls)
        return self.rates.read * cut.gone * served - (self.rates.write - self.rates.read) * written
