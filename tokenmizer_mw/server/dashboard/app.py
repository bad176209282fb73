"""The ASGI application of the dashboard: checks who sent a request and whether it is allowed, calls the function of the
page in a worker thread, and sends the page."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from tokenmizer_mw.errors import ConfigError, StoreError, TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.access.limiting import FailedKeys
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.server.api.health import Check, Doubt, Health
from tokenmizer_mw.server.api.requests import NO_ROUTE, Authorize, AuthorizeFailed, problem_of, serve_lifespan

from . import live
from .browser_requests import ALWAYS, exact_hosts, form_of, is_cross_site, is_remote, query_of, single_value, wants_html
from .caches import PastGraphs, Summaries
from .live import call_before_exit
from .page import (
    FORM_FIELD,
    NOTES,
    STATIC_MEDIA,
    DashboardState,
    Page,
    PageRefusal,
    PageRequest,
    failure,
    read_static,
    redirect,
    render_document,
)
from .sign_in import (
    HostSignIn,
    KeySignIn,
    PageSigner,
    Pass,
    SignIn,
    TokenSignIn,
    inside_address,
    local,
    sign_in_address,
    sign_in_page,
)
from .table import EVENTS, LOGIN, LOGOUT, NAMES, ROUTES, PageRoute

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw.server.dashboard")

SIGNED_IN_SECONDS: Final = 12 * 3_600.0
"""Number of seconds for which a browser stays signed in, by default."""

_ROUTES: Final[dict[tuple[str, str], PageRoute]] = {(route.name, route.method): route for route in ROUTES}


def dashboard(
    memory: SessionMemory,
    *,
    token: str | None = None,
    authorize: Authorize | None = None,
    keys: Keyring | None = None,
    hosts: Sequence[str] = (),
    checks: Sequence[Check] = (),
    doubts: Sequence[Doubt] = (),
    signed_in_seconds: float = SIGNED_IN_SECONDS,
    clock: Callable[[], float] = time.time,
) -> Dashboard:
    """Return web pages about ``memory``, as an ASGI application that can be mounted under any prefix.

    Pass exactly one of these to control access:

    - ``token``: a text of at least 16 characters. Whoever enters it may do everything with the tenant "local" (the
      default owner of sessions).
    - ``authorize``: function that gets the ASGI scope of each request and returns a ``Caller``, or ``None`` to refuse
      it. ``authorize=local`` accepts everybody, but then only requests from and to this machine are answered.
    - ``keys``: API keys of a server. The scopes (permissions) of a key decide what its owner may do.

    Other arguments:

    - ``hosts``: the host names at which the dashboard answers, such as "desk.example.org" or "desk.example.org:8443";
      by default those of this machine.
    - ``checks``, ``doubts``: functions that return a word for the health page if the server cannot take requests
      (``checks``) or something else does not work (``doubts``), else ``None``.
    - ``signed_in_seconds``: how long a browser stays signed in.
    - ``clock``: returns the current time in seconds since the epoch.

    The dashboard does not close ``memory``; the caller has to. Raises ``ConfigError`` if not exactly one of the access
    options is passed, and for invalid values.
    """
    if not isinstance(memory, SessionMemory):
        raise ConfigError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    entrance = _entrance(token, authorize, keys)
    if not signed_in_seconds > 0:
        raise ConfigError("signed_in_seconds is more than 0")
    health = Health(memory, tuple(checks), clock, tuple(doubts))
    return Dashboard(memory, entrance, health, hosts, signed_in_seconds, clock)


def _entrance(token: str | None, authorize: Authorize | None, keys: Keyring | None) -> SignIn:
    if sum(given is not None for given in (token, authorize, keys)) != 1:
        raise ConfigError("the dashboard needs one of token, authorize and keys, to know who may look")
    if token is not None:
        return TokenSignIn(token)
    if keys is not None:
        return KeySignIn(keys)
    if not callable(authorize):
        raise ConfigError(f"authorize is called with the scope of a request: {authorize!r:.60} cannot be called")
    return HostSignIn(authorize)


@dataclass(frozen=True, slots=True)
class _Visitor:
    """The sender of a request.

    - ``given``: the content of the browser's cookie. ``new``: whether the browser had no valid cookie, so that this one
      is only now sent to it.
    - ``caller``: who is signed in; ``None`` if nobody is.
    """

    given: Pass
    new: bool
    caller: Caller | None

    @property
    def who(self) -> str:
        return f"{self.caller.tenant}\0{self.caller.key_id}" if self.caller is not None else ""


class Dashboard:
    """The ASGI application that the function ``dashboard`` returns. ``ending``: whether the server is about to shut
    down."""

    def __init__(
        self,
        memory: SessionMemory,
        entrance: SignIn,
        health: Health,
        hosts: Sequence[str],
        signed_in_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self.ending = False
        self._memory = memory
        self._entrance = entrance
        self._open = isinstance(entrance, HostSignIn) and entrance.everybody
        self._health = health
        self._hosts = exact_hosts(hosts)
        self._signed_in = signed_in_seconds
        self._clock = clock
        self._seal = PageSigner(memory.log.secret(), entrance.about)
        self._cookie = f"tokenmizer_{self._seal.name}"
        self._failures = FailedKeys(AccessSettings())
        self._caches = DashboardState(Summaries(), PastGraphs())
        self._tails = live.LogTails(memory)

    def end(self) -> None:
        """Make the event streams to browsers end, so that the server can shut down. Browsers reconnect later."""
        self.ending = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection: answer an HTTP request or the server's lifespan messages, and close a WebSocket
        at once."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["type"] == "lifespan":
            await serve_lifespan(receive, send, partial(call_before_exit, self.end))

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookies = Response()
        try:
            response = await self._respond(Request(scope, receive), cookies)
        except ClientDisconnect:
            return
        except PageRefusal as refused:
            response = _whole_page(refused.page)
        except Exception as error:
            _log.warning("dashboard: %s", type(error).__name__)
            self._memory.service.count("dashboard_failed")
            response = _whole_page(failure("fault").page)
        response.raw_headers += [*ALWAYS, *(item for item in cookies.raw_headers if item[0] == b"set-cookie")]
        if scope["method"] == "HEAD":
            response.body = b""
        with suppress(ClientDisconnect):
            await response(scope, receive, send)

    async def _respond(self, http: Request, cookies: Response) -> Response:
        """Return the response. Cookies to set are added to ``cookies``, another response. Raises ``PageRefusal`` for an
        error page, and ``ClientDisconnect``."""
        self._guard(http.scope)
        name = name_of(http.scope)
        if name is None:
            root: str = http.scope.get("root_path", "") or http.scope["path"]
            return redirect(f"{root.rstrip('/').rpartition('/')[2]}/")
        method = "GET" if http.method == "HEAD" else http.method
        if name in STATIC_MEDIA and method == "GET":
            return Response(read_static(name), media_type=STATIC_MEDIA[name])
        if name not in NAMES:
            return _not_found(name, http)
        if method not in ("GET", "POST"):
            raise failure("method")
        if method == "POST" and is_cross_site(http.scope["headers"]):
            raise failure("foreign")
        return await self._serve_visitor(name, method, http, cookies)

    def _guard(self, scope: Scope) -> None:
        host = single_value(scope["headers"], b"host")
        if host is None or not self._hosts.allows(host):
            raise failure("host")
        if self._open and is_remote(scope):
            raise failure("afar")

    async def _serve_visitor(self, name: str, method: str, http: Request, cookies: Response) -> Response:
        visitor = await self._visitor(http)
        if visitor.new:
            self._set_cookie(cookies, http, self._seal.write_pass(visitor.given))
        form = await self._form(visitor, http) if method == "POST" else {}
        if name == LOGIN:
            return await self._login(visitor, method, form, http, cookies)
        if visitor.caller is None:
            return self._turn_away(name, method, http)
        if name == LOGOUT:
            if method != "POST":
                raise failure("method")
            self._set_cookie(cookies, http, "")
            return redirect(LOGIN if self._entrance.asks else "./")
        if name == EVENTS:
            return self._events(visitor.caller, http)
        return await self._run_page(_route(name, method), visitor, visitor.caller, form, http)

    async def _visitor(self, http: Request) -> _Visitor:
        written = http.cookies.get(self._cookie)
        given = self._seal.read(written, self._clock(), self._signed_in) if written else None
        new = given is None
        given = given or Pass("", secrets.token_urlsafe(18), self._clock())
        try:
            return _Visitor(given, new, await self._entrance.caller(given.subject, http.scope))
        except (AuthorizeFailed, StoreError) as error:
            _log.warning("dashboard: the caller cannot be identified: %s", type(error.__cause__ or error).__name__)
            raise failure("no_verdict") from None

    async def _form(self, visitor: _Visitor, http: Request) -> Mapping[str, str]:
        form = await form_of(http)
        token = form.get(FORM_FIELD, "")
        if visitor.new or not self._seal.is_form_token(token, visitor.given, visitor.who):
            raise failure("stale_form")
        return form

    async def _login(
        self, visitor: _Visitor, method: str, form: Mapping[str, str], http: Request, cookies: Response
    ) -> Response:
        if not self._entrance.asks or (visitor.caller is not None and method == "GET"):
            return redirect("./")
        token = self._seal.form_token(visitor.given, visitor.who)
        if method == "GET":
            return _whole_page(sign_in_page(self._entrance.asks, token, query_of(http).get("next", "")))
        back = form.get("next", "")
        host = self._failures.host_of(http.scope)
        if self._failures.refusal(host) is not None:
            raise failure("too_many")
        try:
            subject = await self._entrance.admit(form.get("secret", ""))
        except StoreError:
            raise failure("no_verdict") from None
        if subject is None:
            self._failures.note(host)
            return _whole_page(sign_in_page(self._entrance.asks, token, back, wrong=True))
        given = Pass(subject, secrets.token_urlsafe(18), self._clock())
        del cookies.headers["set-cookie"]
        self._set_cookie(cookies, http, self._seal.write_pass(given))
        return redirect(inside_address(back))

    def _turn_away(self, name: str, method: str, http: Request) -> Response:
        if not self._entrance.asks or name == EVENTS:
            raise failure("unauthorized")
        back = f"{name}?{http.url.query}" if http.url.query else name
        return redirect(sign_in_address(back if method == "GET" else ""))

    def _events(self, caller: Caller, http: Request) -> Response:
        if not caller.may("read"):
            raise failure("forbidden")
        query = query_of(http)
        since = http.headers.get("last-event-id") or query.get("since", "")
        pieces = live.changes(self._tails, caller.tenant, query.get("id", ""), since, lambda: self.ending)
        return StreamingResponse(pieces, media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def _run_page(
        self, route: PageRoute, visitor: _Visitor, caller: Caller, form: Mapping[str, str], http: Request
    ) -> Response:
        if not caller.may(route.scope):
            raise failure("forbidden")
        token = self._seal.form_token(visitor.given, visitor.who)
        request = PageRequest(
            self._memory, caller, query_of(http), form, token, self._health, self._caches, self._clock()
        )
        return await offload(partial(_do_work, route, request, bool(self._entrance.asks)), CALLS)

    def _set_cookie(self, response: Response, http: Request, value: str) -> None:
        """Set the cookie that identifies the browser on ``response``. ``value``: the signed text; "" deletes the
        cookie."""
        age, secure = int(self._signed_in) if value else 0, http.url.scheme == "https"
        response.set_cookie(self._cookie, value, age, path=None, secure=secure, httponly=True, samesite="strict")


def name_of(scope: Mapping[str, object]) -> str | None:
    """Return the name of the page that a request asks for: the path below the mount prefix without the slash at its
    start, such as "facts" for "/memory/facts" with the prefix "/memory". "" for the prefix with a slash at its end,
    which is the list of sessions. ``None`` for the prefix without a slash at its end.

    Hosts that have already removed the prefix from the path are supported, too.
    """
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    below = path[len(root) :] if root and path.startswith(root) else path
    if below in ("", "/") or below[:1] != "/":
        return "" if below == "/" else None
    return below[1:]


def is_page(path: str) -> bool:
    """Return whether the dashboard answers the path ``path``, such as "/facts", if it is mounted at the root, as in the
    proxy."""
    return path[:1] == "/" and path[1:] in NAMES


def _route(name: str, method: str) -> PageRoute:
    route = _ROUTES.get((name, method))
    if route is None:
        raise failure("method")
    return route


def _do_work(route: PageRoute, request: PageRequest, leaves: bool) -> Response:
    """Call the function of a page and return the response to send. Runs in a worker thread. ``leaves``: whether to show
    the sign-out button."""
    try:
        found = route.work(request)
    except PageRefusal as refused:
        found = refused.page
    except TokenMizerError as error:
        problem = problem_of(error)
        if problem is None:
            raise
        found = failure("problem", problem.status, problem.message).page
    if isinstance(found, Response):
        return found
    page = replace(found, note=found.note or NOTES.get(request.query.get("done", ""), ""))
    return HTMLResponse(render_document(page, request, leaves=leaves), page.status)


def _not_found(name: str, http: Request) -> Response:
    """Return the response (404) for a path that is no page: JSON if the client accepts JSON and not HTML, else an error
    page."""
    if "application/json" in http.headers.get("accept", "") and not wants_html(http.scope):
        return JSONResponse(NO_ROUTE.to_dict(), NO_ROUTE.status)
    up = "../" * name.count("/")
    return _whole_page(failure("nowhere", up=up).page, up)


def _whole_page(page: Page, up: str = "") -> Response:
    return HTMLResponse(render_document(page, None, up=up), page.status)


__all__ = ["SIGNED_IN_SECONDS", "Dashboard", "dashboard", "is_page", "local", "name_of"]
