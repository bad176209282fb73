"""The OpenAI Agents SDK's session with compaction against the proxy: run where that SDK is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.proxy.serving import Served, configured, run_on_loop, serving
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

from .clients import KEYS, RULE, sent

agents = pytest.importorskip("agents", reason="openai-agents is not installed")

MODEL = "gpt-shop"
"""The SDK compacts for models of OpenAI's names only."""


@pytest.fixture
def gemini(upstream: Upstream) -> Iterator[Served]:
    models = {MODEL: ["gemini/fake-n3"]}
    with serving(configured(upstream, KEYS, models=models, memory={"compaction": "ours"})) as served:
        yield served


async def talk(served: Served) -> list[Any]:
    """The session's items behind six turns, with a compaction as soon as there are six items."""
    agents.set_tracing_disabled(True)
    headers = {"x-session-id": "agents"}
    async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="client", default_headers=headers) as client:
        session = agents.OpenAIResponsesCompactionSession(
            "agents",
            agents.SQLiteSession("agents"),
            client=client,
            model=MODEL,
            compaction_mode="input",
            should_trigger_compaction=lambda found: len(found["session_items"]) >= 6,
        )
        model = agents.OpenAIResponsesModel(MODEL, client)
        agent = agents.Agent(name="Shop", instructions="You build a shop.", model=model)
        await agents.Runner.run(agent, f"We use PostgreSQL. {RULE}", session=session)
        for number in range(5):
            await agents.Runner.run(agent, f"Now do part {number}.", session=session)
        return [dict(item) for item in await session.get_items()]


def test_a_session_of_the_sdk_compacts(gemini: Served, upstream: Upstream) -> None:
    upstream.script.extend(Scripted(text=f"Done: {number}.") for number in range(6))
    items = run_on_loop(talk(gemini))
    assert items[0]["type"] == "compaction"
    assert len(items) < 6
    assert RULE.rstrip(".") in sent(upstream)
    assert "session-record" in sent(upstream)
    assert gemini.memory.counters()["compaction_answered"] >= 1
    said = [text for role, text in gemini.said("agents") if role == "user"]
    assert said == [f"We use PostgreSQL. {RULE}", *(f"Now do part {number}." for number in range(5))]
