"""Anthropic's compaction contracts with the real SDK: answered through the proxy, whichever provider is behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

from .clients import EDIT, FILLER, PROVIDERS, QUESTION, RULE, Chat, fill, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]


@pytest.fixture
def chats(ours: Served) -> Iterator[Any]:
    """Makes clients that are closed in the end."""
    made: list[Chat] = []

    def chat(*given: Any, **options: Any) -> Chat:
        made.append(Chat(ours, *given, **options))
        return made[-1]

    yield chat
    for each in made:
        each.client.close()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_above_the_threshold(chats: Any, ours: Served, upstream: Upstream, provider: str, stream: bool) -> None:
    name = f"threshold-{provider}-{stream}"
    chat = chats(name, provider, stream=stream, context_management={"edits": [EDIT]})
    first = chat.say(f"We build a shop. {RULE} We use PostgreSQL.")
    assert [block.type for block in first.content] == ["text"]
    assert "compact_20260112" not in sent(upstream)
    fill(chat)
    answer = chat.say(QUESTION)
    assert [block.type for block in answer.content] == ["compaction", "text"]
    assert answer.content[1].text.startswith(f"You said: {QUESTION[:99]}")
    assert answer.stop_reason == "end_turn"
    assert answer.usage.iterations[0].type == "compaction"
    block = answer.content[0].content
    assert RULE.rstrip(".") in block
    assert "PostgreSQL" in block
    assert "session-record" in sent(upstream)
    assert f"Part 1. {FILLER * 2}" not in sent(upstream)  # the block may quote its first sentences
    before = len(ours.said(name))
    later = chat.say("And which branch?")
    assert [part.type for part in later.content] == ["text"]
    assert "session-record" in sent(upstream)
    assert "encrypted_content" not in sent(upstream)
    assert [text for role, text in ours.said(name) if role == "user"].count("And which branch?") == 1
    assert len(ours.said(name)) == before + 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_pause_is_answered_without_a_provider(chats: Any, ours: Served, upstream: Upstream, stream: bool) -> None:
    edit = {**EDIT, "pause_after_compaction": True, "instructions": "Keep the names of databases."}
    name = f"pause-{stream}"
    chat = chats(name, "openai", stream=stream, context_management={"edits": [edit]})
    chat.say(f"{RULE} We use PostgreSQL.")
    fill(chat)
    asked = upstream.statistics.requests
    paused = chat.say(QUESTION)
    assert upstream.statistics.requests == asked
    assert paused.stop_reason == "compaction"
    assert [block.type for block in paused.content] == ["compaction"]
    answer = chat.ask()
    assert answer.content[0].text.startswith(f"You said: {QUESTION[:99]}")
    assert "session-record" in sent(upstream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_on_demand(chats: Any, ours: Served, upstream: Upstream, stream: bool) -> None:
    name = f"demand-{stream}"
    chat = chats(name, "gemini", stream=stream, betas=["compact-2026-09-04"])
    chat.say(f"{RULE} We use PostgreSQL.")
    asked = upstream.statistics.requests
    answer = chat.ask(compaction={"type": "summarize"})
    assert upstream.statistics.requests == asked
    assert answer.stop_reason == "compaction"
    assert RULE.rstrip(".") in answer.content[0].content
    chat.messages = chat.messages[-1:]
    chat.say("Go on with the orders.")
    assert "session-record" in sent(upstream)
    assert [text for role, text in ours.said(name) if role == "user"].count("Go on with the orders.") == 1


def test_the_runner_of_the_sdk_compacts(chats: Any, ours: Served, upstream: Upstream) -> None:
    @anthropic.beta_tool
    def look_up(table: str) -> str:
        """Look a table up.

        Args:
            table: Its name.
        """
        return f"{table} has 3 rows"

    upstream.script.append(Scripted(text="", calls=(("look_up", {"table": "orders"}),)))
    chat = chats("runner", "openai")
    runner = chat.client.beta.messages.tool_runner(
        model="openai/fake-n3",
        max_tokens=99,
        tools=[look_up],
        betas=["compact-2026-09-04"],
        thread=False,
        messages=[{"role": "user", "content": f"{RULE} How many orders are there?"}],
    )
    reasons = []
    for message in runner:
        reasons.append(message.stop_reason)
        if len(reasons) == 1:
            runner.compact_before_next_turn()
    assert reasons == ["tool_use", "compaction", "end_turn"]
    assert "How many orders are there?" in sent(upstream)
    assert RULE.rstrip(".") in sent(upstream)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "cohere", "ollama"])
def test_in_a_long_loop_of_tools_the_newest_step_stays_whole(
    chats: Any, ours: Served, upstream: Upstream, provider: str
) -> None:
    """A turn that is longer than the threshold by itself."""
    name = f"loop-{provider}"
    tool = {"name": "read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    chat = chats(name, provider, context_management={"edits": [EDIT]}, tools=[tool])
    chat.messages.append({"role": "user", "content": f"Read all files. {RULE}"})
    compacted = 0
    for number in range(12):
        upstream.script.append(Scripted(text="", calls=(("read", {"path": f"file-{number}"}),)))
        answer = chat.ask()
        compacted += answer.content[0].type == "compaction"
        (use,) = [block for block in answer.content if block.type == "tool_use"]
        result = {"type": "tool_result", "tool_use_id": use.id, "content": f"line of file {number}. " * 90}
        chat.messages.append({"role": "user", "content": [result]})
    upstream.script.append(Scripted(text="All are read."))
    answer = chat.ask()
    assert 1 <= compacted <= 6
    assert answer.content[-1].text == "All are read."
    assert "Read all files." in sent(upstream)
    assert "line of file 11." in sent(upstream)
    assert "line of file 1. line" not in sent(upstream)
    results = [role for role, _ in ours.said(name) if role == "tool"]
    assert len(results) == 12
