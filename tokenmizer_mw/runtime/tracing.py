"""OpenTelemetry spans (timed sections of work) and log lines. They contain names and counts, never message text.

OpenTelemetry is not imported here. If the host has not imported it, a span costs one look-up.

If an application configures no logging, Python prints the bare text of warnings on standard error. This is so in most
applications, because uvicorn configures only its own loggers. ``print_unconfigured`` adds level and logger to these
lines.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

_LIBRARY: Final = "opentelemetry.trace"
_NAME: Final = "tokenmizer_mw"
_NOTHING: Final = nullcontext()

LOG_SECONDS: Final = 60.0
"""Default of ``LimitedLog``: a warning about the same subject is logged at most once in this many seconds."""

SUBJECTS_MAX: Final = 1_000
"""Number of subjects that a ``LimitedLog`` remembers at most, because clients can invent subjects."""


class LimitedLog:
    """Writes warnings to ``logger``, but only one in ``seconds`` about the same subject (a text, such as a request
    path); with infinity, only the first one.

    It remembers ``SUBJECTS_MAX`` subjects. For a further one it forgets the oldest, about which it may then write
    again; but if it has written about the oldest within the last ``LOG_SECONDS`` (or ``seconds``, if that is less), it
    drops the warning. So it writes at most ``SUBJECTS_MAX`` lines in that time. ``clock``: returns seconds and never
    goes back.
    """

    def __init__(
        self, logger: logging.Logger, seconds: float = LOG_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._logger = logger
        self._seconds = seconds
        self._clock = clock
        self._written: dict[str, float] = {}
        """When a line about each subject was written, the oldest first."""

    def warn(self, subject: str, message: str) -> None:
        """Log ``message`` with ``subject`` in place of its ``%s``, unless that was done in the last ``seconds``."""
        if self.is_due(subject):
            self._logger.warning(message, subject)

    def is_due(self, subject: str) -> bool:
        """Return whether a line about ``subject`` may be written now; then the next one may only be written after
        ``seconds``."""
        now = self._clock()
        if now - self._written.get(subject, float("-inf")) < self._seconds:
            return False
        self._written.pop(subject, None)
        if len(self._written) >= SUBJECTS_MAX:
            oldest, at = next(iter(self._written.copy().items()))  # other threads write, too
            if now - at < min(self._seconds, LOG_SECONDS):
                return False
            self._written.pop(oldest, None)
        self._written[subject] = now
        return True


def span(name: str, **counts: int) -> AbstractContextManager[None]:
    """Return a context manager that records the ``with`` block as an OpenTelemetry span "tokenmizer.NAME", a child of
    the current span, with ``counts`` as attributes. An error is recorded by its type. Does nothing if the host does not
    trace."""
    trace = sys.modules.get(_LIBRARY)
    if trace is None or not _has_provider(trace):
        return _NOTHING
    return _record_span(trace, name, counts)


def _has_provider(trace: Any) -> bool:
    """Whether the host has configured tracing. It is not enough that OpenTelemetry is imported: frameworks do that in
    processes that do not trace."""
    provider = getattr(trace, "get_tracer_provider", None)
    return provider is not None and not isinstance(provider(), getattr(trace, "ProxyTracerProvider", ()))


@contextmanager
def _record_span(trace: Any, name: str, counts: dict[str, int]) -> Iterator[None]:
    values = {f"tokenmizer.{key}": value for key, value in counts.items()}
    tracer = trace.get_tracer(_NAME)
    with tracer.start_as_current_span(
        f"tokenmizer.{name}", attributes=values, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise


class UnconfiguredHandler(logging.Handler):
    """Prints warnings as "WARNING tokenmizer_mw: text" on standard error, unless another handler gets them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log record, unless another handler gets it. If printing fails, ``logging`` handles the error."""
        if _has_other_handler():
            return
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:
            self.handleError(record)


def _has_other_handler() -> bool:
    """Whether the application has given this package's logger, or the root logger, a handler."""
    logger = logging.getLogger(_NAME)
    others = [one for one in logger.handlers if not isinstance(one, UnconfiguredHandler)]
    return bool(others or (logger.propagate and logging.getLogger().handlers))


def print_unconfigured() -> None:
    """Print this package's warnings with level and logger on standard error, as long as the application configures no
    logging. Calling it twice has the effect of one call."""
    logger = logging.getLogger(_NAME)
    if not any(isinstance(one, UnconfiguredHandler) for one in logger.handlers):
        logger.addHandler(UnconfiguredHandler())
