"""Calls through the middleware to an application that answers as a provider would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware

CHAT = "/v1/chat/completions"


def chat(turns: int, words: int = 40) -> list[dict[str, str]]:
    """A history of so many turns, and a question."""
    told = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        text = " ".join(f"word{turn * words + place}" for place in range(words))
        told += [{"role": "user", "content": f"Use the table orders{turn}. {text}"}]
        told += [{"role": "assistant", "content": f"Done with {turn}."}]
    return [*told, {"role": "user", "content": f"What is next after {turns}?"}]


def asked(messages: list[dict[str, str]], model: str = "gpt-4o", **members: Any) -> bytes:
    return json.dumps({"model": model, **members, "messages": messages}).encode()


def answered(text: str = "Noted.", **usage: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "choices": [choice], **({"usage": usage} if usage else {})}


def used(prompt: int, cached: int, completion: int = 10) -> dict[str, Any]:
    details = {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": completion, **details}


def call(
    memory: SessionMemory,
    body: bytes,
    reply: Mapping[str, Any] | bytes,
    *,
    session: str = "s",
    path: str = CHAT,
    status: int = 200,
    media: bytes = b"application/json",
) -> bytes:
    """Send a call; what the application saw. All work behind it is done when this returns."""
    seen: list[bytes] = []
    told = reply if isinstance(reply, bytes) else json.dumps(reply).encode()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((await receive())["body"])
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", media)]})
        await send({"type": "http.response.body", "body": told, "more_body": False})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        pass

    headers = [(b"content-type", b"application/json"), (b"x-session-id", session.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
    asyncio.run(TokenMizerMiddleware(app, memory=memory)(scope, receive, send))
    assert memory.flush(30)
    return seen[0]
