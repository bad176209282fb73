"""One call of a client is one call of a provider, unless the configuration says more; and what happens then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sampling import covering
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.upstream.steering import Steering

from .serving import CUT, asked, call, configured, free_port, serving

CHAT = "/v1/chat/completions"
KEYS = {"ANTHROPIC_API_KEY": "ours", "OPENAI_API_KEY": "ours"}


def failing(*statuses: int) -> list[Scripted]:
    return [Scripted(steering=Steering(status=status)) for status in statuses]


RETRIED = [
    ([429], 200, 2),
    ([429, 503], 200, 3),
    ([503, 503, 429], 429, 3),
    ([400], 400, 1),
    ([500], 500, 1),
    ([401], 401, 1),
]


@pytest.mark.parametrize(("retried", "stream"), covering(RETRIED, [False, True]))
def test_retries_where_they_do_no_harm(
    upstream: Upstream, session: str, retried: tuple[list[int], int, int], stream: bool
) -> None:
    """The scripted upstream asks for a second of patience."""
    statuses, status, calls = retried
    with serving(configured(upstream, asking={"retries": 2, "retry_wait_max": 1.5})) as served:
        upstream.script.extend(failing(*statuses))
        body = asked("fake-n3", stream=stream)
        assert call(served.port, CHAT, body, {"x-session-id": session})[0] == status
        assert [received.body for received in upstream.calls] == [body] * calls
        assert served.ended(session) == {200: ["complete"], 500: ["error"]}.get(status, [])


def test_who_asks_for_more_patience_than_there_is_is_not_asked_again(upstream: Upstream) -> None:
    with serving(configured(upstream, asking={"retries": 2, "retry_wait_max": 0.5})) as served:
        status, headers, _ = call(served.port, CHAT, asked("fake-e429"))
    assert (status, ("retry-after", "1") in headers, len(upstream.calls)) == (429, True, 1)


def test_nothing_is_asked_again_once_a_byte_came(upstream: Upstream) -> None:
    with serving(
        configured(upstream, KEYS, asking={"retries": 2}, models={"m": ["openai/fake-n6-cut", "openai/fake-n3"]})
    ) as served:
        status, _, body = call(served.port, CHAT, asked("m", stream=True))
    assert (status, body.endswith(CUT), len(upstream.calls)) == (200, True, 1)


def test_a_provider_that_is_not_there_is_tried_again(upstream: Upstream) -> None:
    providers = {"openai": {"base_url": f"http://127.0.0.1:{free_port()}"}}
    asking = {"retries": 2, "retry_wait_max": 0.01}
    with serving(configured(upstream, providers=providers, asking=asking)) as served:
        assert call(served.port, CHAT, asked("some"))[0] == 502


def fallback(upstream: Upstream, first: str, **given: Any) -> Any:
    providers = {
        "openai": {"base_url": f"{upstream.url}/v1"},
        "away": {"base_url": f"http://127.0.0.1:{free_port()}"},
        "anthropic": {"base_url": upstream.url},
    }
    models = {"smart": [first, "anthropic/fake-n4", "openai/fake-n5"]}
    return configured(upstream, KEYS, providers=providers, models=models, **given)


@pytest.mark.parametrize(
    ("first", "stream"), covering(["away/some", "openai/fake-e500", "openai/fake-e503"], [False, True])
)
def test_another_provider_is_asked_when_one_fails(upstream: Upstream, session: str, first: str, stream: bool) -> None:
    """In its own words, with its own key."""
    with serving(fallback(upstream, first)) as served:
        headers = {"x-session-id": session, "authorization": "Bearer client-key"}
        status, _, body = call(served.port, CHAT, asked("smart", stream=stream), headers)
        assert status == 200
        assert served.ended(session) == ["complete"]
    assert b"fake-n4" in body
    assert upstream.calls[-1].path == "/v1/messages"
    assert json.loads(upstream.calls[-1].body)["model"] == "fake-n4"
    assert upstream.calls[-1].headers["x-api-key"] == "ours"
    assert not [value for received in upstream.calls for value in received.headers.values() if "client-key" in value]


@pytest.mark.parametrize("status", [400, 401, 404])
def test_nobody_else_is_asked_for_what_the_client_did_wrong(upstream: Upstream, status: int) -> None:
    with serving(fallback(upstream, f"openai/fake-e{status}")) as served:
        assert call(served.port, CHAT, asked("smart"))[0] == status
    assert len(upstream.calls) == 1


def test_the_last_failure_is_told(upstream: Upstream) -> None:
    models = {"smart": ["openai/fake-e500", "openai/fake-e503"]}
    with serving(configured(upstream, KEYS, models=models)) as served:
        assert call(served.port, CHAT, asked("smart"))[0] == 503
    assert len(upstream.calls) == 2
