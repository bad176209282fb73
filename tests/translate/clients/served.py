"""A server that speaks a client's dialect and says what it is told to: for SDKs to read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tokenmizer_mw.errors import PeerError
from tokenmizer_mw.server.translate.chat import (
    Began,
    ChatCall,
    Ended,
    Fault,
    Grew,
    ModelReply,
    ModelToolCall,
    PartStart,
    StreamEvent,
    Text,
    Thought,
)
from tokenmizer_mw.server.translate.translation import ClientSide, dump, load

CREATED = 1_790_000_000


class HttpServed:
    """While the context lasts, a server at ``url`` that lets ``do_post`` answer."""

    url = ""
    protocol = "HTTP/1.0"

    def do_post(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = served.protocol

            def do_POST(self) -> None:
                served.do_post(self, self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass
class Served(HttpServed):
    """While the context lasts, answers requests of ``side``'s dialect at ``url`` with ``answer``, streamed in
    ``events`` where the client asks for that, or with ``fault``. ``calls`` are the requests in words."""

    side: ClientSide
    answer: ModelReply | None = None
    events: Sequence[StreamEvent] = ()
    fault: Fault | None = None
    calls: list[ChatCall] = field(default_factory=list)

    def do_post(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        status, media_type, reply = self.reply(load(body))
        handler.send_response(status)
        handler.send_header("content-type", media_type)
        handler.send_header("content-length", str(len(reply)))
        handler.end_headers()
        handler.wfile.write(reply)

    def reply(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        try:
            call = self.side.call(body)
        except PeerError as error:
            return 400, "application/json", dump(self.side.error(Fault(400, str(error))))
        self.calls.append(call)
        if self.fault is not None:
            return self.fault.status, "application/json", dump(self.side.error(self.fault))
        if call.stream:
            return 200, "text/event-stream", streamed(self.side, call, self.events)
        assert self.answer is not None
        return 200, "application/json", dump(self.side.reply(self.answer, call, created=CREATED))


def streamed(side: ClientSide, call: ChatCall, events: Sequence[StreamEvent]) -> bytes:
    """A stream with a sign of life between all events."""
    writer = side.writer(call, created=CREATED)
    return b"".join(writer.send(event) + writer.ping() for event in events)


def as_events(answer: ModelReply, size: int = 3) -> list[StreamEvent]:
    """An answer as a provider streams it, in pieces of ``size`` characters."""
    events: list[StreamEvent] = [Began(answer.id, answer.model)]
    for part in answer.parts:
        match part:
            case Text(text):
                events += [PartStart(Text("")), *_pieces(text, size)]
            case Thought(text, seal, sealed_by, hidden):
                events += [PartStart(Thought("", hidden=hidden)), *_pieces(text, size)]
                events += [Grew(seal=seal, sealed_by=sealed_by)] if seal else []
            case ModelToolCall(id, name, arguments, seal, sealed_by):
                events += [PartStart(ModelToolCall(id, name, "", seal, sealed_by)), *_pieces(arguments, size)]
    return [*events, Ended(answer.finish, answer.usage, answer.stop_sequence)]


def _pieces(text: str, size: int) -> list[StreamEvent]:
    return [Grew(text[start : start + size]) for start in range(0, len(text), size)]
