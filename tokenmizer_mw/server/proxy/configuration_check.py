"""Checks of a proxy configuration, whose results are text for people. Only ``try_configuration`` uses the network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from typing import Final

from tokenmizer_mw.errors import ConfigError, StoreError
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.server.access.hosts import is_loopback
from tokenmizer_mw.server.access.key_store import KEYS_VARIABLE
from tokenmizer_mw.server.access.keyring import keys_of_server
from tokenmizer_mw.server.access.limiting import open_limits
from tokenmizer_mw.server.access.redis_counting import reach as reach_redis
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.store.open import TRY, CheckResult, Grade, check_store, try_store

from .configuration import Configuration
from .credentials import missing_for_models
from .forwarding import provider_side
from .listening import PortInUse, bind_sockets, format_address
from .routing import Server
from .upstream import Unreachable, Upstream, UpstreamTimeouts, place

_SQLITE: Final = "sqlite:///"
_TRIED: Final = UpstreamTimeouts(connect=5.0, first_byte=10.0, idle=10.0)

_WITHOUT_REDIS: Final = {
    "open": "each process would count for itself (redis_down: open)",
    "closed": "callers would get 503 (redis_down: closed)",
}


def check_configuration(
    configuration: Configuration, *, reaching: bool = False, command: str = TRY
) -> Iterator[CheckResult]:
    """Check the configuration as far as possible without a network, and yield the results.

    ``reaching``: whether ``try_configuration`` is called afterwards. If not, the results also name what was not tried,
    and ``command``, the shell command that tries it.
    """
    yield from _check_listening(configuration)
    yield from check_store(configuration.store, reaching=reaching, command=command)
    yield from _check_redis(configuration.access, reaching, command)
    if configuration.auth:
        yield _check_keys(configuration)
    yield CheckResult(Grade.FINE, "sessions", f"{configuration.naming}: {_NAMINGS[configuration.naming]}")
    if configuration.dashboard:
        how = "signed in to with an API key" if configuration.auth else "without a token, for this machine alone"
        yield CheckResult(Grade.FINE, "dashboard", f"at /, {how}")
    routes = configuration.routes
    for server in configuration.providers.values():
        yield _provider(server, routes.is_addressed(server))
    yield from _refinement(configuration)
    lacks = missing_for_models(routes)
    for name, places in configuration.models.items():
        asks, lack = f"asks {', then '.join(places)}", lacks.get(name)
        yield CheckResult(Grade.WRONG if lack else Grade.FINE, f"models.{name}", f"{asks}; {lack}" if lack else asks)


def _refinement(configuration: Configuration) -> Iterator[CheckResult]:
    """Yield results about the models that read recorded sessions again (refinement): those under ``refinement``, which
    are called with a client's key, and the one in the memory settings."""
    for name, model in configuration.refinement.items():
        if provider_side(configuration.providers[name].row) is None:
            text = f"{model}: this provider cannot be asked: its dialect is not supported"
            yield CheckResult(Grade.WRONG, f"refinement.{name}", text)
        else:
            yield CheckResult(
                Grade.FINE, f"refinement.{name}", f"{model} reads sessions, with the key of the client's call"
            )
    memory = configuration.memory
    if memory.llm_url is not None:
        variable = memory.llm_key_variable
        lack = f"; {variable} is not set" if variable and variable not in os.environ else ""
        yield CheckResult(
            Grade.NOTE if lack else Grade.FINE, "memory.llm_model", f"{memory.llm_model} reads sessions{lack}"
        )


async def try_configuration(configuration: Configuration) -> list[CheckResult]:
    """Connect to the store if it is remote, to Redis if it is configured, and to each provider. Returns a result for
    each of them that says whether it answers.

    A provider is reachable if it answers with any status.
    """
    upstream = Upstream(_TRIED, ca_file=configuration.asking.ca_file)
    asked = [_try_provider(upstream, server) for server in configuration.providers.values()]
    try:
        store = offload(partial(try_store, configuration.store), STORE)
        found = await asyncio.gather(store, _try_redis(configuration.access), *asked)
    finally:
        await upstream.aclose()
    return [finding for finding in found if finding is not None]


def _check_listening(configuration: Configuration) -> Iterator[CheckResult]:
    listen = configuration.listen
    if is_loopback(listen.host):
        yield CheckResult(Grade.FINE, "listen.host", f"{listen.host}: only this machine can connect")
    elif configuration.auth:
        yield CheckResult(Grade.FINE, "listen.host", f"{listen.host}: others can connect, with a key of this server")
    else:
        text = f"{listen.host}: others could connect without a key; set auth: true, or listen on 127.0.0.1"
        yield CheckResult(Grade.WRONG, "listen.host", text)
    try:
        with bind_sockets(listen.host, listen.port):
            yield CheckResult(Grade.FINE, "listen.port", f"{format_address(listen.host, listen.port)} is free")
    except PortInUse as error:
        yield CheckResult(Grade.NOTE if error.own else Grade.WRONG, "listen.port", str(error))
    except ConfigError as error:
        yield CheckResult(Grade.WRONG, "listen.port", str(error))
    cores = os.cpu_count() or 1
    if listen.workers > 4 * cores:
        yield CheckResult(
            Grade.NOTE, "listen.workers", f"{listen.workers} workers on {cores} cores: one a core will do"
        )


def _check_redis(settings: AccessSettings, reaching: bool, command: str) -> Iterator[CheckResult]:
    if settings.redis is None:
        return
    try:
        open_limits(settings)
    except ConfigError as error:
        yield CheckResult(Grade.WRONG, "access.redis", str(error))
        return
    if not reaching:
        yield CheckResult(Grade.NOTE, "access.redis", f"not tried; to connect to it: {command}")


def _check_keys(configuration: Configuration) -> CheckResult:
    """Return a result that says whether there is an API key with which a client can use this server. Keys are counted
    if they are listed or in a SQLite file (revoked ones are not, expired ones are); the keys in a remote store are not
    read."""
    listed = configuration.access.keys or os.environ.get(KEYS_VARIABLE)
    if not listed and not configuration.store.startswith(_SQLITE):
        return CheckResult(Grade.FINE, "auth", "callers need a key")
    try:
        keys = keys_of_server(configuration.store, configuration.access, os.environ)
        try:
            count = sum(key.revoked_at is None for key in keys.all_keys())
        finally:
            keys.close()
    except (ConfigError, StoreError) as error:
        return CheckResult(Grade.WRONG, "auth", str(error))
    if not count:
        return CheckResult(Grade.NOTE, "auth", "callers need a key, and there is none: tokenmizer-mw keys create")
    return CheckResult(Grade.FINE, "auth", f"callers need a key; there are {count}")


_NAMINGS: Final = {
    "named": "chats are remembered when the client names a session",
    "agents": "chats are remembered when the client names a session, also as coding agents do",
    "derived": "every chat is remembered; if no session is named, its id is a hash of how the chat begins",
}


def _provider(server: Server, addressed: bool) -> CheckResult:
    """Return a result that says at which address the provider is called and with whose key. ``addressed``: whether
    clients' request paths belong to this provider's API, so that it may get clients' keys."""
    row, place = server.row, f"providers.{server.name}"
    if row.auth == "none":
        return CheckResult(Grade.FINE, place, f"{row.base_url}, without a key")
    if server.keys == "client":
        return CheckResult(Grade.FINE, place, f"{row.base_url}, with the client's key")
    if server.key:
        return CheckResult(Grade.FINE, place, f"{row.base_url}, with the key in {row.key_variable}")
    if server.lack:
        return CheckResult(Grade.WRONG, place, f"{row.base_url}: {server.lack}")
    if row.key_variable and not addressed:
        text = f"{row.base_url}: {row.key_variable} is not set, so calls to it are refused"
        return CheckResult(Grade.NOTE, place, text)
    named = f" ({row.key_variable} is not set)" if row.key_variable else ""
    return CheckResult(Grade.FINE, place, f"{row.base_url}, with the client's own key{named}")


async def _try_provider(upstream: Upstream, server: Server) -> CheckResult:
    name = f"providers.{server.name}"
    try:
        answer = await upstream.open("GET", place(server.row.base_url, ""), [], b"")
    except Unreachable as error:
        return CheckResult(Grade.WRONG, name, f"{server.row.base_url}: {error}")
    await answer.aclose()
    return CheckResult(Grade.FINE, name, f"{server.row.base_url} answers (status {answer.status})")


_REDIS_SECONDS: Final = 5.0
"""Minimum of the timeout for this connection to Redis, in seconds. The first connection of a process takes longer."""


async def _try_redis(settings: AccessSettings) -> CheckResult | None:
    """Return a result that says whether Redis answers. ``None`` if none is configured, or if its address is invalid."""
    if settings.redis is None:
        return None
    try:
        await reach_redis(settings.redis, max(settings.redis_seconds, _REDIS_SECONDS))
    except StoreError as error:
        return CheckResult(Grade.WRONG, "access.redis", f"{error}: {_WITHOUT_REDIS[settings.redis_down]}")
    except ConfigError:  # reported already, by the check without a network
        return None
    return CheckResult(Grade.FINE, "access.redis", "Redis answers")
