"""The reference proxy as one ASGI application: access control, the memory middleware, and the relay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.operations.retention import retaining
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.server.access.caller import caller_of, tenant_of
from tokenmizer_mw.server.access.door import Access
from tokenmizer_mw.server.access.key_store import KeyStore
from tokenmizer_mw.server.access.opening import keys_of_server
from tokenmizer_mw.server.access.paths import is_own
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.api.health import Doubt
from tokenmizer_mw.server.dashboard import Dashboard, dashboard
from tokenmizer_mw.server.dashboard.app import is_page
from tokenmizer_mw.server.dashboard.ending import before_the_end
from tokenmizer_mw.server.dashboard.table import NAMES

from .bounding import Bounding
from .client_models import ClientModels
from .compacting import Compacting
from .configuration import Configuration
from .conversations import Conversations, session_of
from .credentials import OWN_HEADER
from .draining import drain_first
from .logs import quieten
from .outcomes import Outcomes
from .relay import Relay
from .request_redaction import RequestRedaction

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS: Final = ("/health", "/health/live", "/health/ready")
"""What needs no key: orchestrators have none."""


class Proxy:
    """The proxy application. Opens its resources at server start and closes them at server end.

    ``keys``: the API keys of callers; ``None`` if no key is needed. ``draining``: true while the server shuts down: it
    reports not ready, and open requests continue. ``outcomes``: counts of the providers' responses.
    """

    def __init__(self, configuration: Configuration, memory: SessionMemory, keys: KeyStore | None = None) -> None:
        if configuration.auth and keys is None:
            raise ConfigError("auth: true needs a place where keys are kept")
        self.configuration = configuration
        self.memory = memory
        self.draining = False
        self._keys = keys if configuration.auth else None
        self._upstream = configuration.asking.upstream
        self._lending = self._made_lending()
        worker = str(os.getpid()) if configuration.listen.workers > 1 else ""
        self.outcomes = Outcomes(worker)
        settings = configuration.access
        settings = replace(settings, open_paths=(*settings.open_paths, *OPEN_PATHS, *_pages(configuration)))
        self._door = Access(self._inside, keys=self._keys, settings=settings)
        body_max = configuration.asking.body_max
        self._calls = Bounding(self._remembering(), settings.bounds, body_max, self._door.counts)
        self.outcomes.refused = self._door.counts
        doubts = [self._door.limits.doubt]
        self._pages = self._dashboard(doubts) if configuration.dashboard else None
        self._own = api(memory, checks=[self._unready], doubts=doubts, collectors=[self.outcomes], worker=worker)

    def _dashboard(self, doubts: Sequence[Doubt]) -> Dashboard:
        hosts = [host for host in self.configuration.access.hosts if not host.startswith("*")]
        keys = self._door.keys
        authorize = caller_of if keys is None else None
        checks = [self._unready]
        return dashboard(self.memory, authorize=authorize, keys=keys, hosts=hosts, checks=checks, doubts=doubts)

    def _made_lending(self) -> ClientModels | None:
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
            lending=self._lending,
        )
        asking = configuration.asking
        passes = asking.unreadable_bodies == "pass"
        redacting = RequestRedaction(relay, memory, asking.body_max, passes_unreadable=passes)
        remembering = TokenMizerMiddleware(redacting, memory=memory, session=session_of, tenant=tenant_of)
        remembering.unknown_routes = None  # the proxy's routes cannot be changed
        compacting = Compacting(remembering, memory, configuration.routes)
        return Conversations(compacting, memory, configuration.naming)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        await self._door(scope, receive, send)

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Behind the door."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._of(scope["path"])(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _of(self, path: str) -> ASGIApp:
        """Whose the path is."""
        if self._pages is not None and is_page(path):
            return self._pages
        return self._own if is_own(path) else self._calls

    def _unready(self) -> str | None:
        return "draining" if self.draining else None

    def _drain(self) -> None:
        self.draining = True

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        message: Message = await receive()
        quieten()
        with retaining(self.memory):
            while message["type"] != "lifespan.shutdown":
                if self._pages is not None:
                    before_the_end(self._pages.end)
                drain_first(self.configuration.listen.unready_seconds, self._drain)
                await send({"type": "lifespan.startup.complete"})
                message = await receive()
            self._drain()
        await self._upstream.aclose()
        await offload(self.memory.close, STORE)
        if self._lending is not None:
            await self._lending.aclose()
        if self._keys is not None:
            await offload(self._keys.close, STORE)
        await send({"type": "lifespan.shutdown.complete"})


def _pages(configuration: Configuration) -> tuple[str, ...]:
    """The paths of the dashboard, which asks for a key itself: browsers send none with a page."""
    return tuple(f"/{name}" for name in sorted(NAMES)) if configuration.dashboard else ()


def proxy(configuration: Configuration) -> Proxy:
    """Return the proxy for a configuration. Raises ``ConfigError`` for an invalid store."""
    memory = SessionMemory.open(configuration.store, configuration.memory)
    keys = keys_of_server(configuration.store, configuration.access, os.environ) if configuration.auth else None
    return Proxy(configuration, memory, keys)


def create() -> Proxy:
    """Create the application in a worker process; ``TOKENMIZER_CONFIG`` names its file, ``TOKENMIZER_STORE`` its
    store."""
    return proxy(Configuration.load(environ=os.environ))
