"""Compaction through the providers' own APIs: handles requests that ask for a compaction or contain one of this server.

Runs in front of the memory middleware. Where the provider itself offers compaction, the provider does it unless the
settings say otherwise. Any other request only costs a search for a few words in its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import time
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.asgi import BLOCK, CHECKPOINT
from tokenmizer_mw.chat.session_naming import session_in_headers
from tokenmizer_mw.context.compaction import agents, anthropic, responses
from tokenmizer_mw.context.compaction.seal import MARK, SealBroken
from tokenmizer_mw.errors import MalformedRequest, RequestBlocked
from tokenmizer_mw.runtime.offload import CALLS, STORE, offload
from tokenmizer_mw.server.access.caller import tenant_of
from tokenmizer_mw.wire.headers import with_length
from tokenmizer_mw.wire.refusal import refusal
from tokenmizer_mw.wire.unread import mentions

from .adding import Adding
from .bodies import read_ahead, replay_messages, whole_body
from .compaction_call import AnsweredCall, CompactionCall, ForwardedCall
from .conversations import BESIDE_KEY, SESSION_KEY
from .faces import DIALECTS, STANDALONE, Face, face_of
from .headers import Header, value_of
from .naming import model_of
from .routing import Routes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory

_WORDS: Final[Mapping[str, ModuleType]] = {module.NAME: module for module in (anthropic, responses)}
_NATIVE: Final = {anthropic.NAME: "anthropic", responses.NAME: "openai"}
"""Who offers the contracts of a dialect by itself."""

_THINKING: Final = b"clear_thinking"
_COMPACTION: Final = b'"compaction"'
_SIGNS: Final = (b"compact_", b"clear_tool_uses", _THINKING, _COMPACTION, b'"compaction_trigger"', MARK.encode("ascii"))
_KEEPS_ALL: Final = (b'"keep":"all"', b'"keep": "all"')
_LOOK: Final = 64
"""Bytes behind the name of an edit in which its value is looked for."""


class Compacting:
    """ASGI middleware for compaction requests, in front of the memory middleware."""

    def __init__(self, app: ASGIApp, memory: SessionMemory, routes: Routes) -> None:
        self._app = app
        self._memory = memory
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        face = self._find_face(scope)
        if face is None:
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._memory.settings.request_max)
        body = whole_body(read)
        done: AnsweredCall | ForwardedCall | None = None
        if body is not None and self._sums_up(face, body):
            done = await self._carried_out(scope, face, body, CompactionCall.summed_up)
        if done is None and body is not None and _concerns(face, body):
            done = await self._carried_out(scope, face, body, CompactionCall.process)
        if isinstance(done, AnsweredCall):
            await _answer(send, done)
        elif isinstance(done, ForwardedCall):
            message = {"type": "http.request", "body": done.body, "more_body": False}
            adding = Adding(send, done.added, self._memory.settings.capture_max) if done.added is not None else None
            await self._app(_inner(scope, done), replay_messages([message], receive), adding or send)
            if adding is not None:
                await adding.close()
        else:
            await self._app(scope, replay_messages(read, receive), send)

    def _find_face(self, scope: Scope) -> Face | None:
        """Whose path it is, where compaction may be asked for there."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        headers: list[Header] = scope["headers"]
        face = face_of(scope["path"], headers)
        if face is None or value_of(headers, b"content-encoding") not in (None, b"", b"identity"):
            return None
        return face if face.dialect in _WORDS or _is_standalone(face) else None

    def _sums_up(self, face: Face, body: bytes) -> bool:
        """Whether an agent may have its chat summed up, which is answered here."""
        if self._memory.settings.agent_compaction == "provider" or face.dialect not in _WORDS:
            return False
        return agents.may_sum_up(body)

    async def _carried_out(
        self,
        scope: Scope,
        face: Face,
        body: bytes,
        work: Callable[[CompactionCall], AnsweredCall | ForwardedCall | None],
    ) -> AnsweredCall | ForwardedCall | None:
        """What becomes of a call; ``None``: it goes on as it came."""
        words = _words(face)
        try:
            native = await self._is_native(face, words, body)
            leaves = native and self._memory.settings.compaction != "ours"
            if leaves and work is CompactionCall.process and not mentions(body, _COMPACTION):
                return None
            call = CompactionCall(
                self._memory,
                words,
                DIALECTS[words.NAME],
                tenant_of(scope),
                self._session(scope),
                body,
                now=_is_standalone(face),
                leaves=leaves,
                native=native,
                created=int(time()),
            )
            waits = (
                self._memory.settings.llm_at_compaction
            )  # for a model, which must not hold up who waits for the store
            return await offload(partial(work, call), CALLS if waits else STORE)
        except (SealBroken, MalformedRequest) as error:
            self._memory.service.count("compaction_refused")
            told = f"compaction: {error}" if isinstance(error, SealBroken) else str(error)
            return AnsweredCall(400, refusal(words.NAME, 400, "invalid_compaction", told))
        except RequestBlocked as blocked:
            return AnsweredCall(
                blocked.STATUS, refusal(words.NAME, blocked.STATUS, "blocked_by_guard", blocked.MESSAGE)
            )
        except Exception as error:
            self._memory.service.report_failure("compaction_failed", error)
            return None

    async def _is_native(self, face: Face, words: ModuleType, body: bytes) -> bool:
        """Whether everybody who may be asked offers the contract by itself."""
        targets = self._routes.targets(face, await model_of(face, body))
        return bool(targets) and all(target.server.name == _NATIVE[words.NAME] for target in targets)

    def _session(self, scope: Scope) -> tuple[str | None, bool]:
        """The session of a call, and whether the client named it: a name that was found in how the conversation begins
        gives way to the one that a compaction brings."""
        named = session_in_headers(scope["headers"], self._memory.settings)
        found = named or scope.get(SESSION_KEY) or scope.get(BESIDE_KEY)
        return found, bool(found) and not str(found).startswith("conversation-")


def _words(face: Face) -> ModuleType:
    return _WORDS[face.dialect or STANDALONE[face.path]]


def _is_standalone(face: Face) -> bool:
    return face.family == "openai" and face.path in STANDALONE


def _concerns(face: Face, body: bytes) -> bool:
    """Whether a request may ask for anything, or bring a compaction."""
    if _is_standalone(face):
        return True
    found = [sign for sign in _SIGNS if mentions(body, sign)]
    if found == [_THINKING]:  # Claude Code asks so in every request, and has nothing cleared
        place = body.rfind(_THINKING)
        return not any(keeps in body[place : place + _LOOK] for keeps in _KEEPS_ALL)
    return bool(found)


def _inner(scope: Scope, done: ForwardedCall) -> Scope:
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


async def _answer(send: Send, answered: AnsweredCall) -> None:
    kind = b"text/event-stream; charset=utf-8" if answered.stream else b"application/json"
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(answered.body))]
    await send({"type": "http.response.start", "status": answered.status, "headers": headers})
    await send({"type": "http.response.body", "body": answered.body})
