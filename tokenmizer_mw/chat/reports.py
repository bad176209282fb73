"""Count and log what a service did and what failed. Errors are logged by kind and place, never by their text, which may
contain messages."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from tokenmizer_mw.errors import StoreUnavailable, raised_at
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.terminal import one_line
from tokenmizer_mw.runtime.tracing import LimitedLog
from tokenmizer_mw.session.naming import Reason
from tokenmizer_mw.store.resilience.monitor import StoreMonitor
from tokenmizer_mw.wire.http import Headers, header

_logger = logging.getLogger("tokenmizer_mw")
_HINTS: Final = {
    "no_session": "a chat passes and is not remembered: no {places} names its session",
    "session_invalid": (
        "a chat passes and is not remembered: its session id or tenant is no text of 1 to 256 printable characters"
    ),
    "reply_empty": "a reply is recorded without any text; if a CustomChat reads it, look at its reply and delta",
}
"""Counters whose first count is logged, since the calling code is easily wrong and nothing else shows it. ``{places}``:
what may name a session."""


class ServiceCounters:
    """Named counters. Thread-safe.

    The first increment of some counters is logged with a hint. Counters in ``reported`` are not logged here, because
    the caller logs them itself. ``session_header`` and ``session_field``: the header and the body field that may name a
    session; "" for none.
    """

    def __init__(self, session_header: str = "", session_field: str = "") -> None:
        self.reported: frozenset[str] = frozenset()
        places = {"header": session_header, "body field": session_field}
        named = [f"{kind} {one_line(name)}" for kind, name in places.items() if name]
        self._places = f"{', '.join(named)} or callable" if named else "callable"
        self._counts: Counter[str] = Counter()
        self._times: dict[str, float] = {}
        self._lock = make_lock()

    def add(self, reason: str, times: int = 1, *, places: str = "") -> None:
        """Add ``times`` to the counter named ``reason``. ``places``: for the log, what may name a session if that is
        neither the header nor the field."""
        if times:
            with self._lock:
                first = reason not in self._counts
                self._counts[reason] += times
                self._times[reason] = time.time()
            if first and reason in _HINTS and reason not in self.reported:
                hint = _HINTS[reason].replace("{places}", places or self._places)
                _logger.warning("%s (docs/not-remembered.md; %s)", hint, reason)

    def read(self) -> dict[str, int]:
        """Return how often each counter was incremented since this object was made, by name. Counters that were never
        incremented are missing."""
        with self._lock:
            return dict(self._counts)

    def read_times(self) -> dict[str, float]:
        """Return when each counter was last incremented, by name, in seconds since the epoch."""
        with self._lock:
            return dict(self._times)


_PATH_SHOWN: Final = 120


class FailureReports:
    """Counts and logs failures and unreadable requests. ``monitor``: logs that the store is unavailable. ``log``: logs
    unreadable requests and replies, the same line at most once a minute. ``count``: increments the counter of a name.
    """

    def __init__(self, monitor: StoreMonitor, log: LimitedLog, count: Callable[..., None]) -> None:
        self._monitor = monitor
        self._log = log
        self._count = count

    def report_failure(self, counter: str, error: BaseException) -> None:
        """Increment the counter ``counter`` and log ``error``, which occurred while a chat was handled. If the store is
        unavailable, its cause and address are logged instead, once a minute."""
        self._count(counter)
        if not self._is_of_store(error):
            name = type(error).__name__
            _logger.warning("%s: %s in %s; the chat went on without", counter, name, raised_at(error))

    def report_background(self, error: BaseException) -> None:
        """Increment the counter ``background_failed`` and log the class of ``error``, which background work raised. If
        the store is unavailable, its cause and address are logged instead, at most once a minute."""
        self._count("background_failed")
        if not self._is_of_store(error):
            _logger.warning("background work failed: %s", type(error).__name__)

    def report_unreadable(self, path: str, why: str) -> None:
        """Count a request that cannot be parsed in the dialect of its route, and log that at most once a minute per
        route. ``path``: path of the request. ``why``: the error message; the part before its first colon is logged."""
        self._count(Reason.MALFORMED_REQUEST.value)
        subject = f"{one_line(path)[:_PATH_SHOWN]}: {why.partition(':')[0]}"
        text = "a request passes and is not remembered, since it cannot be read: %s"
        self._log.warn(subject, f"{text} (docs/not-remembered.md; {Reason.MALFORMED_REQUEST.value})")

    def report_unreadable_reply(self, path: str) -> None:
        """Log a reply of status 2xx in which the dialect of its route finds no text and no error, at most once a minute
        per route. The turn is counted as ``turn_error``.
        """
        self._log.warn(
            one_line(path)[:_PATH_SHOWN],
            "the reply of a chat has no text that can be read, and only the request is remembered: %s; is its JSON of"
            " another shape, name it with CustomChat(reply=...) (docs/not-remembered.md; turn_error)",
        )

    def _is_of_store(self, error: BaseException) -> bool:
        if not isinstance(error, StoreUnavailable):
            return False
        self._monitor.report(error.cause or type(error).__name__, error.place)
        return True


PATHS_MAX: Final = 16
"""At most this many distinct paths are logged in the life of an application."""

CHAT_WORDS: Final = {
    *("ask", "assistant", "chat", "chats", "completion", "completions", "conversation", "conversations", "generate"),
    *("message", "messages", "reply", "respond", "responses", "stream"),
}
"""Words, in lower case, with which the paths of chats usually end ("/api/chat")."""


class UnknownRoutes:
    """Logs paths that look like chat routes but are not configured: each once, at most ``PATHS_MAX`` paths."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def is_new(self, path: str, headers: Headers) -> bool:
        """Whether a POST to ``path``, which no route matches, looks like a chat (by its last word and a JSON body) and
        was not logged before. False if ``headers`` can be read only once; they are not read then.
        """
        last = path.rstrip("/").rpartition("/")[2].lower()
        return last in CHAT_WORDS and len(self._logged) < PATHS_MAX and path not in self._logged and _is_json(headers)

    def report_once(self, path: str, status: int) -> None:
        """Log a warning about ``path``, for which ``is_new`` is true, unless the application refused the request: an
        answer of status 4xx is no chat."""
        if 400 <= status < 500 or len(self._logged) >= PATHS_MAX or path in self._logged:
            return
        self._logged.add(path)
        _logger.warning(
            "POST %s looks like a chat and is not remembered: no route of the middleware ends so; if it is a chat, name"
            " it in routes=, with a CustomChat where its JSON has a shape of its own (docs/not-remembered.md)",
            one_line(path)[:_PATH_SHOWN],
        )


def _is_json(headers: Headers) -> bool:
    if not isinstance(headers, list | tuple):
        return False
    media_type = (header(headers, b"content-type") or b"").partition(b";")[0].strip().lower()
    return media_type == b"application/json" or media_type.endswith(b"+json")
