"""Health of the memory, for orchestrators and people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock

from .shapes import HealthAnswer, Status

RECENT_SECONDS: Final = 300.0
"""For how long a failure that was counted makes the memory degraded."""

TROUBLES: Final = (
    "background_failed", "collect_failed", "commit_failed", "cut_failed", "dropped_queue_full", "extract_failed",
    "extraction_not_kept", "flush_failed", "guard_failed", "open_failed", "redaction_failed", "session_failed",
    "turn_lost", "turn_spooled",
)  # fmt: skip
"""Counters that mean that less is remembered than should be."""

Check = Callable[[], str | None]
"""Says in one word what keeps the server from taking requests, such as "draining"; ``None``: nothing. Never blocks."""

Doubt = Callable[[], str | None]
"""Says in one word what does not work although requests can be taken, such as "limits_unavailable"; ``None``: nothing.
Called in a worker thread; may block for as long as an orchestrator waits for an answer."""

_PROBE: Final = SessionKey("tokenmizer.health", "probe")
"""A session that nobody has: reading it takes the store's word that it can be read."""

_NO_KEY: Final = bytes(16)
"""The key of no answer."""


class Health:
    """Reports the health of a memory. Thread-safe.

    ``checks``: functions that return why the server is not ready; ``doubts``: functions that return why it is degraded;
    both return ``None`` if all is well.
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
        self._guard = make_lock()
        self._seen: Mapping[str, int] = {}
        self._since: dict[str, float] = {}

    def look(self, *, with_place: bool = False) -> HealthAnswer:
        """Return the health, from the store, the checks, the doubts and the failure counters. Blocks on the store.

        ``with_place``: if the store fails, name its file, or its host, port and database (without user and password).
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
        """Why the store cannot be read; ``None``: it can."""
        try:
            self._memory.log.read(_PROBE)
        except TokenMizerError as error:
            return error
        return None

    def _store(self) -> str | None:
        """Why the store does not take what chats say, such as "store_disk_full"; ``None``: it does."""
        trouble = self._memory.service.store_monitor.trouble
        return f"store_{trouble.cause}" if trouble is not None else None

    def _cache(self) -> str | None:
        """Whether answers that are kept elsewhere can be given again."""
        answers = self._memory.service.answers
        if answers is None or answers.here:
            return None
        try:
            answers.store.get(_NO_KEY)
        except TokenMizerError:
            return "cache_unavailable"
        return None

    def _recent(self) -> list[str]:
        """The failures that were counted not long ago."""
        now, counts = self._clock(), self._memory.counters()
        with self._guard:
            for name in TROUBLES:
                if counts.get(name, 0) > self._seen.get(name, 0):
                    self._since[name] = now
            self._seen = counts
            return [name for name in TROUBLES if now - self._since.get(name, -RECENT_SECONDS) < RECENT_SECONDS]
