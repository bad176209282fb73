"""Opening a session: a store of 10,000 sessions, one of them with 5,000 turns, in both kinds of store.

A long session is opened in SQLite and in PostgreSQL. Each turn is one message here.

- *Cold*: a new memory opens the session for the first time. As many events as possible follow its snapshot.
- *Warm*: the same memory opens it again.

The bars on time apply to the median CPU time of the client process. The work of the PostgreSQL server is only in the
wall times. The results file has these, and cold figures without a snapshot and in a new process.

TOKENMIZER_TEST_POSTGRES is the address of the PostgreSQL server. The benchmark creates schemas there and drops them.
The default is 127.0.0.1:5432, database test, role postgres.
"""

from __future__ import annotations

import gc
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import Derived, Recorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.session.log_cache import CachedSessions
from tokenmizer_mw.session.snapshot import SHARE, SnapshotPolicy
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.open import open_log

from ._kill_writer import turn
from .measure import at_most
from .postgres import schema
from .sessions import long_session

T = TypeVar("T")

BIG: Final = "big"
CHUNK: Final = 20
FILLERS: Final = 16
COLD: Final = 21
WARM: Final = 200
FRESH: Final = 5
PAGE: Final = 100
EVERY: Final = Settings().snapshot_every
QUESTION: Final = "which cache does the billing parser use?"
COPIES: Final = 12
AT_HAND: Final = 4
"""How many copies of the long session the cache of a memory may hold at once."""


def run(quick: bool = False) -> dict[str, Any]:
    stored, turns = (300, 400) if quick else (10_000, 5_000)
    events = _long(turns)
    with schema() as (url, _), tempfile.TemporaryDirectory() as folder:
        places = {"sqlite": _file(folder, "memory"), "postgresql": url}
        figures = {name: _opened(place, events, stored) for name, place in places.items()}
        bound = _bound(_file(folder, "copies"), events)
    sizes = {"sessions": stored, "turns": turns, "events": len(events)}
    return {
        "figures": sizes | figures | {"bound": bound},
        "bars": [
            *(bar for name, store in figures.items() for bar in _bars(name, store, stored, turns)),
            *_bounded(bound),
        ],
        "notes": (__doc__ or "").split("\n\n", 1)[1].strip(),
    }


def _bars(name: str, store: Mapping[str, Any], stored: int, turns: int) -> list[dict[str, Any]]:
    of = f"{name}: a session of {turns:,} turns among {stored:,}"
    what = f"{name}: memory after {stored:,} sessions were opened, against {stored * 3 // 10:,}"
    return [
        at_most(f"{of}, opened warm, p50 CPU", store["warm"]["cpu_ms"], 5.0, "ms", 2),
        at_most(f"{of}, opened cold, p50 CPU", store["cold"]["cpu_ms"], 50.0, "ms", 1),
        at_most(what, store["memory"], 1.1, "x"),
    ]


def _bounded(bound: Mapping[str, Any]) -> list[dict[str, Any]]:
    what = f"memory after {COPIES} such sessions, of which {AT_HAND} may be at hand, against {AT_HAND + 2}"
    return [at_most(what, bound["ratio"], 1.1, "x")]


def _file(folder: str, name: str) -> str:
    return f"sqlite:///{Path(folder) / name}.db"


def _long(turns: int) -> list[Recorded]:
    """The log of a session of so many messages."""
    log, messages = MemoryLog(), long_session(turns).messages
    memory = SessionMemory(log, Settings(snapshot_every=0))
    for start in range(0, turns, CHUNK):
        memory.record(BIG, messages[max(0, start - CHUNK) : start + CHUNK])
    found = log.read(SessionKey(LOCAL_TENANT, BIG))
    memory.close()
    return found


def _opened(url: str, events: Sequence[Recorded], stored: int) -> dict[str, Any]:
    log = open_log(url)
    _write(log, BIG, events)
    _fill(log, stored - 1)
    whole = _median(lambda: log.sessions(LOCAL_TENANT), 9)
    page = _median(lambda: log.sessions(LOCAL_TENANT, limit=PAGE), 9)
    log.close()
    return {
        "cold": _median_of(_elsewhere(_first_looks, url, EVERY, COLD)[1:]),
        "cold_from_the_log": _median_of(_elsewhere(_first_looks, url, 0, FRESH + 1)[1:]),
        "cold_in_a_new_process": _median_of([_elsewhere(_first_looks, url, EVERY, 1)[0] for _ in range(FRESH)]),
        **_elsewhere(_later_looks, url),
        "listing": whole,
        f"listing_{PAGE}": page,
        "memory": _elsewhere(_growth, url, (stored * 3 // 10, stored)),
    }


def _write(log: EventLog, name: str, events: Sequence[Recorded]) -> None:
    """Write the session ``name``, with a snapshot that is as old as a snapshot may become."""
    key, seen = SessionKey(LOCAL_TENANT, name), len(events) * (SHARE - 1) // SHARE + 1
    log.load(key, events[:seen], expected_seq=0)
    snapshots = SnapshotPolicy(1, Settings().snapshot_max, later=lambda _, work: work(), count=lambda _: None)
    CachedSessions(log, capacity=1, snapshots=snapshots).read(key, lambda state: None)
    log.append(key, [one.event for one in events[seen:]], expected_seq=seen)


def _fill(log: EventLog, count: int) -> None:
    """Write sessions of one turn each, from which nothing is left to extract, beside the long one."""

    def write(first: int) -> None:
        for number in range(first, count, FILLERS):
            log.append(
                SessionKey(LOCAL_TENANT, f"session {number}"), [*turn(number), Derived(2 * number)], expected_seq=0
            )

    threads = [threading.Thread(target=write, args=(first,)) for first in range(FILLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of CPU time and of wall time for one call of ``work``."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3


def _median(work: Callable[[], object], times: int) -> dict[str, float]:
    return _median_of([_timed(work) for _ in range(times)])


def _median_of(found: Sequence[tuple[float, float]]) -> dict[str, float]:
    cpu, wall = (statistics.median(each) for each in zip(*found, strict=True))
    return {"cpu_ms": round(cpu, 2), "wall_ms": round(wall, 2)}


def _first_looks(url: str, every: int, times: int) -> list[tuple[float, float]]:
    return [_first_look(url, every) for _ in range(times)]


def _first_look(url: str, every: int) -> tuple[float, float]:
    memory = SessionMemory.open(url, Settings(snapshot_every=every))
    gc.collect()
    try:
        return _timed(lambda: memory.graph(BIG))
    finally:
        memory.close()


def _later_looks(url: str) -> dict[str, dict[str, float]]:
    memory = SessionMemory.open(url)
    memory.graph(BIG)
    memory.recall(BIG, QUESTION)
    found = {
        "warm": _median(lambda: memory.graph(BIG), WARM),
        "recall": _median(lambda: memory.recall(BIG, QUESTION), WARM // 10),
    }
    memory.close()
    return found


def _elsewhere(work: Callable[..., T], *arguments: object) -> T:
    """The result of ``work`` in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _growth(url: str, marks: tuple[int, int]) -> float:
    """Resident memory of this process after it has opened the second number of sessions, divided by that after the
    first number. The long session is opened first."""
    memory = SessionMemory.open(url)
    names = [BIG, *(info.key.id for info in memory.sessions() if info.key.id != BIG)]
    sizes = []
    for number, name in enumerate(names, 1):
        memory.graph(name)
        if number in marks:
            sizes.append(_pages())
    memory.close()
    return round(sizes[1] / sizes[0], 3)


def _bound(url: str, events: Sequence[Recorded]) -> dict[str, float]:
    log = open_log(url)
    for number in range(COPIES):
        log.load(SessionKey(LOCAL_TENANT, str(number)), events, expected_seq=0)
    log.close()
    return _elsewhere(_grown, url, len(events))


def _grown(url: str, events: int) -> dict[str, float]:
    """Growth of a process that opens more copies of the long session than its cache may hold: its resident memory at
    the end divided by that after ``AT_HAND + 2`` copies, and kilobytes per event of the cached ones."""
    memory = SessionMemory.open(url, Settings(events_cached=AT_HAND * events, snapshot_every=0))
    sizes = [_pages()]
    for number in range(COPIES):
        memory.graph(str(number))
        sizes.append(_pages())
    memory.close()
    kilobytes = (sizes[AT_HAND] - sizes[1]) * 4 / ((AT_HAND - 1) * events)
    return {"ratio": round(sizes[-1] / sizes[AT_HAND + 2], 3), "kilobytes_an_event": round(kilobytes, 2)}


def _pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])
