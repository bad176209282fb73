"""A process of its own that uses a log by its address: ``python postgres_worker.py COMMAND URL ...``, answers by
lines."""

from __future__ import annotations

import os
import sys

import tokenmizer_mw
from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import Derived, StatusChanged
from tokenmizer_mw.model.node import Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.open import open_log

KEY = SessionKey("tenant", "session")


def say(*words: object) -> None:
    print(*words, flush=True)


def race(url: str, name: str, count: str) -> None:
    """Append ``count`` pairs of events to the one session, trying again on conflict; say how often that was."""
    log = open_log(url)
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


def open_first(url: str) -> None:
    """Open a database without tables, at the same moment as others; say the secret."""
    log = open_log(url)
    say("ready")
    sys.stdin.readline()
    say(log.secret().hex())
    log.close()


def write(url: str) -> None:
    """Append to a session until killed, saying each number once it is acknowledged."""
    log = open_log(url)
    end = 0
    while True:
        end = log.append(KEY, [Derived(end), Derived(end + 1)], expected_seq=end)[-1].seq
        say(end)


def fork(url: str) -> None:
    """Use one log object on both sides of a fork; say what both sides wrote."""
    log = open_log(url)
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


def chat(url: str) -> None:
    """For each line of input: say it in a session, then say all that the session's messages are by now."""
    memory = tokenmizer_mw.SessionMemory.open(url)
    for line in sys.stdin:
        memory.record("chat", [{"role": "user", "content": line.strip()}])
        say("|".join(message.text for message in memory.restore("chat", range(1000))))
    memory.close()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
