"""Compression on the path of a request: what the application sees, what the memory keeps, what a failure does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.saving.compress.requests import Compression
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.memory import MemoryLog

from .chats import BODIES, Messages, agent_chat, chat_completions

PATHS = {"openai_chat": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat"}
KEY = SessionKey(LOCAL_TENANT, "s")
REPLY = json.dumps(
    {
        "choices": [{"message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 2},
    }
).encode()
REPLIES = {
    PATHS["anthropic"]: json.dumps(
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Fine."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 900, "output_tokens": 2},
        }
    ).encode()
}
ON = {"compress": "all", "compress_keep": 2, "compress_step": 300}


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def open_memory(log: MemoryLog) -> Iterator[Any]:
    opened: list[SessionMemory] = []

    def open_one(**changes: Any) -> SessionMemory:
        opened.append(SessionMemory(log, Settings(**changes)))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


def seen_by_app(memory: SessionMemory, body: bytes, path: str = PATHS["openai_chat"]) -> bytes:
    """What the application saw of a request."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        length = dict(scope["headers"])[b"content-length"]
        assert int(length) == len(message["body"])
        seen.append(message["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": REPLIES.get(path, REPLY)})

    async def call() -> None:
        headers = [(b"x-session-id", b"s"), (b"content-length", str(len(body)).encode())]
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        scope |= {"headers": headers, "scheme": "http", "server": ("t", 80), "client": ("t", 1), "http_version": "1.1"}
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        await TokenMizerMiddleware(app, memory=memory)(scope, receive, send)

    asyncio.run(call())
    assert memory.flush()
    return bytes(seen[0])


def test_off_by_default_the_same_bytes_go_on(open_memory: Any) -> None:
    body = chat_completions(agent_chat(6))
    assert seen_by_app(open_memory(), body) == body


@pytest.mark.parametrize("name", PATHS)
def test_the_application_sees_shorter_texts_and_the_memory_keeps_the_original_ones(
    open_memory: Any, log: MemoryLog, name: str
) -> None:
    messages = agent_chat(6)
    memory = open_memory(**ON)
    body = BODIES[name](messages)
    seen = seen_by_app(memory, body, PATHS[name])
    assert len(seen) < len(body) * 0.8
    told = [item.event.message for item in log.read(KEY) if isinstance(item.event, MessageRecorded)]
    kept = [result.text for message in told for result in message.tool_results]
    assert kept == [message["content"] for message in messages if message["role"] == "tool"]
    assert memory.counters()["request_compressed"] == 1


def test_what_goes_on_begins_with_what_went_on_before_until_the_history_makes_a_step(open_memory: Any) -> None:
    memory = open_memory(compress="filler,json,spaces,logs,listings,repeats")
    messages, before = agent_chat(6), b""
    for end in [at + 1 for at, message in enumerate(messages) if message["role"] in ("user", "tool")]:
        seen = seen_by_app(memory, json.dumps({"model": "m", "messages": messages[:end]}).encode())
        assert seen.startswith(before)
        before = seen.removesuffix(b"]}")


def test_secrets_are_taken_out_before_anything_is_compressed(open_memory: Any) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9" * 3
    messages = agent_chat(6)
    place = next(at for at, message in enumerate(messages) if message["role"] == "tool")
    messages[place]["content"] += f"\nGITHUB_TOKEN={secret}"
    seen = seen_by_app(open_memory(**ON), chat_completions(messages))
    assert secret.encode() not in seen


def test_a_window_that_is_not_full_after_compression_is_not_cut(open_memory: Any) -> None:
    messages = [*agent_chat(24), {"role": "user", "content": "And now?"}]
    body = chat_completions(messages)
    spared = open_memory(context_window=6_500, **ON)
    assert len(json.loads(seen_by_app(spared, body))["messages"]) == len(messages)
    assert spared.counters().get("cut_made", 0) == 0
    cut = open_memory(context_window=6_500)
    seen_by_app(cut, body)
    assert cut.counters()["cut_made"] == 1


def test_cut_and_compression_work_together(open_memory: Any) -> None:
    memory = open_memory(context_window=4_000, **ON)
    messages = agent_chat(40)
    seen = json.loads(seen_by_app(memory, chat_completions([*messages, {"role": "user", "content": "And now?"}])))
    assert memory.counters()["cut_made"] == 1
    assert memory.counters()["request_compressed"] == 1
    assert len(seen["messages"]) < len(messages)
    calls = {call["id"] for one in seen["messages"] for call in one.get("tool_calls") or ()}
    assert {one["tool_call_id"] for one in seen["messages"] if one["role"] == "tool"} <= calls


def test_failure_of_ours_lets_the_request_pass_as_it_is(open_memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Patched: each stage is guarded by itself, and no request is known that makes what is around them fail.
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("ours")

    monkeypatch.setattr(Compression, "condense", broken)
    memory = open_memory(**ON)
    body = chat_completions(agent_chat(6))
    assert seen_by_app(memory, body) == body
    assert memory.counters()["compress_failed"] == 1


def test_stage_that_fails_is_counted_and_the_others_run(open_memory: Any) -> None:
    def broken(text: str) -> str:
        raise ValueError("no model")

    memory = open_memory(**{**ON, "compress": "all,neural"})
    memory.shrink = broken
    messages: Messages = agent_chat(6)
    place = next(at for at, message in enumerate(messages) if message["role"] == "tool")
    call = messages[place - 1]["tool_calls"][0]["function"]
    call["name"], call["arguments"] = "fetch", '{"url": "https://example.com"}'
    messages[place]["content"] = "The invoice is paid by the customer within a month of its date. " * 50
    body = chat_completions(messages[: place + 1])
    assert seen_by_app(memory, body) == body
    assert memory.counters()["compress_neural_failed"] == 1


def test_forgetting_leaves_nothing_of_a_session_in_the_process(open_memory: Any) -> None:
    memory = open_memory(**ON)
    seen_by_app(memory, chat_completions(agent_chat(6)))
    compression = memory.service.compression
    assert compression is not None
    assert compression.held > 0
    memory.forget("s")
    assert compression.held == 0


def test_books_tell_what_each_stage_saved(open_memory: Any) -> None:
    memory = open_memory(**ON, savings=True)
    seen_by_app(memory, chat_completions([*agent_chat(6), {"role": "user", "content": "And now?"}]))
    saved = {row.stage: row.figures.client_tokens - row.figures.input_tokens for row in memory.savings("s").rows}
    assert saved["history"] > 0
    assert saved["filler"] > 0
