"""A process of its own that uses a log by its path or address: ``worker.py COMMAND PLACE ...``; answers by lines."""

from __future__ import annotations

import os
import resource
import sys
import time

import tokenmizer_mw
from tokenmizer_mw.errors import Conflict, StoreError
from tokenmizer_mw.model.event import Derived, StatusChanged
from tokenmizer_mw.model.node import Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import Clock, EventLog
from tokenmizer_mw.store.open import open_log
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("tenant", "session")


def say(*words: object) -> None:
    print(*words, flush=True)


def open_at(place: str, clock: Clock = time.time) -> EventLog:
    return open_log(place, clock=clock) if "://" in place else SqliteLog(place, clock=clock, busy_seconds=60)


def race(place: str, name: str, count: str) -> None:
    """Append ``count`` pairs of events to the one session, trying again on conflict; say how often that was."""
    log = open_at(place)
    say("ready")
    sys.stdin.readline()
    end = conflicts = 0
    for step in range(int(count)):
        events = [StatusChanged(name, Status.ACTIVE, step, half) for half in ("first", "second")]
        while True:
            try:
                end = log.append(KEY, events, expected_seq=end)[-1].seq
                break
            except Conflict:
                conflicts += 1
                end = log.read(KEY, after=end)[-1].seq
    log.close()
    say(conflicts)


def follow(path: str) -> None:
    """For each line of input: say how many events there are, append one, say its number."""
    log = SqliteLog(path)
    for _ in sys.stdin:
        end = len(log.read(KEY))
        say(end, log.append(KEY, [Derived(end)], expected_seq=end)[0].seq)
    log.close()


def open_first(place: str) -> None:
    """Open a database that does not exist yet, at the same moment as others; say the secret and count the sessions."""
    log = open_at(place)
    say("ready")
    sys.stdin.readline()
    say(log.secret().hex(), len(log.sessions("tenant")))
    log.close()


def fill(path: str, limit: str) -> None:
    """Append under a limit on the size of files until it fails, then try to forget; say what each came to."""
    log = SqliteLog(path)
    end = log.append(KEY, [Derived(0)], expected_seq=0)[0].seq
    limit_files(int(limit))
    try:
        while True:
            end = log.append(KEY, [Derived(end), StatusChanged("x" * 3000, Status.ACTIVE)], expected_seq=end)[-1].seq
    except StoreError as error:
        say(end, len(log.read(KEY)))
        say(f"{type(error).__name__} {error}")
    limit_files(4096)
    try:
        say(log.forget(KEY))
    except StoreError as error:
        say(f"{type(error).__name__} {error}")
    limit_files(resource.RLIM_INFINITY)
    say(len(log.read(KEY)), log.append(KEY, [Derived(end)], expected_seq=end)[0].seq)
    log.close()


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def unprivileged(path: str) -> None:
    """Read and append as somebody whom file permissions bind; say what happened."""
    if os.geteuid() == 0:
        os.setuid(65534)
    log = SqliteLog(path)
    for call in (lambda: len(log.read(KEY)), lambda: log.append(KEY, [Derived(1)], expected_seq=len(log.read(KEY)))):
        try:
            say(call())
        except StoreError as error:
            say(f"{type(error).__name__} {error}")


def write(place: str) -> None:
    """Append to a session until killed, saying each number once it is acknowledged."""
    log = open_at(place)
    end = 0
    while True:
        end = log.append(KEY, [Derived(end), Derived(end + 1)], expected_seq=end)[-1].seq
        say(end)


def fork(place: str) -> None:
    """Use one log object on both sides of a fork; say what both sides wrote."""
    log = open_at(place)
    log.append(KEY, [Derived(1)], expected_seq=0)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            end = len(log.read(KEY))
            log.append(KEY, [Derived(end + 1)], expected_seq=end)
            log.close()
            os._exit(0)
        children.append(os.waitpid(child, 0)[1])
        end = len(log.read(KEY))
        log.append(KEY, [Derived(end + 1)], expected_seq=end)
    say(children, [recorded.event.turn for recorded in log.read(KEY) if isinstance(recorded.event, Derived)])
    log.close()


def chat(place: str) -> None:
    """For each line of input: say it in a session, then say all that the session's messages are by now."""
    memory = tokenmizer_mw.SessionMemory.open(place)
    for line in sys.stdin:
        memory.record("chat", [{"role": "user", "content": line.strip()}])
        say("|".join(message.text for message in memory.restore("chat", range(1000))))
    memory.close()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
