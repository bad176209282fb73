"""Tools in namespaces: one name each for providers, and the client's own names in whatever comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate.chat import (
    Began,
    Ended,
    Finish,
    Grew,
    ModelReply,
    ModelToolCall,
    ModelToolResult,
    PartStart,
)
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.clients.openai_responses_item import NAME_MAX, Names
from tokenmizer_mw.server.translate.table import PROVIDERS
from tokenmizer_mw.server.translate.translation import Translation

CREATED = 1_790_000_000
CLIENT = OpenAIResponsesClient()
SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": f"Does {name}.", "parameters": SCHEMA, **more}


def group(name: str, *tools: dict[str, Any], description: str = "Sub-agents.") -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": description, "tools": list(tools)}


def request(*tools: dict[str, Any], said: Any = "hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": said, "tools": list(tools), **more}


AGENTS = group("agents", function("wait"), {"type": "custom", "name": "send", "description": "Sends."})
BODY = request(function("wait"), AGENTS, group("mcp__hub__", function("search"), description=""))


def test_each_tool_has_one_name_and_the_namespace_is_described_once() -> None:
    tools = CLIENT.call(BODY).tools
    assert [tool.name for tool in tools] == ["wait", "agents__wait", "agents__send", "mcp__hub__search"]
    assert tools[1].description == "Does wait.\n\nAbout all tools of agents: Sub-agents."
    assert [tool.description for tool in tools[2:]] == ["Sends.", "Does search."]
    assert tools[2].form == "custom"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_told_plain_names(provider: str) -> None:
    told = json.dumps(Translation(CLIENT, PROVIDERS[provider].side()).request(json.dumps(BODY).encode())[0].body)
    assert all(f'"{name}"' in told for name in ("wait", "agents__wait", "agents__send", "mcp__hub__search"))
    assert "namespace" not in told


def test_a_call_comes_back_under_the_clients_own_names() -> None:
    call = CLIENT.call(BODY)
    names = ("agents__wait", "agents__send", "wait", "unheard_of")
    parts = tuple(ModelToolCall(f"c{at}", name, '{"input": "x"}') for at, name in enumerate(names))
    output = CLIENT.reply(ModelReply("r", "m", parts, Finish.TOOLS), call, created=CREATED)["output"]
    assert [(item["type"], item["name"], item.get("namespace")) for item in output] == [
        ("function_call", "wait", "agents"),
        ("custom_tool_call", "send", "agents"),
        ("function_call", "wait", None),
        ("function_call", "unheard_of", None),
    ]
    assert output[1]["input"] == "x"


def test_so_it_does_in_a_stream() -> None:
    call = CLIENT.call(BODY)
    writer = CLIENT.writer(call, created=CREATED)
    events = [Began("r", "m"), PartStart(ModelToolCall("c1", "agents__wait", "")), Grew('{"id":'), Grew('"7"}')]
    told = b"".join(map(writer.send, [*events, Ended(Finish.TOOLS)]))
    data = [json.loads(line.removeprefix("data: ")) for line in told.decode().split("\n") if line.startswith("data: ")]
    by_type = {event["type"]: event for event in data}
    for kind in ("response.output_item.added", "response.output_item.done"):
        assert (by_type[kind]["item"]["name"], by_type[kind]["item"]["namespace"]) == ("wait", "agents")
    assert by_type["response.function_call_arguments.done"]["name"] == "wait"
    (item,) = by_type["response.completed"]["response"]["output"]
    assert (item["name"], item["namespace"], item["arguments"]) == ("wait", "agents", '{"id":"7"}')
    assert b"agents__wait" not in told


def test_what_a_client_sends_back_is_what_it_was_sent() -> None:
    called = {"type": "function_call", "call_id": "c1", "name": "wait", "namespace": "agents", "arguments": "{}"}
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "send", "namespace": "agents", "input": "x"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "7", "name": "wait", "namespace": "agents"}
    other = {"type": "custom_tool_call_output", "call_id": "c2", "output": "sent"}
    for tools in ((AGENTS,), ()):
        said = CLIENT.call(request(*tools, said=[called, custom, result, other])).turns
        parts = [part for one in said for part in one.parts]
        assert [part.name for part in parts if isinstance(part, ModelToolCall)] == ["agents__wait", "agents__send"]
        assert [part.name for part in parts if isinstance(part, ModelToolResult)] == ["agents__wait", "agents__send"]


def test_the_tools_of_a_response_are_those_of_the_request() -> None:
    told = CLIENT.reply(ModelReply("r", "m", (), Finish.STOP), CLIENT.call(BODY), created=CREATED)["tools"]
    assert [(tool["type"], tool["name"]) for tool in told] == [
        ("function", "wait"),
        ("namespace", "agents"),
        ("namespace", "mcp__hub__"),
    ]
    assert [tool["name"] for tool in told[1]["tools"]] == ["wait", "send"]


def test_what_a_response_repeats_is_what_the_client_sent() -> None:
    grammar = {"type": "grammar", "syntax": "regex", "definition": "a+"}
    patch = {"type": "custom", "name": "patch", "description": "Patches.", "format": grammar}
    tools = [function("look", strict=False), group("agents", function("wait", strict=True), patch)]
    for choice in ("auto", {"type": "custom", "name": "patch"}, {"type": "function", "name": "wait"}):
        call = CLIENT.call(request(*tools, tool_choice=choice))
        told = CLIENT.reply(ModelReply("r", "m", (), Finish.STOP), call, created=CREATED)
        assert (told["tool_choice"], told["tools"]) == (choice, tools)


def test_one_tool_may_be_asked_for() -> None:
    def chosen(name: str) -> str:
        choice = CLIENT.call({**BODY, "tool_choice": {"type": "function", "name": name}}).choice
        assert choice is not None
        return choice.name

    assert [chosen(name) for name in ("search", "wait", "send")] == ["mcp__hub__search", "wait", "agents__send"]


_NAMES = st.text(st.sampled_from("ab_.-é"), min_size=1, max_size=50)


@given(st.sets(_NAMES, max_size=4), st.lists(st.tuples(_NAMES, _NAMES), max_size=8, unique=True))
def test_no_two_tools_share_a_name(alone: set[str], pairs: list[tuple[str, str]]) -> None:
    names = Names(alone)
    flat = [names.flat(*pair) for pair in pairs]
    assert len({*flat, *alone}) == len(flat) + len(alone)
    assert all(re2.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in flat)
    assert [names.flat(*pair) for pair in pairs] == flat


def test_names_that_would_mean_two_tools_or_are_too_long_are_marked() -> None:
    names = Names(["a__b"])
    marked = names.flat("a", "b")
    assert marked.startswith("a__b_") and marked != names.flat("a__b", "c")
    assert (names.flat("x", "y__z"), names.flat("x__y", "z")[:8]) == ("x__y__z", "x__y__z_")
    assert len(names.flat("n" * 60, "m" * 60)) == NAME_MAX


def test_what_is_in_a_namespace_is_refused_by_its_place() -> None:
    with pytest.raises(Untranslatable) as refused:
        CLIENT.call(request(group("a", function("b"), {"type": "web_search"})))
    assert refused.value.field == "tools[0].tools[1].type"
    with pytest.raises(Untranslatable) as refused:
        CLIENT.call(request(group("a", function("b", defer_loading=True))))
    assert refused.value.field == "tools[0].tools[0].defer_loading"
