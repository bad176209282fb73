"""A simulated provider that costs almost no CPU, so that the proxy before it is measured: canned answers on raw
sockets.

Requests whose body contains ``"stream": true`` get a stream of ``PIECES`` chunks, one every ``PAUSE`` seconds, all
others one JSON document with the same text.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

PIECES: Final = 200
PAUSE: Final = 0.0005
TEXT: Final = "".join(f"piece {number} of the answer " for number in range(PIECES))

_CHOICE: Final = {"index": 0, "message": {"role": "assistant", "content": TEXT}}
_WHOLE: Final = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{**_CHOICE, "finish_reason": "stop"}],
    }
).encode()
_DOCUMENT: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_WHOLE) + _WHOLE
)
_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    data = b"data: " + json.dumps(body).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


_EVENTS: Final = [
    *(_event({"content": f"piece {number} of the answer "}) for number in range(PIECES)),
    _event({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
]


class Provider(asyncio.Protocol):
    """One connection with a client."""

    def __init__(self) -> None:
        self._held = b""
        self._streaming: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, found, body = self._held.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        self._held = body[length:]
        if b'"stream": true' in body[:length]:
            task = asyncio.ensure_future(self._stream())
            self._streaming.add(task)
            task.add_done_callback(self._streaming.discard)
        else:
            self._transport.write(_DOCUMENT)

    async def _stream(self) -> None:
        self._transport.write(_HEAD)
        for event in _EVENTS:
            self._transport.write(event)
            await asyncio.sleep(PAUSE)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
