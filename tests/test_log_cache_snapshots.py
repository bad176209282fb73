"""Sessions opened from a snapshot are what their logs say, whatever becomes of the snapshot."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.folding import logs
from tests.sampling import examples
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import StoreCorrupt, StoreUnavailable
from tokenmizer_mw.model.event import Derived, Event, MessageRecorded, NodeAdded, ReadDetail, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node, NodeType, Source, Status
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.session import SessionState, fold
from tokenmizer_mw.session.log_cache import CachedSessions
from tokenmizer_mw.session.snapshot import SHARE, SnapshotPolicy, fold_version, write_snapshot
from tokenmizer_mw.store.log import EventLog, Snapshot
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("t", "s")


class Watched(MemoryLog):
    """A store that notes from where it is read."""

    def __init__(self) -> None:
        super().__init__(itertools.count(100.0).__next__)
        self.reads: list[int] = []

    def read(
        self, session: SessionKey, *, after: int = 0, upto: int | None = None, detail: ReadDetail = "all"
    ) -> list[Recorded]:
        self.reads.append(after)
        return super().read(session, after=after, upto=upto, detail=detail)


class Keeper:
    """Folded sessions with snapshots, and the work that waits for the background."""

    def __init__(self, log: EventLog, *, every: int = 4, most: int = 10**6, **limits: int) -> None:
        self.counts: Counter[str] = Counter()
        self.waiting: dict[Hashable, Callable[[], None]] = {}
        snapshots = SnapshotPolicy(every, most, self.waiting.__setitem__, lambda name: self.counts.update([name]))
        self.sessions = CachedSessions(log, **{"capacity": 4, **limits}, snapshots=snapshots)

    def work(self) -> None:
        for name in list(self.waiting):
            self.waiting.pop(name)()

    def add(self, count: int = 1) -> None:
        for _ in range(count):
            self.sessions.update(KEY, lambda state: [Derived(state.derived + 1)])

    def told(self) -> str:
        return self.sessions.read(KEY, repr)


@pytest.fixture
def log() -> Watched:
    return Watched()


def kept(log: EventLog, events: int = 5) -> Keeper:
    """A keeper that has kept a snapshot of a session of so many events, at the fourth."""
    keeper = Keeper(log)
    keeper.add(4)
    keeper.work()
    keeper.add(events - 4)
    assert keeper.counts == {"snapshot_kept": 1}
    return keeper


def test_folding_starts_at_the_snapshot(log: Watched) -> None:
    here = kept(log)
    log.reads.clear()
    there = Keeper(log)
    assert there.told() == here.told() == repr(fold(MemoryLog.read(log, KEY)))
    assert log.reads[0] == 3, "the last event that the snapshot has is read again"
    assert there.counts == {}


def retold(old: Recorded) -> Event:
    """Other words in some places, as when secrets are taken out."""
    if isinstance(old.event, MessageRecorded) and old.seq % 2:
        return replace(old.event, message=Message(old.event.message.role, "-"))
    return Derived(1) if isinstance(old.event, Derived) else old.event


@examples(60)
@given(logs(), st.data())
def test_a_session_opened_anywhere_is_what_its_log_says(recorded: list[Recorded], data: st.DataObject) -> None:
    log = MemoryLog(itertools.count(100.0).__next__)
    every = data.draw(st.integers(1, 9), label="every")
    keepers = [Keeper(log, every=every, capacity=1) for _ in range(2)]
    other = SessionKey("t", "other")
    for one in recorded:
        keeper = data.draw(st.sampled_from(keepers), label="who")
        what = data.draw(st.sampled_from(["add", "add", "add", "work", "rewrite", "evict"]), label="what")
        if what == "work":
            keeper.work()
        elif what == "rewrite":
            log.rewrite(KEY, retold)
        elif what == "evict":
            keeper.sessions.read(other, repr)
        keeper.sessions.update(KEY, lambda state, event=one.event: [event])
    whole = repr(fold(log.read(KEY)))
    assert [keeper.told() for keeper in [*keepers, Keeper(log)]] == [whole] * 3


def gone(log: Watched) -> None:
    log.forget(KEY)


def anew(log: Watched) -> None:
    log.forget(KEY)
    log.append(KEY, [Derived(40)] * 9, expected_seq=0)


def rewritten(log: Watched) -> None:
    log.rewrite(KEY, lambda old: Derived(70) if old.seq == 2 else old.event)


@pytest.mark.parametrize("change", [gone, anew, rewritten])
def test_what_is_kept_late_of_what_is_gone_is_not_kept(change: Callable[[Watched], None], log: Watched) -> None:
    keeper = Keeper(log)
    keeper.add(4)
    change(log)
    keeper.work()
    assert log.snapshot(KEY) is None
    assert keeper.counts == {"snapshot_outdated": 1}
    assert keeper.told() == Keeper(log).told() == repr(fold(MemoryLog.read(log, KEY)))


class Stale(Watched):
    """A store that keeps snapshots of what is gone."""

    def snapshot(self, session: SessionKey) -> Snapshot | None:
        return self.old

    old: Snapshot | None = None


@pytest.mark.parametrize("change", [gone, anew, rewritten])
def test_a_snapshot_of_what_is_gone_is_noticed(change: Callable[[Watched], None]) -> None:
    log = Stale()
    log.old = None
    keeper = Keeper(log)
    keeper.add(4)
    keeper.work()
    log.old = MemoryLog.snapshot(log, KEY)
    change(log)
    assert Keeper(log).told() == repr(fold(MemoryLog.read(log, KEY)))


def damaged(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, payload=snapshot.payload[:-1] + bytes([snapshot.payload[-1] ^ 1]))


def of_another_fold(snapshot: Snapshot) -> Snapshot:
    wrong = SessionState()
    wrong.apply(Recorded(snapshot.seq, snapshot.recorded_at, Derived(99)))
    return replace(snapshot, fold_version=snapshot.fold_version ^ 1, payload=write_snapshot(KEY, wrong, most=10**6))


def of_another_session(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, payload=write_snapshot(SessionKey("t", "other"), SessionState(), most=10**6))


@pytest.mark.parametrize(("harm", "counted"), [(damaged, 1), (of_another_session, 1), (of_another_fold, 0)])
def test_a_snapshot_that_cannot_be_used_is_counted_and_another_one_kept(
    harm: Callable[[Snapshot], Snapshot], counted: int, log: Watched
) -> None:
    kept(log)
    good = log.snapshot(KEY)
    assert good is not None
    log._sessions[KEY].snapshot = harm(good)  # type: ignore[index]
    keeper = Keeper(log)
    assert keeper.told() == repr(fold(MemoryLog.read(log, KEY)))
    assert keeper.counts["snapshot_unreadable"] == counted
    keeper.work()
    assert keeper.counts["snapshot_kept"] == 1
    log.reads.clear()
    assert Keeper(log).told() == keeper.told()
    assert log.reads[0] > 0


class Sick(MemoryLog):
    """A store whose snapshots can be neither read nor kept."""

    def snapshot(self, session: SessionKey) -> Snapshot:
        raise StoreCorrupt("damaged")

    def keep_snapshot(self, session: SessionKey, snapshot: Snapshot) -> bool:
        raise StoreUnavailable("full")


def test_a_store_that_cannot_read_or_keep_snapshots_is_a_store() -> None:
    log = Sick()
    keeper = Keeper(log)
    keeper.add(4)
    keeper.work()
    assert keeper.told() == repr(fold(MemoryLog.read(log, KEY)))
    assert keeper.counts == {"snapshot_unreadable": 1, "snapshot_failed": 1}


def test_a_session_that_takes_too_much_has_none(log: Watched) -> None:
    keeper = Keeper(log, most=100)
    keeper.add(9)
    keeper.work()
    assert keeper.counts == {"snapshot_too_large": 1}
    assert log.snapshot(KEY) is None


def test_none_are_kept_where_the_settings_say_so(log: Watched) -> None:
    kept(log)
    keeper = Keeper(log, every=0)
    log.reads.clear()
    keeper.add(20)
    assert (keeper.waiting, log.reads[0]) == ({}, 0)


def test_a_long_session_has_few() -> None:
    snapshots = SnapshotPolicy(10, 1, lambda *_: None, lambda _: None)
    made, last = 0, 0
    for end in range(100_000):
        if snapshots.due(end, last):
            assert end - last >= max(10, last // SHARE)
            made, last = made + 1, end
    assert made < SHARE + 14 * SHARE, "logarithmic in the length"
    assert not snapshots.due(100_000, 100_000 - 100_000 // SHARE + 1)


def test_no_more_events_are_at_hand_than_may_be(log: Watched) -> None:
    keeper = Keeper(log, every=0, capacity=100, events_max=25)
    keys = [SessionKey("t", str(number)) for number in range(10)]
    for key in keys:
        keeper.sessions.update(key, lambda _: [Derived(turn) for turn in range(10)])
    log.reads.clear()
    for key in reversed(keys):
        keeper.sessions.read(key, lambda state: state.seq)
    assert [after > 0 for after in log.reads] == [True, True] + [False] * 8, "the two used last were at hand"
    keeper.sessions.update(keys[0], lambda _: [Derived(turn) for turn in range(100)])
    log.reads.clear()
    keeper.sessions.read(keys[0], lambda state: state.seq)
    assert log.reads == [109], "the one in use is at hand, however long"
    keeper.sessions.read(keys[1], lambda state: state.seq)
    keeper.sessions.read(keys[0], lambda state: state.seq)
    assert log.reads == [109, 0, 0]


def test_sessions_that_are_dropped_or_start_anew_count_no_longer(log: Watched) -> None:
    keeper = Keeper(log, every=0, capacity=100, events_max=25)
    keys = [SessionKey("t", str(number)) for number in range(2)]
    for _ in range(5):
        for key in keys:
            keeper.sessions.update(key, lambda _: [Derived(turn) for turn in range(10)])
        log.forget(keys[0])
        keeper.sessions.read(keys[0], lambda state: state.seq)
        log.forget(keys[1])
        keeper.sessions.drop(keys[1])
    keeper.sessions.update(keys[1], lambda _: [Derived(turn) for turn in range(20)])
    keeper.sessions.update(keys[0], lambda _: [Derived(turn) for turn in range(5)])
    log.reads.clear()
    keeper.sessions.read(keys[1], lambda state: state.seq)
    assert log.reads == [19]


# The same through the public face.


def chat(turns: int) -> Iterator[dict[str, str]]:
    for number in range(turns):
        yield {"role": "user", "content": f"Use tool-{number} for part {number} because it is simple."}
        yield {"role": "assistant", "content": f"Noted: tool-{number} for part {number}."}


SMALL = Settings(snapshot_every=10)


def filled(memory: SessionMemory, turns: int = 12) -> None:
    said = list(chat(turns))
    for end in range(2, len(said) + 1, 2):
        memory.record("s", said[:end])
        assert memory.flush()


def test_another_process_opens_a_session_from_its_snapshot(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with closing(SessionMemory.open(url, SMALL)) as memory:
        filled(memory)
        assert memory.counters()["snapshot_kept"] >= 1
    key = SessionKey(LOCAL_TENANT, "s")
    with closing(SqliteLog(tmp_path / "log.db")) as log:
        whole, snapshot = fold(log.read(key)), log.snapshot(key)
        assert snapshot is not None and snapshot.fold_version == fold_version()
    with closing(SessionMemory.open(url, SMALL)) as memory:
        assert memory.graph("s").to_dict() == whole.graph.to_dict()
        memory.record("s", [{"role": "user", "content": "Use tool-99 for part 3 instead."}])
        assert memory.graph("s").to_dict() == fold(memory.log.read(key)).graph.to_dict()


def test_what_was_believed_at_any_time_is_told_from_the_log() -> None:
    with closing(SessionMemory(MemoryLog(itertools.count(1_600_000_000.0).__next__), SMALL)) as memory:
        filled(memory)
        key = SessionKey(LOCAL_TENANT, "s")
        recorded = memory.log.read(key)
        assert memory.log.snapshot(key) is not None
        for at in sorted({one.recorded_at + shift for one in recorded for shift in (-0.5, 0.0)}):
            then = fold([one for one in recorded if one.recorded_at <= at])
            if not then.unextracted:
                assert memory.graph("s", recorded_at=at).to_dict() == then.graph.to_dict()


@pytest.mark.parametrize("how", ["forget", "redact"])
def test_nothing_stays_in_a_snapshot_of_what_is_taken_out(how: str, tmp_path: Path) -> None:
    secret = "AKIA" + "".join(random.Random(5).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))
    key = SessionKey(LOCAL_TENANT, "s")
    said = Message(Role.USER, f"Use the key {secret} for storage.")
    node = Node("decision-1", NodeType.DECISION, f"the key {secret}", Status.ACTIVE, Source(1, "user", said.text))
    events: list[Event] = [MessageRecorded(1, "", said), NodeAdded(node), *(Derived(1) for _ in range(20))]
    with closing(SqliteLog(tmp_path / "log.db")) as log:
        log.append(key, events, expected_seq=0)
        state = fold(log.read(key))
        payload = f"{secret}".encode() + write_snapshot(key, state, most=10**6)
        assert log.keep_snapshot(key, Snapshot(state.seq, state.recorded_at, 1, payload))
    assert secret.encode() in (tmp_path / "log.db").read_bytes()
    with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'log.db'}", SMALL)) as memory:
        assert secret in repr(memory.graph("s").nodes()), "it is there to be taken out"
        assert memory.flush()
        assert memory.redact_stored("s") if how == "redact" else memory.forget("s")
        if how == "redact":
            assert secret not in repr(memory.graph("s").nodes())
            assert memory.flush()
            assert memory.log.snapshot(key) is not None, "there is a new one"
        content = b"\n".join(file.read_bytes() for file in tmp_path.iterdir())
        assert secret.encode() not in content
        with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'log.db'}", SMALL)) as other:
            assert secret not in repr(other.messages("s"))
            if how == "redact":
                assert secret not in repr(other.graph("s").nodes())
