"""One conversation, told in three dialects, is the same in words; and what an assistant said comes back as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.translate.clients.served import CREATED, as_events, streamed
from tokenmizer_mw.server.translate.chat import (
    ChatCall,
    ChatTurn,
    Finish,
    ModelReply,
    ModelToolCall,
    ModelToolResult,
    Part,
    Sampling,
    Text,
    Thought,
    Tool,
    ToolChoice,
    Usage,
)
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.providers.anthropic import AnthropicProvider
from tokenmizer_mw.server.translate.providers.gemini import GeminiProvider
from tokenmizer_mw.server.translate.providers.openai_chat import OpenAIChatProvider
from tokenmizer_mw.server.translate.translation import ClientSide, ProviderSide
from tokenmizer_mw.wire.dialects import ROUTES

SIDES: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}
WIRES: Final = {wire.name: wire for wire in ROUTES.values()}
SCHEMA: Final = {"type": "object", "properties": {"q": {"type": "string"}}}

TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ARGUMENTS: Final = st.dictionaries(st.sampled_from(["q", "é"]), TEXTS | st.integers(), max_size=2)


@dataclass(frozen=True)
class Turn:
    """What a user asks, what the assistant answers, and what it calls, with the results."""

    asked: str
    said: str
    calls: tuple[tuple[dict[str, Any], str], ...]


TURNS: Final = st.lists(
    st.builds(Turn, TEXTS, TEXTS, st.lists(st.tuples(ARGUMENTS, TEXTS), max_size=3).map(tuple)), min_size=1, max_size=4
)


def expected(turns: list[Turn]) -> tuple[ChatTurn, ...]:
    told = [ChatTurn("system", (Text("Be brief."),))]
    for index, turn in enumerate(turns):
        calls = [ModelToolCall(f"c{index}_{n}", "look", json.dumps(a)) for n, (a, _) in enumerate(turn.calls)]
        results = [
            ModelToolResult(f"c{index}_{n}", (Text(result),), "look") for n, (_, result) in enumerate(turn.calls)
        ]
        told += [ChatTurn("user", (Text(turn.asked),)), ChatTurn("assistant", (Text(turn.said), *calls))]
        told += [ChatTurn("user", tuple(results))] if results else []
    return tuple(told)


def as_chat(turns: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "developer", "content": "Be brief."}]
    for index, turn in enumerate(turns):
        calls = [
            {"id": f"c{index}_{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps(a)}}
            for n, (a, _) in enumerate(turn.calls)
        ]
        messages += [{"role": "user", "content": turn.asked}]
        messages += [{"role": "assistant", "content": turn.said, **({"tool_calls": calls} if calls else {})}]
        messages += [
            {"role": "tool", "tool_call_id": f"c{index}_{n}", "content": [{"type": "text", "text": result}]}
            for n, (_, result) in enumerate(turn.calls)
        ]
    tools = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}]
    sampling = {"max_completion_tokens": 50, "temperature": 0.5, "top_p": 0.9}
    return {"model": "m", "messages": messages, "tools": tools, "tool_choice": "required", **sampling}


def as_responses(turns: list[Turn]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for index, turn in enumerate(turns):
        items += [{"role": "user", "content": [{"type": "input_text", "text": turn.asked}]}]
        items += [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn.said}]}]
        items += [
            {"type": "function_call", "call_id": f"c{index}_{n}", "name": "look", "arguments": json.dumps(a)}
            for n, (a, _) in enumerate(turn.calls)
        ]
        items += [
            {"type": "function_call_output", "call_id": f"c{index}_{n}", "output": result}
            for n, (_, result) in enumerate(turn.calls)
        ]
    tools = [{"type": "function", "name": "look", "description": "Looks.", "parameters": SCHEMA}]
    sampling = {"max_output_tokens": 50, "temperature": 0.5, "top_p": 0.9}
    told = {"instructions": "Be brief.", "input": items, "tools": tools, "tool_choice": "required"}
    return {"model": "m", **told, **sampling, "store": False}


def as_messages(turns: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for index, turn in enumerate(turns):
        calls = [
            {"type": "tool_use", "id": f"c{index}_{n}", "name": "look", "input": a}
            for n, (a, _) in enumerate(turn.calls)
        ]
        results = [
            {"type": "tool_result", "tool_use_id": f"c{index}_{n}", "content": result}
            for n, (_, result) in enumerate(turn.calls)
        ]
        messages += [{"role": "user", "content": turn.asked}]
        messages += [{"role": "assistant", "content": [{"type": "text", "text": turn.said}, *calls]}]
        messages += [{"role": "user", "content": results}] if results else []
    tools = [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}]
    sampling = {"max_tokens": 50, "temperature": 0.5, "top_p": 0.9}
    told = {"system": "Be brief.", "messages": messages, "tools": tools, "tool_choice": {"type": "any"}}
    return {"model": "m", **told, **sampling}


SPELLED: Final = {"openai_chat": as_chat, "openai_responses": as_responses, "anthropic": as_messages}


def _plain(said: tuple[ChatTurn, ...]) -> tuple[ChatTurn, ...]:
    """With arguments in one spelling."""
    return tuple(ChatTurn(one.role, tuple(_respelled(part) for part in one.parts)) for one in said)


def _respelled(part: Part) -> Part:
    if isinstance(part, ModelToolCall):
        return replace(part, arguments=json.dumps(json.loads(part.arguments)))
    return part


@pytest.mark.parametrize("dialect", SIDES)
@given(turns=TURNS)
def test_a_conversation_is_the_same_in_words(dialect: str, turns: list[Turn]) -> None:
    call = SIDES[dialect].call(SPELLED[dialect](turns))
    assert _plain(call.turns) == expected(turns)
    assert call.tools == (Tool("look", "Looks.", SCHEMA),)
    assert call.choice == ToolChoice("any")
    assert call.sampling == Sampling(max_tokens=50, temperature=0.5, top_p=0.9)
    assert not call.stream


def _turns(said: tuple[ChatTurn, ...]) -> list[tuple[str, list[Part]]]:
    """What each side said before the other spoke: some dialects make one message of it."""
    runs = groupby(_plain(said), key=lambda one: one.role)
    return [(role, [part for one in run for part in one.parts]) for role, run in runs]


@given(turns=TURNS)
def test_what_goes_through_its_own_dialect_comes_out_as_it_was(turns: list[Turn]) -> None:
    for client, provider in ((OpenAIChatClient(), OpenAIChatProvider()), (AnthropicClient(), AnthropicProvider())):
        call = client.call(SPELLED[client.name](turns))
        again = client.call(dict(provider.outgoing(call).body))
        assert _turns(again.turns) == _turns(call.turns)
        assert (again.tools, again.choice) == (call.tools, call.choice)
        assert again.sampling == call.sampling


SEALS: Final = st.sampled_from(["c2VhbA==", "gAAAAB-_x", "abc:def", "gemini:def"])
MAKERS: Final = st.sampled_from(["anthropic", "gemini", "openai_chat", "openai_responses"])
THOUGHTS: Final = st.builds(Thought, TEXTS, SEALS, MAKERS) | st.builds(
    lambda seal, by: Thought("", seal, by, hidden=True), SEALS, MAKERS
)
CALLS: Final = st.builds(
    lambda n, a, sealed: ModelToolCall(
        f"call_{n}", "look", json.dumps(a), *(("c2Vh+/bA==", "gemini") if sealed else ())
    ),
    st.integers(0, 99),
    ARGUMENTS,
    st.booleans(),
)
ANSWERS: Final = st.builds(
    lambda thoughts, text, calls, finish: ModelReply("r_1", "m", (*thoughts, Text(text), *calls), finish),
    st.lists(THOUGHTS, max_size=2),
    TEXTS,
    st.lists(CALLS, max_size=3, unique_by=lambda call: call.id),
    st.sampled_from(Finish),
)


def _handed_back(dialect: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A request in which a client hands a reply back."""
    match dialect:
        case "openai_chat":
            return {"model": "m", "messages": [{"role": "user", "content": "hi"}, body["choices"][0]["message"]]}
        case "openai_responses":
            return {"model": "m", "input": [{"role": "user", "content": "hi"}, *body["output"]]}
        case _:
            said = {"role": "assistant", "content": body["content"]}
            return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, said]}


@pytest.mark.parametrize("dialect", SIDES)
@given(answer=ANSWERS)
def test_an_answer_that_is_handed_back_is_what_it_was_seals_and_all(dialect: str, answer: ModelReply) -> None:
    side = SIDES[dialect]
    call = ChatCall("m", (ChatTurn("user", (Text("hi"),)),))
    body = json.loads(json.dumps(side.reply(answer, call, created=CREATED)))
    said = side.call(_handed_back(dialect, body)).turns
    assert _plain(said[1:]) == _plain((ChatTurn("assistant", answer.parts),))


SEALED_BY: Final[Mapping[str, ProviderSide]] = {
    "anthropic": AnthropicProvider(),
    "gemini": GeminiProvider(),
    "openai_chat": OpenAIChatProvider(),
}


@pytest.mark.parametrize("dialect", SIDES)
@pytest.mark.parametrize("maker", ["anthropic", "gemini"])
@pytest.mark.parametrize("provider", SEALED_BY)
def test_a_seal_goes_back_to_its_maker_and_to_nobody_else(dialect: str, maker: str, provider: str) -> None:
    seal, side = "c2VhbC1vZi1tYWtlcg==", SIDES[dialect]
    call = ModelToolCall("call_1", "look", "{}", seal if maker == "gemini" else "", maker if maker == "gemini" else "")
    answer = ModelReply("r_1", "m", (Thought("Hm.", seal, maker), call), Finish.TOOLS)
    asked = ChatCall("m", (ChatTurn("user", (Text("hi"),)),))
    request = _handed_back(dialect, json.loads(json.dumps(side.reply(answer, asked, created=CREATED))))
    again = side.call({**request, **_answered(dialect, request)})
    told = json.dumps(dict(SEALED_BY[provider].outgoing(again).body))
    assert (seal in told) == (maker == provider)
    assert told.count("call_1") == 2 or provider == "gemini"  # which goes by names
    assert "sealed_by" not in told


def _answered(dialect: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The messages of a request with a result for the call at their end, as a client answers it: by the id it got."""
    match dialect:
        case "openai_chat":
            made = request["messages"][-1]["tool_calls"][0]["id"]
            return {"messages": [*request["messages"], {"role": "tool", "tool_call_id": made, "content": "4"}]}
        case "openai_responses":
            made = request["input"][-1]["call_id"]
            return {"input": [*request["input"], {"type": "function_call_output", "call_id": made, "output": "4"}]}
        case _:
            made = request["messages"][-1]["content"][-1]["id"]
            result = {"type": "tool_result", "tool_use_id": made, "content": "4"}
            return {"messages": [*request["messages"], {"role": "user", "content": [result]}]}


def _datas(stream: bytes) -> Iterator[Any]:
    for block in stream.decode().split("\n\n"):
        for line in block.split("\n"):
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line.removeprefix("data: "))


@given(answer=ANSWERS, size=st.integers(1, 9))
def test_a_response_is_the_same_streamed_and_whole(answer: ModelReply, size: int) -> None:
    side, call = OpenAIResponsesClient(), ChatCall("m", (ChatTurn("user", (Text("hi"),)),), stream=True)
    told = list(_datas(streamed(side, call, as_events(answer, size))))
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert told[-1]["response"] == json.loads(json.dumps(side.reply(answer, call, created=CREATED)))
    done = [event["item"] for event in told if event["type"] == "response.output_item.done"]
    assert done == told[-1]["response"]["output"]
    deltas: dict[str, str] = {}
    for event in told:
        if event["type"].endswith("_text.delta") or event["type"].endswith("_arguments.delta"):
            deltas[event["item_id"]] = deltas.get(event["item_id"], "") + event["delta"]
    assert deltas == {item["id"]: text for item in done if (text := _text_of(item))}


def _text_of(item: Mapping[str, Any]) -> str:
    inside = [*item.get("summary", ()), *item.get("content", ())]
    return "".join(part["text"] for part in inside) or str(item.get("arguments", ""))


@pytest.mark.parametrize("dialect", SIDES)
@given(answer=ANSWERS, size=st.integers(1, 9))
def test_another_reader_finds_the_same_streamed_and_whole(dialect: str, answer: ModelReply, size: int) -> None:
    """The memory's own reader of the dialect, which is written apart from the translation."""
    side, wire = SIDES[dialect], WIRES[dialect]
    call = ChatCall("m", (ChatTurn("user", (Text("hi"),)),), stream=True, usage=True)
    parts = tuple(
        replace(part, arguments=_compact(part)) if isinstance(part, ModelToolCall) else part for part in answer.parts
    )
    answer = replace(answer, parts=parts, usage=Usage(9, 5, 3, 1, 2))
    whole = wire.collect(json.dumps(side.reply(answer, call, created=CREATED)).encode(), stream=False)
    streamed_one = wire.collect(streamed(side, call, as_events(answer, size)), stream=True)
    assert whole.message is not None
    assert whole == streamed_one
    texts = [part.text for part in answer.parts if isinstance(part, Text)]
    assert whole.message.text == "".join(texts)
    assert len(whole.message.tool_calls) == sum(isinstance(part, ModelToolCall) for part in answer.parts)


def _compact(call: ModelToolCall) -> str:
    return json.dumps(json.loads(call.arguments), ensure_ascii=False, separators=(",", ":"))
