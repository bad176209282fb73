"""Access control for one request: refuse it or pass it on, limit its body, and settle its usage at the end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from .body import Body, body_refused, linger
from .caller import CALLER_KEY, Caller
from .counting import Taken, TooMuch
from .head import RequestHead
from .limiting import Plan
from .paths import CHAT, below_root, uses_tokens
from .refusals import BODY_TOO_SLOW, LIMITS_UNKNOWN, NOT_GOOD_FOR, Header, Refusal, limit_refused
from .usage import ResponseEnds

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from .door import Access

_POLICY_VIOLATION: Final = 1008

_log = logging.getLogger("tokenmizer_mw")


class Visit:
    """Access control for one request; a new object for each."""

    __slots__ = (
        "_body",
        "_door",
        "_head",
        "_origin",
        "_path",
        "_receive",
        "_refused",
        "_scope",
        "_send",
        "_started",
        "_usage",
    )

    _head: RequestHead

    def __init__(self, door: Access, scope: Scope, receive: Receive, send: Send) -> None:
        self._door = door
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
        door = self._door
        head = door.head_of(self._scope)
        if isinstance(head, Refusal):
            await self._refuse(head)
            return
        self._head = head
        if head.origin and door.origins is not None and door.origins.allows(head.origin):
            self._origin = head.origin
            answer = door.origins.preflight(self._scope.get("method", ""), head.origin, head.headers)
            if answer is not None:
                await self._answer(204, answer, b"")
                return
        caller = await door.caller(self._scope, head, self._path)
        if isinstance(caller, Refusal):
            await self._refuse(caller)
            return
        needed = door.needs(self._path)
        if caller is not None and needed and not caller.may(needed):
            await self._refuse(NOT_GOOD_FOR)
            return
        await self._check_limits(caller, chat=needed == CHAT and self._scope.get("method") == "POST")

    async def _check_limits(self, caller: Caller | None, *, chat: bool) -> None:
        limits = self._door.limits
        plan = limits.plan(caller) if caller is not None else None
        demand = (plan.chat if chat else plan.other) if plan is not None else None
        if plan is None or demand is None:
            await self._enter(caller)
            return
        try:
            taken = await limits.take(demand)
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
        await self._door.limits.settle(plan, taken, tokens)

    async def _enter(self, caller: Caller | None) -> None:
        """Let the request in."""
        door = self._door
        scope = {**self._scope, "headers": self._head.without_key()}
        if caller is not None:
            scope[CALLER_KEY] = caller
        if scope["type"] != "http":
            await door.app(scope, self._receive, self._send)
            return
        refusal = body_refused(self._head, door.settings)
        if refusal is not None:
            await self._refuse(refusal)
            return
        self._body = Body(self._receive, self._head, door.settings)
        try:
            await door.app(scope, self.receive, self.send)
        except Exception:
            if not self._refused:  # otherwise it is about a client that it was told is gone
                raise

    async def receive(self) -> Message:
        """ASGI ``receive`` for the application: the next message of the limited body."""
        assert self._body is not None
        message = await self._body.receive()
        if self._body.refusal is not None and not self._refused and not self._started:
            await self._refuse(self._body.refusal)
        return message

    async def send(self, message: Message) -> None:
        """ASGI ``send`` for the application: passes every message on, unless the request was refused meanwhile."""
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
        origins = self._door.origins
        return origins.headers(self._origin) if self._origin and origins is not None else []

    async def _refuse(self, refusal: Refusal) -> None:
        self._refused = True
        self._door.counts[refusal.code] += 1
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
