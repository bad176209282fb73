"""Encode the state of a session as bytes and back, so that a long log need not be read from its start, and decide when
such a snapshot is stored.

The bytes are compressed JSON lines, preceded by a digest of the lines and of the session. Bytes without a matching
digest are rejected.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from tokenmizer_mw.errors import StoreCorrupt, StoreError
from tokenmizer_mw.graph.columns import ValueCodec, columns, forms, graph_of
from tokenmizer_mw.graph.fold import Life, SessionGraph
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.node import Edge, Node, Source, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import SessionState, Transcript
from tokenmizer_mw.session.resent import Spelling
from tokenmizer_mw.store.log import EventLog, Snapshot

RULES: Final = 1
"""Version of the fold's rules. Raise it when the same events lead to another state than before: older snapshots are
then ignored."""

_SHAPES: Final = (SessionState, Transcript, SessionGraph, Node, Source, Life, Edge, Transition, Message)
_SEAL_BYTES: Final = 16
_LEVEL: Final = 1
_GRAPH: Final = "graph"
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class UnreadableSnapshot(ValueError):
    """Raised by ``state_of`` for bytes that are no snapshot, are damaged, have more than ``most`` bytes after
    decompression, or belong to another session."""


class SnapshotTooLarge(ValueError):
    """Raised by ``write_snapshot`` when the encoded state of a session has more than ``most`` bytes before
    compression."""


@cache
def fold_version() -> int:
    """Return a number that identifies the rules by which events are applied to a state. It changes with ``RULES``, and
    when a field is added to, removed from or renamed in the classes of a state; older snapshots are then ignored."""
    shapes = [[kind.__name__, *(field.name for field in fields(kind))] for kind in _SHAPES]
    return zlib.crc32(json.dumps([RULES, shapes]).encode())


def write_snapshot(key: SessionKey, state: SessionState, *, most: int) -> bytes:
    """Encode ``state`` of the session ``key``. Raises ``SnapshotTooLarge`` for more than ``most`` bytes before
    compression."""
    packing = zlib.compressobj(_LEVEL)
    packed, size = [], 0
    for name, value in _parts(state):
        line = _line(name, value)
        size += len(line)
        if size > most:
            raise SnapshotTooLarge(f"the session takes more than {most} bytes")
        packed.append(packing.compress(line))
    body = b"".join([*packed, packing.flush()])
    return seal(key, body) + body


def state_of(key: SessionKey, payload: bytes, *, most: int) -> SessionState:
    """Decode the state of the session ``key`` that ``write_snapshot`` encoded. Raises ``UnreadableSnapshot``, also for
    more than ``most`` bytes after decompression."""
    body = payload[_SEAL_BYTES:]
    if payload[:_SEAL_BYTES] != seal(key, body):
        raise UnreadableSnapshot("it is damaged, or another session's")
    unpacking = zlib.decompressobj()
    try:
        lines = unpacking.decompress(body, most)
        if not unpacking.eof:
            raise ValueError("it goes on")
        return _state(dict(map(json.loads, lines.decode().split("\n")[:-1])))
    except (zlib.error, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UnreadableSnapshot(f"it cannot be read: {type(error).__name__}") from error


def seal(key: SessionKey, body: bytes) -> bytes:
    """Return the digest of a session's key and the ``body`` of its snapshot. It stands before the body and protects
    both."""
    whose = json.dumps([key.tenant, key.id]).encode()
    return hashlib.blake2b(whose + b"\n" + body, digest_size=_SEAL_BYTES).digest()


def _line(name: str, value: Any) -> bytes:
    # A lone surrogate in a text becomes a JSON escape, as in the log.
    return f"{_JSON.encode([name, value])}\n".encode("utf-8", "backslashreplace")


@cache
def _rest() -> dict[str, ValueCodec]:
    """Return how the fields of a state are encoded whose encoding follows from their types."""
    return forms(SessionState, but=(_GRAPH, "transcript"))


def _parts(state: SessionState) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a state. They are small, because no other thread runs while one of them is encoded as JSON."""
    yield from ((f"{_GRAPH}.{name}", column) for name, column in columns(state.graph).items())
    yield "digests", state.transcript.digests
    yield "parents", state.transcript.parents
    yield "spellings", [spelling.to_key() for spelling in state.transcript.spellings]
    yield from ((name, form.write(getattr(state, name))) for name, form in _rest().items())


def _state(columns: Mapping[str, Any]) -> SessionState:
    graph = {name.partition(".")[2]: part for name, part in columns.items() if name.startswith(f"{_GRAPH}.")}
    spellings = list(map(Spelling.from_key, columns["spellings"]))
    transcript = Transcript.of(columns["digests"], columns["parents"], spellings)
    state = SessionState(graph=graph_of(graph), transcript=transcript)
    for name, form in _rest().items():
        value = form.read(columns[name])
        setattr(state, name, deque(value, state.recent.maxlen) if isinstance(value, deque) else value)
    return state


SHARE: Final = 32
"""A new snapshot is stored only once a session has grown by one part in this many. The cost of all snapshots per event
then stays the same, however long the session gets."""


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """Stores snapshots of sessions: the state of a session as bytes, so that another process need not read its whole
    log. A new one is stored after at least ``every`` new events (0: never), and only once the session has grown by one
    part in ``SHARE``. It may take at most ``most`` bytes before compression.

    - ``later``: runs work in the background, given a name for it and the function.
    - ``count``: adds to a counter: "snapshot_kept", "snapshot_outdated" (the session was rewritten or erased
      meanwhile), "snapshot_too_large", "snapshot_failed", and "snapshot_unreadable" (a stored snapshot was ignored).
    """

    every: int
    most: int
    later: Callable[[Hashable, Callable[[], None]], object]
    count: Callable[[str], object]

    def due(self, end: int, last: int) -> bool:
        """Whether a snapshot should be stored for a session whose last event has the number ``end`` and whose last
        snapshot covers events up to number ``last``: at least ``every`` events are new, and these are at least one part
        in ``SHARE`` of all."""
        return 0 < self.every <= end - last and SHARE * (end - last) >= end

    def state(self, log: EventLog, key: SessionKey) -> SessionState | None:
        """Read the session's snapshot from ``log`` and return the state in it. ``None`` if there is no snapshot, if it
        was made by another version of the fold, if ``every`` is 0, or if it cannot be read, which is counted."""
        if not self.every:
            return None
        try:
            found = log.snapshot(key)
            if found is None or found.fold_version != fold_version():
                return None
            with span("snapshot", bytes=len(found.payload)):
                return state_of(key, found.payload, most=self.most)
        except (StoreCorrupt, UnreadableSnapshot):
            self.count("snapshot_unreadable")
            return None

    def keep(self, log: EventLog, key: SessionKey, state: SessionState) -> None:
        """Store a snapshot of ``state``, unless the session was rewritten or erased meanwhile. Failures are counted,
        not raised."""
        try:
            payload = write_snapshot(key, state, most=self.most)
            done = log.keep_snapshot(key, Snapshot(state.seq, state.recorded_at, fold_version(), payload))
        except SnapshotTooLarge:
            self.count("snapshot_too_large")
        except StoreError:
            self.count("snapshot_failed")
        else:
            self.count("snapshot_kept" if done else "snapshot_outdated")
