"""Types and functions that all API routes share: the route itself, the request (its caller, and its validated query and
body), and the error response, ``{"error": {"code", "message", "field"}}``.
"""

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
    """One route of the API: a method and a path, and the function that answers them.

    - ``name``: unique; names the route in metrics, in logs and in the OpenAPI document.
    - ``path``: below the mount point. It may contain ``{session_id}``, one segment; slashes in the id are encoded.
    - ``scope``: the permission that the caller needs; ``None`` if the route is public.
    - ``summary``: its description in the OpenAPI document.
    - ``work``: the function, run in a worker thread. A ``Response`` that it returns is sent unchanged; anything else is
      sent as JSON with ``status``, also a text.
    - ``answer``: for the OpenAPI document: the type of the JSON response; or another media type, such as "text/plain",
      if ``work`` returns a ``Response``.
    - ``query``: the model of the query parameters; a request with any other parameter is refused.
    - ``body``: the model of the JSON body, or the media types that ``work`` parses itself; ``None``: no body.
    - ``status``: the HTTP status of a JSON response.
    - ``also``: text media types that ``work`` may return instead of JSON, each as a ``Response``.
    - ``failures``: for the OpenAPI document: error statuses that ``failures_of`` cannot tell from the other fields.
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
        """Whether a request names one session, in its path or in its body."""
        in_body = isinstance(self.body, type) and "session_id" in self.body.model_fields
        return "{session_id}" in self.path or in_body


class ApiRefusal(Exception):
    """Raised while a request is handled; the client then gets the error response ``problem``."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Problem:
    """An error response: ``status`` for HTTP, ``code`` for programs ("unknown_session"), ``message`` for people.
    ``field`` names the invalid part of the request, such as "session_id"; "" if no single part is invalid. ``headers``:
    further HTTP headers."""

    status: int
    code: str
    message: str
    field: str = ""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, dict[str, str | None]]:
        """Return the response body, ``{"error": {"code", "message", "field"}}``; ``field`` is ``None`` for ""."""
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
"""The error response for each exception of this package; the first row that fits counts. An invalid session id gets the
response for an unknown session, because no session can have it."""


def unknown_node(nearest: Iterable[Node]) -> Problem:
    """Return the problem (404) for a text that fits no fact of a session. Its message lists ``nearest``, the facts that
    the text fits best; if there are none, it points to recall."""
    named = "; ".join(f"{node.id} {node.label!r}" for node in nearest)
    hint = f"; nearest: {named}." if named else ": recall searches its messages, too."
    return dataclasses.replace(UNKNOWN_NODE, message=f"The session has no such fact{hint}")


def forbidden(scope: str) -> Problem:
    """Return the problem (403) for a caller who lacks the permission ``scope``."""
    return Problem(403, "forbidden", f"This needs the scope {scope!r}.")


def wrong_method(allowed: str) -> Problem:
    """Return the problem (405) for a method that a path does not take. ``allowed``: those it takes, such as
    "GET, HEAD"."""
    return Problem(405, "method_not_allowed", f"This path takes {allowed}.", headers={"allow": allowed})


def too_large(limit: int) -> Problem:
    """Return the problem (413) for a request body of more than ``limit`` bytes."""
    return Problem(413, "too_large", f"The body is larger than {limit:,} bytes.", headers={"connection": "close"})


def wrong_media(taken: str) -> Problem:
    """Return the problem (415) for a body that is compressed, or of another media type than ``taken``."""
    return Problem(415, "unsupported_media_type", f"The body is {taken}, without a content encoding.", "content-type")


def invalid(message: str, field: str = "") -> Problem:
    """Return the problem (422) for an invalid value in ``field``; "" if no single field is invalid."""
    return Problem(422, "invalid", message, field)


def invalid_field(error: ValidationError, model: type[BaseModel]) -> Problem:
    """Return the problem (422) for the first error in ``error``. Its message never repeats the invalid value. If the
    request has a field that ``model`` lacks, the message lists the fields of ``model``."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))[:_PLACE_MAX]
    if first["type"] == "extra_forbidden":
        names = ", ".join(field.alias or name for name, field in model.model_fields.items())
        return invalid(f"{place}: there is no such field; the fields are: {names or 'none'}.", place)
    return invalid(f"{place or 'The body'}: {first['msg'][:1].lower()}{first['msg'][1:]}.", place)


def problem_of(error: TokenMizerError) -> Problem | None:
    """Return the error response for an exception of this package; ``None`` for an exception that is a fault of the
    server, which gets status 500."""
    if isinstance(error, BudgetTooSmall):
        return invalid(f"{str(error).capitalize()}.", "budget")
    if isinstance(error, UnknownNode):
        return Problem(404, "unknown_node", _as_sentence(error), "node_id")
    for kind, problem in _KNOWN:
        if isinstance(error, kind):
            return problem
    return invalid(_as_sentence(error)) if isinstance(error, CallerError) else None


def _as_sentence(error: Exception) -> str:
    """Return the message of ``error`` with a full stop, and with a capital if its first word is a plain word: not a
    fact's id ("task-3") or an argument's name ("node_id")."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}." if text.partition(" ")[0].isalpha() else f"{text}."


Authorize = Callable[[Mapping[str, Any]], Caller | Awaitable[Caller | None] | None]
"""A function of the application around the API: it gets the ASGI scope of a request, and returns the ``Caller``, or
``None`` to refuse the request. It may be async; if it is not, it must not block."""


class AuthorizeFailed(Exception):
    """Raised when the function ``authorize`` raised, or returned anything but a ``Caller`` or ``None``. The client gets
    503, because it is not at fault."""


def local(scope: Mapping[str, Any]) -> Caller:
    """Give every request all permissions for the sessions of the local tenant, without a check. Pass it as
    ``authorize=local``."""
    return Caller(LOCAL_TENANT)


async def find_caller(authorize: Authorize, scope: Mapping[str, Any]) -> Caller | None:
    """Return the caller that ``authorize`` finds for the ASGI ``scope`` of a request; ``None`` if it refuses.

    Raises ``AuthorizeFailed`` if ``authorize`` raises, or returns anything but a caller or ``None``.
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
    """An API request of an authorized caller, as the function of its route gets it.

    - ``prefix``: the path under which the API is mounted, such as "/memory"; "" at the root.
    - ``session_id``: the id in the path; "" if the path of the route has none.
    - ``query``: the validated query parameters.
    - ``body``: the validated model; raw bytes for a route that parses the body itself; ``None`` for one without body.
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
        """The caller's tenant, to which all sessions of the request belong."""
        return self.caller.tenant


_FIELDS_MAX: Final = 50
_LENGTH_DIGITS: Final = 18


def query_of(route: Route, query_string: bytes) -> BaseModel:
    """Return the query parameters of a request, as an instance of the model ``route.query``. ``query_string``: as
    received. Raises ``ApiRefusal`` for too many, repeated, unknown or invalid parameters."""
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
    """Read the body of a request, within the size limit of its route.

    Returns an instance of the model ``route.body``; the raw bytes when ``route.body`` is a tuple of media types; or
    ``None`` when the route takes no body.

    The size limit is ``api_body_max`` for a model, ``import_max`` for JSON Lines, and the smaller of ``request_max``
    and ``import_max`` for other raw bytes. ``request_max`` is lower because one ``json.loads`` call blocks the whole
    process. A route that reads JSON Lines must apply ``request_max`` to each line itself.

    Raises ``ApiRefusal`` (wrong media type, too large, invalid), and ``ClientDisconnect`` when the client disconnects.
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
    """A JSON response in ASCII: all other characters are escaped, because a text may hold half of a surrogate pair,
    which cannot be encoded as UTF-8."""

    media_type = JSON

    def __init__(self, content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, status, headers)

    def render(self, content: object) -> bytes:
        """Return ``content`` as JSON, in bytes. Raises ``ValueError`` for an infinite number and for NaN."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


async def serve_lifespan(receive: Receive, send: Send, on_startup: Callable[[], None] | None = None) -> None:
    """Answer the startup and the shutdown message that an ASGI server sends (lifespan protocol), then return.
    ``on_startup``: called before the startup is reported complete."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup" and on_startup is not None:
            on_startup()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
