"""What models cost and how their providers cache prompts, as published: a table with its date. Pure.

Prices are US dollars for a million tokens at the standard tier. They were read on ``AS_OF`` from the providers' price
lists, or, where a list could not be read itself, from pages that quote it; ``SOURCES`` names both. Prices change:
``Settings.prices`` names a YAML file whose rows win over these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError

AS_OF: Final = "2026-11-21"
"""The day on which the table was made."""

SOURCES: Final = {
    "anthropic": (
        "https://platform.claude.com/docs/en/about-claude/pricing",
        "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
        "https://docs.rs/synaps/0.10.2/synaps_cli/pricing/index.html",
    ),
    "openai": (
        "https://developers.openai.com/api/docs/pricing",
        "https://developers.openai.com/api/docs/guides/prompt-caching",
        "https://docs.apiyi.com/models/index.md",
        "https://docs.rs/crate/adk-model/2.1.0/source/src/openai/pricing.rs",
    ),
    "gemini": (
        "https://ai.google.dev/gemini-api/docs/pricing",
        "https://ai.google.dev/gemini-api/docs/caching",
        "https://www.morphllm.com/gemini-api-pricing",
    ),
    "deepseek": ("https://api-docs.deepseek.com/quick_start/pricing",),
    "xai": ("https://docs.x.ai/developers/models",),
    "cohere": ("https://cohere.com/pricing",),
}
"""Where prices and caching rules are published, by provider: the price list first."""

MILLION: Final = 1_000_000
NANO: Final = 1_000_000_000
"""Amounts are kept as whole billionths of a dollar: sums of whole numbers are exact."""

_READ_MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost in dollars. ``cached``: read from the provider's cache; ``write``: written to it.
    ``long_from``: requests with more input than that cost ``long_input`` and ``long_output`` times as much (0: none).
    """

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
        """What a call costs, in billionths of a dollar: tokens of its input that no cache knew and none took, those
        that were read from the cache, those that were written to it, and those of its output."""
        long = 0 < self.long_from < fresh + cached + written
        incoming = fresh * self.input + cached * self.cached + written * self.write
        outgoing = output * self.output
        if long:
            incoming, outgoing = incoming * self.long_input, outgoing * self.long_output
        return round((incoming + outgoing) * NANO / MILLION)


@dataclass(frozen=True, slots=True)
class Caching:
    """How a provider caches prompts. ``explicit``: only where a request marks it. ``least``: tokens below which nothing
    is cached; ``block``: cached tokens are a multiple of it; ``seconds``: how long what was sent is sure to be found.
    ``anywhere``: any beginning of an earlier request is found, or any that was marked, not only the whole of one.
    """

    explicit: bool = False
    least: int = 1_024
    block: int = 1
    seconds: int = 300
    anywhere: bool = True

    def count_cached_tokens(self, tokens: int) -> int:
        """How many of ``tokens``, which the request before began with, too, are served from the cache."""
        whole = tokens - tokens % self.block
        return whole if whole >= max(1, self.least) else 0


@dataclass(frozen=True, slots=True)
class CacheRates:
    """What writing to and reading from a provider's cache cost, as shares of the price of input."""

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

_LONG: Final = {"long_from": 272_000}
_LONG_200: Final = {"long_from": 200_000}


def _price(input: float, cached: float, output: float, *, write: float = 1.0, **long: float) -> Price:
    """A row: ``write`` as a share of the price of input."""
    return Price(input, cached, round(input * write, 6), output, **long)  # type: ignore[arg-type]


# fmt: off
PRICES: Final[tuple[tuple[str, Price, Caching], ...]] = (
    ("claude-fable-5-1", _price(10, 0.25, 50, write=1.25), _CLAUDE_512),
    ("claude-mythos-5-1", _price(10, 0.25, 50, write=1.25), _CLAUDE_512),
    ("claude-fable-5", _price(10, 1, 50, write=1.25), _CLAUDE_512),
    ("claude-mythos-5", _price(10, 1, 50, write=1.25), _CLAUDE_512),
    ("claude-opus-5-5", _price(4, 0.2, 20, write=1.25), _CLAUDE_512),
    ("claude-opus-5", _price(5, 0.5, 25, write=1.25), _CLAUDE_512),
    ("claude-opus-4-8", _price(5, 0.5, 25, write=1.25), _CLAUDE),
    ("claude-opus-4-7", _price(5, 0.5, 25, write=1.25), _CLAUDE_2048),
    ("claude-opus-4-6", _price(5, 0.5, 25, write=1.25), _CLAUDE_4096),
    ("claude-opus-4-5", _price(5, 0.5, 25, write=1.25), _CLAUDE_4096),
    ("claude-opus-4", _price(15, 1.5, 75, write=1.25), _CLAUDE),
    ("claude-sonnet-5-5", _price(2, 0.1, 10, write=1.25), _CLAUDE),
    ("claude-sonnet-5", _price(2, 0.2, 10, write=1.25), _CLAUDE),
    ("claude-sonnet", _price(3, 0.3, 15, write=1.25), _CLAUDE),
    ("claude-3-7-sonnet", _price(3, 0.3, 15, write=1.25), _CLAUDE),
    ("claude-3-5-sonnet", _price(3, 0.3, 15, write=1.25), _CLAUDE),
    ("claude-haiku-5-5", _price(0.1, 0.01, 0.5, write=1.25, long_from=100_000, long_input=5.0, long_output=5.0),
     _CLAUDE_4096),
    ("claude-haiku-4-5", _price(1, 0.1, 5, write=1.25), _CLAUDE_4096),
    ("claude-3-5-haiku", _price(0.8, 0.08, 4, write=1.25), _CLAUDE_2048),
    ("gpt-6.1-sol", _price(2, 0.1, 10, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-6-sol", _price(2, 0.2, 10, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-6-luna", _price(0.1, 0.01, 0.5, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-6-astra", _price(10, 1, 50, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-5.6-terra", _price(2, 0.2, 12, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-5.6-luna", _price(0.2, 0.02, 1.2, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-5.6", _price(4, 0.4, 20, write=1.25, **_LONG), _OPENAI_NEW),
    ("gpt-5.5", _price(5, 0.5, 30, **_LONG), _OPENAI),
    ("gpt-5.4-mini", _price(0.75, 0.075, 4.5), _OPENAI),
    ("gpt-5.4-nano", _price(0.2, 0.02, 1.25), _OPENAI),
    ("gpt-5.4", _price(2.5, 0.25, 15, **_LONG), _OPENAI),
    ("gpt-5-mini", _price(0.25, 0.025, 2), _OPENAI),
    ("gpt-5-nano", _price(0.05, 0.005, 0.4), _OPENAI),
    ("gpt-5.1", _price(1.25, 0.125, 10), _OPENAI),
    ("gpt-5-20", _price(1.25, 0.125, 10), _OPENAI),
    ("gpt-4.1-mini", _price(0.4, 0.1, 1.6), _OPENAI),
    ("gpt-4.1-nano", _price(0.1, 0.025, 0.4), _OPENAI),
    ("gpt-4.1", _price(2, 0.5, 8), _OPENAI),
    ("gpt-4o-mini", _price(0.15, 0.075, 0.6), _OPENAI),
    ("gpt-4o", _price(2.5, 1.25, 10), _OPENAI),
    ("gemini-3.1-pro", _price(2, 0.2, 12, **_LONG_200), _GEMINI),
    ("gemini-3.1-flash-lite", _price(0.25, 0.025, 1.5), _GEMINI),
    ("gemini-3.5-flash", _price(1.5, 0.15, 9), _GEMINI),
    ("gemini-3-flash", _price(0.5, 0.05, 3), _GEMINI),
    ("gemini-2.5-flash-lite", _price(0.1, 0.01, 0.4), _GEMINI_2),
    ("gemini-2.5-flash", _price(0.3, 0.03, 2.5), _GEMINI_2),
    ("gemini-2.5-pro", _price(1.25, 0.125, 10, **_LONG_200), _GEMINI_2),
    ("deepseek-v4-pro", _price(0.66, 0.022, 1.98), _DEEPSEEK),
    ("deepseek-flash", _price(0.15, 0.003, 0.6), _DEEPSEEK),
    ("grok-4.5", _price(2, 0.5, 6, **_LONG_200), _XAI),
    ("grok-4.6", _price(2, 0.5, 6, **_LONG_200), _XAI),
    ("command-r-08-2024", _price(0.15, 0.15, 0.6), NO_CACHE),
)
# fmt: on
"""By the start of a model's name, the first match counts: its price, and how its provider caches. A vendor's prefix
("openai/", "us.anthropic.") is passed over. What was read of several sources that differ is the newest. DeepSeek's
prices are those outside its peak hours; ``long_from`` of OpenAI and Google as published for these models."""

_EXACT: Final = {"gpt-5": "gpt-5.1", "gpt-5-chat-latest": "gpt-5.1"}


@dataclass(frozen=True)
class PriceList:
    """The table, and rows of the user's that win over it, by the start of a model's name. A row of the user's keeps the
    caching rules of the model that it prices, where the table knows it."""

    own: Mapping[str, Price]

    @classmethod
    def parse_prices(cls, mapping: Mapping[str, Any], *, where: str) -> PriceList:
        """From a mapping of names to mappings with the members of ``Price``, of which ``input`` and ``output`` are
        needed. Raises ``ConfigError`` that names ``where`` and the row."""
        rows: dict[str, Price] = {}
        for name, row in mapping.items():
            try:
                rows[str(name).lower()] = Price(
                    **{"cached": row["input"], "write": row["input"], "output": row["output"], **row}
                )
            except (TypeError, KeyError, ConfigError) as error:
                raise ConfigError(f"{where}: {name}: not a price: {error}") from None
        return cls(rows)

    def of(self, model: str) -> Price | None:
        """The price of a model; ``None`` for a model without a known price."""
        name = _plain(model)
        starts = [start for start in self.own if name.startswith(start)]
        if starts:
            return self.own[max(starts, key=len)]
        found = _row(name)
        return found[0] if found else None

    def caching(self, model: str) -> Caching:
        """How the provider of a model caches; as OpenAI does, where the table does not know the model."""
        found = _row(_plain(model))
        return found[1] if found else _OPENAI


PUBLISHED: Final = PriceList({})


@lru_cache(maxsize=256)
def rates(model: str) -> CacheRates:
    """What a model's cache costs beside its input, for deciding whether a cut pays. For models that are not in the
    table, and those of providers that do not cache, the dearest way to write and an ordinary one to read."""
    found = _row(_plain(model))
    if found is None or not found[0].input:
        return CacheRates()
    price = found[0]
    read, write = round(price.cached / price.input, 6), round(price.write / price.input, 6)
    return CacheRates(max(1.0, write), min(_READ_MOST, read))


def _plain(model: str) -> str:
    return model.rpartition("/")[2].lower()


@lru_cache(maxsize=256)
def _row(name: str) -> tuple[Price, Caching] | None:
    """The row for a name in lower case, without a vendor's prefix."""
    name = _EXACT.get(name, name)
    return next((row for start, *row in PRICES if name.startswith(start) or f".{start}" in name), None)  # type: ignore[return-value]
