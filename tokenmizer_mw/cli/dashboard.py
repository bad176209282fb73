"""The command ``dashboard``: serves web pages about the sessions of a store. Needs the extra ``dashboard``."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.terminal import show
from tokenmizer_mw.server.access.hosts import is_loopback
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.default import resolve_store

TOKEN_VARIABLE: Final = "TOKENMIZER_DASHBOARD_TOKEN"
"""The token that opens it; a new one for each run where the variable is not set."""

_SQLITE: Final = "sqlite:///"
_CLOSING_SECONDS: Final = 3


def run_dashboard(arguments: argparse.Namespace) -> int:
    """Serve the dashboard until Ctrl-C; return 0 after a clean end.

    Raises ``ConfigError`` for a database file that does not exist, and for an address that other machines can reach
    without a token and host names.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise ConfigError(f"uvicorn is not installed: {install_hint('dashboard')}") from None
    from tokenmizer_mw.server.access.heads import PROTOCOL
    from tokenmizer_mw.server.dashboard import dashboard
    from tokenmizer_mw.server.proxy.listening import format_address, listening

    token = _token(arguments)
    memory = SessionMemory.open(_address(arguments), Settings.load(arguments.config))
    with closing(memory), listening(arguments.host, arguments.port) as sockets:
        app = dashboard(memory, token=token, hosts=arguments.name)
        place = format_address(arguments.name[0] if arguments.name else arguments.host, sockets[0].getsockname()[1])
        config = uvicorn.Config(
            app,
            http=PROTOCOL,
            ws="none",
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
        server = uvicorn.Server(config)
        show(f"The dashboard is at http://{place}/")
        show(
            f"Open it with http://{place}/login#token={token}"
            if not _read_token()
            else f"Its token is ${TOKEN_VARIABLE}."
        )
        show("Ctrl-C ends it.")
        sys.stdout.flush()
        try:
            server.run(sockets)
        except KeyboardInterrupt:
            return 0
        return 0 if server.started else 1


def _read_token() -> str:
    return os.environ.get(TOKEN_VARIABLE, "")


def _token(arguments: argparse.Namespace) -> str:
    if not is_loopback(arguments.host) and not (_read_token() and arguments.name):
        raise ConfigError(
            f"refusing to listen on {arguments.host or 'every address'}: others reach it, so set {TOKEN_VARIABLE}"
            " and tell with --name what it is called there, or listen on 127.0.0.1"
        )
    return _read_token() or secrets.token_urlsafe(24)


def _address(arguments: argparse.Namespace) -> str:
    if arguments.db is None:
        address: str = resolve_store(arguments.store)
        return address
    path = Path(arguments.db).absolute()
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    return f"{_SQLITE}{path}"
