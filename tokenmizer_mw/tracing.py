"""Spans for OpenTelemetry, in processes that use it: names and counts, never what anybody said. Limited log lines.

It is never imported from here: a host that traces has imported it, and in all others a span costs one look-up.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

_LIBRARY: Final = "opentelemetry.trace"
_NAME: Final = "tokenmizer_mw"
_NOTHING: Final = nullcontext()

LOG_SECONDS: Final = 60.0
"""Seconds in which a limited log line is written once at most."""


class LimitedLog:
    """Writes warnings to ``logger``, each subject at most once in ``LOG_SECONDS``. Subjects are few and fixed."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._written: dict[str, float] = {}

    def warn(self, subject: str, message: str) -> None:
        """Log ``message``, whose ``%s`` is ``subject``, unless that was done in the last ``LOG_SECONDS``."""
        now = time.monotonic()
        if now - self._written.get(subject, float("-inf")) >= LOG_SECONDS:
            self._written[subject] = now
            self._logger.warning(message, subject)


def span(name: str, **counts: int) -> AbstractContextManager[None]:
    """A span around what runs inside, a child of the caller's. A failure is told by its type."""
    trace = sys.modules.get(_LIBRARY)
    if trace is None or not hasattr(trace, "get_tracer"):
        return _NOTHING
    return _recorded(trace, name, counts)


@contextmanager
def _recorded(trace: Any, name: str, counts: dict[str, int]) -> Iterator[None]:
    told = {f"tokenmizer.{key}": value for key, value in counts.items()}
    tracer = trace.get_tracer(_NAME)
    with tracer.start_as_current_span(
        f"tokenmizer.{name}", attributes=told, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise
