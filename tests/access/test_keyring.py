"""What a process knows of the keys, and for how long."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import anyio
import pytest

from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.access.keys import Key

from .conftest import Clock, kept

pytestmark = pytest.mark.anyio


class Faulty(MemoryKeys):
    """A store that counts how often it is asked, and answers only while it is up."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.up = True
        self.held: threading.Event | None = None

    def all_keys(self) -> Sequence[Key]:
        self.asked += 1
        if self.held is not None:
            assert self.held.wait(20)
        if not self.up:
            raise StoreUnavailable("down")
        return super().all_keys()


def ring(store: MemoryKeys, clock: Clock) -> Keyring:
    return Keyring(store, refresh_seconds=5, stale_seconds=30, now=clock, clock=clock)


async def test_no_query_per_request() -> None:
    store, clock = Faulty(), Clock()
    written = kept(store).encode()
    keys = ring(store, clock)
    await keys.refresh()
    for _ in range(100):
        assert keys.fresh
        assert (keys.find_known_caller(written) or keys.look_up(written)) is not None
        clock.now += 0.04
    assert store.asked == 1


async def test_a_revoked_key_opens_nothing_after_the_refresh() -> None:
    store, clock = Faulty(), Clock()
    written = kept(store).encode()
    keys = ring(store, clock)
    await keys.refresh()
    caller = keys.look_up(written)
    assert caller is not None and keys.find_known_caller(written) == caller
    store.revoke(caller.key_id, clock.now)
    clock.now += 4.9
    assert keys.fresh
    clock.now += 0.2
    assert not keys.fresh
    await keys.refresh()
    assert keys.find_known_caller(written) is None and keys.look_up(written) is None


async def test_a_new_key_is_known_after_the_refresh() -> None:
    store, clock = Faulty(), Clock()
    keys = ring(store, clock)
    await keys.refresh()
    written = kept(store, "zeta").encode()
    assert keys.look_up(written) is None
    clock.now += 5
    await keys.refresh()
    caller = keys.look_up(written)
    assert caller is not None and caller.tenant == "zeta"


async def test_a_key_ends_on_time() -> None:
    store, clock = Faulty(), Clock()
    written = kept(store, expires_at=clock.now + 2).encode()
    keys = ring(store, clock)
    await keys.refresh()
    assert keys.look_up(written) is not None and keys.find_known_caller(written) is not None
    clock.now += 2
    assert keys.look_up(written) is None and keys.find_known_caller(written) is None


async def test_what_was_read_last_counts_for_a_while() -> None:
    store, clock = Faulty(), Clock()
    written = kept(store).encode()
    keys = ring(store, clock)
    await keys.refresh()
    store.up = False
    for _ in range(5):
        clock.now += 5.5
        await keys.refresh()
        assert keys.look_up(written) is not None
    clock.now += 5.5
    with pytest.raises(StoreUnavailable):
        await keys.refresh()
    store.up = True
    clock.now += 1.5
    await keys.refresh()


async def test_without_a_first_answer_nobody_comes_in() -> None:
    store, clock = Faulty(), Clock()
    store.up = False
    keys = ring(store, clock)
    for _ in range(10):
        with pytest.raises(StoreUnavailable):
            await keys.refresh()
    assert not keys.fresh
    assert store.asked == 1, "a store that is down is left alone for a second"
    clock.now += 1.1
    store.up = True
    await keys.refresh()
    assert store.asked == 2


async def test_of_many_requests_one_reads() -> None:
    store, clock = Faulty(), Clock()
    store.held = threading.Event()
    keys = ring(store, clock)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(keys.refresh)
            while not store.asked:
                await anyio.sleep(0.001)
            store.held.set()
    assert store.asked == 1


async def test_a_store_that_takes_longer_than_the_refresh() -> None:
    store = Faulty()
    written = kept(store).encode()
    keys = Keyring(store, refresh_seconds=1e-6)
    with anyio.fail_after(20):
        for _ in range(5):
            await keys.refresh()
    assert keys.look_up(written) is not None


async def test_a_reader_that_leaves_is_replaced() -> None:
    store, clock = Faulty(), Clock()
    store.held = threading.Event()
    keys = ring(store, clock)
    done = anyio.Event()

    async def reads() -> None:
        await keys.refresh()
        done.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            leaving = anyio.CancelScope()

            async def leaves() -> None:
                with leaving:
                    await keys.refresh()

            group.start_soon(leaves)
            while not store.asked:
                await anyio.sleep(0.001)
            group.start_soon(reads)
            leaving.cancel()
            store.held.set()
            await done.wait()


def test_times_that_cannot_be() -> None:
    with pytest.raises(ConfigError):
        Keyring(MemoryKeys(), refresh_seconds=10, stale_seconds=5)
