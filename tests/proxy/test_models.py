"""The names that a server gives to models, where clients ask which there are: with the clients' own SDKs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types

from tokenmizer_mw.server.proxy.configuration import Configuration

from .serving import Served, call, serving

VERSION = {"anthropic-version": "2023-06-01"}
LISTS: dict[str, Any] = {
    "/o/models": {"object": "list", "data": [{"id": "gpt-x", "object": "model", "created": 1, "owned_by": "openai"}]},
    "/a/v1/models": {
        "data": [
            {"type": "model", "id": "claude-x", "display_name": "X", "created_at": "2026-01-01T00:00:00Z"},
            {"type": "model", "id": "quick", "display_name": "Theirs", "created_at": "2026-01-01T00:00:00Z"},
        ],
        "first_id": "claude-x",
        "has_more": True,
        "last_id": "quick",
    },
    "/g/v1/models": {"models": [{"name": "models/gemini-x", "displayName": "X"}], "nextPageToken": "next"},
    "/l/api/tags": {"models": [{"name": "llama-x:latest", "model": "llama-x:latest"}]},
}


class Lists:
    """Providers that tell which models they have, and what they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        lists = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                lists.asked.append(self.path)
                body = json.dumps(LISTS.get(self.path.partition("?")[0], {"error": "none"})).encode()
                self.send_response(lists.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def lists(loop: str) -> Iterator[Lists]:
    running = Lists()
    yield running
    running.stop()


def configured(lists: Lists, **more: Any) -> Configuration:
    providers = {
        "openai": {"base_url": f"{lists.url}/o"},
        "anthropic": {"base_url": f"{lists.url}/a"},
        "gemini": {"base_url": f"{lists.url}/g"},
        "ollama": {"base_url": f"{lists.url}/l"},
    }
    models = {"quick": "openai/gpt-x-mini", "smart": ["anthropic/claude-x", "openai/gpt-x"]}
    return Configuration.read({"providers": providers, "models": models, **more}, {})


@pytest.fixture
def served(lists: Lists) -> Iterator[Served]:
    with serving(configured(lists)) as running:
        yield running


def test_openai(served: Served) -> None:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        listed = list(client.models.list())
        assert [(model.id, model.owned_by) for model in listed] == [
            ("quick", "openai"),
            ("smart", "anthropic"),
            ("gpt-x", "openai"),
        ]
        assert all(model.object == "model" and model.created > 0 for model in listed)
        assert client.models.retrieve("smart").id == "smart"


def test_anthropic(served: Served, lists: Lists) -> None:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        page = client.models.list(limit=2)
        assert [model.id for model in page.data] == ["quick", "smart", "claude-x"]
        assert (page.first_id, page.last_id, page.has_more) == ("quick", "quick", True)
        assert page.data[1].display_name == "smart" and page.data[1].created_at.year >= 2026
        assert client.models.retrieve("smart").id == "smart"
        assert [model.id for model in client.models.list(after_id="quick").data] == ["claude-x", "quick"]
    assert lists.asked[-1] == "/a/v1/models?after_id=quick"


def test_gemini(served: Served) -> None:
    options = types.HttpOptions(base_url=served.url)
    with genai.Client(api_key="none", http_options=options) as client:
        page = client.models.list(config={"page_size": 3, "query_base": True})
        assert [model.name for model in page.page] == ["models/quick", "models/smart", "models/gemini-x"]
        assert page.page[0].supported_actions == ["generateContent", "streamGenerateContent"]
        assert client.models.get(model="smart").name == "models/smart"


def test_ollama(served: Served) -> None:
    client = ollama.Client(host=served.url)
    try:
        assert [model.model for model in client.list().models] == ["quick", "smart", "llama-x:latest"]
    finally:
        client._client.close()


@pytest.mark.parametrize("path, headers, member", [("/v1/models", {}, "data"), ("/v1/models", VERSION, "data")])
def test_a_provider_that_tells_nothing_hides_none(
    served: Served, lists: Lists, path: str, headers: dict[str, str], member: str
) -> None:
    lists.status = 401
    status, _, body = call(served.port, path, None, headers, "GET")
    assert status == 200 and [model["id"] for model in json.loads(body)[member]] == ["quick", "smart"]


def test_no_provider_is_needed(lists: Lists) -> None:
    providers = {"anthropic": {"base_url": f"{lists.url}/a"}}
    with serving(configured(lists, providers=providers, models={"only": "anthropic/claude-x"})) as served:
        told = json.loads(call(served.port, "/v1/models", None, {}, "GET")[2])
        assert [model["id"] for model in told["data"]] == ["only"] and told["object"] == "list"
        assert call(served.port, "/v1/models/gpt-x", None, {}, "GET")[0] == 404


def test_without_names_of_its_own_every_byte_is_the_providers(lists: Lists) -> None:
    with serving(configured(lists, models={})) as served:
        status, _, body = call(served.port, "/v1/models", None, {}, "GET")
        assert (status, body) == (200, json.dumps(LISTS["/o/models"]).encode())
        lists.status = 401
        assert call(served.port, "/v1/models", None, {}, "GET")[0] == 401
