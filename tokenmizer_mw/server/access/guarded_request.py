"""Access control for one request: refuse it or pass it on, limit its body, and settle the usage of its response.

All providers report usage in the last event or at the end of the body; Anthropic's streams report prompt tokens in the
first event. Quotes inside of texts are escaped, so that model output is not mistaken for usage. If no usage is found,
it is estimated from the number of bytes.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.wire.http import Header

from .caller import CALLER_KEY, CHAT, Caller, below_root, uses_tokens
from .counting import Taken, TooMuch
from .limiting import Plan
from .refusals import BODY_TOO_SLOW, LIMITS_UNKNOWN, NOT_GOOD_FOR, Refusal, limit_refused
from .request_body import Body, body_refused, linger
from .request_head import RequestHead

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from .middleware import Access

_ENDS: Final = 4_096
_HELD_MAX: Final = 16 * _ENDS
_TOTAL: Final = re.compile(rb'"(?:total_tokens|totalTokenCount)"\s*:\s*(\d{1,12})')
_PROMPT: Final = re.compile(rb'"(?:prompt_tokens|input_tokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,12})')
_CACHED: Final = re.compile(rb'"cache_creation_input_tokens"\s*:\s*(\d{1,12})')
_REPLY: Final = re.compile(rb'"(?:completion_tokens|output_tokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,12})')
_BYTES_A_TOKEN: Final = 4

_STREAMED_BYTES_A_TOKEN: Final = 330
"""What an event of a stream takes for a token, with all that stands around it."""


class ResponseEnds:
    """Collects the first and last bytes of one response, and its length."""

    __slots__ = ("_first", "_held", "_last", "_plain", "_size", "_status", "_streamed")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._first: bytes | None = None
        self._size = self._last = 0
        self._status = 0
        self._plain = True
        self._streamed = False

    def starts(self, status: int, content_type: bytes, encoding: bytes) -> None:
        """Note status, content type and encoding of the response."""
        self._status = status
        self._plain = encoding in (b"", b"identity")
        self._streamed = b"stream" in content_type or b"ndjson" in content_type

    def passes(self, piece: bytes) -> None:
        """Note a piece of the response body."""
        self._held.append(piece)
        self._size += len(piece)
        if self._size - self._last > _HELD_MAX:
            self._trim()

    def _trim(self) -> None:
        """Hold the ends only."""
        held = b"".join(self._held)
        if self._first is None:
            self._first = held[:_ENDS]
        self._held = [held[-_ENDS:]]
        self._last = self._size

    def tokens(self, request_size: int) -> int:
        """Return the tokens of the call; 0 if the provider answered with an error or not at all.

        ``request_size``: bytes of the request, for an estimate if the response reports no usage.
        """
        if not 200 <= self._status < 300:
            return 0
        reported = self._count_tokens() if self._plain else None
        if reported is not None:
            return reported
        each = _STREAMED_BYTES_A_TOKEN if self._streamed else _BYTES_A_TOKEN
        return request_size // _BYTES_A_TOKEN + self._size // each

    def _count_tokens(self) -> int | None:
        self._trim()
        last, first = self._held[0], self._first or b""
        total, reply = _last_number(_TOTAL, last), _last_number(_REPLY, last)
        if total is not None:
            return total
        prompt = _last_number(_PROMPT, last) or _last_number(_PROMPT, first)
        if reply is None:
            return None
        cached = _last_number(_CACHED, last) or _last_number(_CACHED, first)
        return reply + (prompt or 0) + (cached or 0)


def _last_number(pattern: re.Pattern[bytes], data: bytes) -> int | None:
    found = pattern.findall(data)
    return int(found[-1]) if found else None


_POLICY_VIOLATION: Final = 1008
_log = logging.getLogger("tokenmizer_mw")


class GuardedRequest:
    """Access control for one request; a new object for each."""

    __slots__ = (
        "_access", "_body", "_head", "_origin", "_path", "_receive", "_refused", "_scope", "_send", "_started",
        "_usage",
    )  # fmt: skip

    _head: RequestHead

    def __init__(self, access: Access, scope: Scope, receive: Receive, send: Send) -> None:
        self._access = access
        self._scope = scope
        self._receive = receive
        self._send = send
        self._path = below_root(scope)
        self._body: Body | None = None
        self._usage: ResponseEnds | None = None
        self._origin = b""
        self._started = self._refused = False

    async def run(self) -> None:
        """Handle the request from its head to its end."""
        access = self._access
        head = access.head_of(self._scope)
        if isinstance(head, Refusal):
            await self._refuse(head)
            return
        self._head = head
        if head.origin and access.origins is not None and access.origins.allows(head.origin):
            self._origin = head.origin
            answer = access.origins.preflight(self._scope.get("method", ""), head.origin, head.headers)
            if answer is not None:
                await self._answer(204, answer, b"")
                return
        caller = await access.caller(self._scope, head, self._path)
        if isinstance(caller, Refusal):
            await self._refuse(caller)
            return
        needed = access.needs(self._path)
        if caller is not None and needed and not caller.may(needed):
            await self._refuse(NOT_GOOD_FOR)
            return
        await self._check_limits(caller, chat=needed == CHAT and self._scope.get("method") == "POST")

    async def _check_limits(self, caller: Caller | None, *, chat: bool) -> None:
        limits = self._access.limits
        plan = limits.plan(caller) if caller is not None else None
        demand = (plan.chat if chat else plan.other) if plan is not None else None
        if plan is None or demand is None:
            await self._enter(caller)
            return
        try:
            taken = await limits.counters.take(demand)
        except Exception as error:
            _log.warning("limits_not_checked: %s", type(error).__name__)
            await self._refuse(LIMITS_UNKNOWN)
            return
        if isinstance(taken, TooMuch):
            await self._refuse(limit_refused(taken))
            return
        if chat and plan.tokens and uses_tokens(self._path):
            self._usage = ResponseEnds()
        try:
            await self._enter(caller)
        finally:
            await self._settle(plan, taken)

    async def _settle(self, plan: Plan, taken: Taken) -> None:
        tokens = self._usage.tokens(self._body.received if self._body is not None else 0) if self._usage else 0
        await self._access.limits.settle(plan, taken, tokens)

    async def _enter(self, caller: Caller | None) -> None:
        """Let the request in."""
        access = self._access
        scope = {**self._scope, "headers": self._head.without_key()}
        if caller is not None:
            scope[CALLER_KEY] = caller
        if scope["type"] != "http":
            await access.app(scope, self._receive, self._send)
            return
        refusal = body_refused(self._head, access.settings)
        if refusal is not None:
            await self._refuse(refusal)
            return
        self._body = Body(self._receive, self._head, access.settings)
        try:
            await access.app(scope, self.receive, self.send)
        except Exception:
            if not self._refused:  # after a refusal the application sees a disconnect, and may raise because of it
                raise

    async def receive(self) -> Message:
        """ASGI ``receive`` for the application: the next message of the limited body."""
        assert self._body is not None
        message = await self._body.receive()
        if self._body.refusal is not None and not self._refused and not self._started:
            await self._refuse(self._body.refusal)
        return message

    async def send(self, message: Message) -> None:
        """ASGI ``send`` for the application: passes every message on, with CORS headers added to the first. Drops all
        messages if the request was refused meanwhile."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._started = True
            message = self._starting(message)
        await self._send(message)
        if self._usage is not None and message["type"] == "http.response.body":
            self._usage.passes(message.get("body", b""))

    def _starting(self, message: Message) -> Message:
        if self._usage is None and not self._origin:
            return message
        headers = list(message.get("headers", ()))
        if self._usage is not None:
            named = {name.lower(): value for name, value in headers}
            encoding = named.get(b"content-encoding", b"")
            self._usage.starts(message["status"], named.get(b"content-type", b""), encoding)
        return {**message, "headers": headers + self._page_headers()}

    def _page_headers(self) -> list[Header]:
        origins = self._access.origins
        return origins.headers(self._origin) if self._origin and origins is not None else []

    async def _refuse(self, refusal: Refusal) -> None:
        self._refused = True
        self._access.counts[refusal.code] += 1
        if self._scope["type"] == "websocket":
            await self._receive()
            await self._send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.code})
            return
        body = refusal.body(self._path)
        sent = self._body is not None and self._body.sent
        lingers = refusal.closes and refusal is not BODY_TOO_SLOW and not sent
        headers = refusal.all_headers(len(body)) + self._page_headers()
        await self._answer(refusal.status, headers, body, lingers=lingers)

    async def _answer(self, status: int, headers: list[Header], body: bytes, *, lingers: bool = False) -> None:
        if self._scope.get("method") == "HEAD":
            body = b""
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": lingers})
        if lingers:
            await linger(self._receive)
            await self._send({"type": "http.response.body", "body": b""})
