"""The proxy with keys: who comes in, whose sessions they are, and that no key of ours reaches a provider."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.server.access.caller import SCOPES
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.keys import new_key

from .serving import Served, asked, call, configured, serving

CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Guarded:
    served: Served
    keys: dict[str, str]


@pytest.fixture(scope="module")
def guarded(_running: Upstream) -> Iterator[Guarded]:
    """A proxy with the keys of two tenants, and one of its own for a provider."""
    store, written = MemoryKeys(), {}
    for tenant in ("north", "south"):
        text, key = new_key(secrets.token_bytes, tenant, SCOPES, time.time())
        store.add(key)
        written[tenant] = text
    with serving(configured(_running, {"OPENAI_API_KEY": "ours"}, auth=True), store) as served:
        yield Guarded(served, written)


WRONG = [{}, {"authorization": "Bearer tmz_wrong"}, {"authorization": ""}, {"x-api-key": "client-key"}]


@pytest.mark.parametrize("headers", WRONG)
@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/models", "/api/sessions", "/metrics", "/nowhere"])
def test_nobody_comes_in_without_a_key(
    guarded: Guarded, upstream: Upstream, path: str, headers: dict[str, str]
) -> None:
    assert call(guarded.served.port, path, asked("fake-n3"), headers)[0] == 401
    assert not upstream.calls


def test_health_needs_no_key(guarded: Guarded) -> None:
    assert [call(guarded.served.port, path, None, method="GET")[0] for path in ("/health/live", "/health/ready")] == [
        200,
        200,
    ]


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-tokenmizer-key"])
def test_a_key_opens_the_door_and_stays_here(guarded: Guarded, upstream: Upstream, session: str, name: str) -> None:
    key = guarded.keys["north"]
    value = f"Bearer {key}" if name == "authorization" else key
    status = call(guarded.served.port, CHAT, asked("fake-n3"), {name: value, "x-session-id": session})[0]
    assert status == 200
    assert upstream.calls[0].headers["authorization"] == "Bearer ours"
    assert key not in json.dumps(upstream.calls[0].headers)
    assert guarded.served.said(session, "north")[0] == ("user", "Which database?")
    assert guarded.served.said(session, "local") == []


def test_a_client_may_bring_its_providers_key_besides(guarded: Guarded, upstream: Upstream) -> None:
    headers = {"x-tokenmizer-key": guarded.keys["north"], "x-api-key": "client-key", "anthropic-version": "2023-06-01"}
    call(guarded.served.port, "/v1/messages", asked("fake-n3", max_tokens=9), headers)
    assert upstream.calls[0].headers["x-api-key"] == "client-key"
    assert "x-tokenmizer-key" not in upstream.calls[0].headers


def test_one_tenants_session_is_unknown_to_another(guarded: Guarded, upstream: Upstream, session: str) -> None:
    port = guarded.served.port
    for tenant, said in (("north", "Which database?"), ("south", "Which queue?")):
        headers = {"x-tokenmizer-key": guarded.keys[tenant], "x-session-id": session}
        call(port, CHAT, asked("fake-n3", said=said), headers)
    assert guarded.served.said(session, "north")[0] == ("user", "Which database?")
    assert guarded.served.said(session, "south")[0] == ("user", "Which queue?")
    only = f"{session}-only-north"
    call(port, CHAT, asked("fake-n3"), {"x-tokenmizer-key": guarded.keys["north"], "x-session-id": only})
    guarded.served.memory.flush()
    south = {"x-tokenmizer-key": guarded.keys["south"]}
    foreign = call(port, f"/api/resume/{only}", None, south, method="GET")
    unknown = call(port, f"/api/resume/{'x' * len(only)}", None, south, method="GET")
    assert foreign[0] == unknown[0] == 404
    assert foreign[2] == unknown[2]


def test_sessions_are_told_over_http_beside_the_providers_paths(
    served: Served, upstream: Upstream, session: str
) -> None:
    """Ollama's API and ours share their beginning."""
    call(served.port, CHAT, asked("fake-n3"), {"x-session-id": session})
    served.memory.flush()
    status, _, body = call(served.port, f"/api/resume/{session}", None, method="GET")
    assert (status, "text" in json.loads(body)) == (200, True)
    asked_before = len(upstream.calls)
    call(served.port, "/api/tags", None, method="GET")
    assert len(upstream.calls) == asked_before + 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example"])
def test_without_keys_only_names_of_this_machine_are_answered(served: Served, upstream: Upstream, host: str) -> None:
    assert call(served.port, CHAT, asked("fake-n3"), {"host": host})[0] >= 400
    assert not upstream.calls
