"""The end of a server that has streams open: they would keep it waiting, so they end first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def before_the_end(call: Callable[[], None]) -> None:
    """From now on the signals that end a server call ``call`` first, and then whoever they called before. Where signals
    are not to be had, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, _first(call, handler))


def _first(call: Callable[[], None], handler: Callable[[int, Any], Any]) -> Callable[[int, Any], None]:
    def told(number: int, frame: Any) -> None:
        call()
        handler(number, frame)

    return told
