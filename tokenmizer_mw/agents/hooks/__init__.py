"""Hooks for coding agents: record sessions from the agents' transcripts, and return the resume block (a text with the
facts of the session).

The agent's program, the host, starts ``tokenmizer-mw hook EVENT`` for every event. That process (``client``) imports
almost nothing. It passes the event to a long-running process (``worker``), which it starts (``entry``) if none is
listening; the worker has the package imported, the store open and the sessions in memory. ``handling`` implements the
events, ``notes`` stores how far the hosts' transcripts were read.

This module has what these processes share: the files of a worker, its lock, and how a request is read. It imports
almost nothing, because the client imports it.
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
"""Maximum size of an event, in bytes; a larger one is ignored."""

STEER = (
    "tokenmizer-mw keeps this session's decisions, rules, open work and files, and hands them back after the "
    "compaction. Let the summary say in detail what is being done right now, and why.\n"
)
"""Text returned to a host before a compaction (in which a model replaces the chat by a summary): instructions for that
model."""

NOTHING = b"ok\n"
"""The worker's answer if the event was handled and it has no text for the host."""

STEERED = frozenset({"claude-code"})
"""Hosts that add what a hook prints before a compaction to the instructions for the summary."""

_READ_SECONDS = 5.0
_HEAD_MAX = 64 * 1024


class WorkerFiles:
    """The paths of one worker's files. All hooks with the same settings share a worker. The files are in the directory
    given as ``folder``, and their names begin with ``name``.

    - ``socket``: where the worker listens; ``lock``: the file that ``alone`` locks; ``log``: its error log.
    - ``pending``: the hosts' ids, one per line, of the sessions whose next prompt must wait for the worker's answer;
      there is no such file if there are none.
    - ``folder`` (the attribute, not the argument): the directory of the notes about transcripts, ``folder/name``.
    """

    __slots__ = ("folder", "lock", "log", "pending", "socket")

    def __init__(self, folder: str, name: str) -> None:
        self.folder = os.path.join(folder, name)
        self.socket = os.path.join(folder, f"{name}.sock")
        self.lock = os.path.join(folder, f"{name}.lock")
        self.log = os.path.join(folder, f"{name}.log")
        self.pending = os.path.join(folder, f"{name}.pending")


def store_address(environ: Mapping[str, str]) -> str:
    """Return the store address in the environment variable ``TOKENMIZER_STORE``, with a relative path made absolute; ""
    if it is not set."""
    address = environ.get(STORE, "")
    return absolute_address(address, os.getcwd()) if address else ""


def config_path(environ: Mapping[str, str]) -> str:
    """Return the absolute path of the configuration file that the environment variable ``TOKENMIZER_CONFIG`` names; ""
    if it is not set."""
    path = environ.get(CONFIG, "")
    return os.path.abspath(path) if path else ""


@contextmanager
def alone(spot: WorkerFiles) -> Iterator[None]:
    """Wait for the lock of the worker with the files ``spot``, and hold it while the ``with`` block runs: only one
    process at a time starts or stops the worker."""
    import fcntl  # not every system has it; the work itself runs everywhere

    handle = os.open(spot.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def receive_request(link: socket.socket) -> bytes:
    """Return everything that the other side of the connection ``link`` sends until it ends its side. Raises ``OSError``
    if it sends nothing for 5 seconds, or more than a request may have."""
    link.settimeout(_READ_SECONDS)
    pieces, size = [], 0
    while piece := link.recv(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > PAYLOAD_MAX + _HEAD_MAX:
            raise OSError("too long")
    return b"".join(pieces)
