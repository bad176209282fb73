"""The table of prices: what it says, and what a user's file says instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokenmizer_mw.chat.totals import price_list
from tokenmizer_mw.context.costs.prices import AS_OF, PRICES, PUBLISHED, SOURCES, CacheRates, Caching, Price, rates
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Settings

KNOWN = [
    ("claude-sonnet-4-5-20250929", 3.0, 0.3, 3.75),
    ("us.anthropic.claude-opus-4-6-v1", 5.0, 0.5, 6.25),
    ("anthropic/claude-fable-5-1", 10.0, 0.25, 12.5),
    ("openai/gpt-4o-mini", 0.15, 0.075, 0.15),
    ("gpt-5", 1.25, 0.125, 1.25),
    ("gpt-5-2025-08-07", 1.25, 0.125, 1.25),
    ("GPT-5.6-sol", 4.0, 0.4, 5.0),
    ("gemini-2.5-pro", 1.25, 0.125, 1.25),
]


@pytest.mark.parametrize("model, input, cached, write", KNOWN)
def test_prices_by_the_start_of_the_name(model: str, input: float, cached: float, write: float) -> None:
    price = PUBLISHED.of(model)
    assert price is not None
    assert (price.input, price.cached, price.write) == (input, cached, write)


@pytest.mark.parametrize("model", ["", "gpt-5.9", "llama3:8b", "my-own-gpt"])
def test_what_nobody_has_told_has_no_price(model: str) -> None:
    assert PUBLISHED.of(model) is None
    assert rates(model) == CacheRates()


def test_every_row_can_be_reached_and_is_in_order_of_size() -> None:
    for start, price, caching in PRICES:
        assert (PUBLISHED.of(start), PUBLISHED.caching(start)) == (price, caching)
        assert 0 < price.cached <= price.input <= price.write < price.output


def test_the_table_has_a_date_and_sources() -> None:
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", AS_OF)
    assert all(source.startswith("https://") for sources in SOURCES.values() for source in sources)


def test_a_call_costs_whole_billionths() -> None:
    price = Price(input=3.0, cached=0.3, write=3.75, output=15.0)
    assert price.nano(fresh=1_000_000, cached=0, written=0, output=0) == 3_000_000_000
    assert price.nano(fresh=10, cached=1_000, written=100, output=7) == 30_000 + 300_000 + 375_000 + 105_000


def test_long_requests_cost_more() -> None:
    price = Price(2.0, 0.2, 2.5, 10.0, long_from=1_000, long_input=2.0, long_output=1.5)
    assert price.nano(fresh=500, cached=500, written=0, output=10) == 1_000_000 + 100_000 + 100_000
    assert price.nano(fresh=501, cached=500, written=0, output=10) == 2 * (1_002_000 + 100_000) + 150_000


def test_what_is_served_from_a_cache() -> None:
    assert [Caching(block=128).count_cached_tokens(tokens) for tokens in (0, 1_023, 1_024, 1_200)] == [
        0,
        0,
        1_024,
        1_152,
    ]
    assert [Caching(least=4_096).count_cached_tokens(tokens) for tokens in (4_095, 4_097)] == [0, 4_097]


def test_rates_are_shares_of_the_price_of_input() -> None:
    assert rates("claude-sonnet-4-5") == CacheRates(1.25, 0.1)
    assert rates("claude-opus-5-5") == CacheRates(1.25, 0.05)
    assert rates("gpt-4o") == CacheRates(1.0, 0.5)
    assert rates("command-r-08-2024").read == 0.5


def test_a_users_prices_win(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("my-own-gpt: {input: 1, output: 2}\ngpt-4o: {input: 7, cached: 1, output: 9}\n")
    found = price_list(Settings(prices=str(file)))
    assert found.of("my-own-gpt-2") == Price(1, 1, 1, 2)
    assert found.of("vendor/gpt-4o-mini") == Price(7, 1, 7, 9)
    assert found.of("gpt-4.1") == PUBLISHED.of("gpt-4.1")
    assert found.caching("gpt-4o") == PUBLISHED.caching("gpt-4o")


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4o: 7",
        "gpt-4o: {input: 7}",
        "gpt-4o: {input: seven, output: 1}",
        "gpt-4o: {input: -1, output: 1}",
        "gpt-4o: {input: 1, output: 1, discount: 2}",
        "- gpt-4o",
    ],
)
def test_a_file_without_prices_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"prices\.yaml"):
        price_list(Settings(prices=str(file)))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match="no/such/prices"):
        price_list(Settings(prices="no/such/prices.yaml"))
