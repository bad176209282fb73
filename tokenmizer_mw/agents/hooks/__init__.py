"""Hooks for coding agents: record sessions from their transcripts, and return the resume block.

An agent host starts ``tokenmizer-mw hook EVENT`` for every event. That process (``client``) imports almost nothing and
passes the event to a long-running process (``worker``), which it starts (``entry``) if none is listening; it has the
package imported, the store open and the session folded. ``handling`` implements the events, ``notes`` knows how far
the hosts' transcripts were read.

What the processes share stands here: the files of a worker, its lock, and how a request is read. The client that a host
starts with every event imports this, so it imports almost nothing itself.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from tokenmizer_mw.store.address import absolute_address

TYPE_CHECKING = False  # as a type checker takes it, without the import of typing
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping

STORE = "TOKENMIZER_STORE"
CONFIG = "TOKENMIZER_CONFIG"

PAYLOAD_MAX = 16 * 1024 * 1024
"""Bytes of an event; a larger one is left alone."""

STEER = (
    "tokenmizer-mw keeps this session's decisions, rules, open work and files, and hands them back after the "
    "compaction. Let the summary say in detail what is being done right now, and why.\n"
)
"""Instructions for the summary that a host is going to write."""

NOTHING = b"ok\n"
"""The answer without a text for the host."""

STEERED = frozenset({"claude-code"})
"""Hosts that append what a hook prints before a compaction to the question for the summary."""

_READ_SECONDS = 5.0
_HEAD_MAX = 64 * 1024


class WorkerFiles:
    """The files of one worker.

    ``socket``, ``lock``, ``log``; ``pending`` (the hosts' ids of the sessions to whose next prompt the worker has
    something to add, one a line; absent if there are none); ``folder`` (the notes about transcripts).
    """

    __slots__ = ("folder", "lock", "log", "pending", "socket")

    def __init__(self, folder: str, name: str) -> None:
        self.folder = os.path.join(folder, name)
        self.socket = os.path.join(folder, f"{name}.sock")
        self.lock = os.path.join(folder, f"{name}.lock")
        self.log = os.path.join(folder, f"{name}.log")
        self.pending = os.path.join(folder, f"{name}.pending")


def store_address(environ: Mapping[str, str]) -> str:
    """Return the store address in the environment, with a relative path made absolute; "" if there is none."""
    address = environ.get(STORE, "")
    return absolute_address(address, os.getcwd()) if address else ""


def config_path(environ: Mapping[str, str]) -> str:
    """Return the path of the proxy's configuration file in the environment, made absolute; "" if there is none."""
    path = environ.get(CONFIG, "")
    return os.path.abspath(path) if path else ""


@contextmanager
def alone(spot: WorkerFiles) -> Iterator[None]:
    """Hold the lock under which the worker is started and stopped."""
    import fcntl  # not every system has it; the work itself runs everywhere

    handle = os.open(spot.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def receive_request(link: socket.socket) -> bytes:
    """Return everything that the other side sends. Raises ``OSError`` if that takes too long or is too much."""
    link.settimeout(_READ_SECONDS)
    pieces, size = [], 0
    while piece := link.recv(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > PAYLOAD_MAX + _HEAD_MAX:
            raise OSError("too long")
    return b"".join(pieces)
