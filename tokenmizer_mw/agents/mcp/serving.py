"""Run the MCP server: over standard input and output, or over HTTP for clients on this machine."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.operations.logs import configure_logging
from tokenmizer_mw.store.choosing import STORE_VARIABLE, resolve_store

from . import KEY_VARIABLE, SERVER_VARIABLE, ServingOptions
from .backing import ROOTS_VARIABLE, Backing, on_installation, on_server
from .server import Memory, server

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def run_stdio(wanted: ServingOptions) -> None:
    """Serve one MCP client on standard input and output until it disconnects. ``wanted``: the options of the server."""

    async def run() -> None:
        async with _make_server(wanted) as made:
            await made.run_stdio_async()

    anyio.run(run)


def run_http(wanted: ServingOptions, host: str, port: int) -> None:
    """Serve MCP clients of this machine over HTTP at ``/mcp`` until a signal stops the server. ``wanted``: the options
    of the server.

    ``host``: a loopback address: "127.0.0.1", "::1" or "localhost". ``port``: the port to listen on; 0 for any free
    one. Raises ``ConfigError`` for another host and if the port cannot be bound.
    """
    if host not in _LOOPBACK:
        raise ConfigError(f"the MCP server has no keys: it listens on {', '.join(_LOOPBACK)}, not {host}")
    anyio.run(_serve, wanted, host, port)


async def _serve(wanted: ServingOptions, host: str, port: int) -> None:
    import uvicorn  # not for clients on standard input, who wait

    from tokenmizer_mw.server.access.http_protocols import PROTOCOL
    from tokenmizer_mw.server.proxy.listening import format_address

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise ConfigError(f"port {port} of {host} cannot be had: {error.strerror}; --port names another") from None
        port = listening.getsockname()[1]
        async with _make_server(wanted) as made:
            hosts = [format_address(one, port) for one in _LOOPBACK]  # only who names this machine as such, exactly
            allowed = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{one}" for one in hosts])
            app = made.streamable_http_app(host=host, transport_security=allowed)
            options = uvicorn.Config(
                app, http=PROTOCOL, ws="none", log_config=None, server_header=False, timeout_graceful_shutdown=2
            )
            print(f"listening on http://{format_address(host, port)}/mcp", file=sys.stderr, flush=True)
            await uvicorn.Server(options).serve(sockets=[listening])


@asynccontextmanager
async def _make_server(wanted: ServingOptions) -> AsyncIterator[MCPServer[Any]]:
    configure_logging(level="WARNING")
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    named = [root for root in os.environ.get(ROOTS_VARIABLE, "").split(os.pathsep) if root]
    roots = [os.path.abspath(root) for root in (*wanted.roots, *named)] or [os.path.abspath(folder)]
    async with _backing(wanted) as backing:
        bounds = (wanted.settings.file_memory_max, wanted.settings.file_seconds)
        yield server(Memory(backing, folder, roots, bounds), wanted.version)


@asynccontextmanager
async def _backing(wanted: ServingOptions) -> AsyncIterator[Backing]:
    """Give access to the sessions of the server that was named, if any, else of this installation's store. The hooks
    and the proxy use the same store, also after a proxy started or stopped."""
    key = os.environ.get(KEY_VARIABLE, "")
    url = wanted.server or os.environ.get(SERVER_VARIABLE, "")
    store = wanted.store or os.environ.get(STORE_VARIABLE, "")
    if url:
        async with on_server(url.rstrip("/"), key) as backing:
            yield backing
        return
    settings = wanted.settings.with_(project_separator=wanted.settings.project_separator or "/")
    async with on_installation(partial(resolve_store, store, extra="mcp"), settings) as backing:
        yield backing
