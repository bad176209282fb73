"""Decide when snapshots of long sessions are stored; failures and damaged snapshots are counted, not raised."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import StoreCorrupt, StoreError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.snapshot import SnapshotTooLarge, UnreadableSnapshot, fold_version, state_of, write_snapshot
from tokenmizer_mw.store.log import EventLog, Snapshot

SHARE: Final = 32
"""A snapshot is worth its while when the session has grown by this part of itself: then all the snapshots of a session
cost about the same for each event, however long it gets."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Snapshots after ``every`` so many events (0: never), of sessions that take no more than ``most`` bytes.

    ``later`` does such work in the background, under a name; ``count`` counts what became of it: "snapshot_kept",
    "snapshot_outdated" for one of what was rewritten or erased since, "snapshot_too_large", "snapshot_failed", and
    "snapshot_unreadable" for one that was ignored.
    """

    every: int
    most: int
    later: Callable[[Hashable, Callable[[], None]], object]
    count: Callable[[str], object]

    def due(self, end: int, last: int) -> bool:
        """Whether a session that ends at event ``end`` should have one, when the last one was of event ``last``."""
        return 0 < self.every <= end - last and SHARE * (end - last) >= end

    def state(self, log: EventLog, key: SessionKey) -> SessionState | None:
        """The state in the session's snapshot; ``None`` where there is none, or none that can be used."""
        if not self.every:
            return None
        try:
            found = log.snapshot(key)
            if found is None or found.fold_version != fold_version():
                return None
            with span("snapshot", bytes=len(found.payload)):
                return state_of(key, found.payload, most=self.most)
        except (StoreCorrupt, UnreadableSnapshot):
            self.count("snapshot_unreadable")
            return None

    def keep(self, log: EventLog, key: SessionKey, state: SessionState) -> None:
        """Keep ``state``. The store takes none of a session that was rewritten or erased since."""
        try:
            payload = write_snapshot(key, state, most=self.most)
            done = log.keep_snapshot(key, Snapshot(state.seq, state.recorded_at, fold_version(), payload))
        except SnapshotTooLarge:
            self.count("snapshot_too_large")
        except StoreError:
            self.count("snapshot_failed")
        else:
            self.count("snapshot_kept" if done else "snapshot_outdated")
