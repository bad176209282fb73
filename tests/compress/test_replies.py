"""Whole replies without pleasantries: in each dialect's shape, and through the middleware."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.saving.compress.filler import trim_reply
from tokenmizer_mw.saving.reply_trimming import TrimmedReplies
from tokenmizer_mw.settings import Settings

SAID = "Great question! The port is 8080, not 80.\n\nHope this helps!"
LEFT = "The port is 8080, not 80."
TEXT = [{"type": "text", "text": SAID}]
REPLIES: dict[str, Any] = {
    "openai_chat": {"id": "1", "choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}}]},
    "openai_responses": {
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
        ]
    },
    "anthropic": {"type": "message", "role": "assistant", "content": TEXT, "usage": {"output_tokens": 9}},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": SAID}]}, "index": 0}]},
    "ollama": {"model": "m", "message": {"role": "assistant", "content": SAID}, "done": True},
    "cohere": {"id": "1", "message": {"role": "assistant", "content": TEXT}},
}


def put(value: Any, text: str) -> Any:
    return json.loads(json.dumps(value).replace(json.dumps(SAID), json.dumps(text)))


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("indent", [None, 2])
def test_pleasantries_go_and_every_other_byte_stays(name: str, indent: int | None) -> None:
    body = json.dumps(REPLIES[name], indent=indent).encode()
    assert trim_reply(body) == json.dumps(put(REPLIES[name], LEFT), indent=indent).encode()
    assert trim_reply(trim_reply(body)) == trim_reply(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"\xff",
        b"[" * 5_000,
        b"[1, 2]",
        json.dumps({"error": {"message": SAID}}).encode(),
        json.dumps(
            {"choices": [{"message": {"role": "assistant", "content": SAID}, "logprobs": {"content": []}}]}
        ).encode(),
        json.dumps({"content": [{"type": "text", "text": SAID, "citations": [{}]}], "role": "assistant"}).encode(),
        json.dumps({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": []}}]}).encode(),
        json.dumps({"choices": "none", "candidates": [1], "output": None}).encode(),
    ],
)
def test_what_is_no_such_reply_is_the_same_object(body: bytes) -> None:
    probed = body if b"logprobs" not in body else body.replace(b'{"content": []}', b'{"content": [{"token": "a"}]}')
    assert trim_reply(probed) is probed


def served(
    pieces: list[bytes], *, kind: bytes = b"application/json", most: int = 10_000, status: int = 200
) -> list[Any]:
    """What a client sees of a response that is sent in ``pieces``."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        length = str(sum(map(len, pieces))).encode()
        headers = [(b"Content-Type", kind), (b"Content-Length", length)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for at, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": at + 1 < len(pieces)})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    asyncio.run(TrimmedReplies(app, most=most)({"type": "http"}, receive, send))
    return sent


def body_of(sent: list[Any]) -> bytes:
    assert not sent[-1].get("more_body")
    return b"".join(message["body"] for message in sent[1:])


def test_reply_in_pieces_is_trimmed_as_a_whole_and_tells_its_length() -> None:
    body = json.dumps(REPLIES["openai_chat"]).encode()
    sent = served([body[:30], body[30:70], body[70:]])
    assert body_of(sent) == trim_reply(body)
    assert dict(sent[0]["headers"])[b"Content-Length"] == str(len(trim_reply(body))).encode()


@pytest.mark.parametrize(
    "how", [{"kind": b"text/event-stream"}, {"most": 40}, {"status": 500}, {"kind": b"application/x-ndjson"}]
)
def test_other_replies_pass_piece_by_piece(how: dict[str, Any]) -> None:
    body = json.dumps(REPLIES["openai_chat"]).encode()
    sent = served([body[:30], body[30:]], **how)
    assert body_of(sent) == body
    assert dict(sent[0]["headers"])[b"Content-Length"] == str(len(body)).encode()


@pytest.mark.parametrize(("settings", "text"), [(Settings(), SAID), (Settings(trim_replies=True), LEFT)])
def test_memory_keeps_what_the_client_gets(settings: Settings, text: str) -> None:
    memory = SessionMemory.open("memory://", settings)
    sent: list[Any] = []
    asked = json.dumps({"messages": [{"role": "user", "content": "Which port?"}]}).encode()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(REPLIES["openai_chat"]).encode()})

    async def receive() -> Any:
        return {"type": "http.request", "body": asked, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"x-session-id", b"s"), (b"content-length", str(len(asked)).encode())]
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": headers, "query_string": b""}
    asyncio.run(TokenMizerMiddleware(app, memory=memory)(scope, receive, send))
    assert json.loads(body_of(sent))["choices"][0]["message"]["content"] == text
    assert [one.message.text for one in memory.messages("s")] == ["Which port?", text]
    memory.close()
