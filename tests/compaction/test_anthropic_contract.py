"""Anthropic's compaction contracts with the real SDK: answered through the proxy, whichever provider is behind it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw.translate.table import PROVIDERS as TABLE

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

RULE = "Never push to the main branch."
KEYS = {row.key_variable: secrets.token_hex(8) for row in TABLE.values() if row.key_variable}
PROVIDERS = ("openai", "deepseek", "mistral", "openrouter", "grok", "gemini", "cohere", "ollama", "anthropic")
EDIT: Any = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 3_000}}
QUESTION = "Which database do we use? " + "Mind the orders of the past and the customers of the shop. " * 70
BETA = "compact-2026-01-12"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def ours(upstream: Upstream) -> Iterator[Served]:
    """Answers for every provider, Anthropic too."""
    with serving(configured(upstream, KEYS, memory={"compaction": "ours"})) as served:
        yield served


def client_of(served: Served, name: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        base_url=served.url, api_key="client", default_headers={"x-session-id": name}, max_retries=0
    )


class Chat:
    """A client that appends what it is answered, as the SDK's documentation has it."""

    def __init__(self, served: Served, name: str, provider: str, *, stream: bool = False, **options: Any) -> None:
        self.messages: list[Any] = []
        self._stream = stream
        self.client = client_of(served, name)
        self._options = {"model": f"{provider}/fake-n3", "max_tokens": 99, "betas": [BETA], **options}

    def __del__(self) -> None:
        self.client.close()

    def say(self, text: str) -> Any:
        self.messages.append({"role": "user", "content": text})
        return self.ask()

    def ask(self, **more: Any) -> Any:
        options = {**self._options, **more}
        create = self.client.beta.messages
        if self._stream:
            with create.stream(messages=self.messages, **options) as events:
                answer: Any = events.get_final_message()
        else:
            answer = create.create(messages=self.messages, **options)
        self.messages.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        return answer


FILLER = "The orders of the shop are sorted by their date and by the customer. "


def fill(chat: Chat) -> None:
    for number in range(3):
        chat.say(f"Part {number}. " + FILLER * 45)


def sent(upstream: Upstream) -> str:
    return json.dumps(upstream.calls[-1].json, ensure_ascii=False)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_above_the_threshold(ours: Served, upstream: Upstream, provider: str, stream: bool) -> None:
    name = f"threshold-{provider}-{stream}"
    chat = Chat(ours, name, provider, stream=stream, context_management={"edits": [EDIT]})
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
    assert "Part 1." not in sent(upstream).replace(json.dumps(block)[1:-1], "")
    before = len(ours.said(name))
    later = chat.say("And which branch?")
    assert [part.type for part in later.content] == ["text"]
    assert "session-record" in sent(upstream)
    assert "encrypted_content" not in sent(upstream)
    assert [text for role, text in ours.said(name) if role == "user"].count("And which branch?") == 1
    assert len(ours.said(name)) == before + 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_pause_is_answered_without_a_provider(ours: Served, upstream: Upstream, stream: bool) -> None:
    edit = {**EDIT, "pause_after_compaction": True, "instructions": "Keep the names of databases."}
    name = f"pause-{stream}"
    chat = Chat(ours, name, "openai", stream=stream, context_management={"edits": [edit]})
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
def test_on_demand(ours: Served, upstream: Upstream, stream: bool) -> None:
    name = f"demand-{stream}"
    chat = Chat(ours, name, "gemini", stream=stream, betas=["compact-2026-09-04"])
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


def test_the_runner_of_the_sdk_compacts(ours: Served, upstream: Upstream) -> None:
    @anthropic.beta_tool
    def look_up(table: str) -> str:
        """Look a table up.

        Args:
            table: Its name.
        """
        return f"{table} has 3 rows"

    upstream.script.append(Scripted(text="", calls=(("look_up", {"table": "orders"}),)))
    chat = Chat(ours, "runner", "openai")
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
