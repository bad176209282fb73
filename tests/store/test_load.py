"""Loading events behind those that a session has."""

from __future__ import annotations

import itertools

import pytest

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.event import Derived, Recorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.conformance import MakeLog

KEY = SessionKey("tenant", "session")


def test_times_of_loaded_events_do_not_go_back_behind_stored_ones(make_log: MakeLog) -> None:
    log = make_log(lambda: 50.0)
    stored = log.append(KEY, [Derived(1)], expected_seq=0)
    with pytest.raises(CallerError, match="never go back"):
        log.load(KEY, [Recorded(2, 49.0, Derived(2)), Recorded(3, 60.0, Derived(3))], expected_seq=1)
    assert log.read(KEY) == stored
    assert [(info.seq, info.updated_at) for info in log.sessions("tenant")] == [(1, 50.0)]
    later = [Recorded(2, 50.0, Derived(2)), Recorded(5, 60.0, Derived(3))]
    log.load(KEY, later, expected_seq=1)
    assert log.read(KEY) == stored + later
    times = [one.recorded_at for one in log.read(KEY)]
    assert all(earlier <= later for earlier, later in itertools.pairwise(times))
    log.close()
