"""Log filter for broken provider responses: one line instead of a stack trace."""

from __future__ import annotations

import logging
from typing import Final

from .connection import BrokenResponse

_SERVER: Final = "uvicorn.error"


class _OneLine(logging.Filter):
    """Knows the one exception that the relay raises on purpose, so that the server cuts the client's connection."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record; shorten those of ``BrokenResponse``."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, BrokenResponse):
            record.msg, record.args = "a provider's response broke off, and so did the client's: %s", (str(error),)
            record.exc_info = record.exc_text = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def quieten() -> None:
    """Install the log filter in this process."""
    log = logging.getLogger(_SERVER)
    if not any(isinstance(each, _OneLine) for each in log.filters):
        log.addFilter(_OneLine())
