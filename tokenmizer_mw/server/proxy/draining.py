"""The end of a server in two steps: first it says that it is not ready, and later it stops to accept.

A balancer needs the time between to find out; without it, what it still sends is refused.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any


def drain_first(seconds: float, begin: Callable[[], None]) -> None:
    """From now on the signal to terminate calls ``begin``, and the server hears of it ``seconds`` later; a second one
    is heard at once. Call it in the server's event loop. Where signals are not to be had, nothing changes."""
    server = signal.getsignal(signal.SIGTERM)
    if seconds <= 0 or not callable(server) or threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()

    def told(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, server)
        loop.call_soon_threadsafe(begin)
        loop.call_soon_threadsafe(loop.call_later, seconds, server, number, None)

    signal.signal(signal.SIGTERM, told)
