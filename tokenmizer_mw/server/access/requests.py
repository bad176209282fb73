"""Head and body of a request: parses the headers that access control needs, and enforces limits on the body while the
application reads it.

How ``within`` works: setting a timeout costs several microseconds, and most bodies are available as soon as they are
read. On asyncio the coroutine therefore runs until it first has to wait, and only then a timeout is set. If the
coroutine has entered context managers by then, they exit inside the timeout's block. Timeouts of asyncio may overlap in
this way. Those of trio must be nested, so there the timeout is set first.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import anyio

from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.wire.http import DECODERS, Decoder, Header, Undecodable

from .keys import looks_like_key
from .refusals import (
    BODY_BROKEN,
    BODY_ENCODED,
    BODY_TOO_LARGE,
    BODY_TOO_SLOW,
    HEAD_INVALID,
    HEAD_TOO_LARGE,
    Refusal,
)
from .settings import AccessSettings

if TYPE_CHECKING:
    from starlette.types import Message, Receive

_BEARER: Final = b"Bearer "
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_ONCE: Final = frozenset({b"host", b"origin", b"content-length", b"content-encoding", b"transfer-encoding"})

_PLACES: Final = frozenset({b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key"})
"""Headers in which the clients of the supported LLM APIs send an API key."""


class RequestHead:
    """The request headers that access control needs.

    - ``headers``: all headers as received. ``host`` and ``origin``: the values of these headers, b"" if missing.
    - ``length``: the declared length of the body in bytes; ``None`` if none is declared.
    - ``encoding``: the content encoding of the body in lower case, b"" for none.
    - ``key``: the API key of this server that the request carries. ``None`` if no header has a value of its format, if
      several have, or if a header that may carry a key occurs twice.
    - ``key_at``: index in ``headers`` of the header with the key; -1 if there is none.
    """

    __slots__ = ("encoding", "headers", "host", "key", "key_at", "length", "origin")

    def __init__(self, headers: list[Header]) -> None:
        self.headers = headers
        self.host = b""
        self.origin = b""
        self.encoding = b""
        self.length: int | None = None
        self.key: bytes | None = None
        self.key_at = -1

    def without_key(self) -> list[Header]:
        """Return a copy of the headers without the one that has this server's API key, so that inner applications
        cannot forward the key by mistake."""
        headers = list(self.headers)
        if self.key_at >= 0:
            del headers[self.key_at]
        return headers


def read_head(given: Iterable[Header], head_max: int, key_header: bytes) -> RequestHead | Refusal:
    """Parse the headers of a request. Returns a refusal (an error response) instead if they exceed ``head_max`` bytes,
    contradict each other, repeat one that may occur only once, or have a malformed ``Host`` or ``Content-Length``.

    ``key_header``: lower-case name of the additional header in which clients may send this server's API key.
    """
    headers = given if isinstance(given, list) else list(given)
    head = RequestHead(headers)
    found: dict[bytes, bytes] = {}
    size = 0
    for at, (spelled, value) in enumerate(headers):
        size += len(spelled) + len(value)
        name = spelled.lower()
        if name in _ONCE:
            if name in found:
                return HEAD_INVALID
            found[name] = value
        elif name in _PLACES or name == key_header:
            _read_key(head, at, name, value, found)
    if size > head_max:
        return HEAD_TOO_LARGE
    return _read_rest(head, found) if found else head


def _read_key(head: RequestHead, at: int, name: bytes, value: bytes, found: dict[bytes, bytes]) -> None:
    twice = name in found
    found[name] = b""
    written = value[len(_BEARER) :] if name == b"authorization" and value.startswith(_BEARER) else value
    ours = looks_like_key(written) and (written is not value or name != b"authorization")
    if twice or (ours and head.key_at >= 0):
        found[_AMBIGUOUS] = b""
    elif ours:
        head.key, head.key_at = written, at


_AMBIGUOUS: Final = b"\x00"


def _read_rest(head: RequestHead, found: dict[bytes, bytes]) -> RequestHead | Refusal:
    if _AMBIGUOUS in found:
        head.key = None
    head.host = found.get(b"host", b"")
    head.origin = found.get(b"origin", b"")
    encoding = found.get(b"content-encoding")
    if encoding is not None:
        head.encoding = encoding.strip().lower()
    length = found.get(b"content-length")
    if length is not None:
        if b"transfer-encoding" in found or not _LENGTH.fullmatch(length):
            return HEAD_INVALID
        head.length = int(length)
    if head.host and not _HOST.fullmatch(head.host):
        return HEAD_INVALID
    return head


T = TypeVar("T")


async def within(seconds: float, awaitable: Awaitable[T]) -> T | None:
    """Await ``awaitable`` for at most ``seconds`` and return its result. If it takes longer, cancel it and return
    ``None``."""
    if not _is_on_asyncio():
        with anyio.move_on_after(seconds):
            return await awaitable
        return None
    begun = _run_to_suspension(awaitable)
    if not isinstance(begun, _Suspended):
        return begun
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            return await begun
    except TimeoutError:
        if deadline.expired():
            return None
        raise


def _is_on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


class _Suspended(Generic[T]):
    """A coroutine that has begun and now waits for something. Awaiting this object continues the coroutine. The task
    that began the coroutine must await this object before anything else."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, T], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, T]:
        """Yield to the event loop what the coroutine yields, and pass the loop's answers to the coroutine, as
        ``yield from`` does."""
        waits_for = self._waits_for
        while True:
            try:
                answer = yield waits_for
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:
                step: Callable[[], Any] = partial(self._coroutine.throw, error)
            else:
                step = partial(self._coroutine.send, answer)
            try:
                waits_for = step()
            except StopIteration as end:
                result: T = end.value
                return result


def _run_to_suspension(awaitable: Awaitable[T]) -> T | _Suspended[T]:
    """Run ``awaitable`` until it first has to wait. Returns its result if it ends without waiting, else an object that
    continues it when awaited."""
    coroutine = awaitable if isinstance(awaitable, Coroutine) else _coroutine(awaitable)
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    return _Suspended(coroutine, waits_for)


async def _coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable


LINGER_SECONDS: Final = 2.0

LINGER_BYTES: Final = 4 * 1024 * 1024
"""Number of bytes after which the server stops reading (and discarding) the rest of a refused body."""

_STEP: Final = 512
"""Number of compressed bytes that are decompressed at once. It is small, so that the output of one step fits into
memory even for a decompression bomb (a small body that decompresses to a huge one)."""


def body_refused(head: RequestHead, settings: AccessSettings) -> Refusal | None:
    """Return why the body of a request with this ``head`` is refused before any of it is read: its declared length
    exceeds ``settings.body_max``, or its content encoding is not supported. ``None`` if it is not refused."""
    if head.length is not None and head.length > settings.body_max:
        return BODY_TOO_LARGE
    if head.encoding not in (b"", b"identity") and head.encoding.decode("latin-1") not in DECODERS:
        return BODY_ENCODED
    return None


async def linger(receive: Receive) -> None:
    """Read and discard the rest of a body after the response was sent, for at most ``LINGER_SECONDS`` and about
    ``LINGER_BYTES`` bytes.

    If a server closes a connection with unread bytes, the connection is reset, and a client that is still sending then
    loses the response.
    """
    left, end = LINGER_BYTES, time.monotonic() + LINGER_SECONDS
    while left > 0 and (seconds := end - time.monotonic()) > 0:
        message = await within(seconds, receive())
        if message is None or message["type"] != "http.request" or not message.get("more_body", False):
            return
        left -= len(message.get("body", b""))


class Body:
    """The body of one request. Size, speed and compression are checked against the limits while the application reads
    it.

    ``refusal``: why the body was refused (the error response to send); ``None`` while it is within the limits. After a
    refusal, ``receive`` reports that the client has disconnected. ``sent``: whether the client has sent the whole body.
    """

    __slots__ = (
        "_complete", "_decoded", "_decoder", "_receive", "_received", "_settings", "_waited", "refusal", "sent",
    )  # fmt: skip

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
        """Number of bytes of the body received so far, before decompression."""
        return self._received

    async def receive(self) -> Message:
        """Return the next ASGI message of the body. Once the body was refused, return ``http.disconnect``.

        After the end of the body, the call waits for the server's next message (usually the client's disconnect)
        without a time limit.
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
        """Return the server's next message. If it does not arrive within the time that the settings allow, set
        ``refusal`` and return ``None``."""
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
