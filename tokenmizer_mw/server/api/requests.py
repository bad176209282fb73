"""Types and functions that all API routes share: the route itself, the request (caller, validated query and body), and
the error response, ``{"error": {"code", "message", "field"}}``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from tokenmizer_mw.errors import (
    BudgetTooSmall,
    CallerError,
    InvalidSession,
    StoreError,
    TokenMizerError,
    UnknownNode,
    UnknownSession,
    name_type,
)
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.operations.exports import SessionDiffers
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.settings import Settings

from .health import Health
from .shapes import JSON, LINES, NoQuery

if TYPE_CHECKING:
    from starlette.types import Receive, Send


Method = Literal["GET", "POST", "DELETE"]
Scope = Literal["read", "write", "erase", "admin"]


@dataclass(frozen=True, slots=True)
class Route:
    """One route of the API: a method, a path, and the function that answers requests for them.

    - ``name``: unique name of the route in metrics, in logs and in the OpenAPI document.
    - ``path``: path below the mount point. It may contain ``{session_id}``, which is one segment; slashes in the id are
      percent-encoded.
    - ``scope``: the permission that the caller needs; ``None`` if the route needs no caller.
    - ``summary``: its description in the OpenAPI document.
    - ``work``: the function, which runs in a worker thread. If it returns a ``Response``, that is sent unchanged. Any
      other value, also a string, is sent as JSON with ``status``.
    - ``answer``: for the OpenAPI document: the type of the JSON response, or the media type, such as "text/plain", if
      ``work`` returns a ``Response``.
    - ``query``: the model of the query parameters; a request with any other parameter is refused.
    - ``body``: the model of the JSON body; or the media types of a body that ``work`` parses itself; ``None`` for no
      body.
    - ``status``: the HTTP status of a JSON response.
    - ``failures``: for the OpenAPI document: error statuses that ``failures_of`` cannot derive from the other fields.
    - ``also``: text media types that ``work`` may return instead of JSON, each as a ``Response``.
    """

    name: str
    method: Method
    path: str
    scope: Scope | None
    summary: str
    work: Callable[[ApiRequest[Any, Any]], Any]
    answer: Any
    query: type[BaseModel] = NoQuery
    body: type[BaseModel] | tuple[str, ...] | None = None
    status: int = 200
    failures: tuple[int, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def of_session(self) -> bool:
        """Whether a request to this route names one session, in its path or in its body."""
        in_body = isinstance(self.body, type) and "session_id" in self.body.model_fields
        return "{session_id}" in self.path or in_body


class ApiRefusal(Exception):
    """Raised while a request is handled. The client then gets the error response ``problem``."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Problem:
    """An error response.

    - ``status``: HTTP status. ``code``: for programs, such as "unknown_session". ``message``: for people.
    - ``field``: name of the invalid part of the request, such as "session_id"; "" if no single part is invalid.
    - ``headers``: further HTTP headers.
    """

    status: int
    code: str
    message: str
    field: str = ""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, dict[str, str | None]]:
        """Return the response body: ``{"error": {"code": ..., "message": ..., "field": ...}}``. If ``self.field`` is
        "", the member ``field`` is ``None``."""
        return {"error": {"code": self.code, "message": self.message, "field": self.field or None}}


UNAUTHORIZED: Final = Problem(
    401, "unauthorized", "Missing or invalid API key.", headers={"www-authenticate": 'Bearer realm="tokenmizer"'}
)
NO_VERDICT: Final = Problem(
    503, "unavailable", "The caller cannot be authenticated at the moment.", headers={"retry-after": "1"}
)
NO_ROUTE: Final = Problem(404, "not_found", "There is no such route.")
UNKNOWN_SESSION: Final = Problem(404, "unknown_session", "There is no such session.", "session_id")
UNKNOWN_NODE: Final = Problem(404, "unknown_node", "The session has no such fact: search finds facts by their words.")
UNKNOWN_MESSAGE: Final = Problem(404, "unknown_message", "The session has no such message.", "message")
UNKNOWN_CHECKPOINT: Final = Problem(404, "unknown_checkpoint", "The session has no such checkpoint.")
INVALID_SESSION: Final = Problem(422, "invalid", "A session id is 1 to 256 printable characters.", "session_id")
BUSY: Final = Problem(503, "store_unavailable", "The store cannot be used at the moment.", headers={"retry-after": "1"})
FAULT: Final = Problem(500, "internal", "Something went wrong here.")
_PLACE_MAX: Final = 100

_KNOWN: Final[tuple[tuple[type[TokenMizerError], Problem], ...]] = (
    (UnknownSession, UNKNOWN_SESSION),
    (InvalidSession, UNKNOWN_SESSION),
    (SessionDiffers, Problem(409, "session_differs", "The session exists and holds something else.", "session_id")),
    (StoreError, BUSY),
)
"""Pairs of an exception class of this package and its error response; the first pair that fits is used. An invalid
session id gets the response for an unknown session, because no session can have that id."""


def unknown_node(nearest: Iterable[Node]) -> Problem:
    """Return the error response (404) for a text that fits no fact of a session. ``nearest``: the facts that fit best,
    which the message lists. If there are none, the message points to recall, which also searches messages."""
    named = "; ".join(f"{node.id} {node.label!r}" for node in nearest)
    hint = f"; nearest: {named}." if named else ": recall searches its messages, too."
    return dataclasses.replace(UNKNOWN_NODE, message=f"The session has no such fact{hint}")


def forbidden(scope: str) -> Problem:
    """Return the error response (403) for a caller without the permission ``scope``."""
    return Problem(403, "forbidden", f"This needs the scope {scope!r}.")


def wrong_method(allowed: str) -> Problem:
    """Return the error response (405) for a method that a path does not accept. ``allowed``: the methods that it
    accepts, such as "GET, HEAD"."""
    return Problem(405, "method_not_allowed", f"This path takes {allowed}.", headers={"allow": allowed})


def too_large(limit: int) -> Problem:
    """Return the error response (413) for a request body of more than ``limit`` bytes."""
    return Problem(413, "too_large", f"The body is larger than {limit:,} bytes.", headers={"connection": "close"})


def wrong_media(taken: str) -> Problem:
    """Return the error response (415) for a body that is compressed, or whose media type is not ``taken``, the accepted
    one."""
    return Problem(415, "unsupported_media_type", f"The body is {taken}, without a content encoding.", "content-type")


def invalid(message: str, field: str = "") -> Problem:
    """Return the error response (422) for an invalid value. ``field``: name of the field with it; "" if no single field
    is invalid."""
    return Problem(422, "invalid", message, field)


def invalid_field(error: ValidationError, model: type[BaseModel]) -> Problem:
    """Return the error response (422) for the first validation error in ``error``. Its message never repeats the
    invalid value. If the request has a field that ``model`` does not have, the message lists the fields of
    ``model``."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))[:_PLACE_MAX]
    if first["type"] == "extra_forbidden":
        names = ", ".join(field.alias or name for name, field in model.model_fields.items())
        return invalid(f"{place}: there is no such field; the fields are: {names or 'none'}.", place)
    return invalid(f"{place or 'The body'}: {first['msg'][:1].lower()}{first['msg'][1:]}.", place)


def problem_of(error: TokenMizerError) -> Problem | None:
    """Return the error response for an exception of this package. ``None`` if the exception is the server's fault, so
    that the client should get status 500."""
    if isinstance(error, BudgetTooSmall):
        return invalid(f"{str(error).capitalize()}.", "budget")
    if isinstance(error, UnknownNode):
        return Problem(404, "unknown_node", _as_sentence(error), "node_id")
    for kind, problem in _KNOWN:
        if isinstance(error, kind):
            return problem
    return invalid(_as_sentence(error)) if isinstance(error, CallerError) else None


def _as_sentence(error: Exception) -> str:
    """Return the message of ``error`` with a full stop. Its first letter becomes a capital if the first word has only
    letters, so not if it is a fact's id ("task-3") or an argument's name ("node_id")."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}." if text.partition(" ")[0].isalpha() else f"{text}."


Authorize = Callable[[Mapping[str, Any]], Caller | Awaitable[Caller | None] | None]
"""Function of your application that says who sent a request. It gets the ASGI scope of the request. It returns the
``Caller``, or ``None`` to refuse the request with status 401. It may be async; if it is not, it must not block."""


class AuthorizeFailed(Exception):
    """Raised when the function ``authorize`` has raised an exception, or has returned anything but a ``Caller`` or
    ``None``. The client gets status 503, because the request is not at fault."""


def local(scope: Mapping[str, Any]) -> Caller:
    """Return a caller with all permissions for the tenant "local" (the default owner of sessions). Nothing is checked.
    Pass this function as ``authorize=local`` if only the owner can reach the application."""
    return Caller(LOCAL_TENANT)


async def find_caller(authorize: Authorize, scope: Mapping[str, Any]) -> Caller | None:
    """Call ``authorize`` with the ASGI ``scope`` of a request, and return the caller; ``None`` if ``authorize`` refuses
    the request.

    Raises ``AuthorizeFailed`` if ``authorize`` raises an exception, or returns anything but a caller or ``None``.
    """
    try:
        found = authorize(scope)
        caller = await found if isawaitable(found) else found
    except Exception as error:
        raise AuthorizeFailed from error
    if caller is not None and not isinstance(caller, Caller):
        raise AuthorizeFailed(f"authorize returned {name_type(caller)}")
    return caller


Query = TypeVar("Query")
Body = TypeVar("Body")


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[Query, Body]):
    """An API request of a caller who has the permission for the route. The function of the route gets this object.

    - ``memory``, ``caller``, ``health``: the sessions, who sent the request, and the health check of the server.
    - ``prefix``: the path under which the API is mounted, such as "/memory"; "" at the root.
    - ``session_id``: the id in the path; "" if the route's path has none.
    - ``query``: the validated query parameters.
    - ``body``: the validated body; raw bytes if the route parses the body itself; ``None`` if the route has no body.
    - ``clock``: returns the current time in seconds since the epoch.
    """

    memory: SessionMemory
    caller: Caller
    prefix: str
    session_id: str
    query: Query
    body: Body
    health: Health
    clock: Callable[[], float]

    @property
    def tenant(self) -> str:
        """The caller's tenant: the owner of the sessions that the request can reach."""
        return self.caller.tenant


_FIELDS_MAX: Final = 50
_LENGTH_DIGITS: Final = 18


def query_of(route: Route, query_string: bytes) -> BaseModel:
    """Parse and validate the query parameters of a request. ``query_string``: the query as received. Returns an
    instance of the model ``route.query``. Raises ``ApiRefusal`` for too many, repeated, unknown or invalid
    parameters."""
    try:
        pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise ApiRefusal(invalid("The query has too many parameters.")) from None
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ApiRefusal(invalid("A parameter is given twice."))
    try:
        return route.query.model_validate(given)
    except ValidationError as error:
        raise ApiRefusal(invalid_field(error, route.query)) from None


async def body_of(route: Route, request: Request, settings: Settings) -> Any:
    """Read the body of a request, within a size limit, and validate it.

    Returns an instance of the model ``route.body``; the raw bytes if ``route.body`` is a tuple of media types; ``None``
    if the route has no body.

    The size limit is the setting ``api_body_max`` for a model, ``import_max`` for JSON Lines, and the smaller of
    ``request_max`` and ``import_max`` for other raw bytes. ``request_max`` is lower because one ``json.loads`` call
    blocks the whole process. A route that reads JSON Lines must apply ``request_max`` to each line itself.

    Raises ``ApiRefusal`` for a wrong media type and for a body that is too large or invalid, and ``ClientDisconnect``
    if the client disconnects.
    """
    if route.body is None:
        return None
    taken = route.body if isinstance(route.body, tuple) else (JSON,)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media not in taken or request.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise ApiRefusal(wrong_media(" or ".join(taken)))
    raw = await _read_body(request, _limit(route, media, settings))
    if isinstance(route.body, tuple):
        return raw
    try:
        return route.body.model_validate_json(raw)
    except ValidationError as error:
        raise ApiRefusal(invalid_field(error, route.body)) from None


def _limit(route: Route, media: str, settings: Settings) -> int:
    if not isinstance(route.body, tuple):
        return settings.api_body_max
    return settings.import_max if media == LINES else min(settings.request_max, settings.import_max)


async def _read_body(request: Request, limit: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:_LENGTH_DIGITS]) > limit:
        raise ApiRefusal(too_large(limit))
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise ApiRefusal(too_large(limit))
    return b"".join(pieces)


class JsonResponse(Response):
    """A JSON response in ASCII. All other characters are escaped, because a text may contain half of a surrogate pair,
    which cannot be encoded as UTF-8."""

    media_type = JSON

    def __init__(self, content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, status, headers)

    def render(self, content: object) -> bytes:
        """Return ``content`` as the bytes of compact JSON. Raises ``ValueError`` for infinity and NaN, which are no
        JSON."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


async def serve_lifespan(receive: Receive, send: Send, on_startup: Callable[[], None] | None = None) -> None:
    """Answer the startup and the shutdown message that an ASGI server sends (lifespan protocol), then return.
    ``on_startup``: function that is called before the startup is reported as complete; ``None`` for none."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup" and on_startup is not None:
            on_startup()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
