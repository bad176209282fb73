"""Count and log internal failures: their kind and place, never their text, which may contain messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from tokenmizer_mw.chat.session_naming import Reason
from tokenmizer_mw.errors import StoreUnavailable, raised_at
from tokenmizer_mw.runtime.terminal import one_line
from tokenmizer_mw.runtime.tracing import LimitedLog
from tokenmizer_mw.store.resilience.monitor import StoreMonitor

_PATH_SHOWN: Final = 120
_logger = logging.getLogger("tokenmizer_mw")


class FailureReports:
    """What went wrong, and which requests could not be read. ``log`` says the same thing once a minute."""

    def __init__(self, monitor: StoreMonitor, log: LimitedLog, count: Callable[..., None]) -> None:
        self._monitor = monitor
        self._log = log
        self._count = count

    def report_failure(self, counter: str, error: BaseException) -> None:
        """Count a failure on the path of a chat, and log it. A store that is not available is logged by its cause and
        its address, once a minute."""
        self._count(counter)
        if not self._is_of_store(error):
            name = type(error).__name__
            _logger.warning("%s: %s in %s; the chat went on without", counter, name, raised_at(error))

    def report_background(self, error: BaseException) -> None:
        """Count a failure of work in the background, and log it."""
        self._count("background_failed")
        if not self._is_of_store(error):
            _logger.warning("background work failed: %s", type(error).__name__)

    def report_unreadable(self, path: str, why: str) -> None:
        """Count a request that cannot be read in the dialect of its route, and log it at most once a minute for each
        route."""
        self._count(Reason.MALFORMED_REQUEST.value)
        subject = f"{one_line(path)[:_PATH_SHOWN]}: {why.partition(':')[0]}"
        self._log.warn(subject, "a request passes and is not remembered, since it cannot be read (%s)")

    def _is_of_store(self, error: BaseException) -> bool:
        if not isinstance(error, StoreUnavailable):
            return False
        self._monitor.report(error.cause or type(error).__name__, error.place)
        return True
