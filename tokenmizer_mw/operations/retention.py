"""Retention by age while a server runs: erases sessions that have been idle for too long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory

from .erasure import expire

EVERY_SECONDS: Final = 3_600.0
DAY: Final = 86_400.0

_log = logging.getLogger("tokenmizer_mw")


@contextmanager
def retaining(
    memory: SessionMemory, *, every: float = EVERY_SECONDS, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """While the context is active, erase sessions of all tenants that are older than the setting ``retain_days``.

    Runs at once and then every ``every`` seconds, in a thread of its own; does nothing if the setting is ``None``.
    Several workers may do so at the same time. Errors are counted as "retain_failed" and retried; "sessions_expired"
    counts erased sessions. Leaving the context waits at most ``Settings.drain_seconds`` for an erasure in progress.
    """
    days = memory.settings.retain_days
    if days is None:
        yield
        return
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            _erase(memory, clock() - days * DAY)
            over.wait(every)

    worker = threading.Thread(target=run, name="tokenmizer-retention", daemon=True)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join(memory.settings.drain_seconds)


def _erase(memory: SessionMemory, since: float) -> None:
    try:
        found = expire(memory, since)
    except (OSError, TokenMizerError) as error:
        memory.service.count("retain_failed")
        _log.warning("retain_failed: %s", type(error).__name__)
        return
    memory.service.count("sessions_expired", len(found.sessions))
    if found.backups:
        _log.info("sessions that were erased may still be in %d backups", len(found.backups))
