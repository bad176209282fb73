"""Runs an ASGI application under uvicorn in a thread, on a free port of this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn

STARTS_WITHIN: Final = 10.0
"""Seconds that a server may take to start or to stop."""


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve ``app`` while the context is active; yield its address, such as ``http://127.0.0.1:40123``.

    Raises ``RuntimeError`` if it does not start.
    """
    # The protocol is named because asyncio sends small pieces at once only where it knows that this is TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="demo-server", daemon=True)
        thread.start()
        try:
            _wait(server, thread)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STARTS_WITHIN)


def _wait(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the demonstration's server did not start")
        time.sleep(0.005)
