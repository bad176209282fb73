"""Who answers a call: by the provider's name, by the model's, by this server's own names, by the path."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.caller import is_own
from tokenmizer_mw.server.api.routes import ROUTES
from tokenmizer_mw.server.proxy.api_paths import ApiPath, api_path_of, model_of, rename_model
from tokenmizer_mw.server.proxy.routing import Routes, servers_of_table

from .serving import asked, call, configured, serving

VERSION = [(b"anthropic-version", b"2023-06-01")]
GOOGLE = [(b"x-goog-api-client", b"google-genai-sdk")]

FACES: list[tuple[str, list[tuple[bytes, bytes]], tuple[str, str, str] | None]] = [
    ("/v1/chat/completions", [], ("openai", "/chat/completions", "openai_chat")),
    ("/v1/responses", [], ("openai", "/responses", "openai_responses")),
    ("/v1/responses/resp_1", [], ("openai", "/responses/resp_1", "")),
    ("/v1/embeddings", [], ("openai", "/embeddings", "")),
    ("/v1/models", [], ("openai", "/models", "")),
    ("/v1/models", VERSION, ("anthropic", "/v1/models", "")),
    ("/v1/models", GOOGLE, ("gemini", "/v1/models", "")),
    ("/v1/models/m", GOOGLE, ("gemini", "/v1/models/m", "")),
    ("/v1/modelsx", GOOGLE, ("openai", "/modelsx", "")),
    ("/v1/messages", [], ("anthropic", "/v1/messages", "anthropic")),
    ("/v1/messages/count_tokens", [], ("anthropic", "/v1/messages/count_tokens", "")),
    ("/v1beta/models/m:generateContent", [], ("gemini", "/v1beta/models/m:generateContent", "gemini")),
    ("/v1/models/m:streamGenerateContent", [], ("gemini", "/v1/models/m:streamGenerateContent", "gemini")),
    ("/v1beta/models", [], ("gemini", "/v1beta/models", "")),
    ("/v2/chat", [], ("cohere", "/v2/chat", "cohere")),
    ("/api/chat", [], ("ollama", "/api/chat", "ollama")),
    ("/api/tags", [], ("ollama", "/api/tags", "")),
    ("/chat/completions", [], ("openai", "/chat/completions", "openai_chat")),
    ("/responses/resp_1", [], ("openai", "/responses/resp_1", "")),
    ("/models", [], ("openai", "/models", "")),
    ("/modelsx", [], None),
    ("/v1/v1/chat/completions", [], ("openai", "/chat/completions", "openai_chat")),
    ("/v1/v1/messages", [], ("anthropic", "/v1/messages", "anthropic")),
    ("/api/delete", [], None),
    ("/v1", [], None),
    ("/", [], None),
    ("/v1/../admin", [], None),
    ("/v1/models/./x", [], None),
]


@pytest.mark.parametrize(("path", "headers", "face"), FACES)
def test_faces(path: str, headers: list[tuple[bytes, bytes]], face: tuple[str, str, str] | None) -> None:
    assert api_path_of(path, headers) == (ApiPath(*face) if face else None)


def test_paths_of_our_own() -> None:
    own = [*(route.path.replace("{session_id}", "s") for route in ROUTES), "/metrics", "/api/openapi.json"]
    assert [path for path in own if not is_own(path)] == []
    others = ("/api/chat", "/api/tags", "/v1/models", "/healthy", "/", "/api/graph/s/v1/chat/completions")
    assert [path for path in others if is_own(path)] == []


TARGETS = [
    ("openai", "gpt-4o", ("openai", "gpt-4o", "inferred", True)),
    ("openai", "openai/gpt-4o", ("openai", "gpt-4o", "named", True)),
    ("openai", "claude-sonnet-4-5", ("anthropic", "claude-sonnet-4-5", "inferred", False)),
    ("anthropic", "gpt-4o", ("openai", "gpt-4o", "inferred", False)),
    ("openai", "deepseek/deepseek-chat", ("deepseek", "deepseek-chat", "named", False)),
    ("openai", "openrouter/anthropic/claude-3", ("openrouter", "anthropic/claude-3", "named", False)),
    ("openai", "meta/llama", ("openai", "meta/llama", "default", True)),
    ("openai", "", ("openai", "", "default", True)),
    ("anthropic", "something", ("anthropic", "something", "default", True)),
    ("ollama", "llama3.2", ("ollama", "llama3.2", "default", True)),
    ("openai", "fast", ("openai", "gpt-4o-mini", "configured", True)),
    ("anthropic", "fast", ("openai", "gpt-4o-mini", "configured", False)),
]


@pytest.mark.parametrize(("family", "model", "target"), TARGETS)
def test_targets(family: str, model: str, target: tuple[str, str, str, bool]) -> None:
    routes = Routes(servers_of_table({}), {"fast": ["openai/gpt-4o-mini"]})
    (found,) = routes.targets(ApiPath(family, "/x"), model)
    assert (found.server.name, found.model, found.choice, found.addressed) == target


def test_defaults_and_prefixes_of_those_in_use_only() -> None:
    table = servers_of_table({})
    routes = Routes({name: table[name] for name in ("deepseek", "ollama")}, defaults={"anthropic": "deepseek"})
    found = {family: routes.targets(ApiPath(family, "/x"), "gpt-4o") for family in ("openai", "anthropic", "cohere")}
    assert [target.server.name for target in found["openai"]] == ["deepseek"]
    assert [target.server.name for target in found["anthropic"]] == ["deepseek"]
    assert found["cohere"] == ()


@pytest.mark.parametrize(("models", "defaults"), [({"a": ["x/y"]}, {}), ({"a": ["openai"]}, {}), ({"a": []}, {}),
                                                  ({}, {"openai": "x"})])  # fmt: skip
def test_names_that_stand_for_nothing(models: dict[str, list[str]], defaults: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Routes(servers_of_table({}), models, defaults)


BODIES = [
    b'{"model":"a","messages":[]}',
    b'{"messages": [{"role": "user", "content": "\\"model\\": \\"b\\""}], "model": "a"}',
    b'{ "tools": [{"model": "b"}], "model" : "a", "user": {"model": "c"} }',
    b'{"model": "\\u0061", "x": 1}',
    b'{"model": "b", "model": "a"}',
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dialect", ["openai_chat", ""])
def test_names_of_models_are_found_and_replaced_in_place(body: bytes, dialect: str) -> None:
    face = ApiPath("openai", "/chat/completions", dialect)
    if body != BODIES[4]:  # of two names either is right
        assert asyncio.run(model_of(face, body)) == "a"
    path, changed = asyncio.run(rename_model(face, body, "a", 'new/"name"'))
    assert (path, json.loads(changed)) == (face.path, {**json.loads(body), "model": 'new/"name"'})


def test_names_of_models_in_paths() -> None:
    face = ApiPath("gemini", "/v1beta/models/fast:generateContent", "gemini")
    assert asyncio.run(model_of(face, b"{}")) == "fast"
    assert asyncio.run(rename_model(face, b"{}", "fast", "flash"))[0] == "/v1beta/models/flash:generateContent"
    assert asyncio.run(model_of(ApiPath("openai", "/models/meta/llama"), b"")) == "meta/llama"
    for body in (b"", b"--boundary\r\n", b"[1]", b"{", b'{"model": 1}', b'{"input": "a"}'):
        assert asyncio.run(model_of(ApiPath("openai", "/embeddings"), body)) == ""


def test_own_names_of_models_and_providers_named_by_the_client(upstream: Upstream, session: str) -> None:
    """All but the name stays as it was; the memory sees what the client said."""
    environ = {"OPENAI_API_KEY": "ours"}
    with serving(configured(upstream, environ, models={"fast": "openai/fake-n3"})) as served:
        for model in ("fast", "openai/fake-n3"):
            assert call(served.port, "/v1/chat/completions", asked(model), {"x-session-id": session})[0] == 200
        path = "/v1beta/models/fast:generateContent"
        assert call(served.port, path, b'{"contents": []}')[0] == 400  # Gemini's words are not OpenAI's
    assert [received.body for received in upstream.calls] == [asked("fake-n3")] * 2


# -- whose key ------------------------------------------------------------------------------------------------------

CLIENT = {"authorization": "Bearer client-key"}
WHOSE = [
    ({}, {}, "fake-n3", "Bearer client-key"),
    ({}, {"OPENAI_API_KEY": "ours"}, "fake-n3", "Bearer ours"),
    ({"keys": "client"}, {"OPENAI_API_KEY": "ours"}, "fake-n3", "Bearer client-key"),
    ({"keys": "server"}, {"OPENAI_API_KEY": "ours"}, "fake-n3", "Bearer ours"),
    ({"keys": "server"}, {}, "fake-n3", None),
    ({}, {}, "mine", None),  # a name of this server's leads to a provider that gets no key of the client's
    ({"keys": "client"}, {}, "mine", "Bearer client-key"),
]


@pytest.mark.parametrize(("given", "environ", "model", "sent"), WHOSE)
def test_whose_key_is_sent(
    upstream: Upstream, given: dict[str, str], environ: dict[str, str], model: str, sent: str | None
) -> None:
    providers = {"openai": {"base_url": f"{upstream.url}/v1", **given}}
    configuration = configured(upstream, environ, providers=providers, models={"mine": "openai/fake-n3"})
    with serving(configuration) as served:
        status = call(served.port, "/v1/chat/completions", asked(model), CLIENT)[0]
    assert [received.headers["authorization"] for received in upstream.calls] == ([sent] if sent else [])
    assert status == (200 if sent else 401)


def test_googles_key_may_be_in_the_query(served: object, upstream: Upstream) -> None:
    path = "/v1beta/models/fake-n3:generateContent?alt=json&key=client-key"
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": "Which?"}]}]}).encode()
    for environ, query in (({}, "alt=json&key=client-key"), ({"GEMINI_API_KEY": "ours"}, "alt=json")):
        with serving(configured(upstream, environ)) as proxied:
            assert call(proxied.port, path, body)[0] == 200
        assert upstream.calls[-1].query == query
    assert upstream.calls[-1].headers["x-goog-api-key"] == "ours"


def test_an_address_of_the_clients_is_nobodys(served: object, upstream: Upstream) -> None:
    with serving(configured(upstream)) as proxied:
        headers = {"x-base-url": "http://127.0.0.1:9", "x-forwarded-host": "127.0.0.1:9"}
        body = asked("fake-n3", base_url="http://127.0.0.1:9", api_base="http://127.0.0.1:9")
        assert call(proxied.port, "/v1/chat/completions?api_base=http://127.0.0.1:9", body, headers)[0] == 200
    assert upstream.calls[0].headers["host"] == upstream.url.removeprefix("http://")
