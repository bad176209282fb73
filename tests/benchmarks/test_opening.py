"""The benchmark of opening measures what it says: a snapshot that is as old as one may get, and the tail behind it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from benchmarks.opening import BIG, EVERY, _first_look, _long, _write
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.session.snapshot import SHARE, SnapshotPolicy
from tokenmizer_mw.store.open import open_log


def test_the_long_session_has_the_oldest_snapshot_that_there_may_be(tmp_path: Path) -> None:
    url, key = f"sqlite:///{tmp_path / 'log.db'}", SessionKey(LOCAL_TENANT, BIG)
    events = _long(120)
    with closing(open_log(url)) as log:
        _write(log, BIG, events)
        snapshot = log.snapshot(key)
        assert snapshot is not None
        assert [one.event for one in log.read(key)] == [one.event for one in events]
        policy = SnapshotPolicy(1, 1, lambda *_: None, lambda _: None)
        assert not policy.due(len(events), snapshot.seq)
        assert policy.due(len(events) + SHARE, snapshot.seq)
    assert all(figure >= 0 for figure in _first_look(url, EVERY))
    with closing(open_log(url)) as log:
        assert log.snapshot(key) == snapshot, "a look keeps no other"
