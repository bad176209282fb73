"""A model that is configured reads the session before it is compacted, where the settings want that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.upstream.steering import Steering
from tokenmizer_mw.session.refinement.reply import CATEGORIES

from .clients import KEYS, RULE, Chat, Talk

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

SAID = f"Let's build a tide table. About the units: sailors all over the bay expect feet. {RULE}"
HANDOVER = "The tide table shows feet, because sailors all over the bay expect feet."
REFINER = "refiner"


@pytest.fixture
def refined(upstream: Upstream) -> Iterator[Served]:
    memory = {
        "compaction": "ours",
        "agent_compaction": "ours",
        "llm_at_compaction": True,
        "llm_url": f"{upstream.url}/v1",
        "llm_model": REFINER,
        "llm_attempts": 1,
        "llm_at_window": 0,
    }
    empty: dict[str, Any] = {category.name: [] for category in CATEGORIES}
    upstream.by_model[REFINER] = Scripted(text=json.dumps({**empty, "handover": HANDOVER}))
    with serving(configured(upstream, KEYS, memory=memory)) as served:
        yield served
    del upstream.by_model[REFINER]


def asked(upstream: Upstream, before: int) -> list[Any]:
    return [one.json["model"] for one in upstream.since(before)]


def test_at_once(refined: Served, upstream: Upstream) -> None:
    with Chat(refined, "refined", "openai", betas=["compact-2026-09-04"]) as chat:
        chat.say(SAID)
        before = upstream.statistics.requests
        block = chat.ask(compaction={"type": "summarize"}).content[0].content
    assert asked(upstream, before) == [REFINER]
    assert HANDOVER in block and RULE.rstrip(".") in block


def test_an_agents_prompt(refined: Served, upstream: Upstream) -> None:
    with Talk(refined, "refined-codex", "openai") as talk:
        talk.say(SAID)
        before = upstream.statistics.requests
        answer = talk.say("You are performing a CONTEXT CHECKPOINT COMPACTION. Hand over what is left to do.")
    assert asked(upstream, before) == [REFINER]
    assert HANDOVER in answer.output_text


def test_a_model_that_fails_costs_nothing(refined: Served, upstream: Upstream) -> None:
    upstream.by_model[REFINER] = Scripted(steering=Steering(status=500))
    with Chat(refined, "not-refined", "openai", betas=["compact-2026-09-04"]) as chat:
        chat.say(SAID)
        block = chat.ask(compaction={"type": "summarize"}).content[0].content
    assert HANDOVER not in block.replace("\n", " ").split("Said")[0]
    assert RULE.rstrip(".") in block


def test_a_session_that_nobody_recorded_is_compacted_without(refined: Served, upstream: Upstream) -> None:
    before = upstream.statistics.requests
    with Talk(refined, "never-recorded", "gemini") as talk:
        compacted = talk.client.responses.compact(model="gemini/fake-n3", input=[{"role": "user", "content": SAID}])
    assert [item.type for item in compacted.output] == ["compaction"]
    assert asked(upstream, before) == []
