"""When and where a transcript is cut, over tables and over thousands of generated conversations."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.window import Cut, Replay, Untouched, budget_for, plan
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat

CHAT = OpenAIChat()
SETTINGS = Settings(context_window=1_000, block_tokens=100)
BLOCK = "the record " * 9

WINDOWS = [
    ("gpt-4o-mini", 128_000),
    ("openai/gpt-4o", 128_000),
    ("gpt-4", 8_192),
    ("claude-sonnet-4-5", 200_000),
    ("never-heard-of", 128_000),
    ("", 128_000),
]


@pytest.mark.parametrize(("model", "tokens"), WINDOWS)
def test_windows(model: str, tokens: int) -> None:
    assert budget_for(model, Settings()) == tokens
    assert budget_for(model, SETTINGS) == 1_000


def request(*roles: str) -> ChatRequest:
    """One message a role; "call" is an assistant message with a tool call, answered by "tool"."""
    return CHAT.read(json.dumps({"model": "m", "messages": [_raw(role, n) for n, role in enumerate(roles)]}).encode())


def _raw(role: str, number: int) -> dict[str, Any]:
    if role == "call":
        call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    message = {"role": role, "content": f"message {number}"}
    return message | {"tool_call_id": "c"} if role == "tool" else message


PLANS = [
    ("below the threshold", ("user", "assistant", "user"), (100, 100, 100), Untouched()),
    ("at the threshold", ("user", "assistant", "user"), (400, 400, 50), Untouched()),
    ("the tail that fits", ("user", "assistant", "user", "assistant", "user"), (400, 300, 100, 50, 50), Cut(2)),
    ("never behind the newest user message", ("user", "assistant", "user"), (100, 100, 900), Cut(2)),
    ("the system prefix stays", ("system", "user", "assistant", "user"), (500, 200, 100, 100), Cut(3)),
    ("nothing to cut", ("system", "user"), (500, 500), Untouched()),
    ("a call stays with its result", ("user", "call", "tool", "assistant", "user"), (200, 300, 300, 100, 50), Cut(4)),
    (
        "an open tool loop is left alone",
        ("user", "assistant", "user", "call", "tool"),
        (400, 400, 9, 9, 90),
        Untouched(),
    ),
]


@pytest.mark.parametrize(("roles", "counts", "expected"), [row[1:] for row in PLANS], ids=[row[0] for row in PLANS])
def test_plan(roles: tuple[str, ...], counts: tuple[int, ...], expected: object) -> None:
    assert plan(request(*roles), counts, overhead=0, frozen=None, settings=SETTINGS) == expected


def test_history_elsewhere_is_never_touched() -> None:
    body = {"model": "m", "previous_response_id": "r", "messages": [_raw("user", n) for n in range(3)]}
    read = CHAT.read(json.dumps(body).encode())
    assert plan(read, (900, 900, 900), overhead=0, frozen=None, settings=SETTINGS) == Untouched()


ROLES = ("user", "assistant", "user", "assistant", "user", "assistant", "user")
COUNTS = (300, 300, 100, 50, 50, 50, 50)


def frozen_at(read: ChatRequest, index: int) -> Checkpointed:
    dropped = index - read.prefix
    return Checkpointed("checkpoint-1", 1, tokens=90, block=BLOCK, anchor=digest(read.messages[index]), dropped=dropped)


def test_a_cut_stays_frozen_until_the_window_fills_again() -> None:
    read = request(*ROLES)
    cut = frozen_at(read, 2)
    assert plan(read, COUNTS, overhead=0, frozen=cut, settings=SETTINGS) == Replay(2, BLOCK)
    assert plan(read, (*COUNTS[:2], 400, 300, *COUNTS[4:]), overhead=0, frozen=cut, settings=SETTINGS) == Cut(4)


def test_a_cut_in_force_is_carried_on_inside_an_open_tool_loop() -> None:
    read = request(*ROLES, "call", "tool")
    assert plan(read, (*COUNTS, 400, 400), overhead=0, frozen=frozen_at(read, 2), settings=SETTINGS) == Replay(2, BLOCK)


def test_the_anchor_is_found_when_the_client_trimmed_its_history() -> None:
    whole = request("system", *ROLES)
    cut = frozen_at(whole, 5)
    trimmed = CHAT.read(json.dumps({"messages": json.loads(whole.text)["messages"][3:]}).encode())
    assert plan(trimmed, COUNTS[:5], overhead=0, frozen=cut, settings=SETTINGS) == Replay(2, BLOCK)
    gone = CHAT.read(json.dumps({"messages": json.loads(whole.text)["messages"][6:]}).encode())
    assert plan(gone, COUNTS[:2], overhead=0, frozen=cut, settings=SETTINGS) == Untouched()


def conversation(rng: random.Random) -> list[dict[str, Any]]:
    """Turns of a person, each answered with or without tool calls; now and then a system message in between."""
    messages = [{"role": "system", "content": "be brief " * rng.randint(1, 30)}] if rng.random() < 0.7 else []
    for turn in range(rng.randint(1, 14)):
        messages.append({"role": "user", "content": f"turn {turn} " + "word " * rng.randint(0, 120)})
        for step in range(rng.choice((0, 0, 1, 2, 3))):
            ids = [f"c{turn}-{step}-{n}" for n in range(rng.randint(1, 3))]
            calls = [{"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}} for id in ids]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": id, "content": "out " * rng.randint(1, 90)} for id in ids]
        if rng.random() < 0.1:
            messages.append({"role": "developer", "content": f"a note in between, turn {turn}"})
        messages.append({"role": "assistant", "content": f"answer {turn} " + "word " * rng.randint(0, 90)})
    messages.append({"role": "user", "content": "and now?"})
    return messages


def orphans(messages: list[dict[str, Any]]) -> int:
    asked = {call["id"] for message in messages for call in message.get("tool_calls", [])}
    answered = {message["tool_call_id"] for message in messages if message["role"] == "tool"}
    return len(asked ^ answered)


def test_ten_thousand_conversations_are_cut_without_harm() -> None:
    """Replayed call by call as a client sends them: no orphan, no lost system or newest user message, never longer
    than the input, and between two cuts each call's bytes begin with those of the call before."""
    rng = random.Random(20)
    cuts = replays = 0
    for _ in range(10_000):
        messages = conversation(rng)
        turns = [index + 1 for index, message in enumerate(messages) if message["role"] == "user"]
        frozen: Checkpointed | None = None
        before = ""
        for end in turns[-rng.randint(1, 4) :]:
            read = CHAT.read(json.dumps({"model": "m", "messages": messages[:end]}).encode())
            counts = [len(text_of(message)) // 4 + 4 for message in read.messages]
            decided = plan(read, counts, overhead=0, frozen=frozen, settings=SETTINGS)
            if isinstance(decided, Untouched):
                continue
            if isinstance(decided, Cut):
                cuts += 1
                frozen, before = frozen_at(read, decided.keep_from), ""
            replays += isinstance(decided, Replay)
            sent = CHAT.rewrite(read, keep_from=decided.keep_from, block=BLOCK).decode()
            check(messages[:end], json.loads(sent)["messages"], read.prefix)
            assert sent.startswith(before)
            before = sent.removesuffix("]}")
    assert cuts > 1_000
    assert replays > 1_000


def text_of(message: Any) -> str:
    return message.text + "".join(result.text for result in message.tool_results)


def check(given: list[dict[str, Any]], sent: list[dict[str, Any]], prefix: int) -> None:
    assert orphans(sent) == 0
    assert sent[-1] == given[-1]
    assert sent[:prefix] == given[:prefix]
    assert sent[prefix]["content"] == BLOCK
    assert [m for m in sent if m["role"] in ("system", "developer")] == [
        m for m in given if m["role"] in ("system", "developer")
    ]
    tail = [m for m in sent[prefix + 1 :] if m["role"] != "developer"]
    assert tail[0]["role"] == "user"
