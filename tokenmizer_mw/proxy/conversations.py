"""Which session a chat belongs to when the client does not say so in our words.

Coding agents tell it in words of their own: in a header, in the ``user_id`` of Anthropic's metadata, in the cache key
of OpenAI's. Other clients send the whole conversation with each call, and how it begins (system prompt, tools, first
words of the user) stays the same: that names it.
"""

from __future__ import annotations

import re
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.exchange import names_session, session_in_headers
from tokenmizer_mw.model.message import digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import Dialect

from .bodies import read_ahead, replayed, whole_body
from .configuration import Naming
from .faces import face_of
from .headers import Header, value_of
from .naming import where_it_fits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SESSION_KEY: Final = "tokenmizer_session"
"""Key of the ASGI scope under which the session's name is left for the middleware."""

AGENT_HEADERS: Final = (
    b"x-claude-code-session-id",
    b"thread-id",
    b"session-id",
    b"session_id",
    b"conversation_id",
)
"""Where coding agents name their sessions; Codex names the thread of a sub-agent besides the session it works for."""

_UUID: Final = rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_METADATA: Final = b'"metadata"'
_USER: Final = re.compile(rb'\s*:\s*\{[^{}]*?"user_id"\s*:\s*"((?:[^"\\]|\\.){1,512})"')
_OF_USER: Final = re.compile(rb'(?:session_|session_id\\?"\s*:\s*\\?")(' + _UUID + rb")")
_CACHE_KEY: Final = b'"prompt_cache_key"'
_CACHED: Final = re.compile(rb'\s*:\s*"(' + _UUID + rb')"')
_TOOLS: Final = b'"tools"'
_FILLED: Final = re.compile(rb"\s*:\s*\[\s*[^\]\s]")
_PLACES_MAX: Final = 8
_LOOK: Final = 1_024
"""Bytes behind a name in which its value is looked for."""


def told_by_agent(headers: list[Header], body: bytes) -> str | None:
    """The session as coding agents name it; ``None`` where nothing names one. Looks at a few places of ``body``.

    A call without tools is not of the conversation, whatever it names: agents have titles and summaries written so.
    """
    if not _has_tools(body):
        return None
    for name in AGENT_HEADERS:
        if (value := value_of(headers, name)) and SessionKey(LOCAL_TENANT, said := value.decode("latin-1")).valid():
            return said
    if (user := _behind(body, _METADATA, _USER)) is not None:
        found = _OF_USER.search(user)
        return found[1].decode("ascii") if found else None
    key = _behind(body, _CACHE_KEY, _CACHED)
    return key.decode("ascii") if key is not None else None


def beginning(dialect: Dialect, body: bytes, path: str) -> str | None:
    """A name for the conversation by how it begins; ``None`` where there is no word of a user in it yet."""
    try:
        request = dialect.read(body, path=path)
        first = next((place for place, said in enumerate(request.messages) if said.opens_turn), None)
    except MalformedRequest:
        return None
    if first is None:
        return None
    hashed = blake2b(request.overhead.encode("utf-8", "surrogatepass"), digest_size=16, person=b"conversation")
    for message in request.messages[: first + 1]:
        hashed.update(digest(message).encode("ascii"))
    return f"conversation-{hashed.hexdigest()}"


def _has_tools(body: bytes) -> bool:
    place = -1
    for _ in range(_PLACES_MAX):
        place = body.find(_TOOLS, place + 1)
        if place < 0 or _FILLED.match(body, place + len(_TOOLS)):
            return place >= 0
    return False


def _behind(body: bytes, name: bytes, pattern: re.Pattern[bytes]) -> bytes | None:
    """What ``pattern`` finds directly behind the last place where ``name`` stands."""
    place = body.rfind(name)
    found = pattern.match(body, place + len(name), place + len(name) + _LOOK) if place >= 0 else None
    return found[1] if found else None


class Conversations:
    """Leaves the session of a chat in the scope, for the middleware inside: ``session_of`` reads it there.

    Chats that name their session in our words, and everything that is no chat, pass as they came.
    """

    def __init__(self, app: ASGIApp, settings: Settings, naming: Naming) -> None:
        self._app = app
        self._settings = settings
        self._derives = naming == "derived"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        dialect = self._dialect(scope)
        if dialect is None:
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._settings.request_max)
        body = whole_body(read)
        if body is not None and (session := await self._named(scope, dialect, body)) is not None:
            scope = {**scope, SESSION_KEY: session}
        await self._app(scope, replayed(read, receive), send)

    def _dialect(self, scope: Scope) -> Dialect | None:
        """The dialect of a chat whose session is not named in a header of ours."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        headers: list[Header] = scope["headers"]
        face = face_of(scope["path"], headers)
        words = face.words if face is not None else None
        encoded = value_of(headers, b"content-encoding") not in (None, b"", b"identity")
        return None if words is None or encoded or session_in_headers(headers, self._settings) is not None else words

    async def _named(self, scope: Scope, dialect: Dialect, body: bytes) -> str | None:
        path = scope["path"]
        if names_session(body, self._settings) and await where_it_fits(
            partial(_in_field, dialect, body, path, self._settings.session_field), body
        ):
            return None
        found = told_by_agent(scope["headers"], body)
        if found is not None or not self._derives:
            return found
        return await where_it_fits(partial(beginning, dialect, body, path), body)


def session_of(scope: Scope) -> str | None:
    """The session that was found for a chat; ``None`` for none: then the middleware looks for one."""
    found = scope.get(SESSION_KEY)
    return found if isinstance(found, str) else None


def _in_field(dialect: Dialect, body: bytes, path: str, field: str) -> bool:
    """Whether the body's own field names a session, and not only something inside; true also for what is no request:
    the middleware says so."""
    try:
        return dialect.read(body, path=path).fields.get(field) is not None
    except MalformedRequest:
        return True
