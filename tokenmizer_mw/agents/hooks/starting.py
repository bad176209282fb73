"""Connects to the worker, and starts it if none is listening."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .place import CONFIG, STORE, WorkerFiles, config_path, store_address

_GONE = (FileNotFoundError, ConnectionRefusedError)
_BACKLOG = 64
_LOG_MAX = 1024 * 1024
_FULL_PAUSE = 0.02
_FULL_ATTEMPTS = 50


def connect_to_worker(spot: WorkerFiles) -> socket.socket:
    """Return a connection to the worker at ``spot``. Raises ``OSError`` if that is not possible."""
    with suppress(*_GONE):
        return _connect(spot)
    with alone(spot):
        with suppress(*_GONE):
            return _connect(spot)
        with suppress(FileNotFoundError):
            os.unlink(spot.socket)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(spot.socket)
            listener.listen(_BACKLOG)
            link = _connect(spot)  # it waits in the queue until the worker is there
            _launch(listener, spot)
            return link


@contextmanager
def alone(spot: WorkerFiles) -> Iterator[None]:
    """Hold the lock under which the worker is started and stopped."""
    handle = os.open(spot.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _connect(spot: WorkerFiles) -> socket.socket:
    for attempt in range(_FULL_ATTEMPTS):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(spot.socket)
            return link
        except BlockingIOError:  # its queue is full
            link.close()
            if attempt + 1 == _FULL_ATTEMPTS:
                raise
            time.sleep(_FULL_PAUSE)
        except BaseException:
            link.close()
            raise
    raise ConnectionRefusedError


def _launch(listener: socket.socket, spot: WorkerFiles) -> None:
    """Start a worker on ``listener`` that outlives this process and holds nothing of its host's."""
    if os.fork():
        return
    try:
        os.setsid()
        if address := store_address(os.environ):
            os.environ[STORE] = address
        if config := config_path(os.environ):
            os.environ[CONFIG] = config
        os.chdir("/")
        log = os.open(spot.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(log).st_size > _LOG_MAX:
            os.ftruncate(log, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream, goes_to in ((0, nowhere), (1, nowhere), (2, log)):
            os.dup2(goes_to, stream)
        listener.set_inheritable(True)
        module = "tokenmizer_mw.agents.hooks.entry"
        os.execv(sys.executable, [sys.executable, "-P", "-m", module, str(listener.fileno()), spot.socket])
    finally:
        os._exit(1)
