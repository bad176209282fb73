"""What the examples' relay sends on: the request as it came, with the server's key where it has one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.upstream.server import Upstream

from .served import Served
from .surfaces import SURFACES, Surface

OURS = "a-key-of-the-server"
THEIRS = "a-key-of-the-client"
KEYS = {
    "openai_chat": ("OPENAI_API_KEY", "authorization", f"Bearer {OURS}"),
    "openai_responses": ("OPENAI_API_KEY", "authorization", f"Bearer {OURS}"),
    "anthropic": ("ANTHROPIC_API_KEY", "x-api-key", OURS),
    "gemini": ("GEMINI_API_KEY", "x-goog-api-key", OURS),
    "cohere": ("CO_API_KEY", "authorization", f"Bearer {OURS}"),
    "ollama": ("OLLAMA_API_KEY", "authorization", f"Bearer {OURS}"),
}
WHOLE = [surface for surface in SURFACES if not surface.framing]


@pytest.mark.parametrize("surface", WHOLE, ids=lambda surface: surface.name)
def test_key_of_the_server_takes_the_place_of_the_clients(
    serve: Callable[..., Any], upstream: Upstream, surface: Surface
) -> None:
    variable, header, expected = KEYS[surface.name]
    path, body = surface.request("fake")
    with serve("starlette", keys={variable: OURS}) as server, httpx2.Client() as client:
        client.post(server.url + path, json=body, headers={header: THEIRS})
    assert upstream.calls[-1].headers[header] == expected


def test_request_goes_on_as_it_came(served: Served, upstream: Upstream, session: str) -> None:
    body = json.dumps({"messages": [{"content": "h\u00ef", "role": "user"}], "model": "fake", "x": 1.0e5}, indent=3)
    headers = {"x-session-id": session, "authorization": THEIRS, "x-trace": "7", "content-type": "application/json"}
    with httpx2.Client() as client:
        response = client.post(f"{served.url}/v1/chat/completions?a=b%20c&a=d", content=body, headers=headers)
    assert response.status_code == 200
    received = upstream.calls[-1]
    assert (received.path, received.query, received.body) == ("/v1/chat/completions", "a=b%20c&a=d", body.encode())
    assert {name: received.headers.get(name) for name in headers} == {**headers, "x-session-id": None}
    assert received.headers["user-agent"].startswith("python-httpx2")


def test_client_that_takes_no_compression_gets_none(served: Served, upstream: Upstream) -> None:
    request = httpx2.Request(
        "POST",
        f"{served.url}/v1/chat/completions",
        json={"model": "fake-gzip", "messages": [{"role": "user", "content": "hi"}]},
    )
    with httpx2.Client() as client:
        response = client.send(request)
    assert "content-encoding" not in response.headers
    assert upstream.calls[-1].headers["accept-encoding"] == "identity"
    assert response.json()["choices"][0]["message"]["content"].startswith("You said: hi")
