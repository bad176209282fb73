"""The table of providers."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from tests.translate.calls import CALLS, call, user
from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate.providers.openai_chat import Quirks
from tokenmizer_mw.server.translate.table import DIALECTS, PROVIDERS, Provider
from tokenmizer_mw.wire.dialects import ROUTES

NINE = ("anthropic", "openai", "deepseek", "mistral", "openrouter", "grok", "cohere", "gemini", "ollama")


def test_the_rows() -> None:
    assert tuple(PROVIDERS) == NINE
    assert set(DIALECTS) == {wire.name for wire in ROUTES.values()} - {"openai_responses"}
    variables = [row.key_variable for row in PROVIDERS.values() if row.key_variable]
    assert len(set(variables)) == len(variables) == 8


@pytest.mark.parametrize("row", PROVIDERS.values(), ids=lambda row: row.name)
def test_a_row_is_whole(row: Provider) -> None:
    address = urlsplit(row.base_url)
    assert address.scheme == ("http" if address.hostname == "localhost" else "https")
    assert not row.base_url.endswith("/")
    assert row.side().name == row.dialect
    assert row.side().outgoing(call(user("hi"))).path.startswith("/")
    assert hash(row) == hash(row)


def test_no_model_belongs_to_two() -> None:
    prefixes = [(prefix, row.name) for row in PROVIDERS.values() for prefix in row.prefixes]
    for prefix, name in prefixes:
        assert {other for told, other in prefixes if told.startswith(prefix)} == {name}


REFUSED = {
    "anthropic": {"sampling.seed", "format.object", "audio"},
    "openai": {"sampling.top_k"},
    "deepseek": {
        "sampling.top_k",
        "sampling.seed",
        "format.schema",
        "tools.strict",
        "image",
        "document",
        "audio",
        "result.image",
    },
    "mistral": set(),
    "openrouter": set(),
    "grok": {"sampling.top_k", "document", "audio"},
    "cohere": {"document.media_type", "audio"},
    "gemini": set(),
    "ollama": {"choice.any", "choice.named", "tools.strict", "image.url", "document", "audio"},
}
"""What providers refuse of all that a call can hold; docs/translation.md says so to users."""


@pytest.mark.parametrize("provider", NINE)
def test_what_is_refused(provider: str) -> None:
    refused = set()
    for told in CALLS.values():
        try:
            PROVIDERS[provider].side().outgoing(told)
        except Untranslatable as error:
            refused.add(error.field)
    assert refused == REFUSED[provider]


@pytest.mark.parametrize(
    ("provider", "headers"),
    [
        ("openai", {"authorization": "Bearer key"}),
        ("cohere", {"authorization": "Bearer key"}),
        ("anthropic", {"x-api-key": "key"}),
        ("gemini", {"x-goog-api-key": "key"}),
        ("ollama", {}),
    ],
)
def test_how_a_key_is_carried(provider: str, headers: dict[str, str]) -> None:
    assert PROVIDERS[provider].credentials("key") == headers
    assert PROVIDERS[provider].credentials("") == {}


def test_a_version_is_asked_for_where_a_row_names_one() -> None:
    side = replace(PROVIDERS["anthropic"], version="2023-06-01").side()
    assert side.outgoing(call(user("hi"))).headers == {"anthropic-version": "2023-06-01"}


def test_any_other_server_is_one_more_row() -> None:
    quirks = Quirks(max_tokens="max_completion_tokens", system="developer")
    local = Provider("vllm", "http://localhost:8000/v1", quirks=quirks)
    assert local.side().outgoing(call(user("hi"))).path == "/chat/completions"
    with pytest.raises(KeyError):
        Provider("odd", "https://odd.example", dialect="odd").side()
