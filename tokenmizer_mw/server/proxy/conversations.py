"""Finds the session of a chat if the client does not name it in the header or field of this package.

Coding agents name their session in their own ways: in a header, in ``user_id`` of Anthropic's metadata, or in OpenAI's
``prompt_cache_key``. Their hooks may have recorded the same session under an id with the project's name in front. Other
clients send the whole conversation with each call. Its beginning (system prompt, tools, first user message) stays the
same, so its hash is used as the session id.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import anyio

from tokenmizer_mw.context.compaction.request import may_sum_up
from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Role, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.runtime.terminal import inert
from tokenmizer_mw.server.access.caller import tenant_of
from tokenmizer_mw.session.naming import Reason, names_session, session_in_headers
from tokenmizer_mw.wire.host_texts import first_own_message, is_side_call, without_host_texts
from tokenmizer_mw.wire.http import Header, header
from tokenmizer_mw.wire.request import Dialect

from .api_paths import DIALECTS, STANDALONE, api_path_of, run_where_it_fits
from .configuration import Naming
from .request_bodies import is_encoded, read_ahead, replay_messages, whole_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tokenmizer_mw.memory import SessionMemory

NEWEST: Final = 200
"""Number of a tenant's most recently updated sessions that are searched for an agent's session."""

KNOWN_MAX: Final = 4_096
"""Maximum number of agents' session ids whose stored sessions are cached in this process."""


class AgentSessions:
    """Finds the stored session for the id that a coding agent uses, so that the agent's hooks and the proxy record into
    the same session.

    A session stored under the agent's id itself is used first; else one whose id ends with the project separator and
    the agent's id, such as "shop/<id>". A found id is cached.
    """

    def __init__(self, memory: SessionMemory) -> None:
        self._memory = memory
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def resolve(self, agents_id: str, tenant: str) -> str:
        """Return the id of the stored session for ``agents_id``, the id that a coding agent uses.

        Only the ``NEWEST`` most recently updated sessions of the tenant are searched. Returns ``agents_id`` itself if
        none of them fits, and if the store fails or does not answer within ``Settings.store_wait_seconds``.
        """
        key = (tenant, agents_id)
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        found: str | None = None
        try:
            with anyio.move_on_after(self._memory.settings.store_wait_seconds):
                found = await offload(partial(self._find, agents_id, tenant), STORE)
        except Exception:
            self._memory.service.count("session_lookup_failed")
        if found is None:
            return agents_id
        self._known[key] = found
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return found

    def _find(self, agents_id: str, tenant: str) -> str | None:
        end = (self._memory.settings.project_separator or "/") + agents_id
        ids = [info.key.id for info in self._memory.sessions(limit=NEWEST, tenant=tenant)]
        return agents_id if agents_id in ids else next((id for id in ids if id.endswith(end)), None)


_log = logging.getLogger("tokenmizer_mw")

SESSION_KEY: Final = "tokenmizer_session"
"""Key of the ASGI scope under which ``SessionNaming`` stores the session id for the memory middleware."""

BESIDE_KEY: Final = "tokenmizer_beside"
"""Key of the ASGI scope for the id of the session that this call is to summarise. A coding agent sends such a call
outside of the session itself."""

AGENT_HEADERS: Final = (
    b"x-claude-code-session-id",
    b"thread-id",
    b"session-id",
    b"session_id",
    b"conversation_id",
)
"""Request headers in which coding agents name their sessions; the first one that is present is used. Codex sends two
headers for a sub-agent: the one with the sub-agent's own thread comes before the one with the session that it works
for."""

_UUID: Final = rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_METADATA: Final = b'"metadata"'
_USER: Final = re.compile(rb'\s*:\s*\{[^{}]*?"user_id"\s*:\s*"((?:[^"\\]|\\.){1,512})"')
_OF_USER: Final = re.compile(rb'(?:session_|session_id\\?"\s*:\s*\\?")(' + _UUID + rb")")
_CACHE_KEY: Final = b'"prompt_cache_key"'
_CACHED: Final = re.compile(rb'\s*:\s*"(' + _UUID + rb')"')
_TOOLS: Final = b'"tools"'
_FILLED: Final = re.compile(rb"\s*:\s*\[\s*[^\]\s]")
_PLACES_MAX: Final = 8
_AGENT_MAX: Final = 80

_REPORTED_MAX: Final = 1_000
"""Maximum number of different reports (client and reason) that are logged. Further ones are dropped, so that clients
cannot fill the log."""

_LOOK: Final = 1_024
"""Number of bytes after a member's name in which its value must be."""


def session_of_agent(headers: list[Header], body: bytes) -> str | None:
    """Return the session id that a coding agent sent in a header or in ``body``; ``None`` if there is none. Only a few
    places of ``body`` are searched, and it is not parsed.

    Returns ``None`` for a call without tools, because agents also make such calls for titles and summaries, which are
    no part of the session.
    """
    if not _has_tools(body):
        return None
    if (named := _agents_own(headers, body)) is not None:
        return named or None
    key = _value_behind(body, _CACHE_KEY, _CACHED)
    return key.decode("ascii") if key is not None else None


def _agents_own(headers: list[Header], body: bytes) -> str | None:
    """Return the session id in an agent's headers or in its metadata. "" if the metadata names a user without a
    session; ``None`` if there is neither."""
    for name in AGENT_HEADERS:
        if (value := header(headers, name)) and SessionKey(LOCAL_TENANT, id := value.decode("latin-1")).valid():
            return id
    if (user := _value_behind(body, _METADATA, _USER)) is not None:
        found = _OF_USER.search(user)
        return found[1].decode("ascii") if found else ""
    return None


def beginning(dialect: Dialect, body: bytes, path: str) -> str | None:
    """Return a session id derived from the beginning of the conversation: system prompt, tools and first user message.
    The same beginning always gives the same id, such as "conversation-" and 32 hexadecimal digits.

    Texts that the client application inserted are left out. ``path``: the request's URL path. ``None`` if there is no
    user message, if the client application asks for something of its own (a title, tags, a commit message, a summary),
    or if the body cannot be parsed.
    """
    try:
        request = dialect.read(body, path=path)
        messages = request.messages
        first = None if is_side_call(messages) else first_own_message(messages)
        if first is None:
            return None
        system = [at for at in range(first) if messages.roles[at] is Role.SYSTEM and not messages.is_set_aside(at)]
        opening = [messages[at] for at in system]
        opening.append(without_host_texts(messages[first]))
    except MalformedRequest:
        return None
    hashed = blake2b(request.overhead.encode("utf-8", "surrogatepass"), digest_size=16, person=b"conversation")
    for message in opening:
        hashed.update(digest(message).encode("ascii"))
    return f"conversation-{hashed.hexdigest()}"


def _has_tools(body: bytes) -> bool:
    place = -1
    for _ in range(_PLACES_MAX):
        place = body.find(_TOOLS, place + 1)
        if place < 0 or _FILLED.match(body, place + len(_TOOLS)):
            return place >= 0
    return False


def _value_behind(body: bytes, name: bytes, pattern: re.Pattern[bytes]) -> bytes | None:
    """Return group 1 of the match of ``pattern`` directly after the last occurrence of ``name`` in ``body``; ``None``
    if it does not match there."""
    place = body.rfind(name)
    found = pattern.match(body, place + len(name), place + len(name) + _LOOK) if place >= 0 else None
    return found[1] if found else None


class SessionNaming:
    """ASGI middleware that finds a chat's session id and stores it in the ASGI scope, where ``session_of`` reads it.
    ``naming``: where the id may come from, see ``configuration.Naming``.

    Chats that name their session in the header or field of this package, and requests that are not chats, pass
    unchanged. So do chats in which no id is found, and those that are compressed or too large; they are not recorded. A
    log line gives the reason, once for each client, except for calls that a client makes for itself (such as for a
    title). If a coding agent asks for a summary of its session, the id of that session is stored in the scope under
    ``BESIDE_KEY``.
    """

    def __init__(self, app: ASGIApp, memory: SessionMemory, naming: Naming) -> None:
        self._app = app
        self._settings = memory.settings
        self._naming = naming
        self._agents = AgentSessions(memory)
        self._reported: set[tuple[str, str, str]] = set()
        memory.service.counters.reported = frozenset({Reason.NO_SESSION.value})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection: find the session of a chat, store it in the scope, and pass the request on."""
        dialect = self._dialect(scope)
        if dialect is None:
            await self._app(scope, receive, send)
            return
        read = await read_ahead(receive, self._settings.request_max)
        body = whole_body(read)
        if body is None:
            self._report(scope, f"its request is over {self._settings.request_max} bytes, or was not sent to its end")
        elif (session := await self._name_session(scope, dialect, body)) is not None:
            scope = {**scope, SESSION_KEY: session}
        elif (beside := await self._beside(scope, body)) is not None:
            scope = {**scope, BESIDE_KEY: beside}
        await self._app(scope, replay_messages(read, receive), send)

    def _dialect(self, scope: Scope) -> Dialect | None:
        """Return the dialect (format) of a chat call that does not name its session in the header of this package;
        ``None`` for any other request, also for a compressed one."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        headers: list[Header] = scope["headers"]
        api_path = api_path_of(scope["path"], headers)
        dialect = (
            api_path.chat_dialect or DIALECTS.get(STANDALONE.get(api_path.path, "")) if api_path is not None else None
        )
        if dialect is None or session_in_headers(headers, self._settings) is not None:
            return None
        if is_encoded(headers):
            self._report(scope, "its requests are compressed")
            return None
        return dialect

    async def _name_session(self, scope: Scope, dialect: Dialect, body: bytes) -> str | None:
        path, headers = scope["path"], scope["headers"]
        if names_session(body, self._settings) and await run_where_it_fits(
            partial(_is_in_field, dialect, body, path, self._settings.session_field), body
        ):
            return None
        found = session_of_agent(headers, body) if self._naming != "named" else None
        if found is not None:
            return await self._agents.resolve(found, tenant_of(scope))
        if not _has_tools(body) and _agents_own(headers, body):  # it is no part of the agent's conversation
            return None
        if self._naming == "derived":
            return await run_where_it_fits(partial(beginning, dialect, body, path), body)
        places = {"header": self._settings.session_header, "field": self._settings.session_field}
        named = " or ".join(f"{kind} {name}" for kind, name in places.items() if name)
        hint = f" ({named})" if named else ""
        self._report(scope, f"it names no session{hint}, and sessions is {self._naming}")
        return None

    async def _beside(self, scope: Scope, body: bytes) -> str | None:
        """Return the id of the session that a coding agent wants summarised by this call. ``None`` for other calls, and
        if the setting ``agent_compaction`` leaves summaries to the provider's model."""
        if self._settings.agent_compaction == "provider" or self._naming == "named" or not may_sum_up(body):
            return None
        found = _agents_own(scope["headers"], body)
        return await self._agents.resolve(found, tenant_of(scope)) if found else None

    def _report(self, scope: Scope, reason: str) -> None:
        """Log why a client's chats are not recorded, once for each client and reason. ``reason``: text for the log."""
        agent = (header(scope["headers"], b"user-agent") or b"a client without a name").decode("latin-1")
        client = (scope.get("client") or ("",))[0]
        report = (client, agent[:_AGENT_MAX], reason)
        if report not in self._reported and len(self._reported) < _REPORTED_MAX:
            self._reported.add(report)
            _log.info(
                "chats of %s at %s are not remembered: %s (docs/not-remembered.md)", inert(report[1]), client, reason
            )


def session_of(scope: Scope) -> str | None:
    """Return the session id that ``SessionNaming`` stored in the ASGI scope; ``None`` if there is none."""
    found = scope.get(SESSION_KEY)
    return found if isinstance(found, str) else None


def _is_in_field(dialect: Dialect, body: bytes, path: str, field: str) -> bool:
    """Return whether the top-level member ``field`` of the body names a session. A search for its name is not enough,
    because the name may also be inside of a text. Also true for an invalid request, which the memory middleware then
    reports."""
    try:
        return dialect.read(body, path=path).fields.get(field) is not None
    except MalformedRequest:
        return True
