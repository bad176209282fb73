"""Answers or forwards requests that ask for a compaction (a short text that replaces old messages), or that contain a
compaction which this server made. Clients ask for it in the formats of the providers' own APIs.

This middleware runs in front of the memory middleware. If the provider of a call offers compaction itself, the provider
makes it, unless the setting ``compaction`` is "ours". Any other request only costs a search for a few words in its
bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from time import time
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.asgi import BLOCK, CHECKPOINT
from tokenmizer_mw.context.compaction import anthropic, responses
from tokenmizer_mw.context.compaction.contract import MARK, SealBroken
from tokenmizer_mw.context.compaction.request import may_sum_up
from tokenmizer_mw.context.compaction.streams import StreamEditor
from tokenmizer_mw.errors import MalformedRequest, RequestBlocked
from tokenmizer_mw.runtime.offload import CALLS, STORE, offload
from tokenmizer_mw.server.access.caller import tenant_of
from tokenmizer_mw.session.naming import session_in_headers
from tokenmizer_mw.wire.http import Header, with_length
from tokenmizer_mw.wire.reply import refusal
from tokenmizer_mw.wire.unparsed import has_bytes

from .api_paths import DIALECTS, STANDALONE, ApiPath, api_path_of, model_of
from .compaction_call import AnsweredCall, CompactionCall, ForwardedCall
from .conversations import BESIDE_KEY, SESSION_KEY
from .request_bodies import is_encoded, read_ahead, replay_messages, send_body, whole_body
from .routing import Routes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory

_STREAM: Final = b"text/event-stream"
_WHOLE: Final = b"application/json"


class ResponseEditing:
    """ASGI ``send`` that adds a compaction (a text that replaces old messages), or a report about one, to a response
    with status 200.

    ``added``: object that makes the addition: its method ``to_body`` changes a parsed JSON body, its method
    ``to_event`` an event of a stream. ``most``: a JSON body of more bytes passes unchanged.
    """

    def __init__(self, send: Send, added: Any, most: int) -> None:
        self._send = send
        self._added = added
        self._most = most
        self._start: Message | None = None
        self._held: list[bytes] = []
        self._size = 0
        self._passing: StreamEditor | None = None

    async def __call__(self, message: Message) -> None:
        """Handle the application's next ASGI message: send it, changed or unchanged, or buffer it if the whole body is
        needed first."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._passing is not None:
            await self._stream(self._passing, message)
        elif self._start is not None:
            await self._hold(message)
        else:
            await self._send(message)

    async def close(self) -> None:
        """Send what is still buffered, unchanged. Call it after the application has returned."""
        if self._start is not None:
            await self._let_go(b"".join(self._held), more=False)

    async def _begin(self, message: Message) -> None:
        headers: list[Header] = list(message.get("headers", ()))
        kind = next((value for name, value in headers if name.lower() == b"content-type"), b"")
        media = kind.split(b";", 1)[0].strip().lower()
        if message["status"] == 200 and media == _WHOLE:
            self._start = message
            return
        if message["status"] == 200 and media == _STREAM:
            self._passing = StreamEditor(self._added.to_event)
            headers = [pair for pair in headers if pair[0].lower() != b"content-length"]
        await self._send({**message, "headers": headers})

    async def _stream(self, passing: StreamEditor, message: Message) -> None:
        more = bool(message.get("more_body", False))
        out = passing.feed(bytes(message.get("body", b"")))
        if not more:
            out += passing.end()
        if out or not more:
            await self._send({"type": "http.response.body", "body": out, "more_body": more})

    async def _hold(self, message: Message) -> None:
        piece = bytes(message.get("body", b""))
        self._held.append(piece)
        self._size += len(piece)
        if self._size > self._most:
            await self._let_go(b"".join(self._held), more=bool(message.get("more_body", False)))
        elif not message.get("more_body", False):
            await self._let_go(self._with_added(b"".join(self._held)), more=False)

    async def _let_go(self, body: bytes, *, more: bool) -> None:
        start, self._start = self._start, None
        assert start is not None
        headers = [pair for pair in start.get("headers", ()) if pair[0].lower() != b"content-length"]
        if not more:
            headers.append((b"content-length", b"%d" % len(body)))
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    def _with_added(self, body: bytes) -> bytes:
        try:
            found = json.loads(body)
            if not isinstance(found, dict):
                return body
            edited = json.dumps(self._added.to_body(found), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            return body
        return edited.encode("utf-8", "surrogatepass")


_DIALECT_MODULES: Final[Mapping[str, ModuleType]] = {module.NAME: module for module in (anthropic, responses)}

_NATIVE: Final = {anthropic.NAME: "anthropic", responses.NAME: "openai"}
"""Name of an API format -> name of the provider that makes compactions (texts that replace old messages) in this format
itself."""

_THINKING: Final = b"clear_thinking"
_COMPACTION: Final = b'"compaction"'
_SIGNS: Final = (b"compact_", b"clear_tool_uses", _THINKING, _COMPACTION, b'"compaction_trigger"', MARK.encode("ascii"))
_KEEPS_ALL: Final = (b'"keep":"all"', b'"keep": "all"')

_LOOK: Final = 64
"""Number of bytes from "clear_thinking" on in which its value ``keep`` is searched for."""


class CompactionMiddleware:
    """ASGI middleware in front of the memory middleware ``app``, for requests that ask for a compaction (a short text
    that replaces old messages) or contain one. ``routes``: says which provider a call goes to."""

    def __init__(self, app: ASGIApp, memory: SessionMemory, routes: Routes) -> None:
        self._app = app
        self._memory = memory
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection. A request for a compaction (a short text that replaces old messages) is answered.
        Other requests are passed on, changed if they contain a compaction or if one is made."""
        api_path = self._find_api_path(scope)
        if api_path is None:
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._memory.settings.request_max)
        body = whole_body(read)
        done: AnsweredCall | ForwardedCall | None = None
        if body is not None and self._sums_up(api_path, body):
            done = await self._carry_out(scope, api_path, body, CompactionCall.sum_up)
        if done is None and body is not None and _concerns(api_path, body):
            done = await self._carry_out(scope, api_path, body, CompactionCall.process)
        if isinstance(done, AnsweredCall):
            kind = b"text/event-stream; charset=utf-8" if done.stream else _WHOLE
            await send_body(send, done.status, done.body, kind)
        elif isinstance(done, ForwardedCall):
            message = {"type": "http.request", "body": done.body, "more_body": False}
            forwarded = replay_messages([message], receive)
            if done.added is None:
                await self._app(_make_inner_scope(scope, done), forwarded, send)
                return
            adding = ResponseEditing(send, done.added, self._memory.settings.capture_max)
            await self._app(_make_inner_scope(scope, done), forwarded, adding)
            await adding.close()
        else:
            await self._app(scope, replay_messages(read, receive), send)

    def _find_api_path(self, scope: Scope) -> ApiPath | None:
        """Return the API that the request path belongs to, if requests to it may ask for a compaction (a text that
        replaces old messages); ``None`` for any other request, also for a compressed one."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        headers: list[Header] = scope["headers"]
        api_path = api_path_of(scope["path"], headers)
        if api_path is None or is_encoded(headers):
            return None
        return api_path if api_path.dialect in _DIALECT_MODULES or _is_standalone(api_path) else None

    def _sums_up(self, api_path: ApiPath, body: bytes) -> bool:
        """Return whether the request may be one in which a coding agent wants a summary of its own chat, and whether
        the settings let this server handle it."""
        if self._memory.settings.agent_compaction == "provider" or api_path.dialect not in _DIALECT_MODULES:
            return False
        return may_sum_up(body)

    async def _carry_out(
        self,
        scope: Scope,
        api_path: ApiPath,
        body: bytes,
        work: Callable[[CompactionCall], AnsweredCall | ForwardedCall | None],
    ) -> AnsweredCall | ForwardedCall | None:
        """Call ``work`` for the request in a worker thread and return its result, or an error response if the request
        is refused. ``None`` if the request is to be forwarded unchanged, also if an unexpected error occurred."""
        contract = _DIALECT_MODULES[api_path.dialect or STANDALONE[api_path.path]]
        try:
            native = await self._is_native(api_path, contract, body)
            leaves = native and self._memory.settings.compaction != "ours"
            if leaves and work is CompactionCall.process and not has_bytes(body, _COMPACTION):
                return None
            call = CompactionCall(
                self._memory,
                contract,
                DIALECTS[contract.NAME],
                tenant_of(scope),
                self._session(scope),
                body,
                now=_is_standalone(api_path),
                leaves=leaves,
                native=native,
                created=int(time()),
            )
            # Waiting for a model must not hold up who waits for the store.
            waits = self._memory.settings.llm_at_compaction
            return await offload(partial(work, call), CALLS if waits else STORE)
        except (SealBroken, MalformedRequest) as error:
            self._memory.service.count("compaction_refused")
            reason = f"compaction: {error}" if isinstance(error, SealBroken) else str(error)
            return AnsweredCall(400, refusal(contract.NAME, 400, "invalid_compaction", reason))
        except RequestBlocked as blocked:
            return AnsweredCall(
                blocked.STATUS, refusal(contract.NAME, blocked.STATUS, "blocked_by_guard", blocked.MESSAGE)
            )
        except Exception as error:
            self._memory.service.report_failure("compaction_failed", error)
            return None

    async def _is_native(self, api_path: ApiPath, contract: ModuleType, body: bytes) -> bool:
        """Return whether every provider that the request may be sent to makes compactions (texts that replace old
        messages) in the request's format itself."""
        targets = self._routes.targets(api_path, await model_of(api_path, body))
        return bool(targets) and all(target.server.name == _NATIVE[contract.NAME] for target in targets)

    def _session(self, scope: Scope) -> tuple[str | None, bool]:
        """Return the id of the request's session (``None`` if unknown), and whether the client or agent named it.

        An id that was derived from the beginning of the conversation was not named; if the request contains a
        compaction (a text that replaces old messages), the id in the compaction is used instead.
        """
        named = session_in_headers(scope["headers"], self._memory.settings)
        found = named or scope.get(SESSION_KEY) or scope.get(BESIDE_KEY)
        return found, bool(found) and not str(found).startswith("conversation-")


def _is_standalone(api_path: ApiPath) -> bool:
    return api_path.family == "openai" and api_path.path in STANDALONE


def _concerns(api_path: ApiPath, body: bytes) -> bool:
    """Return whether a request may ask for a compaction (a text that replaces old messages) or for old parts to be
    removed, or may contain a compaction. True may be wrong; false is always right."""
    if _is_standalone(api_path):
        return True
    found = [sign for sign in _SIGNS if has_bytes(body, sign)]
    if found == [_THINKING]:  # Claude Code asks so in every request, and has nothing cleared
        place = body.rfind(_THINKING)
        return not any(keeps in body[place : place + _LOOK] for keeps in _KEEPS_ALL)
    return bool(found)


def _make_inner_scope(scope: Scope, done: ForwardedCall) -> Scope:
    headers = with_length(scope["headers"], len(done.body))
    if done.added is not None:
        headers = [pair for pair in headers if pair[0].lower() != b"accept-encoding"]
        headers.append((b"accept-encoding", b"identity"))
    changed: dict[str, Any] = {"headers": headers}
    if done.block:
        changed |= {BLOCK: done.block, CHECKPOINT: done.checkpoint}
    if done.session is not None:
        changed[SESSION_KEY] = done.session
    return {**scope, **changed}
