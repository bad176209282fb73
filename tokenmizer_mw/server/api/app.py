"""The ASGI application of the REST API: checks who sent a request, calls the function of its route in a worker thread,
and sends the response."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tokenmizer_mw.errors import ConfigError, TokenMizerError, raised_at
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.server.access.caller import Caller, caller_of

from .health import Check, Doubt, Health
from .requests import (
    FAULT,
    NO_ROUTE,
    NO_VERDICT,
    UNAUTHORIZED,
    ApiRefusal,
    ApiRequest,
    Authorize,
    AuthorizeFailed,
    JsonResponse,
    Problem,
    Route,
    body_of,
    find_caller,
    forbidden,
    problem_of,
    query_of,
    serve_lifespan,
    wrong_method,
)
from .routes import ROUTES, Matched, match_routes, openapi_document

if TYPE_CHECKING:
    from prometheus_client.registry import Collector
    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw.server.api")
_ALWAYS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
AnswerCounts = Counter[tuple[str, int]]
"""How many responses this process has sent, by name of the route and HTTP status, such as ``("search", 200)``. The name
"none" stands for requests to no route."""

_NOBODY: Final = Caller(LOCAL_TENANT, scopes=frozenset())
_NO_ROUTE_NAME: Final = "none"
_PREFIXES: Final = 8


def api(
    memory: SessionMemory,
    *,
    authorize: Authorize | None = None,
    checks: Sequence[Check] = (),
    doubts: Sequence[Doubt] = (),
    collectors: Iterable[Collector] = (),
    worker: str = "",
    clock: Callable[[], float] = time.time,
) -> Api:
    """Return the REST API as an ASGI application that can be mounted under any prefix.

    - ``authorize``: function that takes a request's ASGI scope and returns its caller, or ``None`` to refuse it. With
      ``authorize=None``, the caller is the one that the middleware of ``server.access`` found. A request without a
      caller gets status 401, except on the routes for health and the OpenAPI document. ``authorize=local`` lets
      everybody do everything with the tenant "local"; use it only if nobody but the owner can reach the application.
    - ``checks``: functions that return a word such as "draining" while the server cannot take requests, else ``None``.
      ``/health`` then answers with status 503 and these words.
    - ``doubts``: functions that return a word such as "limits_unavailable" while something else does not work, else
      ``None``. ``/health`` then reports "degraded" with these words.
    - ``collectors``: further Prometheus collectors for ``/metrics``. If prometheus-client (extra ``api``) is not
      installed, there is no such route.
    - ``worker``: value of the label "worker" of this process in the metrics; "" for no such label.
    - ``clock``: returns the current time in seconds since the epoch.

    The API does not close ``memory``; the caller has to. Raises ``ConfigError`` for a ``memory`` or an ``authorize`` of
    a wrong type.
    """
    if not isinstance(memory, SessionMemory):
        raise ConfigError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    if authorize is not None and not callable(authorize):
        raise ConfigError(f"authorize is called with the scope of a request: {authorize!r:.60} cannot be called")
    health = Health(memory, tuple(checks), clock, tuple(doubts))
    return Api(memory, authorize or caller_of, health, tuple(collectors), worker, clock)


class Api:
    """The ASGI application of the REST API. The function ``api`` creates it and explains its arguments."""

    def __init__(
        self,
        memory: SessionMemory,
        authorize: Authorize,
        health: Health,
        collectors: tuple[Collector, ...],
        worker: str,
        clock: Callable[[], float],
    ) -> None:
        self._memory = memory
        self._authorize = authorize
        self._health = health
        self._clock = clock
        self._answered: AnswerCounts = Counter()
        self.routes = (*ROUTES, *self._own(), *_metrics(memory, self._answered, health, collectors, worker))

    def _own(self) -> tuple[Route, ...]:
        @lru_cache(maxsize=_PREFIXES)
        def describe_under(prefix: str) -> dict[str, Any]:
            return openapi_document(self.routes, prefix)

        def describe_api(request: ApiRequest[Any, None]) -> dict[str, Any]:
            return describe_under(request.prefix)

        summary = "This document."
        return (Route("openapi", "GET", "/api/openapi.json", None, summary, describe_api, dict[str, Any]),)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection: answer an HTTP request or the server's lifespan messages, and close a WebSocket
        at once."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["type"] == "lifespan":
            await serve_lifespan(receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = match_routes(scope, self.routes)
        name = _NO_ROUTE_NAME
        try:
            route = _route(found, scope["method"])
            name = route.name
            response = await self._run_route(route, found, Request(scope, receive))
        except ApiRefusal as refused:
            response = _problem_response(refused.problem)
        except ClientDisconnect:
            return
        except Exception as error:
            _log_failure(name, error)
            self._memory.service.count("api_failed")
            response = _problem_response(FAULT)
        self._answered[name, response.status_code] += 1
        response.headers.update(_ALWAYS)
        if scope["method"] == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    async def _run_route(self, route: Route, found: Matched | None, http: Request) -> Response:
        caller = await self._let_in(route, http.scope)
        query = query_of(route, http.scope.get("query_string", b""))
        body = await body_of(route, http, self._memory.settings)
        session_id = found.session_id if found is not None else ""
        prefix = http.scope.get("root_path", "")
        request = ApiRequest(self._memory, caller, prefix, session_id, query, body, self._health, self._clock)
        if route.name == "live":  # touches no store: it answers while every thread waits for one
            return _do_work(route, request)
        return await offload(partial(_do_work, route, request), CALLS)

    async def _find_caller(self, scope: Scope) -> Caller:
        """Return the caller of a request to a route that needs no permission. If nobody is authenticated, or if that
        cannot be checked, return a caller without permissions."""
        with suppress(AuthorizeFailed):
            return await find_caller(self._authorize, scope) or _NOBODY
        return _NOBODY

    async def _let_in(self, route: Route, scope: Scope) -> Caller:
        """Return the caller of a request. Raises ``ApiRefusal`` with status 401 if there is no caller, 403 if the
        caller lacks the permission for ``route``, and 503 if the caller cannot be checked at the moment."""
        if route.scope is None:
            return await self._find_caller(scope) if route.name == "health" else _NOBODY
        try:
            caller = await find_caller(self._authorize, scope)
        except AuthorizeFailed as failure:
            _log_failure("authorize", failure.__cause__ or failure)
            raise ApiRefusal(NO_VERDICT) from None
        if caller is None:
            raise ApiRefusal(UNAUTHORIZED)
        if not caller.may(route.scope):
            raise ApiRefusal(forbidden(route.scope))
        return caller


def _metrics(
    memory: SessionMemory, answered: AnswerCounts, health: Health, collectors: Iterable[Collector], worker: str
) -> tuple[Route, ...]:
    """Return a tuple with the route for Prometheus metrics; ``()`` if prometheus-client is not installed."""
    try:
        from . import metrics
    except ModuleNotFoundError as missing:
        if missing.name != "prometheus_client":
            raise
        return ()
    from prometheus_client import generate_latest

    registry = metrics.registry_of(memory, answered, health, collectors, worker)

    def expose_metrics(request: ApiRequest[Any, None]) -> Response:
        """Return the metrics as text. Blocks while the health check reads the store."""
        return Response(generate_latest(registry), media_type=metrics.MEDIA)

    summary = "Counters of this process, for Prometheus."
    return (Route("metrics", "GET", "/metrics", "admin", summary, expose_metrics, "text/plain"),)


def _route(found: Matched | None, method: str) -> Route:
    """Return the route for an HTTP method among those at the request's path. HEAD gets the route of GET. Raises
    ``ApiRefusal`` with status 404 if ``found`` is ``None`` (unknown path), and 405 if the path does not accept the
    method."""
    if found is None:
        raise ApiRefusal(NO_ROUTE)
    route = found.routes.get("GET" if method == "HEAD" else method)
    if route is None:
        allowed = [*found.routes, *(["HEAD"] if "GET" in found.routes else [])]
        raise ApiRefusal(wrong_method(", ".join(sorted(allowed))))
    return route


def _do_work(route: Route, request: ApiRequest[Any, Any]) -> Response:
    """Call the function of ``route`` and return the response to send. An exception of this package becomes
    ``ApiRefusal`` with its error response, if it has one. Any other exception is not caught."""
    try:
        found = route.work(request)
    except TokenMizerError as error:
        problem = problem_of(error)
        if problem is None:
            raise
        if problem.status >= FAULT.status:
            _log_failure(route.name, error)
        raise ApiRefusal(problem) from None
    return found if isinstance(found, Response) else JsonResponse(found, route.status)


def _problem_response(problem: Problem) -> Response:
    return JsonResponse(problem.to_dict(), problem.status, problem.headers)


def _log_failure(name: str, error: BaseException) -> None:
    """Log the type of an exception and where it was raised, but not its text, which may quote a chat. ``name``: the
    route."""
    _log.warning("api %s: %s in %s", name, type(error).__name__, raised_at(error))
