"""The proxy application in one of several worker processes."""

from __future__ import annotations

import logging

from uvicorn.config import STARTUP_FAILURE

from tokenmizer_mw.errors import TokenMizerError

from .app import Proxy, create

_log = logging.getLogger("tokenmizer_mw")


def create_in_worker() -> Proxy:
    """Call ``create``; log a failure as one line and exit with a status that makes uvicorn stop the server.

    The next worker would fail in the same way.
    """
    try:
        return create()
    except TokenMizerError as error:
        _log.error("%s", error)
    except Exception:
        _log.exception("a worker cannot start")
    raise SystemExit(STARTUP_FAILURE)
