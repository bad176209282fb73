"""Graceful shutdown in two steps: report not ready first, and stop accepting requests later.

A load balancer needs the time between to react; otherwise the requests that it still sends are refused.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any


def drain_first(seconds: float, begin: Callable[[], None]) -> None:
    """Install a SIGTERM handler that calls ``begin`` and passes the signal to the server ``seconds`` later.

    A second SIGTERM reaches the server at once. Call it in the server's event loop; outside of the main thread it does
    nothing.
    """
    server = signal.getsignal(signal.SIGTERM)
    if seconds <= 0 or not callable(server) or threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()

    def handle_signal(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, server)
        loop.call_soon_threadsafe(begin)
        loop.call_soon_threadsafe(loop.call_later, seconds, server, number, None)

    signal.signal(signal.SIGTERM, handle_signal)
