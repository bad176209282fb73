"""A client's own key reaches the provider that the client addressed, and no other."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.server.proxy.configuration import Configuration
from tokenmizer_mw.server.translate.table import PROVIDERS

from .serving import Call, call, serving

KEY: Final = f"made-up-{secrets.token_hex(12)}"

CLIENTS: Final[Mapping[str, tuple[str, dict[str, str], str]]] = {
    "openai_chat": ("/v1/chat/completions", {"authorization": f"Bearer {KEY}"}, "openai"),
    "openai_responses": ("/v1/responses", {"authorization": f"Bearer {KEY}"}, "openai"),
    "anthropic": ("/v1/messages", {"x-api-key": KEY, "anthropic-version": "2023-06-01"}, "anthropic"),
}
"""Dialects of clients: their path, where they put a key, and the provider that they address."""

VERSIONED: Final = frozenset({"openai", "deepseek", "mistral", "openrouter", "grok"})
"""Providers whose base address ends with the version."""


def configured(
    upstream: Upstream,
    names: Iterable[str] = PROVIDERS,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
    **more: Any,
) -> Configuration:
    """Every provider at the same recording server, each at a path that begins with its name."""
    providers = {
        name: {
            "base_url": f"{upstream.url}/{name}" + ("/v1" if name in VERSIONED else ""),
            **(given or {}).get(name, {}),
        }
        for name in names
    }
    return Configuration.read({"providers": providers, **more}, environ or {})


def chat(dialect: str, model: str) -> bytes:
    said = [{"role": "user", "content": "Which database?"}]
    words = {"input": said} if dialect == "openai_responses" else {"messages": said, "max_tokens": 9}
    return json.dumps({"model": model, **words}).encode()


def asked(port: int, dialect: str, model: str) -> Call:
    path, headers, _ = CLIENTS[dialect]
    return call(port, path, chat(dialect, model), headers)


def holders(upstream: Upstream) -> set[str]:
    """The providers that have seen the client's key, wherever it stood."""
    found = set()
    for received in upstream.calls:
        seen = f"{received.path}?{received.query}{received.headers}".encode() + received.body
        if KEY.encode() in seen:
            found.add(received.path.split("/")[1])
    return found


def spellings(name: str) -> list[str]:
    """Models as clients name those of a provider."""
    return [f"{name}/fake-n2", *(f"{prefix}fake" for prefix in PROVIDERS[name].prefixes)]


@pytest.mark.parametrize("dialect", CLIENTS)
def test_no_key_of_a_client_reaches_another_vendor(upstream: Upstream, dialect: str) -> None:
    """Three dialects of clients by nine providers, each model in all its spellings; this server has no keys."""
    addressed = CLIENTS[dialect][2]
    with serving(configured(upstream)) as served:
        for name, row in PROVIDERS.items():
            for model in spellings(name):
                upstream.calls.clear()
                status, _, body = asked(served.port, dialect, model)
                assert holders(upstream) == ({name} if name == addressed else set()), model
                if name != addressed and row.auth != "none":
                    assert (status, len(upstream.calls)) == (401, 0), model
                    assert f"set {row.key_variable} in the environment" in message_of(dialect, body)


def message_of(dialect: str, body: bytes) -> str:
    """What a client of the dialect reads of a 401; fails where the error is not in its shape."""
    told = json.loads(body)
    if dialect == "anthropic":
        assert (told["type"], told["error"]["type"]) == ("error", "authentication_error")
    else:
        assert told["error"]["code"] == "no_key"
    return str(told["error"]["message"])


@pytest.mark.parametrize("dialect", CLIENTS)
def test_with_keys_of_its_own_the_server_sends_these(upstream: Upstream, dialect: str) -> None:
    environ = {row.key_variable: f"server-{name}" for name, row in PROVIDERS.items() if row.key_variable}
    with serving(configured(upstream, environ=environ)) as served:
        for name, row in PROVIDERS.items():
            upstream.calls.clear()
            assert asked(served.port, dialect, f"{name}/fake-n2")[0] == 200
            assert [received.path.split("/")[1] for received in upstream.calls] == [name]
            assert not holders(upstream)
            if row.auth != "none":
                assert f"server-{name}" in str(upstream.calls[0].headers)


@pytest.mark.parametrize("dialect", CLIENTS)
@pytest.mark.parametrize("name", [name for name in PROVIDERS if name not in ("openai", "anthropic", "ollama")])
def test_a_provider_that_is_not_configured_is_named(upstream: Upstream, dialect: str, name: str) -> None:
    """Its models do not go to the default of the path, whose key the client's may not be."""
    with serving(configured(upstream, ("openai", "anthropic"))) as served:
        status, _, body = asked(served.port, dialect, f"{name}/some-model")
    assert (status, len(upstream.calls)) == (401, 0)
    assert f"{name} is not configured" in message_of(dialect, body)
    assert PROVIDERS[name].key_variable in message_of(dialect, body)


def test_names_with_a_slash_belong_to_those_whose_models_have_them(upstream: Upstream) -> None:
    """OpenRouter's models, and those of a gateway of one's own, are named after other providers."""
    gateway = {"base_url": f"{upstream.url}/gateway/v1", "auth": "none"}
    more = {"providers": {"gateway": gateway}}
    for configuration in (configured(upstream, ("openrouter",)), Configuration.read(more, {})):
        upstream.calls.clear()
        with serving(configuration) as served:
            asked(served.port, "openai_chat", "deepseek/deepseek-chat")
        assert [json.loads(received.body)["model"] for received in upstream.calls] == ["deepseek/deepseek-chat"]


def test_the_only_provider_of_a_path_is_the_one_that_clients_address(upstream: Upstream) -> None:
    with serving(configured(upstream, ("deepseek",))) as served:
        assert asked(served.port, "openai_chat", "deepseek-fake")[0] != 401
    assert holders(upstream) == {"deepseek"}


def test_of_several_providers_none_is_addressed_by_chance(upstream: Upstream) -> None:
    with serving(configured(upstream, ("deepseek", "mistral"))) as served:
        assert asked(served.port, "openai_chat", "some-model")[0] == 401
    with serving(configured(upstream, ("deepseek", "mistral"), defaults={"openai": "mistral"})) as served:
        assert asked(served.port, "openai_chat", "some-model")[0] != 401
    assert holders(upstream) == {"mistral"}


@pytest.mark.parametrize(
    ("model", "reached"),
    [("anthropic/fake-n2", True), ("claude-fake", False), ("mine", False)],
    ids=["named", "inferred", "configured"],
)
def test_keys_client_lets_clients_name_another_provider(upstream: Upstream, model: str, reached: bool) -> None:
    given = {"anthropic": {"keys": "client"}}
    with serving(configured(upstream, given=given, models={"mine": "anthropic/fake-n2"})) as served:
        assert (asked(served.port, "openai_chat", model)[0] == 200) is reached
    assert holders(upstream) == ({"anthropic"} if reached else set())


def test_no_other_header_or_query_carries_the_key_to_another_vendor(upstream: Upstream) -> None:
    """The server's key is sent in place of the client's, wherever the client has put its own."""
    places = {"x-api-key": KEY, "x-goog-api-key": KEY, "api-key": KEY, "x-vendor-auth": f"Token {KEY}"}
    headers = {"authorization": f"Bearer {KEY}", **places}
    with serving(configured(upstream, environ={"XAI_API_KEY": "server-grok"})) as served:
        path = f"/v1/chat/completions?key={KEY}&k%65y={KEY}&kept=1"
        assert call(served.port, path, chat("openai_chat", "grok/fake-n2"), headers)[0] == 200
    assert upstream.calls[0].headers["authorization"] == "Bearer server-grok"
    assert (holders(upstream), upstream.calls[0].query) == (set(), "kept=1")


def test_a_configured_name_without_a_key_says_which_is_missing(upstream: Upstream) -> None:
    models = {"mine": "openai/fake-n2", "smart": ["anthropic/fake-n2", "openai/fake-n2"]}
    with serving(configured(upstream, models=models)) as served:
        for model, variable in (("mine", "OPENAI_API_KEY"), ("smart", "ANTHROPIC_API_KEY")):
            status, _, body = asked(served.port, "openai_chat", model)
            assert (status, len(upstream.calls)) == (401, 0)
            assert f"set {variable} in the environment" in message_of("openai_chat", body)
    with serving(configured(upstream, environ={"OPENAI_API_KEY": "ours"}, models=models)) as served:
        assert asked(served.port, "openai_chat", "smart")[0] == 200
        family, _ = served.app.outcomes.collect()
        counts = {(each.labels["provider"], each.labels["outcome"]): each.value for each in family.samples}
    assert counts == {("anthropic", "no_key"): 1, ("openai", "200"): 1}
    assert not holders(upstream)


def test_the_lack_of_a_key_is_logged_once_a_minute_for_a_client(
    upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    models = {"mine": "openai/fake-n2", "other": "anthropic/fake-n2"}
    with serving(configured(upstream, models=models)) as served:
        for model in ("mine", "other", "mine", "other", "mine"):
            assert asked(served.port, "openai_chat", model)[0] == 401
        family, _ = served.app.outcomes.collect()
        counts = {each.labels["provider"]: each.value for each in family.samples}
    logged = [each.getMessage() for each in caplog.records if "no_key" in each.getMessage()]
    assert sorted(line.split(":")[0] for line in logged) == ["provider anthropic", "provider openai"]
    assert all("127.0.0.1" in line for line in logged)
    assert counts == {"anthropic": 2, "openai": 3}
