"""Any conversation is read out of the request as it was told; any answer is the same, whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.translate.calls import TIME, WEATHER, call
from tests.upstream.answer import Answer, Call, Usage
from tests.upstream.anthropic import AnthropicMessages
from tests.upstream.cohere import CohereChat
from tests.upstream.format import Format
from tests.upstream.framing import framed
from tests.upstream.gemini import Gemini
from tests.upstream.ollama import OllamaChat
from tests.upstream.openai_chat import DeepSeekChat, ExactMistralChat, OpenAIChat
from tests.wire.replay import cut_at
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.server.translate.chat import (
    ChatCall,
    ChatTurn,
    Finish,
    ModelToolCall,
    ModelToolResult,
    Text,
    Thought,
)
from tokenmizer_mw.server.translate.table import PROVIDERS
from tokenmizer_mw.wire.dialects import ROUTES

from .heard import events_of, heard

WIRES: Final = {wire.name: wire for wire in ROUTES.values()}
FORMATS: Final[Mapping[str, Format]] = {
    "openai": OpenAIChat(),
    "deepseek": DeepSeekChat(),
    "mistral": ExactMistralChat(),
    "openrouter": OpenAIChat(),
    "grok": OpenAIChat(),
    "anthropic": AnthropicMessages(),
    "gemini": Gemini(),
    "cohere": CohereChat(),
    "ollama": OllamaChat(),
}
SYSTEM_APART: Final = frozenset({"anthropic", "gemini"})
"""Dialects whose system prompt is no message."""

EXAMPLES: Final = settings(max_examples=30, deadline=None)
BRIDGE: Final = ("assistant", PROVIDERS["mistral"].quirks.bridge)

WORDS: Final = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
ARGUMENTS: Final = st.dictionaries(st.sampled_from(["q", "é", "n"]), WORDS | st.integers() | st.booleans(), max_size=3)
Fact = tuple[Any, ...]


@st.composite
def conversations(draw: st.DrawFn) -> ChatCall:
    """A history as agents send it: questions, answers with and without calls, results, sometimes with more words of the
    user beside them; the newest word is the user's."""
    said: list[ChatTurn] = [ChatTurn("system", (Text(draw(WORDS)),)) for _ in range(draw(st.integers(0, 2)))]
    for turn in range(draw(st.integers(1, 4))):
        said.append(ChatTurn("user", tuple(map(Text, draw(st.lists(WORDS, min_size=1, max_size=2))))))
        for step in range(draw(st.integers(0, 2))):
            given = draw(st.lists(ARGUMENTS, min_size=1, max_size=3))
            calls = [ModelToolCall(f"c{turn}_{step}_{n}", "get_time", json.dumps(a)) for n, a in enumerate(given)]
            texts = [Text(word) for word in draw(st.lists(WORDS, max_size=1))]
            said.append(ChatTurn("assistant", (*texts, *calls)))
            results = [ModelToolResult(one.id, (Text(draw(WORDS)),), one.name) for one in draw(st.permutations(calls))]
            beside = [Text(word) for word in draw(st.lists(WORDS, max_size=1))]
            said.append(ChatTurn("user", (*results, *beside)))
        said.append(ChatTurn("assistant", (Text(draw(WORDS)),)))
    said.append(ChatTurn("user", (Text(draw(WORDS)),)))
    return call(*said, tools=(WEATHER, TIME))


def facts_told(told: ChatCall) -> Iterator[Fact]:
    """What a conversation says, in order; results in the order of their calls."""
    order: list[str] = []
    for said in told.turns:
        results = [part for part in said.parts if isinstance(part, ModelToolResult)]
        for result in sorted(results, key=lambda one: order.index(one.call_id)):
            yield ("result", *(part.text for part in result.parts if isinstance(part, Text)))
        yield from ((said.role, part.text) for part in said.parts if isinstance(part, Text))
        calls = [part for part in said.parts if isinstance(part, ModelToolCall)]
        yield from (("call", one.name, json.loads(one.arguments)) for one in calls)
        order = [one.id for one in calls] or order


def facts_read(messages: list[Message]) -> Iterator[Fact]:
    """The same of a request, as the memory reads it."""
    called: list[str] = []
    waiting: list[tuple[str, str]] = []
    for message in messages:
        waiting += [(result.call_id, result.text) for result in message.tool_results]
        if not message.tool_results or message.text:
            yield from _in_order(waiting, called)
            waiting = []
        roles = {Role.TOOL: "user", Role.SYSTEM: "system", Role.USER: "user", Role.ASSISTANT: "assistant"}
        for text in (message.thinking, message.text):
            yield from ((roles[message.role], line) for line in text.split("\n") if line)
        yield from (("call", one.name, json.loads(one.arguments)) for one in message.tool_calls)
        called = [one.id for one in message.tool_calls] or called


def _in_order(results: list[tuple[str, str]], called: list[str]) -> Iterator[Fact]:
    known = [id for id, _ in results if id] and called
    for _, text in sorted(results, key=lambda one: known.index(one[0])) if known else results:
        yield ("result", text)


@pytest.mark.parametrize("provider", PROVIDERS)
@EXAMPLES
@given(told=conversations())
def test_a_conversation_is_read_as_it_was_told(provider: str, told: ChatCall) -> None:
    row = PROVIDERS[provider]
    sent = row.side().outgoing(told)
    body = json.dumps(sent.body).encode()
    messages = list(WIRES[row.dialect].read(body, path=sent.path).messages)
    read = [fact for fact in facts_read(messages) if provider != "mistral" or fact != BRIDGE]
    apart = row.dialect in SYSTEM_APART
    assert read == [fact for fact in facts_told(told) if not (apart and fact[0] == "system")]


@pytest.mark.parametrize("provider", PROVIDERS)
@EXAMPLES
@given(told=conversations())
def test_a_strict_provider_takes_any_conversation(provider: str, told: ChatCall) -> None:
    """Only Gemini's seals are not there to be given back: nobody made any."""
    sent = PROVIDERS[provider].side().outgoing(told)
    body = json.loads(json.dumps(sent.body).replace("skip_thought_signature_validator", "c2lnbmVk"))
    for content in body.get("contents", ()):
        for part in content["parts"]:
            if "functionCall" in part:
                part["thoughtSignature"] = "c2lnbmVk"
    asked = FORMATS[provider].asked(body)
    newest = told.turns[-1].parts[0]
    assert isinstance(newest, Text)
    assert newest.text in asked.question


ANSWERS: Final = st.builds(
    Answer,
    id=st.just("ab12"),
    model=st.just("model-1"),
    deltas=st.lists(WORDS, max_size=4).map(tuple),
    thinking=st.lists(WORDS, max_size=3).map(tuple),
    calls=st.lists(ARGUMENTS, max_size=3).map(
        lambda given: tuple(Call(f"call{number:05}", "get_time", one) for number, one in enumerate(given))
    ),
    length=st.booleans(),
    usage=st.builds(
        Usage, read=st.integers(60, 200), cached=st.integers(0, 60), written=st.integers(20, 99), reasoned=st.just(5)
    ),
).filter(lambda answer: answer.deltas or answer.calls)


def finish_of(answer: Answer) -> Finish:
    if answer.length:
        return Finish.LENGTH
    return Finish.TOOLS if answer.calls else Finish.STOP


@pytest.mark.parametrize("provider", PROVIDERS)
@EXAMPLES
@given(said=ANSWERS, places=st.lists(st.integers(0, 4_000), max_size=20))
def test_an_answer_is_the_same_whole_and_streamed(provider: str, said: Answer, places: list[int]) -> None:
    side, spelled = PROVIDERS[provider].side(), FORMATS[provider]
    whole = side.answer(json.loads(json.dumps(spelled.whole(said))))
    data = b"".join(framed(spelled.stream(said, {}, usage=True), spelled.media_type, frozenset()))
    streamed = heard(events_of(side.reader(), cut_at(data, places)))
    for parts in (whole.parts, tuple(streamed.parts)):
        assert "".join(part.text for part in parts if isinstance(part, Text)) == said.text
        assert "".join(part.text for part in parts if isinstance(part, Thought)) == "".join(said.thinking)
        calls = [part for part in parts if isinstance(part, ModelToolCall)]
        assert [(one.name, json.loads(one.arguments)) for one in calls] == [
            (one.name, one.arguments) for one in said.calls
        ]
    assert [part.id for part in whole.parts if isinstance(part, ModelToolCall)] == [one.id for one in streamed.calls]
    assert streamed.ended is not None
    assert streamed.ended.usage == whole.usage
    assert (whole.usage.prompt, whole.usage.completion) == (said.usage.read, said.usage.written)
    assert streamed.ended.finish is whole.finish is finish_of(said)
    assert streamed.began is not None
    assert streamed.began.id == whole.id
