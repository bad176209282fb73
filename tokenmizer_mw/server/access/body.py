"""Size and time limits for request bodies, applied while the application reads them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.wire.encoding import DECODERS, Decoder, Undecodable

from .head import RequestHead
from .refusals import BODY_BROKEN, BODY_ENCODED, BODY_TOO_LARGE, BODY_TOO_SLOW, Refusal
from .settings import AccessSettings
from .within import within

if TYPE_CHECKING:
    from starlette.types import Message, Receive

LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 4 * 1024 * 1024
"""What is read, and thrown away, of a body that was refused."""

_STEP: Final = 512
"""Encoded bytes decoded at once: what even a bomb makes of them is no more than memory can take."""


def body_refused(head: RequestHead, settings: AccessSettings) -> Refusal | None:
    """Return why a body is refused before any of it is read (too long, unknown encoding); ``None`` if it is not."""
    if head.length is not None and head.length > settings.body_max:
        return BODY_TOO_LARGE
    if head.encoding not in (b"", b"identity") and head.encoding.decode("latin-1") not in DECODERS:
        return BODY_ENCODED
    return None


async def linger(receive: Receive) -> None:
    """Read and discard the rest of a body for a moment after the response was sent.

    Closing a connection with unread bytes resets it, and a client that is still sending would then lose the response.
    """
    left, end = LINGER_BYTES, time.monotonic() + LINGER_SECONDS
    while left > 0 and (seconds := end - time.monotonic()) > 0:
        message = await within(seconds, receive())
        if message is None or message["type"] != "http.request" or not message.get("more_body", False):
            return
        left -= len(message.get("body", b""))


class Body:
    """The body of one request, checked against the limits while it is read.

    ``refusal``: why the body was refused; ``None`` while it is within the limits. From then on ``receive`` reports a
    disconnect. ``sent``: true once the client has sent the whole body.
    """

    __slots__ = (
        "_complete",
        "_decoded",
        "_decoder",
        "_receive",
        "_received",
        "_settings",
        "_waited",
        "refusal",
        "sent",
    )

    def __init__(self, receive: Receive, head: RequestHead, settings: AccessSettings) -> None:
        self._receive = receive
        self._settings = settings
        self._received = self._decoded = 0
        self._waited = 0.0
        self._complete = False
        encoded = head.encoding not in (b"", b"identity")
        self._decoder: Decoder | None = DECODERS[head.encoding.decode("latin-1")]() if encoded else None
        self.refusal: Refusal | None = None
        self.sent = False

    @property
    def received(self) -> int:
        """Number of bytes received so far."""
        return self._received

    async def receive(self) -> Message:
        """Return the next ASGI message of the body; ``http.disconnect`` once the body was refused.

        After the end of the body it awaits the server's own ``receive`` without a time limit.
        """
        if self._complete:
            return await self._receive()
        if self.refusal is None:
            message = await self._next_message()
            if message is not None:
                self.refusal = await self._look_at(message)
                if self.refusal is None:
                    return message
        return {"type": "http.disconnect"}

    async def _next_message(self) -> Message | None:
        """The next message; ``None`` when it does not come in time."""
        settings = self._settings
        begun = time.monotonic()
        left = settings.body_wait_seconds + self._received / settings.body_bytes_per_second - self._waited
        message = await within(max(left, 0.0), self._receive())
        if message is None:
            self.refusal = BODY_TOO_SLOW
        self._waited += time.monotonic() - begun
        return message

    async def _look_at(self, message: Message) -> Refusal | None:
        if message["type"] != "http.request":
            self._complete = True
            return None
        piece: Any = message.get("body", b"")
        self._received += len(piece)
        self.sent = not message.get("more_body", False)
        if self._received > self._settings.body_max:
            return BODY_TOO_LARGE
        if self._decoder is not None and piece:
            refusal = await offload(partial(self._decode, self._decoder, bytes(piece)), CPU)
            if refusal is not None:
                return refusal
        self._complete = self.sent
        return None

    def _decode(self, decoder: Decoder, piece: bytes) -> Refusal | None:
        most = self._settings.body_max
        for at in range(0, len(piece), _STEP):
            try:
                self._decoded += len(decoder.decode(piece[at : at + _STEP], most - self._decoded + 1))
            except Undecodable:
                return BODY_BROKEN
            if self._decoded > most:
                return BODY_TOO_LARGE
        return None
