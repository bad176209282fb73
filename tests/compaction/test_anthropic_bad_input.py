"""Compactions that are not ours, were changed or cannot help: an error in the client's words, or passage as it came."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, call
from tests.upstream.server import Upstream
from tokenmizer_mw.context.compaction.contract import MARK, SealedContent

from .clients import EDIT, FILLER, QUESTION, RULE, Chat, fill, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]


@pytest.fixture
def made(ours: Served, upstream: Upstream, request: pytest.FixtureRequest) -> Iterator[Chat]:
    """A chat that was compacted on demand and holds nothing but that compaction."""
    with Chat(ours, f"bad-{request.node.name}", "openai", betas=["compact-2026-09-04"]) as chat:
        chat.say(f"{RULE} We use PostgreSQL.")
        chat.ask(compaction={"type": "summarize"})
        del chat.messages[:-1]
        yield chat


def block_of(chat: Chat) -> dict[str, Any]:
    block: dict[str, Any] = chat.messages[0]["content"][0]
    return block


def changed_content(block: dict[str, Any], served: Served) -> None:
    block["content"] = block["content"].replace("Never push", "Always push")


def changed_seal(block: dict[str, Any], served: Served) -> None:
    seal = block["encrypted_content"]
    block["encrypted_content"] = seal[:-9] + ("A" if seal[-9] != "A" else "B") + seal[-8:]


def older_version(block: dict[str, Any], served: Served) -> None:
    block["encrypted_content"] = f"{MARK}0.AAAA"


def another_tenants(block: dict[str, Any], served: Served) -> None:
    block["encrypted_content"] = served.memory.service.compaction.seal().close(
        "somebody", SealedContent("s", "c", block["content"])
    )


@pytest.mark.parametrize("spoil", [changed_content, changed_seal, older_version, another_tenants])
def test_what_is_not_as_it_was_made_is_refused(
    made: Chat, ours: Served, upstream: Upstream, spoil: Callable[[dict[str, Any], Served], None]
) -> None:
    spoil(block_of(made), ours)
    asked = upstream.statistics.requests
    with pytest.raises(anthropic.BadRequestError) as refused:
        made.say("Go on.")
    assert refused.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
    assert "compaction" in str(refused.value)
    assert upstream.statistics.requests == asked


def test_somebody_elses_is_left_to_the_provider(made: Chat, upstream: Upstream) -> None:
    block_of(made).update(content="A summary.", encrypted_content="opaque")
    with pytest.raises(anthropic.BadRequestError, match="compaction"):
        made.say("Go on.")


def test_one_that_failed_says_nothing(ours: Served, upstream: Upstream) -> None:
    with Chat(ours, "failed-block", "openai") as chat:
        chat.say("We use PostgreSQL.")
        chat.messages[-1]["content"].insert(0, {"type": "compaction", "content": None})
        answer = chat.say("Go on.")
    assert answer.content[0].text.startswith("You said: Go on.")
    assert ours.said("failed-block")[-1] == ("assistant", answer.content[0].text)
    assert len(ours.said("failed-block")) == 4


def test_the_newest_of_two_counts(made: Chat, upstream: Upstream) -> None:
    made.say("We moved to MySQL now.")
    older = made.messages[0]
    made.ask(compaction={"type": "summarize"})
    made.messages = [older, *made.messages[1:]]
    made.say("Go on.")
    assert "MySQL" in sent(upstream)
    assert sent(upstream).count("<session-record") == 1


def test_the_same_one_twice_counts_once(made: Chat, upstream: Upstream) -> None:
    made.messages = [made.messages[0], {"role": "user", "content": "Then the cart."}, made.messages[0]]
    made.say("Go on.")
    assert sent(upstream).count("<session-record") == 1
    assert "Then the cart." not in sent(upstream)


def test_the_same_one_again_for_nothing_new(made: Chat, upstream: Upstream) -> None:
    before = block_of(made)
    again = made.ask(compaction={"type": "summarize"})
    assert again.content[0].content == before["content"]


def test_a_session_that_was_erased_goes_on_from_its_block(made: Chat, ours: Served, upstream: Upstream) -> None:
    name = str(made.client.default_headers["x-session-id"])
    ours.memory.flush()
    ours.memory.forget(name)
    made.say("Go on with the orders.")
    assert RULE.rstrip(".") in sent(upstream)


def test_without_a_name_the_block_brings_its_session(ours: Served, upstream: Upstream) -> None:
    with Chat(ours, "", "openai", betas=["compact-2026-09-04"]) as chat:
        chat.say(f"We sell tea and coffee in the shop by the harbour. {RULE}")
        chat.ask(compaction={"type": "summarize"})
        del chat.messages[:-1]
        before = set(ours.sessions())
        chat.say("Go on with the harbour.")
    assert set(ours.sessions()) == before


def test_a_threshold_that_nothing_gets_below_makes_no_loop(ours: Served, upstream: Upstream) -> None:
    edit = {**EDIT, "trigger": {"type": "input_tokens", "value": 50}}
    with Chat(ours, "low-threshold", "openai", context_management={"edits": [edit]}, system=FILLER * 20) as chat:
        answers = [chat.say(f"Part {number} of the orders, please.") for number in range(4)]
    assert [[block.type for block in answer.content] for answer in answers] == [["text"]] * 4
    assert ours.memory.counters()["compaction_no_room"] >= 1


def test_thinking_that_is_bound_to_its_history_keeps_it(ours: Served, upstream: Upstream) -> None:
    """Behind another history the provider would refuse it."""
    thinking: Any = {"type": "enabled", "budget_tokens": 1_024}
    options: Any = {"thinking": thinking, "context_management": {"edits": [EDIT]}, "max_tokens": 2_000}
    with Chat(ours, "bound", "anthropic", **options) as chat:
        fill(chat)
        chat.messages.append({"role": "user", "content": QUESTION})
        answer = chat.ask(model="anthropic/claude-opus-5-1")
    assert "compaction" not in [block.type for block in answer.content]
    assert ours.memory.counters()["compaction_bound"] == 1


@pytest.mark.parametrize(
    ("member", "value", "place"),
    [
        ("context_management", {"edits": [{**EDIT, "trigger": {"type": "input_tokens", "value": 0}}]}, "trigger"),
        ("context_management", {"edits": [{**EDIT, "trigger": {"type": "tool_uses", "value": 9}}]}, "trigger"),
        ("context_management", {"edits": [EDIT, EDIT]}, "edits.1"),
        ("context_management", {"edits": [EDIT, {"type": {"type": "x"}}]}, "edits.1.type"),
        ("context_management", {"edits": [{**EDIT, "pause_after_compaction": "yes"}]}, "pause_after_compaction"),
        ("context_management", {"edits": [{**EDIT, "instructions": 5}]}, "instructions"),
        ("compaction", {"type": "other"}, "compaction.type"),
    ],
)
def test_a_wish_that_cannot_be_read_names_its_place(ours: Served, member: str, value: Any, place: str) -> None:
    said = [{"role": "user", "content": "Hello"}]
    body = {"model": "openai/fake-n3", "max_tokens": 9, "messages": said, member: value}
    status, _, told = call(ours.port, "/v1/messages", json.dumps(body).encode(), {"x-session-id": "odd"})
    assert status == 400
    assert place in json.loads(told)["error"]["message"]


def test_anthropic_itself_gets_every_byte(plain: Served, upstream: Upstream) -> None:
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "?"},
    ]
    management = {"edits": [{**EDIT, "trigger": {"type": "input_tokens", "value": 1}}]}
    body = {"model": "fake-n3", "max_tokens": 9, "messages": said, "context_management": management}
    raw = json.dumps(body, indent=3).encode()
    status, _, _ = call(plain.port, "/v1/messages", raw, {"x-session-id": "native", "x-api-key": "client"})
    assert status == 200
    assert upstream.calls[-1].body == raw


def test_one_of_ours_is_read_for_anthropic_too(plain: Served, upstream: Upstream) -> None:
    """A chat that moves from another provider to Anthropic, which could not read the block."""
    management = {"edits": [EDIT]}
    with Chat(plain, "moves", "openai", context_management=management) as chat:
        chat.say(f"We build a shop. {RULE}")
        fill(chat)
        assert chat.say(QUESTION).content[0].type == "compaction"
        chat.messages.append({"role": "user", "content": "And which branch?"})
        chat.ask(model="fake-n3")
    assert upstream.calls[-1].json["context_management"] == management
    assert '"compaction"' not in sent(upstream).replace("compact_20260112", "")
    assert RULE.rstrip(".") in sent(upstream)
