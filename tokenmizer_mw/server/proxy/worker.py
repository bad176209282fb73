"""The proxy in one of several worker processes."""

from __future__ import annotations

import logging

from uvicorn.config import STARTUP_FAILURE

from tokenmizer_mw.errors import TokenMizerError

from .app import Proxy, create

_log = logging.getLogger("tokenmizer_mw")


def create_in_worker() -> Proxy:
    """``create``, where a failure is one line of the log. Its exit status tells uvicorn to end the server: the next
    worker would fail in the same way."""
    try:
        return create()
    except TokenMizerError as error:
        _log.error("%s", error)
    except Exception:
        _log.exception("a worker cannot start")
    raise SystemExit(STARTUP_FAILURE)
