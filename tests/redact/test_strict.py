"""Labels, evidence and sentences of resume blocks show no run that may be a key."""

from __future__ import annotations

import random
import string
import time

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.shape import fakes
from tokenmizer_mw.safety.redact.strict import MASK, OPAQUE_MIN, _is_sure, _keys, _prefixes, mask_opaque


def _run(seed: int, size: int, letters: str) -> str:
    rng = random.Random(seed)
    return "".join(rng.choice(letters) for _ in range(size))


def test_keys_of_vendors_are_masked() -> None:
    shapes = [shape for token in TOKENS if token.examples for shape in token.shapes]
    assert [
        fake for shape in shapes for fake in fakes(shape, "strict") if fake in mask_opaque(f"use {fake} for it")
    ] == []


@pytest.mark.parametrize(
    "letters", [string.ascii_letters + string.digits, string.hexdigits[:16], string.ascii_lowercase + string.digits]
)
@pytest.mark.parametrize("size", [OPAQUE_MIN + 1, 32, 64])
def test_runs_that_nothing_names_are_masked(size: int, letters: str) -> None:
    runs = [_run(seed, size, letters) for seed in range(50)]
    assert [run for run in runs if mask_opaque(f"it is {run} now") != f"it is {MASK} now"] == []


@pytest.mark.parametrize("prefix", ["sk-", "ghp_", "xoxb-", "glpat-", "hf_"])
@pytest.mark.parametrize("rest", ["your-token-here", "x" * 16, "changeme123"])
def test_placeholders_behind_a_vendors_prefix_are_masked(prefix: str, rest: str) -> None:
    assert mask_opaque(f"set {prefix}{rest} there") == f"set {MASK} there"


@pytest.mark.parametrize(
    ("before", "rest"),
    [
        ("sk-", "test-1234"),
        ("sk-", "1234"),
        ("whsec_", "5f4d"),
        ("glpat-", "abc"),
        ("ghp_", "a"),
        ("eyJ", "hbGciOi"),
        ("AKIA", "ABC"),
        ("AKIA", "..."),
        ("your-api-", "key-here"),
        ("YOUR_", "API_KEY"),
        ("paste-", "token-here"),
        ("change", "me123"),
    ],
)
def test_beginnings_of_keys_and_placeholders_are_masked(before: str, rest: str) -> None:
    assert mask_opaque(f"set {before}{rest} there") == f"set {MASK} there"


def test_what_vendors_keys_begin_with_is_masked_with_little_behind_it() -> None:
    sure = [prefix for prefix in set(_prefixes()) if _is_sure(prefix)]
    assert len(sure) > 150
    assert [prefix for prefix in sure if mask_opaque(f"it is {prefix}a1 now") != f"it is {MASK} now"] == []


@pytest.mark.parametrize(
    "text",
    [
        "PostgreSQL 16 for the orders",
        "src/components/checkout/PaymentMethodSelector2.tsx",
        "migrations/20240112093000_add_users.py",
        "npm_config_registry stays unset",
        "gpt-4o-mini-2024-07-18 for the drafts",
        "test_user_can_login_with_token fails",
        "sk-learn pipelines",
        "sk-learn-1.4 pipelines",
        "keys begin with ghp_.",
        "a key of the model begins with sk- or glpat-",
        "phx_gen_auth and napi_create_function",
        "pplx-70b-online for the drafts",
        "change_password and your_name stay",
        "click-here opens the page",
        "20240610T234551-add-orders-table.ts",
        "delete tenant 3f2b8a10-5c4d-4e6f-9a7b-0c1d2e3f4a5b",
        "https://example.test/docs/getting-started/installation-on-windows",
        "wichtigste Verbindungsgeschwindigkeitseinstellungen",
    ],
)
def test_names_stay(text: str) -> None:
    assert mask_opaque(text) == text


def test_neither_graph_nor_block_shows_a_run_that_text_keeps() -> None:
    run = _run(3, 28, string.ascii_lowercase + string.digits)
    memory = SessionMemory.open("memory://")
    memory.record(
        "s",
        [
            {"role": "user", "content": "Build the importer."},
            {"role": "assistant", "content": "Which batch do you mean?"},
            {"role": "user", "content": f"We decided to use {run} as the batch for the importer."},
        ],
    )
    graph = memory.graph("s")
    assert all(run not in f"{node.label} {node.detail} {node.source.quote}" for node in graph.nodes())
    assert run not in memory.resume("s").text
    memory.close()


@pytest.mark.parametrize(
    "unit", ["sk-" + "a-" * 40 + " ", "sk-" * 27, "eyJ-_" * 16, "your-" * 16, "a1-" * 27, "key-" * 20, "ghp_" * 20]
)
def test_the_cost_grows_with_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * size
        started = time.process_time()
        for _ in range(3):
            mask_opaque(text)
        return time.process_time() - started

    small = min(seconds(100) for _ in range(3))
    assert min(seconds(400) for _ in range(3)) < 12 * max(small, 1e-4)


def test_the_first_pass_stops_at_everything_that_later_ones_may_mask() -> None:
    hint = _keys()[0]
    forms = [*_prefixes(), "sk-", "rk_", "pk-", "eyJ", "your-key", "YOUR_TOKEN", "key-here", "ChangeMe", "replace_me"]
    for form in forms:
        for text in (form, f"x {form}abc", f"\u00e9={form}"):
            raw = text.encode()
            assert hint.first(raw, 0, len(raw)) >= 0, text
