"""The record of backups, kept in the store itself: it tells who erases a session where copies may remain.

Each backup is a session of a special tenant, with one message that describes it.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Final, Literal

from tokenmizer_mw.errors import Conflict
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import OWN_TENANTS, SessionKey
from tokenmizer_mw.store.log import EventLog

BACKUPS_TENANT: Final = f"{OWN_TENANTS}backups"

Form = Literal["sqlite", "lines"]
"""A SQLite database, or JSON Lines of all sessions."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A recorded backup: its absolute path, and the host where it was made."""

    path: str
    host: str
    form: Form
    made_at: float
    sessions: int

    @property
    def here(self) -> bool:
        """Whether it was made on this machine."""
        return self.host == socket.gethostname()

    @property
    def key(self) -> SessionKey:
        """The session that records it."""
        place = json.dumps([self.host, self.path]).encode()
        return SessionKey(BACKUPS_TENANT, hashlib.blake2b(place, digest_size=16).hexdigest())


def put_on_record(log: EventLog, backup: Backup) -> None:
    """Record a backup, replacing an earlier record of the same file."""
    event = MessageRecorded(1, "", Message(Role.SYSTEM, json.dumps(asdict(backup))))
    while True:
        if log.read(backup.key):
            log.forget(backup.key)
        try:
            log.append(backup.key, [event], expected_seq=0)
        except Conflict:
            continue
        return


def on_record(log: EventLog) -> list[Backup]:
    """Return the recorded backups, newest first."""
    found = []
    for info in log.sessions(BACKUPS_TENANT):
        for recorded in log.read(info.key):
            if isinstance(recorded.event, MessageRecorded):
                found.append(Backup(**json.loads(recorded.event.message.text)))
    return found


def strike_off(log: EventLog, backups: Collection[Backup]) -> None:
    """Remove the records of backups that no longer exist."""
    log.erase([backup.key for backup in backups])
