"""Which session a call belongs to: the one named in the headers or the body of its request, or the session context, a
context variable that names the session to which the running code belongs.

Tasks, and the worker threads of asyncio and anyio, inherit the context; a thread that is started by hand does not.
Contexts can be nested. Each belongs to one memory; the innermost context of that memory applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.http import Headers, header
from tokenmizer_mw.wire.unparsed import encode_name

_LENGTH_DIGITS: Final = 18


class Reason(StrEnum):
    """Why a call passed unchanged or was not recorded in full. The values are counter names.

    - ``NO_SESSION``, ``SESSION_INVALID``: the call names no session, or an unusable id or tenant.
    - ``MALFORMED_REQUEST``: the body is no chat request of the API format of its path.
    - ``REQUEST_ENCODED``: the body is compressed. ``REQUEST_TOO_LARGE``: it has more than ``Settings.request_max``
      bytes. ``REQUEST_INCOMPLETE``: the client disconnected before its end. ``REQUEST_STREAMED``: a transport gets it
      as a stream, which can be read only once.
    - ``REPLY_CAPPED``: only the first ``Settings.capture_max`` bytes of the reply are recorded. ``REPLY_FOREIGN``,
      ``REPLY_UNDECODABLE``: nothing of the reply is recorded, because of its content type, or because it cannot be
      decompressed.
    """

    NO_SESSION = "no_session"
    SESSION_INVALID = "session_invalid"
    MALFORMED_REQUEST = "malformed_request"
    REQUEST_ENCODED = "request_encoded"
    REQUEST_TOO_LARGE = "request_too_large"
    REQUEST_INCOMPLETE = "request_incomplete"
    REQUEST_STREAMED = "request_streamed"
    REPLY_CAPPED = "reply_capped"
    REPLY_FOREIGN = "reply_foreign"
    REPLY_UNDECODABLE = "reply_undecodable"


def reason_to_pass(headers: Mapping[bytes, bytes], settings: Settings, *, named: bool) -> Reason | None:
    """Return why a call with these headers (lower-case names) is passed on unchanged and unrecorded, without reading
    its body: nothing in the call can name a session, the body is compressed, or its announced length exceeds
    ``Settings.request_max``. ``None``: the call is to be handled.

    ``named``: true if its session is already known, so that neither header nor body must name it.
    """
    if not named and not (settings.session_field or session_in_header_map(headers, settings) is not None):
        return Reason.NO_SESSION
    if headers.get(b"content-encoding", b"identity") not in (b"", b"identity"):
        return Reason.REQUEST_ENCODED
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length[:_LENGTH_DIGITS]) > settings.request_max:
        return Reason.REQUEST_TOO_LARGE
    return None


def session_in_headers(headers: Headers, settings: Settings) -> str | None:
    """Return the value of the request header that ``Settings.session_header`` names, which is the session id, whether
    it is a valid id or not; ``None`` if the request has no such header, or the setting is ""."""
    name = settings.session_header
    given = header(headers, _wire_name(name)) if name else None
    return _text(given) if given is not None else None


def session_in_header_map(headers: Mapping[bytes, bytes], settings: Settings) -> str | None:
    """Return the value of the header that ``Settings.session_header`` names, which is the session id, whether it is a
    valid id or not; ``None`` if ``headers`` (by lower-case name) lack it, or the setting is ""."""
    name = settings.session_header
    given = headers.get(_wire_name(name)) if name else None
    return _text(given) if given is not None else None


def names_session(body: bytes, settings: Settings) -> bool:
    """Whether the bytes of a request body contain the name of the field ``Settings.session_field``, in quotes. The body
    must then be parsed to find out whether it names the session. False if the setting is ""."""
    field = settings.session_field
    return bool(field) and body.rfind(encode_name(field)) >= 0  # as fast as ``mentions``, for each request


@lru_cache(maxsize=16)
def _wire_name(header_name: str) -> bytes:
    return header_name.lower().encode("latin-1", "replace")


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


class NamedSession(NamedTuple):
    """A session as a call names it: its id (``None``: none was named) and its tenant."""

    session_id: str | None
    tenant: str


class SessionContext(NamedTuple):
    """A session context, which applies to the calls of ``owner`` (the service of a memory).

    - ``name``: returns the session; called when a model call is made, not earlier.
    - ``remembered``: true if the surrounding chat call is already recorded as a whole, so that calls inside it pass
      unrecorded.
    - ``outer``: the context around this one, of any owner; ``None`` for the outermost.
    """

    owner: object
    name: Callable[[], NamedSession]
    remembered: bool = False
    outer: SessionContext | None = None


_innermost: ContextVar[SessionContext | None] = ContextVar("tokenmizer_mw_session", default=None)


def bind(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Token[SessionContext | None]:
    """Set the session context for the code that runs from here on in this task or thread. Returns the token for
    ``unbind``.

    - ``owner``: the service of the memory to whose calls the context applies.
    - ``name``: returns the session; called when a model call is made, not earlier.
    - ``remembered``: true if the surrounding chat is already recorded, so that calls inside it are not recorded.
    """
    return _innermost.set(SessionContext(owner, name, remembered, _innermost.get()))


def unbind(token: Token[SessionContext | None]) -> None:
    """Restore the session context from before ``bind``. Does nothing in another ``contextvars`` context than that of
    ``bind``."""
    try:
        _innermost.reset(token)
    except ValueError:
        return  # a generator that is ended elsewhere: the context it was started in is gone, too


@contextmanager
def bind_session(owner: object, name: Callable[[], NamedSession], *, remembered: bool = False) -> Iterator[None]:
    """Set the session context, which says to which session model calls belong, for a ``with`` block.

    - ``owner``: the service of the memory to whose calls the context applies.
    - ``name``: returns the session; called when a model call is made, not earlier.
    - ``remembered``: true if the surrounding chat is already recorded, so that calls inside it are not recorded.
    """
    token = bind(owner, name, remembered=remembered)
    try:
        yield
    finally:
        unbind(token)


def find_session_context(owner: object) -> SessionContext | None:
    """Return the innermost session context of ``owner``; ``None`` outside of any."""
    context = _innermost.get()
    while context is not None and context.owner is not owner:
        context = context.outer
    return context
