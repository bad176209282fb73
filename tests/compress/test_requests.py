"""Requests in every dialect: shorter texts in the same bytes, and the reasons to leave them alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.saving.compress.pipeline import Options
from tokenmizer_mw.saving.compress.requests import (
    BOUND,
    MARKED,
    Compression,
    CondensedRequest,
    condense_request,
    refusal,
)
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.request import Dialect

from .chats import BODIES, agent_chat, anthropic, call, chat_completions, result, source

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in ROUTES.values()}
SETTINGS = Settings(compress="all", compress_keep=2, compress_step=300, compress_result_max=400)
OPTIONS = Options.of(SETTINGS)
REPEATS = Options.of(Settings(compress="repeats"))
QUARTERS = TokenCounter("a quarter of the characters", True, lambda text: len(text) // 4)


def read(name: str, messages: list[dict[str, Any]]) -> ChatRequest:
    return DIALECTS[name].read(BODIES[name](messages))


def condensed(request: ChatRequest, options: Options = OPTIONS) -> CondensedRequest:
    return condense_request(request, options, QUARTERS)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def shape(value: Any) -> Any:
    """A JSON value with its texts left out."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else "" if isinstance(value, str) else value


@pytest.mark.parametrize("name", BODIES)
def test_only_outputs_and_pleasantries_change(name: str) -> None:
    messages = agent_chat(8)
    request = read(name, messages)
    done = condensed(request)
    before, after = json.loads(request.text), json.loads(done.request.text)
    assert len(done.request.text) < len(request.text) * 0.7
    assert shape(after) == shape(before)
    fixed = [one["content"] for one in messages if one["role"] in ("system", "user")]
    changed = [one for one, other in zip(strings(before), strings(after), strict=True) if one != other]
    spoken = [one["content"] for one in messages if one["role"] == "assistant" and one["content"]]
    outputs = [one["content"] for one in messages if one["role"] == "tool"]
    assert set(changed) <= {*outputs, *spoken}
    assert not set(changed) & set(fixed)
    assert {saving.stage for saving in done.savings} >= {"filler", "history"}


@pytest.mark.parametrize("name", BODIES)
def test_what_did_not_change_keeps_its_bytes(name: str) -> None:
    request = read(name, agent_chat(8))
    done = condensed(request)
    for before, after in zip(request.spans, done.request.spans, strict=True):
        old, new = request.text[slice(*before)], done.request.text[slice(*after)]
        assert json.loads(new)  # a span still holds a message
        if shape(json.loads(old)) == json.loads(old) or len(old) == len(new):
            assert old == new
    start, end = request.array, done.request.array
    assert request.text[:start] == done.request.text[:end]
    assert request.text[request.spans[-1][1] :] == done.request.text[done.request.spans[-1][1] :]


@pytest.mark.parametrize("name", BODIES)
def test_condensed_request_is_cut_like_any_other(name: str) -> None:
    dialect, request = DIALECTS[name], read(name, agent_chat(8))
    opening = [place for place, one in enumerate(request.messages) if one.opens_turn]
    keep_from = opening[len(opening) // 2]
    done = condense_request(request, OPTIONS, QUARTERS, start=keep_from)
    body = dialect.rewrite(done.request, keep_from=keep_from, block="What was before.", role="user")
    kept = dialect.read(body).messages
    told = [one.text for one in kept if one.opens_turn and "What was before" not in one.text]
    assert told == [request.messages[place].text for place in opening if place >= keep_from]


@pytest.mark.parametrize("name", BODIES)
def test_text_is_spelled_in_ascii_where_it_was(name: str) -> None:
    long = "\n".join(f"Zeile {at}: Ünal überwies {at} € für \U0001f642" for at in range(60))
    messages = [
        *agent_chat(1)[:2],
        call(1, "read_file", path="a.txt"),
        result(1, long),
        call(2, "read_file", path="a.txt"),
        result(2, long),
    ]
    body = BODIES[name](messages)
    assert condensed(DIALECTS[name].read(body)).request.text.isascii()
    plain = json.dumps(json.loads(body), ensure_ascii=False).encode()
    done = condensed(DIALECTS[name].read(plain)).request.text
    assert "Ünal überwies" in done
    assert len(done) < len(plain.decode())


def test_output_within_json_text_is_found_and_its_neighbours_stay() -> None:
    inner = source("src/billing/invoice.py")
    wrapped = '{"output": ' + json.dumps(inner) + ', "metadata": {"exit_code": 0, "duration_seconds": 1.50}}'
    messages = [
        {"role": "user", "content": "Read it."},
        call(1, "read_file", path="src/billing/invoice.py"),
        result(1, inner),
        call(2, "shell", command=["cat", "src/billing/invoice.py"]),
        result(2, wrapped),
    ]
    text = json.loads(condensed(DIALECTS["openai_chat"].read(chat_completions(messages)), REPEATS).request.text)
    told = text["messages"][-1]["content"]
    assert told.endswith(', "metadata": {"exit_code": 0, "duration_seconds": 1.50}}')
    assert json.loads(told)["output"].startswith("[41 lines as in the output of read_file src/billing/invoice.py above")


def test_member_that_stands_there_twice_is_left_alone() -> None:
    body = chat_completions(
        [
            {"role": "user", "content": "?"},
            call(1, "read_file", path="a.py"),
            result(1, source("a.py")),
            call(2, "read_file", path="a.py"),
            result(2, source("a.py")),
        ]
    )
    twice = body.replace(b'"tool_call_id": "call_2"', b'"content": "x", "tool_call_id": "call_2"')
    request = DIALECTS["openai_chat"].read(twice)
    assert condensed(request, REPEATS).request is request


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"thread": {"id": "t"}}, "history_on_server"),
        ({"context_management": {"edits": []}}, ""),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "provider_compacts"),
    ],
)
def test_history_that_the_provider_keeps_is_left_alone(change: dict[str, Any], why: str) -> None:
    body = json.dumps(json.loads(anthropic(agent_chat(4))) | change).encode()
    assert refusal(DIALECTS["anthropic"].read(body), marked=False) == why


def test_marked_messages_are_left_alone_unless_the_settings_say_otherwise() -> None:
    body = json.loads(anthropic(agent_chat(8)))
    body["messages"][-3]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    request = DIALECTS["anthropic"].read(json.dumps(body).encode())
    assert refusal(request, marked=False) == MARKED
    assert Compression(SETTINGS).condense("s", request, QUARTERS) == MARKED
    done = Compression(SETTINGS.with_(compress_marked=True)).condense("s", request, QUARTERS)
    assert isinstance(done, CondensedRequest)
    assert json.loads(done.request.text)["messages"][-3]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_marks_on_the_system_prompt_and_the_tools_are_no_reason() -> None:
    body = json.loads(anthropic(agent_chat(8)))
    body["system"] = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]
    assert refusal(DIALECTS["anthropic"].read(json.dumps(body).encode()), marked=False) == ""


def test_thinking_that_is_bound_to_what_stood_before_it_is_a_reason() -> None:
    body = json.loads(anthropic(agent_chat(4)))
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "abc"}
    body["messages"][-1]["content"].insert(0, thinking)
    assert (
        refusal(DIALECTS["anthropic"].read(json.dumps(body | {"model": "claude-opus-5-5"}).encode()), marked=False)
        == BOUND
    )


def test_known_sessions_are_bounded_and_only_make_it_faster() -> None:
    kept, forgetful = Compression(SETTINGS), Compression(SETTINGS.with_(compress_known_max=0))
    messages = agent_chat(8)
    for end in range(3, len(messages) + 1):
        request = read("openai_chat", messages[:end])
        one, other = (way.condense("s", request, QUARTERS) for way in (kept, forgetful))
        assert isinstance(one, str) == isinstance(other, str)
        if isinstance(one, CondensedRequest) and isinstance(other, CondensedRequest):
            assert one.request.text == other.request.text
            assert one.savings == other.savings


def test_share_that_is_left_out_is_told_for_each_message() -> None:
    request = read("openai_chat", agent_chat(8))
    shares = Compression(SETTINGS).compression_shares("s", request)
    assert len(shares) == len(request.messages)
    assert all(0 <= share < 1 for share in shares)
    assert max(share for share, role in zip(shares, request.messages.roles, strict=True) if role == "tool") > 0.5
    assert not any(share for share, role in zip(shares, request.messages.roles, strict=True) if role == "user")


def test_references_tell_only_what_is_sent_after_a_cut() -> None:
    text = source("src/billing/invoice.py")
    messages = [
        {"role": "user", "content": "Read it."},
        call(1, "read_file", path="src/billing/invoice.py"),
        result(1, text),
        {"role": "assistant", "content": "Read."},
        {"role": "user", "content": "Again."},
        call(2, "read_file", path="src/billing/invoice.py"),
        result(2, text),
    ]
    way = Compression(Settings(compress="repeats"))
    request = read("openai_chat", messages)
    whole = way.condense("s", request, QUARTERS)
    assert isinstance(whole, CondensedRequest)
    assert "lines as in" in whole.request.text
    assert way.condense("s", request, QUARTERS, Rewrite(4, "block", "user")) == ""
