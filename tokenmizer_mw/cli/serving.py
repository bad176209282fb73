"""The commands ``serve`` and ``check`` (extra ``proxy``), and ``dashboard`` (extra ``dashboard``)."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.agents.install import HOOKS, HOSTS, find_missing_programs, find_registered
from tokenmizer_mw.errors import CallerError, ConfigError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.operations.logs import configure_logging, log_config
from tokenmizer_mw.runtime.collection import freeze_started
from tokenmizer_mw.runtime.installing import find_uninstalled, install_hint
from tokenmizer_mw.runtime.terminal import show, show_json
from tokenmizer_mw.server.access.hosts import check_bind, is_loopback
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.choosing import (
    CONFIG_VARIABLE,
    STORE_VARIABLE,
    ChosenStore,
    announce_store,
    choose_store,
    default_address,
    resolve_store,
)
from tokenmizer_mw.store.open import CheckResult, Grade, check_store, describe_place, find_missing, open_log, try_store

from .store import suggest_command

if TYPE_CHECKING:
    import socket

    import uvicorn

    from tokenmizer_mw.server.proxy.configuration import Configuration

_APPLICATION: Final = "tokenmizer_mw.server.proxy.app:create"
_IN_WORKERS: Final = "tokenmizer_mw.server.proxy.app:create_in_worker"

_NEEDED: Final = ("httpx2", "uvicorn", "cryptography", "aiohappyeyeballs", "httptools")
"""Packages that the proxy imports and the library does not; the extra ``proxy`` installs them."""

_FAILED: Final = 1
_log = logging.getLogger("tokenmizer_mw")


def run_serve(arguments: argparse.Namespace) -> int:
    """Run the command ``serve``: run the proxy until a signal stops it. Returns 0 after a normal end, and 1 if the
    server did not start or failed.

    Raises ``ConfigError`` if the configuration is wrong, a package is missing or the address cannot be listened on, and
    ``StoreError`` if the store cannot be opened. These errors are raised before anything is logged and before worker
    processes are started.
    """
    configuration = _configuration(arguments)
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise _missing("uvicorn") from None
    from tokenmizer_mw.server.proxy.credentials import missing_for_models
    from tokenmizer_mw.server.proxy.listening import allow_connections, format_address, listening

    listen = configuration.listen
    check_bind(listen.host, configuration.auth)
    allow_connections()
    with listening(listen.host, listen.port) as sockets:
        _try_store(configuration.store)
        _hand_over(arguments, configuration)
        config = uvicorn.Config(**_options(configuration), log_config=log_config(arguments.log))
        place = format_address(listen.host, sockets[0].getsockname()[1])
        _log.info("listening on http://%s", place)
        if configuration.dashboard:
            _log.info("the dashboard is at http://%s/", place)
        for server in configuration.providers.values():
            if server.lack:
                _log.warning("providers.%s: %s", server.name, server.lack)
        for name, lack in missing_for_models(configuration.routes).items():
            _log.warning("models.%s: %s", name, lack)
        with announce_store(configuration.store, os.environ.get(CONFIG_VARIABLE, "")):
            return _serve(config, sockets)


def _try_store(address: str) -> None:
    """Open the store and close it again, to find errors before the server starts. Raises ``ConfigError`` for an invalid
    address, and ``StoreError`` if the store cannot be opened or read."""
    with closing(open_log(address)) as log:
        log.secret()


def _serve(config: uvicorn.Config, sockets: list[socket.socket]) -> int:
    """Run the server until it ends, on ``sockets`` that are bound already; ``uvicorn.run`` cannot take such sockets.
    Returns 0 after a normal end, and 1 if the server or a worker process did not start or failed."""
    from uvicorn import Server
    from uvicorn.config import STARTUP_FAILURE

    from tokenmizer_mw.server.proxy.app import Supervisor

    try:
        if config.workers > 1:
            supervisor = Supervisor(config, sockets)
            supervisor.run()
            return _FAILED if any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes) else 0
        server = Server(config)
        server.run(sockets)
        return 0 if server.started else _FAILED
    except KeyboardInterrupt:
        return 0
    except SystemExit as end:  # uvicorn has said why
        return _FAILED if end.code else 0


def run_check(arguments: argparse.Namespace) -> int:
    """Run the command ``check``: check the store, the proxy's configuration and the coding agents' configurations, and
    print the results. With ``--reach``, also try to reach the store, Redis and the providers. Returns 1 if any result
    is graded as wrong, else 0.

    If packages of the extra ``proxy`` are missing, the proxy's configuration is not checked.
    """
    missing = find_uninstalled(_NEEDED)
    found = list(_check_store_alone(arguments, missing[0])) if missing else _check_proxy(arguments)
    found += _check_agents()
    _print_results(found, as_json=arguments.json)
    return _FAILED if any(finding.grade is Grade.WRONG for finding in found) else 0


def _check_proxy(arguments: argparse.Namespace) -> list[CheckResult]:
    from tokenmizer_mw.server.proxy.configuration_check import check_configuration, try_configuration

    chosen = _choose_store(arguments)
    configuration = replace(_configuration(arguments), store=chosen.address)
    command = suggest_command(arguments, "check --reach")
    found = list(check_configuration(configuration, reaching=arguments.reach, command=command))
    if arguments.reach:
        found += asyncio.run(try_configuration(configuration))
    return [*_explain_choice(arguments, chosen), *found]


def _choose_store(arguments: argparse.Namespace) -> ChosenStore:
    """Return the store that other commands, hooks and the MCP server use now, and what selected it. If ``--config`` is
    given, it is treated as the value of the variable ``TOKENMIZER_CONFIG``."""
    variables = {**os.environ, CONFIG_VARIABLE: arguments.config} if arguments.config else os.environ
    return choose_store(arguments.store, variables)


def _explain_choice(arguments: argparse.Namespace, chosen: ChosenStore) -> Iterator[CheckResult]:
    """Yield one result that names the variable, file or server that selected the store. Yield nothing if the user
    selected the store with an option, or if nothing did (the default store)."""
    if chosen.chosen_by and not (arguments.config and chosen.chosen_by == os.path.abspath(arguments.config)):
        yield CheckResult(Grade.FINE, "store chosen by", chosen.chosen_by)


def _check_agents() -> Iterator[CheckResult]:
    """Yield results about the coding agents in whose configuration hooks or the MCP server are registered. If there is
    no such agent, yield one result that says so. Plugins are not looked at."""
    registered = {host: find_registered(host, Path.home(), Path.cwd()) for host in HOSTS}
    for host, parts in registered.items():
        for part, files in parts.items():
            yield from _check_registered(host, part, files)
    if not any(registered.values()):
        text = (
            f"neither hooks nor MCP server in the configuration of {', '.join(HOSTS)} (tokenmizer-mw install HOST);"
            " plugins are not looked at"
        )
        yield CheckResult(Grade.FINE, "agents", text)


def _check_registered(host: str, part: str, files: list[Path]) -> Iterator[CheckResult]:
    """Yield results about one part of a coding agent's configuration, which is registered in ``files``. ``part``: hooks
    or MCP server. The first result names the files. Further ones report programs that do not exist, and hooks that are
    registered more than once."""
    yield CheckResult(Grade.FINE, host, f"{part} registered in {', '.join(map(str, files))}")
    for path in files:
        for program in find_missing_programs(path):
            where = "does not exist" if os.path.dirname(program) else "is not on the PATH here"
            text = f"{part} in {path}: {program} {where}, the agent cannot start it: install again, or --remove"
            yield CheckResult(Grade.WRONG if os.path.dirname(program) else Grade.NOTE, host, text)
    if part == HOOKS and len(files) > 1:
        text = f"{part} are registered {len(files)} times, and all run for each event: remove all but one"
        yield CheckResult(Grade.NOTE, host, text)


def _check_store_alone(arguments: argparse.Namespace, missing: str) -> Iterator[CheckResult]:
    """Yield the results for the store alone, and one that says why the proxy is not checked. ``missing``: name of the
    package that the proxy needs and that is not installed."""
    path = arguments.config or os.environ.get(CONFIG_VARIABLE)
    chosen = _choose_store(arguments)
    yield from _explain_choice(arguments, chosen)
    command = suggest_command(arguments, "check --reach")
    yield from check_store(chosen.address, reaching=arguments.reach, command=command)
    if arguments.reach and (tried := try_store(chosen.address)) is not None:
        yield tried
    if path:
        text = f"{path}: only its store is checked: {missing} is not installed: {install_hint('proxy')}"
        yield CheckResult(Grade.NOTE, "proxy", text)
    else:
        text = f"not installed; library, middleware, hooks and MCP do not need it (to run one: {install_hint('proxy')})"
        yield CheckResult(Grade.FINE, "proxy", text)


def _configuration(arguments: argparse.Namespace) -> Configuration:
    try:
        from tokenmizer_mw.server.proxy.configuration import Configuration
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tokenmizer_mw"):
            raise
        raise _missing(missing.name or "") from None
    if getattr(arguments, "dashboard", False):
        os.environ["TOKENMIZER_DASHBOARD"] = "true"  # worker processes read it, too
    configuration = Configuration.load(arguments.config)
    given = {name: getattr(arguments, name, None) for name in ("host", "port", "workers")}
    listen = replace(configuration.listen, **{name: value for name, value in given.items() if value is not None})
    store = arguments.store or configuration.store or default_address()
    return replace(configuration, listen=listen, store=store)


def _missing(name: str) -> ConfigError:
    return ConfigError(f"{name} is not installed: {install_hint('proxy')}")


def _hand_over(arguments: argparse.Namespace, configuration: Configuration) -> None:
    """Set the environment variables from which worker processes learn the path of the configuration file and the
    address of the store."""
    if path := arguments.config or os.environ.get(CONFIG_VARIABLE):
        os.environ[CONFIG_VARIABLE] = os.path.abspath(path)
    os.environ[STORE_VARIABLE] = configuration.store


def _options(configuration: Configuration) -> dict[str, Any]:
    """Return the keyword arguments for ``uvicorn.Config``. Uvicorn adds no ``date`` and ``server`` headers, because
    those of the providers are passed on. It ignores client addresses in request headers, because any client can write
    them."""
    listen = configuration.listen
    return {
        "app": _APPLICATION if listen.workers == 1 else _IN_WORKERS,
        "factory": True,
        "workers": listen.workers,
        "lifespan": "on",
        "loop": listen.loop,
        "http": "tokenmizer_mw.server.access.http_protocols:BoundedProtocol",
        "ws": "none",
        "access_log": listen.access_log,
        "log_level": "info",
        "date_header": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": listen.keep_alive_seconds,
        "timeout_graceful_shutdown": max(1, round(listen.drain_seconds)),
        "h11_max_incomplete_event_size": configuration.access.head_max,
    }


def _print_results(found: list[CheckResult], *, as_json: bool) -> None:
    if as_json:
        show_json([{"grade": item.grade.value, "place": item.place, "text": item.text} for item in found])
        return
    for item in found:
        show(f"{item.grade.value:5}  {item.place}: {item.text}")


TOKEN_VARIABLE: Final = "TOKENMIZER_DASHBOARD_TOKEN"
"""Name of the environment variable with the token that opens the dashboard. If it is not set, each run makes a new
token."""

_SQLITE: Final = "sqlite:///"
_CLOSING_SECONDS: Final = 3


def run_dashboard(arguments: argparse.Namespace) -> int:
    """Run the command ``dashboard``: serve the dashboard until Ctrl-C. Returns 0, or 1 if the server could not start.

    To open the dashboard, one needs the token in ``TOKENMIZER_DASHBOARD_TOKEN``. If that variable is not set, a new
    token is made and printed with the address.

    Raises ``CallerError`` for a store or a file (``--db``) that is named and does not exist, ``StoreError`` if the
    store cannot be opened, and ``ConfigError``

    - if uvicorn is not installed;
    - for invalid settings;
    - if no store can be chosen (``choose_store``);
    - for a host other than loopback (this machine only), unless the variable is set and ``--name`` is given;
    - for an address that cannot be listened on, such as a port in use.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise ConfigError(f"uvicorn is not installed: {install_hint('dashboard')}") from None
    from tokenmizer_mw.server.access.http_protocols import PROTOCOL
    from tokenmizer_mw.server.dashboard import dashboard
    from tokenmizer_mw.server.proxy.listening import format_address, listening

    token = _dashboard_token(arguments)
    address, settings = _dashboard_address(arguments), Settings.load(arguments.config)
    configure_logging(level="WARNING")
    memory = SessionMemory.open(address, settings)
    with closing(memory), listening(arguments.host, arguments.port) as sockets:
        app = dashboard(memory, token=token, hosts=arguments.name)
        place = format_address(arguments.name[0] if arguments.name else arguments.host, sockets[0].getsockname()[1])
        config = uvicorn.Config(
            app,
            http=PROTOCOL,
            ws="none",
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
        server = uvicorn.Server(config)
        show(f"The dashboard is at http://{place}/")
        show(
            f"Open it with http://{place}/login#token={token}"
            if not _environment_token()
            else f"Its token is ${TOKEN_VARIABLE}."
        )
        show("Ctrl-C ends it.")
        sys.stdout.flush()
        freeze_started()
        try:
            server.run(sockets)
        except KeyboardInterrupt:
            return 0
        return 0 if server.started else 1


def _environment_token() -> str:
    return os.environ.get(TOKEN_VARIABLE, "")


def _dashboard_token(arguments: argparse.Namespace) -> str:
    if not is_loopback(arguments.host) and not (_environment_token() and arguments.name):
        raise ConfigError(
            f"refusing to listen on {arguments.host or 'every address'}: others reach it, so set {TOKEN_VARIABLE}"
            " and tell with --name what it is called there, or listen on 127.0.0.1"
        )
    return _environment_token() or secrets.token_urlsafe(24)


def _dashboard_address(arguments: argparse.Namespace) -> str:
    if arguments.db is None:
        address: str = resolve_store(arguments.store)
        is_named = arguments.store or os.environ.get(STORE_VARIABLE)
        if is_named and (missing := find_missing(address)):
            raise CallerError(f"there is no store in {describe_place(address)} ({missing})")
        return address
    path = Path(arguments.db).absolute()
    if not path.is_file():
        raise CallerError(f"{path}: there is no such file")
    return f"{_SQLITE}{path}"
