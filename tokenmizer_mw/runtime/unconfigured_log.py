"""Log lines with level and logger in applications that configure no logging.

Python prints the bare text of such warnings on standard error. uvicorn leaves all loggers but its own unconfigured, so
that this is what most applications do.
"""

from __future__ import annotations

import logging
import sys
from typing import Final

LOGGER: Final = "tokenmizer_mw"


class UnconfiguredHandler(logging.Handler):
    """Prints warnings as "WARNING tokenmizer_mw: text" on standard error, unless another handler gets them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record; a failure is left to ``logging``."""
        if _has_other_handler():
            return
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:
            self.handleError(record)


def _has_other_handler() -> bool:
    """Whether the application has given this package's logger, or the root logger, a handler."""
    logger = logging.getLogger(LOGGER)
    others = [one for one in logger.handlers if not isinstance(one, UnconfiguredHandler)]
    return bool(others or (logger.propagate and logging.getLogger().handlers))


def print_unconfigured() -> None:
    """Have the warnings of this package printed with level and logger where nothing else handles them."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(one, UnconfiguredHandler) for one in logger.handlers):
        logger.addHandler(UnconfiguredHandler())
