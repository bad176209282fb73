"""A provider compacts by itself: what it made stays where it is, and rules and decisions of the session follow it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, configured, serving
from tests.upstream.server import Upstream
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.compaction.anthropic import find_native
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.server.proxy.api_paths import DIALECTS
from tokenmizer_mw.store.memory import MemoryLog

from .clients import KEYS, RULE, Chat, Talk

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

DECISION = "We use PostgreSQL because the orders must be joined with the customers."
OPEN = "The page of the cart is still to do."
ABOVE: Any = {"edits": [{"type": "compact_20260112"}]}
ABOVE_RESPONSES: Any = [{"type": "compaction", "compact_threshold": 1_000}]


@pytest.fixture(scope="module")
def both(upstream: Upstream) -> Iterator[Served]:
    with serving(configured(upstream, KEYS, memory={"compaction": "both"})) as served:
        yield served


def system_texts(upstream: Upstream) -> list[str]:
    system = upstream.calls[-1].json.get("system", [])
    return [system] if isinstance(system, str) else [block["text"] for block in system]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_anthropic(plain: Served, upstream: Upstream, stream: bool) -> None:
    name = f"follows-anthropic-{stream}"
    options: Any = {"context_management": ABOVE, "system": "You build a shop."}
    with Chat(plain, name, "anthropic", stream=stream, **options) as chat:
        chat.say(f"{RULE} {DECISION}")
        chat.messages.append({"role": "user", "content": OPEN})
        answer = chat.ask(model="anthropic/fake-n3-compact")
        assert [block.type for block in answer.content] == ["compaction", "text"]
        chat.say("Go on.")
        first = upstream.calls[-1].json
        chat.say("And then?")
        second = upstream.calls[-1].json
    told, block = system_texts(upstream)
    assert told == "You build a shop."
    assert RULE.rstrip(".") in block
    assert "PostgreSQL" in block and "joined" in block
    assert "page of the cart" not in block
    assert first["system"] == second["system"]
    assert first["messages"] == chat.messages[:5] == second["messages"][:5]
    assert first["context_management"] == ABOVE
    assert plain.memory.counters()["native_compaction_followed"] >= 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_openai(plain: Served, upstream: Upstream, stream: bool) -> None:
    name = f"follows-openai-{stream}"
    with Talk(plain, name, "openai", stream=stream, context_management=ABOVE_RESPONSES) as talk:
        talk.say(f"{RULE} {DECISION}")
        talk.model = "openai/fake-n3-compact"
        answer = talk.say(OPEN)
        talk.model = ""
        assert [item.type for item in answer.output] == ["compaction", "message"]
        talk.say("Go on.")
        first = upstream.calls[-1].json["input"]
        talk.say("And then?")
        second = upstream.calls[-1].json["input"]
    place = next(at for at, item in enumerate(first) if item.get("type") == "compaction")
    block = first[place + 1]
    assert block["role"] == "developer"
    assert RULE.rstrip(".") in block["content"]
    assert "joined" in block["content"]
    assert "page of the cart" not in block["content"]
    assert first[: place + 1] + first[place + 2 :] == talk.items[: len(first) - 1]
    assert second[: len(first)] == first
    assert not [text for _, text in plain.said(name) if "session-record" in text]


def test_both_tells_open_work_too(both: Served, upstream: Upstream) -> None:
    with Chat(both, "both-native", "anthropic", context_management=ABOVE) as chat:
        chat.say(f"{RULE} {DECISION}")
        chat.messages.append({"role": "user", "content": OPEN})
        chat.ask(model="anthropic/fake-n3-compact")
        chat.say("Go on.")
        (block,) = system_texts(upstream)
    for words in (RULE.rstrip("."), "joined", "page of the cart"):
        assert words in block


def test_both_answers_for_providers_that_cannot(both: Served, upstream: Upstream) -> None:
    with Chat(both, "both-gemini", "gemini", betas=["compact-2026-09-04"]) as chat:
        chat.say(f"{RULE} {DECISION}")
        asked = upstream.statistics.requests
        answer = chat.ask(compaction={"type": "summarize"})
    assert upstream.statistics.requests == asked
    assert RULE.rstrip(".") in answer.content[0].content


def test_the_block_is_on_record(plain: Served, upstream: Upstream) -> None:
    """Its bytes do not change with what was said since, or with the process that serves."""
    with Chat(plain, "on-record", "anthropic", context_management=ABOVE) as chat:
        chat.say(f"{RULE} {DECISION}")
        chat.messages.append({"role": "assistant", "content": [{"type": "compaction", "content": "They talked."}]})
        chat.say("Go on.")
        chat.say("Always answer in French.")
        body = {"model": "fake-n3", "max_tokens": 9, "messages": chat.messages}
    (before,) = system_texts(upstream)
    request, native = DIALECTS["anthropic"].read(json.dumps(body).encode()), find_native(body)
    assert native is not None
    key, log = SessionKey(LOCAL_TENANT, "on-record"), MemoryLog()
    log.append(key, [recorded.event for recorded in plain.log.read(key)], expected_seq=0)
    with closing(SessionMemory(log, Settings())) as memory:
        assert memory.service.compaction.follow_native(key, request, native) == before


def test_a_second_compaction_has_a_block_of_its_own(plain: Served, upstream: Upstream) -> None:
    with Chat(plain, "second-native", "anthropic", context_management=ABOVE) as chat:
        chat.say(RULE)
        chat.messages.append({"role": "assistant", "content": [{"type": "compaction", "content": "They talked."}]})
        chat.say("Always answer in French.")
        (first,) = system_texts(upstream)
        chat.messages.append({"role": "assistant", "content": [{"type": "compaction", "content": "They talked more."}]})
        chat.say("Go on.")
        (second,) = system_texts(upstream)
    assert "French" in second
    assert first != second


def test_thinking_that_is_bound_to_its_history_gets_no_block(plain: Served, upstream: Upstream) -> None:
    thinking: Any = {"type": "enabled", "budget_tokens": 1_024}
    with Chat(plain, "bound-native", "anthropic", thinking=thinking, max_tokens=2_000) as chat:
        chat.say(f"{RULE} {DECISION}")
        chat.messages.append({"role": "user", "content": "Go on."})
        chat.ask(model="anthropic/fake-n3-compact-think")
        bound = plain.memory.counters().get("compaction_bound", 0)
        chat.messages.append({"role": "user", "content": "And then?"})
        chat.ask(model="anthropic/claude-opus-5-1")
    assert plain.memory.counters()["compaction_bound"] == bound + 1
    assert system_texts(upstream) == []


def test_a_session_that_nobody_knows_changes_nothing(plain: Served, upstream: Upstream) -> None:
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "compaction", "content": "They talked."}]},
        {"role": "user", "content": "And?"},
    ]
    with Chat(plain, "unknown-native", "anthropic") as chat:
        chat.messages = said
        chat.ask()
    assert system_texts(upstream) == []
    assert json.dumps(upstream.calls[-1].json["messages"]) == json.dumps(said[:3])
