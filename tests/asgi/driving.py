"""Driving an ASGI application without a server: a scripted connection, and the two kinds of call it is tried with."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]

SESSION = "conformance"
CHAT_BODY = json.dumps(
    {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "Wie heißt du? \U0001f642"}]},
    ensure_ascii=False,
).encode()


def event(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    chunk = {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


EVENTS = [event("Ich "), event("heiße "), event("Ünal \U0001f642."), event(finish="stop"), b"data: [DONE]\n\n"]
REPLY = "Ich heiße Ünal \U0001f642."
STREAM = b"".join(EVENTS)
SSE = [(b"content-type", b"text/event-stream; charset=utf-8")]


def start(headers: Any = SSE, status: int = 200, **more: Any) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers, **more}


def piece(body: bytes = b"", more: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


def request(body: bytes = b"", more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


class Connection:
    """The server's side: gives the scripted messages, then blocks until the client leaves.

    The client leaves when ``disconnect`` is called, or after ``leave_after`` messages.
    """

    def __init__(
        self,
        *incoming: Message,
        on_send: Callable[[Message], Awaitable[None]] | None = None,
        leave_after: int | None = None,
    ) -> None:
        self.incoming: deque[Message] = deque(incoming)
        self.sent: list[Message] = []
        self.received = 0
        self._on_send = on_send
        self._leave_after = leave_after
        self._changed = asyncio.Event()
        self._gone = False

    async def receive(self) -> Message:
        self.received += 1
        while not self.incoming and not self._gone:
            self._changed.clear()
            await self._changed.wait()
        return self.incoming.popleft() if self.incoming else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if len(self.sent) == self._leave_after:
            self.disconnect()
        if self._on_send is not None:
            await self._on_send(message)

    def push(self, message: Message) -> None:
        self.incoming.append(message)
        self._changed.set()

    def disconnect(self) -> None:
        self._gone = True
        self._changed.set()

    @property
    def body(self) -> bytes:
        return b"".join(bytes(message.get("body", b"")) for message in self.sent)


@dataclass(frozen=True)
class Surface:
    """A kind of call: any path, or a chat call that a session id comes with. ``wrap`` is what is being tried."""

    name: str
    wrap: Callable[[App], App]

    @property
    def body(self) -> bytes:
        return CHAT_BODY if self.name == "chat" else b"any \x00 bytes"

    def scope(self, **changes: Any) -> Message:
        chat = self.name == "chat"
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/chat/completions" if chat else "/v1/other",
            "raw_path": b"/v1/chat/completions" if chat else b"/v1/other",
            "query_string": b"a=1",
            "root_path": "",
            "headers": self.headers(),
            "client": ("127.0.0.1", 5000),
            "server": ("127.0.0.1", 80),
            "state": {},
            "extensions": {},
            **changes,
        }

    def headers(self, *more: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        return [(b"host", b"test"), (b"content-type", b"application/json"), (b"x-session-id", SESSION.encode()), *more]

    def connection(self, *incoming: Message, **options: Any) -> Connection:
        return Connection(*(incoming or (request(self.body),)), **options)

    async def call(self, app: App, connection: Connection | None = None, **scope: Any) -> Connection:
        """One call of the wrapped application."""
        connection = connection or self.connection()
        await self.wrap(app)(self.scope(**scope), connection.receive, connection.send)
        return connection

    async def same(self, make: Callable[[list[Any]], App], *incoming: Message, **scope: Any) -> list[Any]:
        """Call the application bare and wrapped; what the server gets and what the application notes must agree.

        ``make(notes)`` builds the application. Returns the notes.
        """
        outcomes = []
        for wrap in (lambda app: app, self.wrap):
            notes: list[Any] = []
            connection = self.connection(*incoming)
            raised: BaseException | None = None
            try:
                await wrap(make(notes))(self.scope(**scope), connection.receive, connection.send)
            except Exception as error:
                raised = error
            outcomes.append((list(map(_plain, connection.sent)), notes, type(raised), str(raised)))
        assert outcomes[0] == outcomes[1]
        return outcomes[1][1]


def _plain(message: Message) -> Message:
    headers = message.get("headers")
    return message if headers is None or isinstance(headers, list) else {**message, "headers": list(headers)}


async def read_body(receive: Any) -> bytes:
    """The request body as an application reads it; ``AssertionError`` when the client left inside."""
    pieces = []
    while True:
        message = await receive()
        assert message["type"] == "http.request", message
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


def answering(messages: Iterable[Message], notes: list[Any] | None = None) -> App:
    """An application that reads the body (noting it) and sends ``messages``."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = await read_body(receive)
        if notes is not None:
            notes.append(body)
        for message in messages:
            await send(message)

    return app


def streaming(pieces: Iterable[bytes] = EVENTS, headers: Any = SSE, status: int = 200) -> App:
    """An application that streams ``pieces`` and ends with an empty last one, as frameworks do."""
    return answering([start(headers, status), *map(piece, pieces), piece(more=False)])


async def turn_of_the_loop(times: int = 20) -> None:
    """Let everything run that can."""
    for _ in range(times):
        await asyncio.sleep(0)
