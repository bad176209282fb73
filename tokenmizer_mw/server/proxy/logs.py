"""What the server's log says of providers that break off: one line, not the stack of a failure of ours."""

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
    """Shorten what the server logs from now on in this process."""
    log = logging.getLogger(_SERVER)
    if not any(isinstance(each, _OneLine) for each in log.filters):
        log.addFilter(_OneLine())
