"""What clients and operators are told when a provider fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.upstream.server import Upstream

from .serving import Served, call, configured, free_port, serving

KEYS = {"ANTHROPIC_API_KEY": "server-a", "OPENAI_API_KEY": "server-o"}


@pytest.fixture
def nowhere() -> str:
    """An address where nothing listens."""
    return f"http://127.0.0.1:{free_port()}/v1"


@pytest.fixture
def served(upstream: Upstream, nowhere: str) -> Iterator[Served]:
    providers = {
        "openai": {"base_url": f"{upstream.url}/v1"},
        "anthropic": {"base_url": upstream.url},
        "dead": {"base_url": nowhere, "auth": "none"},
    }
    with serving(configured(upstream, KEYS, providers=providers)) as running:
        yield running


def chat(model: str, **more: Any) -> bytes:
    return json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello."}], **more}).encode()


def counted(served: Served) -> dict[tuple[str, str], float]:
    family, _ = served.app.outcomes.collect()
    return {(sample.labels["provider"], sample.labels["outcome"]): sample.value for sample in family.samples}


def test_a_provider_that_cannot_be_reached_is_named_without_its_address(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "tokenmizer_mw"):
        status, _, body = call(served.port, "/v1/chat/completions", chat("dead/x"))
    message = json.loads(body)["error"]["message"]
    assert status == 502 and message.startswith("dead: ") and "127.0.0.1" not in message
    assert counted(served) == {("dead", "unreachable"): 1}
    assert [record.getMessage() for record in caplog.records if "dead" in record.getMessage()]


@pytest.mark.parametrize(
    "path, model", [("/v1/chat/completions", "anthropic/fake-n5-cut"), ("/v1/messages", "openai/fake-n5-cut")]
)
def test_a_whole_reply_that_breaks_off_on_its_way_through_a_translation(served: Served, path: str, model: str) -> None:
    status, headers, body = call(served.port, path, chat(model, max_tokens=50))
    assert status == 502 and dict(headers)["content-type"] == "application/json"
    assert "broke off" in json.loads(body)["error"]["message"]
    assert counted(served)[model.partition("/")[0], "broken"] == 1


def test_answers_are_counted_by_provider_and_status(served: Served) -> None:
    for model in ("openai/fake-n2", "openai/fake-n2", "openai/fake-n2-e429"):
        call(served.port, "/v1/chat/completions", chat(model))
    assert counted(served) == {("openai", "200"): 2, ("openai", "429"): 1}


@pytest.mark.parametrize("status, words", [(401, "the key"), (403, "the key"), (404, "no such model")])
def test_a_refusing_provider_is_logged_once_a_minute(
    served: Served, caplog: pytest.LogCaptureFixture, status: int, words: str
) -> None:
    with caplog.at_level(logging.WARNING, "tokenmizer_mw"):
        for name in ("openai", "openai", "anthropic"):
            assert call(served.port, "/v1/chat/completions", chat(f"{name}/fake-n2-e{status}"))[0] == status
    lines = [line for line in caplog.messages if f"answers {status}" in line]
    assert [line.split()[1] for line in lines] == ["openai", "anthropic"]
    assert all(words in line and "server-" not in line for line in lines)


def test_a_body_that_is_too_large_is_told_so_while_it_is_still_being_sent(upstream: Upstream) -> None:
    with serving(configured(upstream, KEYS, asking={"body_max": 100_000})) as served:
        for _ in range(10):
            status, _, body = call(served.port, "/v1/chat/completions", chat("x" * 2_000_000))
            assert status == 413 and b"request_too_large" in body


def test_refusals_at_the_door_are_counted(upstream: Upstream) -> None:
    with serving(configured(upstream, KEYS, access={"body_max": 1_000})) as served:
        assert call(served.port, "/v1/chat/completions", chat("x" * 2_000))[0] == 413
        _, refusals = served.app.outcomes.collect()
        assert [(sample.labels["code"], sample.value) for sample in refusals.samples] == [("request_too_large", 1)]
