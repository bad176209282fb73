"""Closes event streams before a server shuts down, because it would wait for them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def before_the_end(call: Callable[[], None]) -> None:
    """Install handlers of SIGINT and SIGTERM that call ``call`` before the previous handlers.

    Does nothing outside of the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, _first(call, handler))


def _first(call: Callable[[], None], handler: Callable[[int, Any], Any]) -> Callable[[int, Any], None]:
    def handle_signal(number: int, frame: Any) -> None:
        call()
        handler(number, frame)

    return handle_signal
