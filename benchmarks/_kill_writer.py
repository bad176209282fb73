"""Append turns to a SQLite log until this process is killed, and report each turn once its append has returned.

    python _kill_writer.py PATH [SYNCHRONOUS [THREADS]]

Each of THREADS threads (4 by default) writes a session of its own, "session-0" and so on, of tenant "local".
SYNCHRONOUS is SQLite's setting, "normal" by default. After each append of two messages and their closed turn, the line
"SESSION SEQ" is printed. All that was printed must be found in the log, whenever the process was killed.
"""

from __future__ import annotations

import os
import sys
import threading

from tokenmizer_mw.model.event import Event, MessageRecorded, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome, Role, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.sqlite import SqliteLog

EVENTS_PER_TURN = 3


def turn(number: int) -> list[Event]:
    asked = Message(Role.USER, f"question {number} " * 20)
    answered = Message(Role.ASSISTANT, f"answer {number} " * 60)
    return [
        MessageRecorded(2 * number - 1, digest(asked), asked),
        MessageRecorded(2 * number, digest(answered), answered),
        TurnClosed(2 * number, Outcome.COMPLETE, "stop", {"total_tokens": 200}),
    ]


def write(log: SqliteLog, session: SessionKey) -> None:
    end = log.read(session)[-1].seq if log.read(session) else 0
    while True:
        end = log.append(session, turn(end // EVENTS_PER_TURN + 1), expected_seq=end)[-1].seq
        os.write(1, f"{session.id} {end}\n".encode())


def main(path: str, synchronous: str = "normal", threads: str = "4") -> None:
    log = SqliteLog(path, synchronous=synchronous)  # type: ignore[arg-type]
    for number in range(int(threads)):
        session = SessionKey(LOCAL_TENANT, f"session-{number}")
        threading.Thread(target=write, args=(log, session)).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
