"""The real client against a provider that speaks the real wire format."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw.errors import ConfigError, ModelFailed
from tokenmizer_mw.session.refinement.endpoint import Endpoint
from tokenmizer_mw.settings import Settings

QUESTION = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "How stands the barn?"}]
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


def told(upstream: Upstream, model: str = "fake", **changes: Any) -> Settings:
    return Settings(llm_url=f"{upstream.url}/v1", llm_model=model, **changes)


def asked(settings: Settings) -> str:
    """The text of the reply."""
    endpoint = Endpoint(settings, SCHEMA)
    try:
        return endpoint(QUESTION).text
    finally:
        endpoint.close()


def test_a_reply_is_its_text(upstream: Upstream) -> None:
    upstream.script.append(Scripted(text='{"goal": ["a barn"]}'))
    assert asked(told(upstream, llm_output_tokens=321)) == '{"goal": ["a barn"]}'
    received = upstream.calls[-1]
    assert received.path == "/v1/chat/completions"
    assert received.json["messages"] == QUESTION
    assert (received.json["model"], received.json["max_tokens"]) == ("fake", 321)
    assert "response_format" not in received.json
    assert "authorization" not in received.headers


def test_the_whole_address_may_be_given(upstream: Upstream) -> None:
    settings = told(upstream).with_(llm_url=f"{upstream.url}/v1/chat/completions/")
    assert asked(settings).startswith("You said: How stands the barn?")


def test_key_and_schema_are_sent_where_they_are_wanted(upstream: Upstream) -> None:
    key = secrets.token_hex(16)
    settings = told(upstream, llm_key_variable="BARN_KEY", llm_schema=True)
    endpoint = Endpoint(settings, SCHEMA, {"BARN_KEY": key})
    endpoint(QUESTION)
    endpoint.close()
    received = upstream.calls[-1]
    assert received.headers["authorization"] == f"Bearer {key}"
    assert received.json["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_reply_that_hit_its_length_limit_is_kept_as_far_as_it_goes(upstream: Upstream) -> None:
    upstream.script.append(Scripted(text='{"goal": ["a ba'))
    assert asked(told(upstream, "fake-len")) == '{"goal": ["a ba'


def test_a_compressed_reply_is_read(upstream: Upstream) -> None:
    assert asked(told(upstream, "fake-gzip")).startswith("You said")


FAILING = [
    ("fake-e500", {}, True),
    ("fake-e429", {}, True),
    ("fake-e400", {}, False),
    ("fake-e404", {}, False),
    ("fake-cut", {}, True),
    ("fake-rst", {}, True),
    ("fake-f3000", {"llm_timeout": 0.2}, True),
    ("fake-n400", {"llm_reply_max": 1_024}, False),
]


@pytest.mark.parametrize(("model", "changes", "again"), FAILING)
def test_what_goes_wrong_says_whether_to_ask_again(
    upstream: Upstream, model: str, changes: dict[str, Any], again: bool
) -> None:
    with pytest.raises(ModelFailed) as caught:
        asked(told(upstream, model, **changes))
    assert caught.value.again is again
    assert caught.value.fault == "peer"


@pytest.mark.parametrize(("url", "again"), [("http://127.0.0.1:1/v1", True), ("http://127.0.0.1:x/v1", False)])
def test_an_address_where_nobody_is(url: str, again: bool) -> None:
    with pytest.raises(ModelFailed) as caught:
        asked(Settings(llm_url=url, llm_model="fake"))
    assert caught.value.again is again


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(llm_url="localhost:11434", llm_model="small"),
        Settings(llm_url="http://localhost:11434/v1"),
        Settings(llm_url="http://localhost:11434/v1", llm_model="small", llm_key_variable="A_VARIABLE_NOBODY_SET"),
    ],
)
def test_settings_that_name_no_provider(settings: Settings) -> None:
    with pytest.raises(ConfigError):
        Endpoint(settings, SCHEMA)


def test_threads_share_an_endpoint(upstream: Upstream) -> None:
    endpoint = Endpoint(told(upstream), SCHEMA)
    replies: list[str] = []
    threads = [threading.Thread(target=lambda: replies.append(endpoint(QUESTION))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    endpoint.close()
    assert len(replies) == 8
