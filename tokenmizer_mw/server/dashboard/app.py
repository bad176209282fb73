"""The ASGI application of the dashboard: checks access, runs the page function in a worker thread, and sends the
page."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError, StoreError, TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.failures import Failures
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.server.api.callers import Authorize, NoVerdict
from tokenmizer_mw.server.api.errors import problem_of
from tokenmizer_mw.server.api.health import Check, Doubt, Health

from . import live, login, static
from .asked import FORM_FIELD, DashboardState, File, Page, PageRequest, See
from .ending import before_the_end
from .entrance import Entrance, Hosted, Keyed, Tokened, cookie, cookie_of, local
from .form import BrowserGone, UnreadableForm, fields_of, form_of
from .frame import NOTES, render_document
from .guards import ALWAYS, exact_hosts, foreign, one, reached_from_afar
from .past import Pasts
from .refused import PageRefusal, failure, page_of
from .seal import PageSigner, Pass
from .table import EVENTS, LOGIN, LOGOUT, NAMES, ROUTES, STATIC, PageRoute
from .titles import Summaries

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("tokenmizer_mw.server.dashboard")

SIGNED_IN_SECONDS: Final = 12 * 3_600.0
"""How long a token that was entered counts."""

_HTML: Final = "text/html; charset=utf-8"
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

    - ``token``: whoever enters it (at least 16 characters) may do everything with the local tenant.
    - ``authorize``: function that is called with the scope of each request and returns a ``Caller``, or ``None`` to
      refuse. ``authorize=local`` accepts everybody, but then only requests from and to this machine are answered.
    - ``keys``: API keys of a server; a key's scopes decide what its owner may do.

    ``hosts``: the host names of the dashboard, "desk.example.org" or "desk.example.org:8443"; by default those of this
    machine. ``checks`` and ``doubts``: further checks for the health page, see ``Health``. ``signed_in_seconds``: how
    long a browser stays signed in. The caller must close ``memory``.

    Raises ``ConfigError`` if not exactly one access option is passed, and for invalid values.
    """
    if not isinstance(memory, SessionMemory):
        raise ConfigError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    entrance = _entrance(token, authorize, keys)
    if not signed_in_seconds > 0:
        raise ConfigError("signed_in_seconds is more than 0")
    health = Health(memory, tuple(checks), clock, tuple(doubts))
    return Dashboard(memory, entrance, health, hosts, signed_in_seconds, clock)


def _entrance(token: str | None, authorize: Authorize | None, keys: Keyring | None) -> Entrance:
    if sum(given is not None for given in (token, authorize, keys)) != 1:
        raise ConfigError("the dashboard needs one of token, authorize and keys, to know who may look")
    if token is not None:
        return Tokened(token)
    if keys is not None:
        return Keyed(keys)
    if not callable(authorize):
        raise ConfigError(f"authorize is called with the scope of a request: {authorize!r:.60} cannot be called")
    return Hosted(authorize)


@dataclass(frozen=True, slots=True)
class _Visitor:
    """Who asks: the pass of the browser, whether it is a new one, and the caller, ``None`` for nobody yet."""

    given: Pass
    new: bool
    caller: Caller | None

    @property
    def who(self) -> str:
        return f"{self.caller.tenant}\0{self.caller.key_id}" if self.caller is not None else ""


class Dashboard:
    """The ASGI application that ``dashboard`` returns."""

    def __init__(
        self,
        memory: SessionMemory,
        entrance: Entrance,
        health: Health,
        hosts: Sequence[str],
        signed_in_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self.ending = False
        self._memory = memory
        self._entrance = entrance
        self._open = isinstance(entrance, Hosted) and entrance.everybody
        self._health = health
        self._hosts = exact_hosts(hosts)
        self._signed_in = signed_in_seconds
        self._clock = clock
        self._seal = PageSigner(memory.log.secret(), entrance.about)
        self._cookie = f"tokenmizer_{self._seal.name}"
        self._failures = Failures(AccessSettings())
        self._kept = DashboardState(Summaries(), Pasts())
        self._tails = live.Tails(memory)

    def end(self) -> None:
        """Close the event streams before the server shuts down; browsers reconnect later."""
        self.ending = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send, self.end)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(send, bare=scope["method"] == "HEAD")
        try:
            await self._answer_request(scope, receive, answer)
        except BrowserGone:
            return
        except PageRefusal as refused:
            await answer.page(refused.page)
        except Exception as error:
            if answer.started:
                raise
            _log.warning("dashboard: %s", type(error).__name__)
            self._memory.service.count("dashboard_failed")
            await answer.page(page_of(failure("fault")))

    async def _answer_request(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        self._guard(scope)
        name = name_of(scope)
        if name is None:
            root: str = scope.get("root_path", "") or scope["path"]
            return await answer.see(f"{root.rstrip('/').rpartition('/')[2]}/")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if name in STATIC and method == "GET":
            return await answer.file(static.read(name), static.MEDIA[name])
        if name not in NAMES:
            raise failure("nowhere")
        if method not in ("GET", "POST"):
            raise failure("method")
        if method == "POST" and foreign(scope["headers"]):
            raise failure("foreign")
        await self._serve_visitor(name, method, scope, receive, answer)

    def _guard(self, scope: Scope) -> None:
        host = one(scope["headers"], b"host")
        if host is None or not self._hosts.allows(host):
            raise failure("host")
        if self._open and reached_from_afar(scope):
            raise failure("afar")

    async def _serve_visitor(self, name: str, method: str, scope: Scope, receive: Receive, answer: _Answer) -> None:
        visitor = await self._visitor(scope)
        if visitor.new:
            answer.cookies.append(self._hand_over_pass(visitor.given, scope))
        form: Mapping[str, str] = {}
        if method == "POST":
            form = await self._form(visitor, scope, receive)
        if name == LOGIN:
            await self._login(visitor, method, form, scope, answer)
        elif visitor.caller is None:
            await self._turned_away(name, method, scope, answer)
        elif name == LOGOUT:
            if method != "POST":
                raise failure("method")
            answer.cookies.append(cookie(self._cookie, "", scope, 0))
            await answer.see(LOGIN if self._entrance.asks else "./")
        elif name == EVENTS:
            await self._events(visitor.caller, scope, receive, answer)
        else:
            await self._run_page(_route(name, method), visitor, form, scope, answer)

    async def _visitor(self, scope: Scope) -> _Visitor:
        written = cookie_of(scope, self._cookie)
        given = self._seal.read(written, self._clock(), self._signed_in) if written else None
        new = given is None
        given = given or Pass("", secrets.token_urlsafe(18), self._clock())
        try:
            return _Visitor(given, new, await self._entrance.caller(given.subject, scope))
        except (NoVerdict, StoreError) as error:
            _log.warning("dashboard: who asks cannot be told: %s", type(error.__cause__ or error).__name__)
            raise failure("no_verdict") from None

    async def _form(self, visitor: _Visitor, scope: Scope, receive: Receive) -> Mapping[str, str]:
        try:
            form = await form_of(scope, receive)
        except UnreadableForm:
            raise failure("form") from None
        token = form.get(FORM_FIELD, "")
        if visitor.new or not self._seal.is_form_token(token, visitor.given, visitor.who):
            raise failure("stale_form")
        return form

    async def _login(
        self, visitor: _Visitor, method: str, form: Mapping[str, str], scope: Scope, answer: _Answer
    ) -> None:
        if not self._entrance.asks or (visitor.caller is not None and method == "GET"):
            return await answer.see("./")
        token = self._seal.form_token(visitor.given, visitor.who)
        back = fields_of(scope.get("query_string", b"")).get("next", "")
        if method == "GET":
            return await answer.page(login.page(self._entrance.asks, token, back))
        host = self._failures.host_of(scope)
        if self._failures.refusal(host) is not None:
            raise failure("too_many")
        try:
            subject = await self._entrance.admit(form.get("secret", ""))
        except StoreError:
            raise failure("no_verdict") from None
        if subject is None:
            self._failures.note(host)
            return await answer.page(login.page(self._entrance.asks, token, form.get("next", ""), wrong=True))
        given = Pass(subject, secrets.token_urlsafe(18), self._clock())
        answer.cookies[:] = [self._hand_over_pass(given, scope)]
        await answer.see(login.inside(form.get("next", "")))

    async def _turned_away(self, name: str, method: str, scope: Scope, answer: _Answer) -> None:
        if not self._entrance.asks or name == EVENTS:
            raise failure("unauthorized")
        query = scope.get("query_string", b"").decode("latin-1")
        back = f"{name}?{query}" if query else name
        await answer.see(login.address(back if method == "GET" else ""))

    async def _events(self, caller: Caller, scope: Scope, receive: Receive, answer: _Answer) -> None:
        if not caller.may("read"):
            raise failure("forbidden")
        try:
            query = fields_of(scope.get("query_string", b""))
        except UnreadableForm:
            raise failure("form") from None
        since = one(scope["headers"], b"last-event-id") or query.get("since", "").encode()
        answer.started = True
        shown = since.decode("latin-1")
        await live.stream(
            self._tails, caller.tenant, query.get("id", ""), shown, receive, answer.send, lambda: self.ending
        )

    async def _run_page(
        self, route: PageRoute, visitor: _Visitor, form: Mapping[str, str], scope: Scope, answer: _Answer
    ) -> None:
        caller = visitor.caller
        assert caller is not None
        if not caller.may(route.scope):
            raise failure("forbidden")
        try:
            query = fields_of(scope.get("query_string", b""))
        except UnreadableForm:
            raise failure("form") from None
        token = self._seal.form_token(visitor.given, visitor.who)
        asked = PageRequest(self._memory, caller, query, form, token, self._health, self._kept, self._clock())
        leaves = bool(self._entrance.asks)
        done = await offload(partial(_do_work, route, asked, leaves), CALLS)
        if isinstance(done, See):
            await answer.see(done.address)
        elif isinstance(done, File):
            await answer.send_file(done)
        else:
            await answer.html(*done)

    def _hand_over_pass(self, given: Pass, scope: Scope) -> bytes:
        return cookie(self._cookie, self._seal.write_pass(given), scope, self._signed_in)


def name_of(scope: Mapping[str, object]) -> str | None:
    """Return the part of a path below the prefix, without its slash; ``None`` for the prefix itself without a slash.

    Also handles hosts that have already removed the prefix.
    """
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    below = path[len(root) :] if root and path.startswith(root) else path
    if below in ("", "/") or below[:1] != "/":
        return "" if below == "/" else None
    return below[1:]


def is_page(path: str) -> bool:
    """Return whether a path belongs to the dashboard when it is mounted at the root."""
    return path[:1] == "/" and path[1:] in NAMES


def _route(name: str, method: str) -> PageRoute:
    route = _ROUTES.get((name, method))
    if route is None:
        raise failure("method")
    return route


def _do_work(route: PageRoute, asked: PageRequest, leaves: bool) -> See | File | tuple[int, bytes]:
    """The work and its page, in a worker thread. Raises ``PageRefusal``."""
    try:
        found = route.work(asked)
    except PageRefusal as refused:
        found = refused.page
    except TokenMizerError as error:
        problem = problem_of(error)
        if problem is None:
            raise
        found = page_of(failure("problem", problem.status, problem.message))
    if isinstance(found, See | File):
        return found
    note = found.note or NOTES.get(asked.query.get("done", ""), "")
    page = Page(found.title, found.body, found.here, found.session_id, found.live, note, found.status)
    return page.status, render_document(page, asked, leaves=leaves)


class _Answer:
    """The way back: every answer has the headers that all have."""

    def __init__(self, send: Send, *, bare: bool) -> None:
        self.started = False
        self.cookies: list[bytes] = []
        self._send = send
        self._bare = bare

    async def page(self, page: Page) -> None:
        await self.html(page.status, render_document(page, None))

    async def html(self, status: int, body: bytes) -> None:
        await self._whole(status, body, [(b"content-type", _HTML.encode())])

    async def file(self, body: bytes, media: str) -> None:
        await self._whole(200, body, [(b"content-type", media.encode())])

    async def send_file(self, file: File) -> None:
        disposition = f'attachment; filename="{file.name}"'.encode("ascii")
        headers = [(b"content-type", file.media.encode()), (b"content-disposition", disposition)]
        await self._whole(200, file.body, headers)

    async def see(self, address: str) -> None:
        location = (b"location", address.encode("ascii", "xmlcharrefreplace"))
        await self._whole(303, b"", [location, (b"content-type", b"text/plain")])

    async def send(self, message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *self._headers()]}  # type: ignore[misc]
        await self._send(message)

    async def _whole(self, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        self.started = True
        told = [*headers, (b"content-length", str(len(body)).encode()), *self._headers()]
        await self._send({"type": "http.response.start", "status": status, "headers": told})
        await self._send({"type": "http.response.body", "body": b"" if self._bare else body})

    def _headers(self) -> list[tuple[bytes, bytes]]:
        return [*ALWAYS, *((b"set-cookie", value) for value in self.cookies)]


async def _lifespan(receive: Receive, send: Send, end: Callable[[], None]) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            before_the_end(end)
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


__all__ = ["SIGNED_IN_SECONDS", "Dashboard", "dashboard", "is_page", "local", "name_of"]
