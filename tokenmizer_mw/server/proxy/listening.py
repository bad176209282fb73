"""The listening sockets of a server. The process that starts the server binds them before it does anything else."""

from __future__ import annotations

import errno
import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Final

from tokenmizer_mw.errors import ConfigError

try:
    import resource
except ModuleNotFoundError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

BACKLOG: Final = 2_048
"""Number of connections per socket that may wait to be accepted."""

OPEN_FILES: Final = 65_536
"""Number of files and connections that a process may have open, if the system allows that many."""

_ABSENT: Final = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
"""Error numbers which mean that this machine has no address of some kind, such as IPv6. The host's other addresses are
still bound."""

_ASKED_SECONDS: Final = 1.0
_HEALTH: Final = frozenset({"status", "live", "ready", "reasons"})
"""Members of the JSON response of ``/health`` by which a server of this package is recognised."""

_EVERY_ADDRESS: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


class PortInUse(ConfigError):
    """Raised when the port is in use. ``own``: whether a server of this package listens there, instead of another
    program."""

    def __init__(self, host: str, port: int) -> None:
        self.own = is_own_server(host, port)
        who = "a tokenmizer-mw server that runs already" if self.own else "another program"
        super().__init__(f"{format_address(host, port)} is in use by {who}: pass another --port, or end it")


def is_own_server(host: str, port: int) -> bool:
    """Return whether a server of this package answers ``/health`` at this host and port. False if nothing answers. Each
    step (connect, read) waits at most one second."""
    connection = http.client.HTTPConnection(_EVERY_ADDRESS.get(host, host), port, timeout=_ASKED_SECONDS)
    with closing(connection):
        try:
            connection.request("GET", "/health")
            answer = json.loads(connection.getresponse().read(4_096))
        except (OSError, http.client.HTTPException, ValueError, RecursionError):
            return False
    return isinstance(answer, dict) and answer.keys() >= _HEALTH


def allow_connections(most: int = OPEN_FILES) -> None:
    """Raise the limit of open files of this process and its children to ``most``, or as far as the system allows. A
    higher limit stays. Nothing is raised if that fails.

    The usual limit of 1,024 is reached by as many clients that connect and send nothing.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS tells a limit that it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def format_address(host: str, port: int) -> str:
    """Return host and port as in a URL, such as "127.0.0.1:8787", with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextmanager
def bind_sockets(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Bind a socket to each address of ``host``, yield the sockets, and close them at the end of the ``with`` block.
    ``host`` "" means all addresses of this machine.

    The sockets do not accept connections yet. ``port`` 0 selects a free port, the same for all addresses. Raises
    ``PortInUse``, or another ``ConfigError`` that says why an address cannot be bound.
    """
    with ExitStack() as stack:
        try:
            sockets = _bind_sockets(stack, host, port)
        except OSError as error:
            raise _refuse_address(host, port, error) from None
        yield sockets


@contextmanager
def listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Bind a socket to each address of ``host`` and listen on it; yield the sockets, and close them at the end of the
    ``with`` block. Clients can connect, and wait until a server accepts them. ``host`` "" means all addresses of this
    machine; ``port`` 0 selects a free port.

    Raises ``PortInUse``, or another ``ConfigError`` that says why it is not possible.
    """
    with bind_sockets(host, port) as sockets:
        try:
            for each in sockets:
                each.listen(BACKLOG)
        except OSError as error:
            raise _refuse_address(host, port, error) from None
        yield sockets


def _refuse_address(host: str, port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return PortInUse(host, port)
    return ConfigError(f"{format_address(host, port)} cannot be listened on: {error.strerror or error}")


def _bind_sockets(stack: ExitStack, host: str, port: int) -> list[socket.socket]:
    # The protocol is named: event loops send small pieces at once only where a socket says that it is TCP's.
    found = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    for family, kind, protocol, _, address in found:
        try:
            one = stack.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6 and len(found) > 1:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            taken = int(sockets[0].getsockname()[1]) if sockets else 0
            one.bind((address[0], port or taken, *address[2:]))
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            absent = error
        else:
            sockets.append(one)
    if absent is not None and not sockets:
        raise absent
    return sockets
