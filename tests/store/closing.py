"""A store that is closed while threads write to it: what they were told is kept is there afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tokenmizer_mw.errors import StoreUnavailable
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import EventLog


def closed_while_others_write(opened: Callable[[], EventLog]) -> None:
    """``opened`` gives the same store, empty at first, each time."""
    log = opened()
    keys = [SessionKey("tenant", str(name)) for name in range(4)]
    ends: dict[SessionKey, int] = {}
    started = threading.Barrier(len(keys) + 1)

    def work(key: SessionKey) -> None:
        end = 0
        started.wait()
        while True:
            try:
                end = log.append(key, [Derived(0), Derived(1)], expected_seq=end)[-1].seq
            except StoreUnavailable:
                ends[key] = end
                return

    threads = [threading.Thread(target=work, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    started.wait()
    while not log.read(keys[0], after=20):
        pass
    log.close()
    for thread in threads:
        thread.join()
    again = opened()
    assert {key: len(again.read(key)) for key in keys} == ends
    again.close()
