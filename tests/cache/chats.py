"""A question in each of the six dialects, and an application that answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.asgi.driving import Connection, piece, read_body, request, start
from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory

SAID = "Use slicing: items[::-1]."
QUESTION = "How do I reverse a list in Python?"
SAME = "what's the way to reverse a python list"
OTHER = "How do I reverse a tuple in Python?"
SSE = b"text/event-stream"


def _events(*events: Mapping[str, Any], named: bool = False) -> list[bytes]:
    return [
        (f"event: {event['type']}\n" if named else "").encode() + b"data: " + json.dumps(event).encode() + b"\n\n"
        for event in events
    ]


@dataclass(frozen=True)
class Chat:
    """A dialect: where it is spoken, a request in it, and a streamed reply."""

    name: str
    path: str
    reply: Sequence[bytes]
    content_type: bytes = SSE
    more: Mapping[str, Any] = field(default_factory=dict)

    def request(self, question: str = QUESTION, **changes: Any) -> dict[str, Any]:
        """The members of a request: a system prompt, one exchange, and a question."""
        members = {**self._members(question), **self.more, **changes}
        return {name: value for name, value in members.items() if value is not None}

    def body(self, question: str = QUESTION, **changes: Any) -> bytes:
        return json.dumps(self.request(question, **changes)).encode()

    def _members(self, question: str) -> dict[str, Any]:
        told = [("user", "Hello."), ("assistant", "Hello! What do you need?"), ("user", question)]
        spoken = [{"role": role, "content": text} for role, text in told]
        match self.name:
            case "anthropic":
                return {"model": "m", "max_tokens": 100, "system": "Be brief.", "messages": spoken, "stream": True}
            case "openai_responses":
                return {"model": "m", "instructions": "Be brief.", "input": spoken, "stream": True}
            case "gemini":
                roles = {"user": "user", "assistant": "model"}
                contents = [{"role": roles[role], "parts": [{"text": text}]} for role, text in told]
                return {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": contents}
            case _:
                system = {"role": "system", "content": "Be brief."}
                return {"model": "m", "stream": True, "messages": [system, *spoken]}


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


_OUTPUT = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}
CHATS = (
    Chat(
        "openai_chat",
        "/v1/chat/completions",
        [*_events(_chunk({"role": "assistant", "content": SAID}), _chunk({}, "stop")), b"data: [DONE]\n\n"],
    ),
    Chat(
        "openai_responses",
        "/v1/responses",
        _events(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": SAID},
            {"type": "response.completed", "response": {"id": "r1", "status": "completed", "output": [_OUTPUT]}},
            named=True,
        ),
    ),
    Chat(
        "anthropic",
        "/v1/messages",
        _events(
            {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": SAID}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
            named=True,
        ),
    ),
    Chat(
        "gemini",
        "/v1beta/models/m:streamGenerateContent",
        _events({"candidates": [{"content": {"role": "model", "parts": [{"text": SAID}]}, "finishReason": "STOP"}]}),
    ),
    Chat(
        "ollama",
        "/api/chat",
        [
            json.dumps({"model": "m", "message": {"role": "assistant", "content": SAID}, "done": False}).encode()
            + b"\n",
            b'{"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}\n',
        ],
        b"application/x-ndjson",
    ),
    Chat(
        "cohere",
        "/v2/chat",
        _events(
            {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
            {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": SAID}}}},
            {"type": "content-end", "index": 0},
            {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
            named=True,
        ),
    ),
)
OPENAI = CHATS[0]


class Application:
    """Answers with ``reply``; ``calls`` are the bodies that it was asked with."""

    def __init__(self, chat: Chat = OPENAI, reply: Sequence[bytes] | None = None, **head: Any) -> None:
        self.calls: list[bytes] = []
        self.reply = chat.reply if reply is None else reply
        self.head = {"headers": [(b"content-type", chat.content_type), (b"x-own", b"1")], **head}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls.append(await read_body(receive))
        await send(start(**self.head))
        for part in self.reply:
            await send(piece(part))
        await send(piece(more=False))


async def call(
    memory: SessionMemory,
    app: Any,
    body: bytes,
    *,
    path: str = OPENAI.path,
    session: str = "one",
    tenant: str = "local",
    query: bytes = b"",
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> Connection:
    """One call through the middleware; what it kept is kept when this returns."""
    told = [(b"content-type", b"application/json"), *headers]
    told += [(b"x-session-id", session.encode())] if session else []
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "root_path": "",
        "query_string": query,
        "headers": told,
        "http_version": "1.1",
        "scheme": "http",
        "extensions": {},
    }
    connection = Connection(request(body))
    wrapped = TokenMizerMiddleware(app, memory=memory, tenant=lambda scope: tenant)
    await wrapped(scope, connection.receive, connection.send)
    assert memory.flush(20)
    return connection


def way(connection: Connection) -> str:
    """How the answer was found, "" for one that the application gave."""
    headers = dict(connection.sent[0]["headers"])
    return str(headers.get(b"x-tokenmizer-cache", b"").decode())
