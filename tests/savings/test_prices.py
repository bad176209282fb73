"""Published prices, and what a user's file says instead."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data import providers
from genai_prices.types import TieredPrices

from tokenmizer_mw.chat.usage import price_list
from tokenmizer_mw.context.prices import ANNOUNCED, CACHING, PUBLISHED, CacheRates, Caching, Price, rates
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Settings

ROOT = Path(__file__).parents[2]

KNOWN = [
    ("claude-sonnet-4-5-20250929", 3.0, 0.3, 3.75),
    ("us.anthropic.claude-opus-4-6-v1", 5.5, 0.55, 6.875),
    ("anthropic/claude-fable-5-1", 10.0, 0.25, 12.5),
    ("claude-fable-5-2", 8.0, 0.2, 10.0),
    ("claude-mythos-5-1", 10.0, 0.25, 12.5),
    ("openai/gpt-4o-mini", 0.15, 0.075, 0.15),
    ("gpt-5", 1.25, 0.125, 1.25),
    ("gpt-5-2025-08-07", 1.25, 0.125, 1.25),
    ("gpt-5.4-pro", 30.0, 30.0, 30.0),
    ("GPT-5.6-sol", 4.0, 0.4, 5.0),
    ("gemini-2.5-pro", 1.25, 0.125, 1.25),
    ("models/gemini-3.1-pro", 2.0, 0.2, 2.0),
    ("gemini-3.5-flash-lite", 0.3, 0.03, 0.3),
    ("grok-4.5", 2.0, 0.3, 2.0),
    ("o3", 2.0, 0.5, 2.0),
    ("meta-llama/llama-3.3-70b-instruct", 0.59, 0.295, 0.59),
]


@pytest.mark.parametrize("model, input, cached, write", KNOWN)
def test_prices_by_name(model: str, input: float, cached: float, write: float) -> None:
    price = PUBLISHED.of(model)
    assert price is not None
    assert (price.input, price.cached, price.write) == (input, cached, write)


@pytest.mark.parametrize("model", ["", "gpt-5.9", "llama3:8b", "my-own-gpt"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert PUBLISHED.of(model) is None
    assert rates(model) == CacheRates()


VENDORS = ("anthropic", "cohere", "deepseek", "google", "mistral", "openai", "x-ai")
USES = [(1_000, 600, 300, 200), (300_000, 200_000, 0, 2_000)]
"""Tokens of input, of these read from and written to a cache, and of output."""


def test_a_call_costs_what_the_package_says() -> None:
    checked = 0
    for provider in (one for one in providers if one.id in VENDORS):
        for model in provider.models:
            listed = model.get_prices(ANNOUNCED)
            price = PUBLISHED.of(model.id)
            if price is None or not model.is_match(model.id) or _has_many_tiers(listed):
                continue
            for tokens, cached, written, output in USES:
                usage = Usage(
                    input_tokens=tokens, cache_read_tokens=cached, cache_write_tokens=written, output_tokens=output
                )
                found = calc_price(usage, model.id, genai_request_timestamp=ANNOUNCED)
                cost = price.nano(fresh=tokens - cached - written, cached=cached, written=written, output=output)
                assert cost == round(found.total_price * 10**9), model.id
            checked += 1
    assert checked > 100


def _has_many_tiers(listed: object) -> bool:
    tiered = [value for value in vars(listed).values() if isinstance(value, TieredPrices)]
    return any(len(value.tiers) > 1 for value in tiered)


def test_the_price_is_that_of_the_time_of_the_call() -> None:
    before, after = (PUBLISHED.of("gemini-3.8-flash", datetime(year, 6, 1, tzinfo=UTC)) for year in (2026, 2027))
    assert before is not None and after is not None
    assert (before.input, after.input) == (0.75, 1.5)


@pytest.mark.parametrize("setting", ["savings=True", "cut='economy'"])
def test_without_the_package_the_log_names_it_and_calls_have_no_price(setting: str) -> None:
    code = (
        "import sys; sys.modules['genai_prices'] = None; import importlib.util as util; found = util.find_spec;"
        " util.find_spec = lambda name, *rest: None if name == 'genai_prices' else found(name, *rest);"
        f" from tokenmizer_mw import SessionMemory, Settings; SessionMemory.open('memory://', Settings({setting}));"
        " from tokenmizer_mw.context.prices import PUBLISHED; print(PUBLISHED.of('gpt-5'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "None\n"
    assert "no prices of models are known; to have them: pip install" in done.stderr
    assert "[prices]" in done.stderr


def test_every_rule_of_caching_can_be_reached() -> None:
    for start, rule in CACHING:
        assert PUBLISHED.caching(start) == PUBLISHED.caching(f"vendor/{start}-2030") == rule


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


def test_a_vendor_in_the_name_of_a_row_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("Vendor/my-own: {input: 1, output: 2}\nvendor/: {input: 9, output: 9}\n")
    found = price_list(Settings(prices=str(file)))
    assert found.of("my-own-2") == found.of("other/my-own") == Price(1, 1, 1, 2)
    assert found.of("no-such-model") is None


WITHOUT_PUBLISHED = """
import sys
from tokenmizer_mw.chat import usage
from tokenmizer_mw.settings import Settings

file = sys.argv[1]
usage.warn_without_prices(Settings(savings=True, prices=file))
print(usage.has_prices(Settings(prices=file)), usage.has_prices(Settings()), flush=True)
usage.warn_without_prices(Settings(cut="economy", savings=True, prices=file))
"""


def test_a_file_of_prices_serves_savings_and_not_cuts(tmp_path: Path) -> None:
    """In an environment that has all packages of this one but that of the published prices."""
    file = tmp_path / "prices.yaml"
    file.write_text("my-own-gpt: {input: 1, output: 2}\n")
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("genai_prices"):
            (packages / entry.name).symlink_to(entry)
    ran = subprocess.run(
        [sys.executable, "-S", "-c", WITHOUT_PUBLISHED, str(file)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{packages}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["True", "False"]
    assert [text.partition(":")[0] for text in ran.stderr.splitlines()] == ['cut="economy"']


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
