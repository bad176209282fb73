"""The PostgreSQL store: appends compared with the bare driver, and a load during which workers are killed.

The server is the one at TOKENMIZER_TEST_POSTGRES, in whose database the benchmark creates schemas and drops them; by
default 127.0.0.1:5432, database test, role postgres.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from tokenmizer_mw.model.event import encode
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.open import open_log

from ._kill_writer import EVENTS_PER_TURN, turn
from .measure import at_least, at_most, percentile
from .postgres_load import SESSIONS, WORKERS, load

SERVER: Final = os.environ.get("TOKENMIZER_TEST_POSTGRES") or "postgresql://postgres@127.0.0.1:5432/test"
WRITERS: Final = 64
DRIVER_POOL: Final = 16
ROUNDS: Final = 3
ROUND_SECONDS: Final = 4.0


def run(quick: bool = False) -> dict[str, Any]:
    with schema() as (url, application):
        appends = _appends(url)
    with schema() as (url, application):
        broken = load(url, SERVER, application, *((60.0, 8.0) if quick else (600.0, 20.0)))
    halfway = "the server is restarted" if broken["restarted"] else "all connections are ended by the server"
    return {
        "figures": {"appends": appends, "load": broken},
        "bars": [*_append_bars(appends), *_load_bars(broken)],
        "notes": "Wall time with a server on this machine. Appends: the store, and in the same run the bare"
        " driver with a"
        f" pool of {DRIVER_POOL} and one transaction per append, with the same three events. Load: workers share"
        f" sessions,"
        f" one worker is killed at intervals, and in the middle {halfway}.",
    }


def _append_bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    return [at_least(f"appends/s of {WRITERS} sessions / bare driver", figures["ratio"], 0.8, "x", 2)]


def _load_bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    turns, views = figures["acknowledged"], figures["views"]
    what = f"{WORKERS} workers x {SESSIONS} sessions, {figures['seconds']:.0f} s, {figures['kills']} kills"
    return [
        at_most(f"acknowledged turns lost of {turns:,}, {what}", figures["lost"], 0),
        at_most("turns stored twice", figures["doubled"], 0),
        at_most(f"views of {views:,} that lacked an acknowledged turn", figures["stale_views"], 0),
        at_most(f"graphs of {figures['graphs_compared']} that differ at the end", figures["wrong_graphs"], 0),
        at_least("graphs compared at the end", figures["graphs_compared"], WORKERS * SESSIONS),
    ]


@contextmanager
def schema() -> Iterator[tuple[str, str]]:
    """Context with the URL of a store in a new schema, and the application name of its connections. The schema is
    dropped at the end."""
    name = f"benchmark_{secrets.token_hex(6)}"
    mark = "&" if "?" in SERVER else "?"
    try:
        yield f"{SERVER}{mark}schema={name}&application_name={name}&timeout=30", name
    finally:
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())


# -- appends ---------------------------------------------------------------------------------------------------


def _appends(url: str) -> dict[str, Any]:
    """Rates of the store and of the bare driver, in alternating rounds, on tables of the same form."""
    with schema() as (other, name):
        log, bare = open_log(url), open_log(other)
        for each in (log, bare):
            each.sessions("nobody")
        bare.close()
        ours, theirs, waits = [], [], []
        for number in range(ROUNDS):
            rate, round_waits = _store_round(log, number)
            ours.append(rate)
            waits += round_waits
            theirs.append(asyncio.run(_driver_round(name, number)))
        log.close()
    medians = statistics.median(ours), statistics.median(theirs)
    return {
        "store": round(medians[0]),
        "driver": round(medians[1]),
        "ratio": medians[0] / medians[1],
        "append_p50_ms": round(percentile(waits, 0.5) * 1e3, 1),
        "append_p99_ms": round(percentile(waits, 0.99) * 1e3, 1),
    }


def _store_round(log: EventLog, number: int) -> tuple[float, list[float]]:
    waits: list[float] = []
    end = time.perf_counter() + ROUND_SECONDS

    def write(writer: int) -> None:
        key, seq = SessionKey(LOCAL_TENANT, f"{number}-{writer}"), 0
        while (start := time.perf_counter()) < end:
            seq = log.append(key, turn(seq // EVENTS_PER_TURN + 1), expected_seq=seq)[-1].seq
            waits.append(time.perf_counter() - start)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(waits) / (time.perf_counter() - start), waits


async def _driver_round(schema: str, number: int) -> float:
    pool: asyncio.Queue[psycopg.AsyncConnection[tuple[Any, ...]]] = asyncio.Queue()
    for _ in range(DRIVER_POOL):
        connected = psycopg.AsyncConnection.connect(SERVER, autocommit=True, cursor_factory=psycopg.AsyncRawCursor)
        pool.put_nowait(await connected)
    move = f"UPDATE {schema}.sessions SET seq = $3, updated_at = $4 WHERE tenant = $1 AND session = $2 AND seq = $5"
    start = f"INSERT INTO {schema}.sessions (tenant, session, seq, updated_at, created_at) VALUES ($1, $2, $3, $4, $4)"
    add = f"INSERT INTO {schema}.events (session, seq, recorded_at, kind, version, payload) VALUES ($1,$2,$3,$4,$5,$6)"
    done = 0
    end = time.perf_counter() + ROUND_SECONDS

    async def append(name: str, seq: int) -> int:
        events, now, last = turn(seq // EVENTS_PER_TURN + 1), time.time(), seq + EVENTS_PER_TURN
        connection = await pool.get()
        async with connection.transaction():
            values = (LOCAL_TENANT, name, last, now, *([seq] if seq else []))
            cursor = await connection.execute(f"{move if seq else start} RETURNING id".encode(), values)
            (found,) = await cursor.fetchone() or (None,)
            rows = [(found, seq + at, now, *encode(event)) for at, event in enumerate(events, 1)]
            await cursor.executemany(add.encode(), rows)
        pool.put_nowait(connection)
        return last

    async def write(writer: int) -> None:
        nonlocal done
        seq = 0
        while time.perf_counter() < end:
            seq = await append(f"{number}-{writer}", seq)
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    rate = done / (time.perf_counter() - began)
    while not pool.empty():
        await pool.get_nowait().close()
    return rate
