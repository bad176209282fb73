"""OpenAI's compaction contracts with the real SDK: answered through the proxy, whichever provider is behind it."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, call
from tests.upstream.server import Upstream
from tokenmizer_mw.context.compaction.contract import MARK, SealedContent

from .clients import FILLER, PROVIDERS, QUESTION, RULE, THRESHOLD, Talk, fill, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

ABOVE: Any = [{"type": "compaction", "compact_threshold": THRESHOLD}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_above_the_threshold(ours: Served, upstream: Upstream, provider: str, stream: bool) -> None:
    name = f"responses-{provider}-{stream}"
    with Talk(ours, name, provider, stream=stream, context_management=ABOVE) as talk:
        talk.say(f"We build a shop. {RULE} We use PostgreSQL.")
        assert "compact_threshold" not in sent(upstream)
        fill(talk)
        answer = talk.say(QUESTION)
        assert [item.type for item in answer.output] == ["compaction", "message"]
        assert answer.output_text.startswith("You said: ")
        assert RULE.rstrip(".") in sent(upstream)
        assert "session-record" in sent(upstream)
        assert f"Part 1. {FILLER * 2}" not in sent(upstream)  # the block may quote its first sentences
        before = len(ours.said(name))
        later = talk.say("And which branch?")
        assert [item.type for item in later.output] == ["message"]
        assert "session-record" in sent(upstream)
        assert MARK not in sent(upstream)
        assert [text for role, text in ours.said(name) if role == "user"].count("And which branch?") == 1
        assert len(ours.said(name)) == before + 2


def test_standalone(ours: Served, upstream: Upstream) -> None:
    with Talk(ours, "standalone", "gemini") as talk:
        talk.say(f"{RULE} We use PostgreSQL.")
        asked = upstream.statistics.requests
        compacted = talk.client.responses.compact(model="gemini/fake-n3", input=talk.items)
        assert upstream.statistics.requests == asked
        assert compacted.object == "response.compaction"
        assert [item.type for item in compacted.output] == ["compaction"]
        talk.items = [item.model_dump(exclude_none=True) for item in compacted.output]
        answer = talk.say("Go on with the orders.")
    assert "Go on with the orders." in answer.output_text
    assert RULE.rstrip(".") in sent(upstream)
    assert [text for role, text in ours.said("standalone") if role == "user"].count("Go on with the orders.") == 1


def test_dropping_what_came_before_changes_nothing(ours: Served, upstream: Upstream) -> None:
    with Talk(ours, "drops", "openai", context_management=ABOVE) as talk:
        talk.say(f"We build a shop. {RULE}")
        fill(talk)
        talk.say(QUESTION)
        whole = list(talk.items)
        place = next(at for at, item in enumerate(whole) if item.get("type") == "compaction")
        talk.say("And which branch?")
        with_all = upstream.calls[-1].json["input"]
        talk.items = whole[place:]
        talk.say("And which branch?")
    assert upstream.calls[-1].json["input"] == with_all


@pytest.mark.parametrize(
    "spoil",
    [
        lambda sealed, served: sealed[:-9] + ("A" if sealed[-9] != "A" else "B") + sealed[-8:],
        lambda sealed, served: f"{MARK}0.AAAA",
        lambda sealed, served: served.memory.service.compaction.seal().close(
            "somebody", SealedContent("s", "c", "text")
        ),
        lambda sealed, served: sealed[:60],
    ],
    ids=["changed", "older", "another tenant's", "cut off"],
)
def test_what_is_not_as_it_was_made_is_refused(ours: Served, upstream: Upstream, spoil: Any) -> None:
    with Talk(ours, "spoiled", "openai") as talk:
        talk.say(RULE)
        (item,) = talk.client.responses.compact(model="openai/fake-n3", input=talk.items).output
        talk.items = [{**item.model_dump(exclude_none=True), "encrypted_content": spoil(item.encrypted_content, ours)}]  # type: ignore[union-attr]
        asked = upstream.statistics.requests
        with pytest.raises(openai.BadRequestError, match="compaction") as refused:
            talk.say("Go on.")
    assert refused.value.code == "invalid_compaction"
    assert upstream.statistics.requests == asked


def test_a_provider_that_compacts_itself_gets_every_byte(plain: Served, upstream: Upstream) -> None:
    said = [{"role": "user", "content": "Hello"}, {"type": "compaction", "encrypted_content": "opaque"}]
    body = {"model": "fake-n3", "input": said, "context_management": [{"type": "compaction", "compact_threshold": 1}]}
    raw = json.dumps(body, indent=3).encode()
    headers = {"x-session-id": "native-responses", "authorization": "Bearer made-up"}
    call(plain.port, "/v1/responses", raw, headers)
    assert upstream.calls[-1].body == raw
    call(plain.port, "/v1/responses/compact", raw, headers)
    assert (upstream.calls[-1].path, upstream.calls[-1].body) == ("/v1/responses/compact", raw)


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/responses/compact"])
@pytest.mark.parametrize("member", ["previous_response_id", "conversation"])
def test_a_chain_is_left_to_who_keeps_it(ours: Served, upstream: Upstream, path: str, member: str) -> None:
    said = [{"role": "user", "content": "And the cart?"}]
    body = {"model": "openai/fake-n3", "input": said, member: "resp_1", "context_management": ABOVE}
    call(ours.port, path, json.dumps(body).encode(), {"x-session-id": "kept-chain", "authorization": "Bearer made-up"})
    received = upstream.calls[-1]
    assert received.path == path
    assert received.json == {**body, "model": "fake-n3"}


def test_a_chain_that_the_provider_keeps_cannot_be_compacted_here(ours: Served) -> None:
    body = json.dumps({"model": "gemini/fake-n3", "previous_response_id": "resp_1"}).encode()
    status, _, told = call(ours.port, "/v1/responses/compact", body, {"x-session-id": "chain"})
    assert status == 400
    assert json.loads(told)["error"]["code"] == "invalid_compaction"
