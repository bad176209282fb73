"""Health of the memory: whether the server can take requests, and what does not work. It is meant for orchestrators,
such as Kubernetes, and for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey

from .shapes import HealthAnswer, Status

RECENT_SECONDS: Final = 300.0
"""Number of seconds after a failure during which the health is "degraded"."""

TROUBLES: Final = (
    "background_failed", "collect_failed", "commit_failed", "cut_failed", "dropped_queue_full", "extract_failed",
    "extraction_not_kept", "flush_failed", "guard_failed", "open_failed", "redaction_failed", "session_failed",
    "turn_lost", "turn_spooled",
)  # fmt: skip
"""Names of counters of failures that make the health "degraded", because less is remembered than should be. The page
docs/counters.md says what each counts."""

Check = Callable[[], str | None]
"""Function that returns a word such as "draining" if the server cannot take requests; ``None`` if it can. It must not
block."""

Doubt = Callable[[], str | None]
"""Function that returns a word such as "limits_unavailable" if something does not work although the server can take
requests; ``None`` if all works. It is called in a worker thread. It may block, but not longer than an orchestrator
waits for the health check."""

_PROBE: Final = SessionKey("tokenmizer.health", "probe")
"""Key of a session that does not exist. The health check reads it to see whether the store answers."""

_NO_KEY: Final = bytes(16)
"""Key that no cached response has. The health check reads it to see whether the cache answers."""


class Health:
    """Reports whether a memory works, from its store, its failure counters and further functions. Safe to use from
    several threads.

    - ``checks``: functions that return a word such as "draining" if the server cannot take requests, else ``None``. A
      word from any of them makes the health "unready".
    - ``doubts``: functions that return a word such as "limits_unavailable" if something else does not work, else
      ``None``. A word from any of them makes the health "degraded", unless it is "unready".
    - ``clock``: returns the current time in seconds since the epoch.
    """

    def __init__(
        self,
        memory: SessionMemory,
        checks: tuple[Check, ...],
        clock: Callable[[], float],
        doubts: tuple[Doubt, ...] = (),
    ) -> None:
        self._memory = memory
        self._checks = checks
        self._doubts = doubts
        self._clock = clock

    def look(self, *, with_place: bool = False) -> HealthAnswer:
        """Return the current health, with a word for everything that does not work. Blocks while it reads from the
        store.

        ``with_place``: if the store fails, also return where it is, in ``place``: its file, or its host, port and
        database, without user and password.
        """
        unreadable = self._unreadable()
        against = [word for check in self._checks if (word := check())]
        if unreadable is not None:
            cause = getattr(unreadable, "cause", "")
            against += ["store_unavailable", *([f"store_{cause}"] if cause else [])]
        amiss = [word for doubt in (*self._doubts, self._cache, self._store) if (word := doubt())] + self._recent()
        amiss = [word for word in amiss if word not in against]
        worst: Status = "degraded" if amiss else "ok"
        answer = HealthAnswer(
            status="unready" if against else worst, live=True, ready=not against, reasons=[*against, *amiss]
        )
        trouble = self._memory.service.store_monitor.trouble
        place = getattr(unreadable, "place", "") or (trouble.place if trouble is not None else "")
        if with_place and place:
            answer["place"] = place
        return answer

    def _unreadable(self) -> TokenMizerError | None:
        """Try to read from the store. Return the error that this raises; ``None`` if the store can be read."""
        try:
            self._memory.log.read(_PROBE)
        except TokenMizerError as error:
            return error
        return None

    def _store(self) -> str | None:
        """Return the cause of the store's newest failure as a word, such as "store_disk_full". ``None`` if no call has
        failed, or if calls have succeeded since then."""
        trouble = self._memory.service.store_monitor.trouble
        return f"store_{trouble.cause}" if trouble is not None else None

    def _cache(self) -> str | None:
        """Return "cache_unavailable" if the cache of responses is outside this process and cannot be read; else
        ``None``, also without a cache."""
        answers = self._memory.service.answers
        if answers is None or answers.here:
            return None
        try:
            answers.store.get(_NO_KEY)
        except TokenMizerError:
            return "cache_unavailable"
        return None

    def _recent(self) -> list[str]:
        """Return the names in ``TROUBLES`` whose counters rose within the last ``RECENT_SECONDS`` seconds."""
        now, times = self._clock(), self._memory.service.counters.read_times()
        return [name for name in TROUBLES if name in times and now - times[name] < RECENT_SECONDS]
