"""A worker of a chat service on a PostgreSQL store, for ``postgres_load``.

    python -m benchmarks.postgres_worker URL NAME THREADS SESSIONS

Its threads record turns in sessions that other workers write as well. It prints "turn SESSION TEXT" once a turn is
stored, and "failed" if the store was not available. It reads lines from stdin:

- "view SESSION": it prints "view SESSION NUMBER", the number of the last message of which its graph has the facts, or
  "unseen SESSION" if the store was not available.
- "end": it stops its threads and prints "ended". After one more line, it prints "graph SESSION DIGEST" for every
  session.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import threading

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import StoreUnavailable, UnknownSession

TOOLS = ("Redis", "Kafka", "SQLite", "Postgres", "Celery", "Nginx")


def say(*words: object) -> None:
    # One write a line: a kill leaves whole lines and at most one torn one.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def text(rng: random.Random, name: str) -> str:
    tool, part = rng.choice(TOOLS), rng.randrange(40)
    return rng.choice((f"Use {tool} for part {part}.", f"TODO: document part {part}", f"Part {part} is done.")) + name


def record(memory: SessionMemory, name: str, sessions: int, ended: threading.Event) -> None:
    rng, number = random.Random(name), 0
    while not ended.is_set():
        number += 1
        session, told = f"s{rng.randrange(sessions)}", text(rng, f" ({name}.{number})")
        try:
            memory.record(session, [{"role": "user", "content": told}])
        except StoreUnavailable:
            say("failed")
            ended.wait(0.05)
        else:
            say("turn", session, told)


def view(memory: SessionMemory, session: str) -> None:
    try:
        say("view", session, memory.graph(session).derived)
    except UnknownSession:
        say("view", session, 0)
    except StoreUnavailable:
        say("unseen", session)


def graph(memory: SessionMemory, session: str) -> str:
    """Return a digest of the session's graph as this process has it; "-" if the session does not exist."""
    try:
        found = memory.graph(session)
    except UnknownSession:
        return "-"
    return hashlib.sha256(json.dumps(found.to_dict()).encode()).hexdigest()


def main(url: str, name: str, threads: str, sessions: str) -> None:
    memory, ended = SessionMemory.open(url), threading.Event()
    work = [
        threading.Thread(target=record, args=(memory, f"{name}.{number}", int(sessions), ended), daemon=True)
        for number in range(int(threads))
    ]
    for each in work:
        each.start()
    for line in sys.stdin:
        if line.strip() == "end":
            break
        view(memory, line.split()[1])
    ended.set()
    for each in work:
        each.join()
    say("ended")
    sys.stdin.readline()
    for number in range(int(sessions)):
        say("graph", f"s{number}", graph(memory, f"s{number}"))
    memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
