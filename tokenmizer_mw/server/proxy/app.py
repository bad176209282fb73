"""The proxy as one ASGI application: access control, the memory middleware, and the relay that forwards calls to
providers.

Also what its server process needs: shutdown in two steps (first the server reports that it is not ready, so that a load
balancer stops sending requests; later it stops accepting them), a log filter, the start in a worker process, and the
supervisor of several worker processes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.errors import ConfigError, TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.operations.erasure import retaining
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.server.access.caller import caller_of, is_own, tenant_of
from tokenmizer_mw.server.access.key_store import KeyStore
from tokenmizer_mw.server.access.keyring import keys_of_server
from tokenmizer_mw.server.access.middleware import Access
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.api.health import Doubt
from tokenmizer_mw.server.dashboard import Dashboard, dashboard
from tokenmizer_mw.server.dashboard.app import is_page
from tokenmizer_mw.server.dashboard.browser_requests import wants_html
from tokenmizer_mw.server.dashboard.live import call_before_exit
from tokenmizer_mw.server.dashboard.table import NAMES

from .api_paths import api_path_of
from .attempts import ProviderOutcomes
from .client_models import ClientModels
from .compaction import CompactionMiddleware
from .configuration import Configuration
from .connection import BrokenResponse
from .conversations import SessionNaming, session_of
from .credentials import OWN_HEADER
from .relay import Relay
from .request_bodies import RequestBounds
from .request_redaction import RequestRedaction

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SERVER: Final = "uvicorn.error"


class _OneLine(logging.Filter):
    """Log filter for the exception ``BrokenResponse``, which the relay raises on purpose: the server then cuts the
    client's connection, because the provider's response broke off."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return true, so that every record is logged. In a record about ``BrokenResponse``, replace error and
        traceback by a one-line warning."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, BrokenResponse):
            record.msg, record.args = "a provider's response broke off, and so did the client's: %s", (str(error),)
            record.exc_info = record.exc_text = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def shorten_broken_response_logs() -> None:
    """Install a filter on uvicorn's error log: a provider response that broke off is logged as one line instead of a
    traceback. Calling it twice installs one filter."""
    log = logging.getLogger(_SERVER)
    if not any(isinstance(each, _OneLine) for each in log.filters):
        log.addFilter(_OneLine())


def report_unready_first(seconds: float, begin: Callable[[], None]) -> None:
    """Install a SIGTERM handler that calls ``begin`` at once, and ``seconds`` later the handler that was installed
    before (the server's own).

    ``begin`` should make the server report that it is not ready. A second SIGTERM reaches the server's handler at once.
    Call this function in the server's event loop. It does nothing outside of the main thread, if ``seconds`` is 0, or
    if no handler function is installed.
    """
    server = signal.getsignal(signal.SIGTERM)
    if seconds <= 0 or not callable(server) or threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()

    def handle_signal(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, server)
        loop.call_soon_threadsafe(begin)
        loop.call_soon_threadsafe(loop.call_later, seconds, server, number, None)

    signal.signal(signal.SIGTERM, handle_signal)


OPEN_PATHS: Final = ("/health", "/health/live", "/health/ready")
"""Paths that need no API key, because the orchestrators that request them have none."""


class Proxy:
    """The proxy as an ASGI application. When the server ends, it closes ``memory``, the key store and the connections
    to providers.

    - ``keys``: the store of clients' API keys; used only if the configuration has ``auth: true``, which raises
      ``ConfigError`` without it.
    - ``draining``: whether the server is shutting down. It then reports that it is not ready; open requests continue.
    - ``outcomes``: counts how calls to providers ended.
    """

    def __init__(self, configuration: Configuration, memory: SessionMemory, keys: KeyStore | None = None) -> None:
        if configuration.auth and keys is None:
            raise ConfigError("auth: true needs a place where keys are kept")
        self.configuration = configuration
        self.memory = memory
        self.draining = False
        self._keys = keys if configuration.auth else None
        self._upstream = configuration.asking.upstream
        self._client_models = self._open_client_models()
        worker = str(os.getpid()) if configuration.listen.workers > 1 else ""
        self.outcomes = ProviderOutcomes(worker)
        settings = configuration.access
        settings = replace(settings, open_paths=(*settings.open_paths, *OPEN_PATHS, *_pages(configuration)))
        self._access = Access(self._inside, keys=self._keys, settings=settings)
        body_max = configuration.asking.body_max
        self._calls = RequestBounds(self._remembering(), settings.bounds, body_max, self._access.counts)
        self.outcomes.refused = self._access.counts
        doubts = [self._access.limits.doubt]
        self._pages = self._dashboard(doubts) if configuration.dashboard else None
        self._own = api(memory, checks=[self._find_unready], doubts=doubts, collectors=[self.outcomes], worker=worker)

    def _dashboard(self, doubts: Sequence[Doubt]) -> Dashboard:
        hosts = [host for host in self.configuration.access.hosts if not host.startswith("*")]
        keys = self._access.keys
        authorize = caller_of if keys is None else None
        checks = [self._find_unready]
        return dashboard(self.memory, authorize=authorize, keys=keys, hosts=hosts, checks=checks, doubts=doubts)

    def _open_client_models(self) -> ClientModels | None:
        models, asking = self.configuration.refinement, self.configuration.asking
        if not models:
            return None
        return ClientModels(models, self.memory, connect_seconds=asking.connect_seconds, ca_file=asking.ca_file)

    def _remembering(self) -> ASGIApp:
        configuration, memory = self.configuration, self.memory
        settings = memory.settings
        own = {settings.session_header.lower(), settings.cache_header.lower(), configuration.access.key_header} - {""}
        relay = Relay(
            configuration.routes,
            self._upstream,
            self.outcomes,
            retrying=configuration.asking.retrying,
            body_max=configuration.asking.body_max,
            own_headers=frozenset(name.encode("latin-1") for name in own) | {OWN_HEADER},
            client_models=self._client_models,
        )
        asking = configuration.asking
        passes = asking.unreadable_bodies == "pass"
        redacting = RequestRedaction(relay, memory, asking.body_max, passes_unreadable=passes)
        remembering = TokenMizerMiddleware(redacting, memory=memory, session=session_of, tenant=tenant_of)
        remembering.unknown_routes = None  # the proxy's routes cannot be changed
        compacting = CompactionMiddleware(remembering, memory, configuration.routes)
        return SessionNaming(compacting, memory, configuration.naming)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection. A browser that requests a page which does not exist gets an error page without an
        API key; everything else passes access control first."""
        if self._pages is not None and scope["type"] == "http" and _is_lost_browser(scope):
            await self._pages(scope, receive, send)  # it says that there is no such page, and needs no key for that
        else:
            await self._access(scope, receive, send)

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection that access control has accepted: pass a request to the application that serves its path.
        WebSocket connections are closed."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._of(scope["path"])(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _of(self, path: str) -> ASGIApp:
        """Return the application that serves the request path ``path``: the dashboard, this server's own routes, or the
        relay."""
        if self._pages is not None and is_page(path):
            return self._pages
        return self._own if is_own(path) else self._calls

    def _find_unready(self) -> str | None:
        return "draining" if self.draining else None

    def _drain(self) -> None:
        self.draining = True

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        message: Message = await receive()
        shorten_broken_response_logs()
        with retaining(self.memory):
            while message["type"] != "lifespan.shutdown":
                if self._pages is not None:
                    call_before_exit(self._pages.end)
                report_unready_first(self.configuration.listen.unready_seconds, self._drain)
                await send({"type": "lifespan.startup.complete"})
                message = await receive()
            self._drain()
        await self._upstream.aclose()
        await offload(self.memory.close, STORE)
        if self._client_models is not None:
            await self._client_models.aclose()
        if self._keys is not None:
            await offload(self._keys.close, STORE)
        await send({"type": "lifespan.shutdown.complete"})


def _is_lost_browser(scope: Scope) -> bool:
    """Return whether a browser requests an HTML page at a path that this server does not serve."""
    path = scope["path"]
    return wants_html(scope) and not (is_page(path) or is_own(path) or api_path_of(path, scope["headers"]))


def _pages(configuration: Configuration) -> tuple[str, ...]:
    """Return the dashboard's paths, which need no API key in access control; empty if there is no dashboard. A browser
    sends no key with a page; the dashboard itself asks for one."""
    return tuple(f"/{name}" for name in sorted(NAMES)) if configuration.dashboard else ()


def proxy(configuration: Configuration) -> Proxy:
    """Open the store that ``configuration.store`` names, and return the proxy. Raises ``ConfigError`` for an invalid
    store address or key list, and ``StoreError`` if the store cannot be opened."""
    memory = SessionMemory.open(configuration.store, configuration.memory)
    keys = keys_of_server(configuration.store, configuration.access, os.environ) if configuration.auth else None
    return Proxy(configuration, memory, keys)


def create() -> Proxy:
    """Create the proxy in a server process. The environment variable ``TOKENMIZER_CONFIG`` names the configuration
    file, ``TOKENMIZER_STORE`` the address of the store. Raises ``ConfigError`` for an invalid configuration or address,
    and ``StoreError`` if the store cannot be opened."""
    return proxy(Configuration.load(environ=os.environ))


_log = logging.getLogger("tokenmizer_mw")


def create_in_worker() -> Proxy:
    """Create the proxy in one of several worker processes. If that fails, log one line and raise ``SystemExit`` with
    the status that makes uvicorn stop the whole server, because every other worker would fail, too."""
    try:
        return create()
    except TokenMizerError as error:
        _log.error("%s", error)
    except Exception:
        _log.exception("a worker cannot start")
    raise SystemExit(STARTUP_FAILURE)


class Supervisor(Multiprocess):
    """uvicorn's supervisor of worker processes, extended to close its listening sockets when it stops the workers.

    A listening socket accepts connections as long as any process has it open. The supervisor waits for its workers, and
    a worker may finish a stream for up to ``drain_seconds``. Without this class, connections made in that time would be
    accepted, but nobody would answer. With it, they are refused once the last worker has closed its copy.
    """

    def terminate_all(self) -> None:
        """Tell all workers to stop, and close the listening sockets of the supervisor's own process."""
        super().terminate_all()
        for each in self.sockets:
            each.close()
