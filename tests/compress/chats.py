"""Chats of an agent, made up: as messages, and as the body of a request in each dialect."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

Messages = list[dict[str, Any]]

FILES = ("src/billing/invoice.py", "src/billing/rounding.py", "tests/test_invoice.py", "src/api/routes.py")


def source(name: str, lines: int = 40) -> str:
    """The text of a source file that tells its name in every line."""
    stem = name.rsplit("/", 1)[-1].removesuffix(".py")
    body = [f"    total_{stem}_{at} = compute_{stem}(row_{at}, {at * 7 % 13}.{at})" for at in range(lines)]
    return "\n".join([f"class {stem.title().replace('_', '')}:", *body])


def printed_by_pytest(passed: int, failing: str = "") -> str:
    rows = [f"tests/test_invoice.py::test_case_{at} PASSED" for at in range(passed)]
    if failing:
        rows += [f"tests/test_invoice.py::{failing} FAILED", "E   AssertionError: assert 12.35 == 12.34"]
    return "\n".join([*rows, f"{int(bool(failing))} failed, {passed} passed in 1.23s"])


def listing(count: int) -> str:
    return "\n".join(f"-rw-r--r-- 1 dev staff {100 + at} Nov  3 10:{at:02} module_{at}.py" for at in range(count))


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def result(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def agent_chat(rounds: int, seed: int = 1) -> Messages:
    """A chat in OpenAI's shape: a system prompt, questions, tool calls with their output, answers with pleasantries."""
    rng = random.Random(seed)
    messages: Messages = [{"role": "system", "content": "You are a coding agent. Never push to main."}]
    number = 0
    for turn in range(rounds):
        messages.append({"role": "user", "content": f"Step {turn}: please look at invoice {turn + 100}, not at 7."})
        for _ in range(rng.randint(1, 3)):
            number += 1
            path = rng.choice(FILES)
            ask, answer = rng.choice(
                [
                    (call(number, "read_file", path=path), source(path)),
                    (
                        call(number, "bash", command="pytest -v tests"),
                        printed_by_pytest(12, rng.choice(["", "test_half_up"])),
                    ),
                    (call(number, "bash", command="ls -la src"), listing(9)),
                    (call(number, "fetch_rates", day=turn), json.dumps({"rates": [1.5, 2.25], "day": turn}, indent=4)),
                ]
            )
            messages += [ask, result(number, answer)]
        messages.append(
            {"role": "assistant", "content": f"Sure! The total is {turn}.50 in `rounding.py`. Hope this helps!"}
        )
    return messages


def chat_completions(messages: Messages) -> bytes:
    return json.dumps({"model": "gpt-4o", "tools": [], "messages": messages, "temperature": 0.5}).encode()


def ollama(messages: Messages) -> bytes:
    told = []
    for message in messages:
        calls = [
            {"function": {"name": one["function"]["name"], "arguments": json.loads(one["function"]["arguments"])}}
            for one in message.get("tool_calls", ())
        ]
        told.append(
            {"role": message["role"], "content": message["content"] or ""} | ({"tool_calls": calls} if calls else {})
        )
    return json.dumps({"model": "llama3.1", "messages": told}).encode()


def responses(messages: Messages) -> bytes:
    items: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
        elif message.get("tool_calls"):
            one = message["tool_calls"][0]
            items.append({"type": "function_call", "call_id": one["id"], **one["function"]})
        else:
            kind = "output_text" if message["role"] == "assistant" else "input_text"
            items.append({"role": message["role"], "content": [{"type": kind, "text": message["content"]}]})
    return json.dumps({"model": "gpt-5.4", "input": items, "store": False}).encode()


def anthropic(messages: Messages) -> bytes:
    told = []
    for message in messages[1:]:
        if message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            told.append({"role": "user", "content": [block]})
        elif message.get("tool_calls"):
            one = message["tool_calls"][0]
            use = {"type": "tool_use", "id": one["id"], "name": one["function"]["name"]}
            told.append({"role": "assistant", "content": [use | {"input": json.loads(one["function"]["arguments"])}]})
        else:
            told.append({"role": message["role"], "content": [{"type": "text", "text": message["content"]}]})
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": messages[0]["content"], "messages": told}
    return json.dumps(body).encode()


def gemini(messages: Messages) -> bytes:
    contents: list[dict[str, Any]] = []
    names = {one["id"]: one["function"]["name"] for message in messages for one in message.get("tool_calls", ())}
    for message in messages[1:]:
        if message["role"] == "tool":
            answer = {"name": names[message["tool_call_id"]], "response": {"output": message["content"]}}
            contents.append({"role": "user", "parts": [{"functionResponse": answer}]})
        elif message.get("tool_calls"):
            one = message["tool_calls"][0]["function"]
            made = {"name": one["name"], "args": json.loads(one["arguments"])}
            contents.append({"role": "model", "parts": [{"functionCall": made}]})
        else:
            role = "model" if message["role"] == "assistant" else "user"
            contents.append({"role": role, "parts": [{"text": message["content"]}]})
    system = {"parts": [{"text": messages[0]["content"]}]}
    return json.dumps({"systemInstruction": system, "contents": contents}).encode()


def cohere(messages: Messages) -> bytes:
    told = [
        message | {"content": [{"type": "document", "document": {"data": {"output": message["content"]}}}]}
        if message["role"] == "tool"
        else {name: value for name, value in message.items() if value is not None}
        for message in messages
    ]
    return json.dumps({"model": "command-a", "messages": told}).encode()


BODIES: dict[str, Callable[[Messages], bytes]] = {
    "openai_chat": chat_completions,
    "openai_responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "cohere": cohere,
    "ollama": ollama,
}
