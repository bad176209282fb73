"""Counters, in this process and in a real Redis: the same rules."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
import redis as redis_client

from tests import services
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.counting import Counters, Demand, Limit, ProcessCounters, Taken, TooMuch, bucket
from tokenmizer_mw.server.access.limiting import RateLimits, open_limits
from tokenmizer_mw.server.access.redis_counting import REST_SECONDS, RedisCounters
from tokenmizer_mw.server.access.settings import AccessSettings, RateSettings

from .conftest import Clock
from .own_redis import OwnRedis

pytestmark = pytest.mark.anyio

SECONDS = 20.0


@pytest.fixture
def anyio_backend() -> str:
    """Redis's client speaks asyncio."""
    return "asyncio"


@pytest.fixture
def prefix() -> Iterator[str]:
    """The beginning of the test's own keys in Redis."""
    name = f"test-{secrets.token_hex(6)}"
    yield name
    with contextlib.suppress(redis_client.ConnectionError), redis_client.Redis.from_url(_address()) as client:
        for key in client.scan_iter(f"{name}:*"):
            client.delete(key)


def _address() -> str:
    return services.redis()


@pytest.fixture(params=["process", "redis"])
async def counters(request: pytest.FixtureRequest) -> AsyncIterator[Counters]:
    if request.param == "process":
        yield ProcessCounters()
        return
    address, prefix = _address(), request.getfixturevalue("prefix")
    shared = RedisCounters(address, ProcessCounters(), prefix=prefix, seconds=5, down="closed")
    yield shared
    await shared.close()


def requests(owner: str = "tenant", amount: int = 3, period: float = 60.0) -> Demand:
    return Demand(((bucket("acme", owner, Limit("requests", amount, period)), 1),))


async def test_so_many_and_no_more(counters: Counters) -> None:
    answers = [await counters.take(requests()) for _ in range(5)]
    assert [isinstance(answer, Taken) for answer in answers] == [True] * 3 + [False] * 2
    refused = answers[-1]
    assert isinstance(refused, TooMuch) and refused.standing is not None
    assert refused.standing.remaining == 0 and 0 < refused.standing.wait <= 20
    assert 40 < refused.standing.reset <= 60
    assert isinstance(await counters.take(requests("key:k1")), Taken)


async def test_it_drains(counters: Counters) -> None:
    quick = requests(amount=1, period=0.2)
    assert isinstance(await counters.take(quick), Taken)
    with anyio.fail_after(SECONDS):
        while isinstance(await counters.take(quick), TooMuch):
            await anyio.sleep(0.02)


async def test_all_or_nothing(counters: Counters) -> None:
    wide, narrow = requests("tenant", 100, 36_000).buckets, requests("key:k1", 1, 36_000).buckets
    both = Demand((*wide, *narrow))
    assert isinstance(await counters.take(both), Taken)
    for _ in range(20):
        assert isinstance(await counters.take(both), TooMuch)
    answers = [await counters.take(Demand(wide)) for _ in range(100)]
    assert sum(isinstance(answer, Taken) for answer in answers) == 99, "what is refused takes nothing"


async def test_tokens_are_charged_afterwards(counters: Counters) -> None:
    tokens = bucket("acme", "tenant", Limit("tokens", 1_000, 1.0))
    asking = Demand(((tokens, 0),))
    taken = await counters.take(asking)
    assert isinstance(taken, Taken)
    await counters.settle(taken, [(tokens, 4_000)])
    refused = await counters.take(asking)
    assert isinstance(refused, TooMuch) and refused.standing is not None and refused.standing.remaining == 0
    with anyio.fail_after(SECONDS):
        while isinstance(await counters.take(asking), TooMuch):
            await anyio.sleep(0.05)


async def test_places_of_streams(counters: Counters) -> None:
    two = Demand((), (("acme", 2),))
    first, second, third = [await counters.take(two) for _ in range(3)]
    assert isinstance(first, Taken) and isinstance(second, Taken)
    assert third == TooMuch(None)
    assert isinstance(await counters.take(Demand((), (("zeta", 2),))), Taken)
    await counters.settle(first, [])
    assert isinstance(await counters.take(two), Taken)
    assert await counters.take(two) == TooMuch(None)


async def test_streams_of_a_key_and_of_its_tenant(counters: Counters) -> None:
    settings = AccessSettings(per_tenant=RateSettings(streams=2), per_key=RateSettings(streams=1))
    limits = RateLimits(settings, counters)
    plans = [limits.plan(Caller("acme", key, frozenset({"chat"}))) for key in ("k1", "k2", "k3")]
    k1, k2, k3 = [plan.chat for plan in plans if plan.chat is not None]
    first = await counters.take(k1)
    assert isinstance(first, Taken)
    assert await counters.take(k1) == TooMuch(None), "of the key"
    assert isinstance(await counters.take(k2), Taken), "what was refused took no slot of the tenant"
    assert await counters.take(k3) == TooMuch(None), "of the tenant"
    await limits.settle(plans[0], first, 0)
    assert isinstance(await counters.take(k1), Taken)


async def test_a_refused_request_keeps_no_place(counters: Counters) -> None:
    assert isinstance(await counters.take(requests(amount=1)), Taken)
    both = Demand(requests(amount=1).buckets, (("acme", 1),))
    for _ in range(3):
        assert isinstance(await counters.take(both), TooMuch)
    assert isinstance(await counters.take(Demand((), (("acme", 1),))), Taken)


# In this process.


async def test_memory_is_bounded() -> None:
    clock = Clock()
    counters = ProcessCounters(100, clock=clock)
    for number in range(1_000):
        await counters.take(requests(f"key:{number}"))
        clock.now += 1
    assert len(counters._drained) <= 100


# In Redis.


async def test_processes_share_what_is_counted(prefix: str) -> None:
    address = _address()
    doors = [RedisCounters(address, ProcessCounters(), prefix=prefix, seconds=5, down="closed") for _ in range(3)]
    answers = [await doors[at % 3].take(requests(amount=4)) for at in range(9)]
    assert sum(isinstance(answer, Taken) for answer in answers) == 4
    for door in doors:
        await door.close()


async def test_many_at_once_get_no_more_than_there_is(prefix: str) -> None:
    shared = RedisCounters(_address(), ProcessCounters(), prefix=prefix, seconds=SECONDS, down="closed")
    let_in: list[bool] = []

    async def ask() -> None:
        let_in.append(isinstance(await shared.take(requests(amount=10, period=600)), Taken))

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(ask)
    assert sum(let_in) == 10
    await shared.close()


async def test_leases_of_a_killed_process_end(prefix: str) -> None:
    shared = RedisCounters(_address(), ProcessCounters(), prefix=prefix, seconds=5, stream_seconds=2, down="closed")
    one = Demand((), (("acme", 1),))
    assert isinstance(await shared.take(one), Taken)
    assert await shared.take(one) == TooMuch(None)
    with anyio.fail_after(SECONDS):
        while isinstance(await shared.take(one), TooMuch):
            await anyio.sleep(0.05)
    await shared.close()


async def test_nothing_stays_in_redis_for_ever(prefix: str) -> None:
    shared = RedisCounters(_address(), ProcessCounters(), prefix=prefix, seconds=5, down="closed")
    tokens = bucket("acme", "tenant", Limit("tokens", 1_000))
    taken = await shared.take(Demand((*requests().buckets, (tokens, 0)), (("acme", 5),)))
    assert isinstance(taken, Taken)
    await shared.settle(taken, [(tokens, 50)])
    await shared.take(Demand((), (("acme", 5),)))
    await shared.close()
    with redis_client.Redis.from_url(_address()) as client:
        keys = list(client.scan_iter(f"{prefix}:*"))
        assert len(keys) == 3 and all(client.ttl(key) > 0 for key in keys)


async def test_while_redis_is_down_each_process_counts_for_itself(own_redis: OwnRedis) -> None:
    clock = Clock()
    counters = RedisCounters(own_redis.address, ProcessCounters(), seconds=5, down="open", clock=clock)
    assert isinstance(await counters.take(requests(amount=2)), Taken)
    own_redis.stop()
    answers = [await counters.take(requests(amount=2)) for _ in range(4)]
    assert [isinstance(answer, Taken) for answer in answers] == [True, True, False, False]
    place = await counters.take(Demand((), (("acme", 1),)))
    assert isinstance(place, Taken) and await counters.take(Demand((), (("acme", 1),))) == TooMuch(None)
    own_redis.start()
    clock.now += REST_SECONDS
    assert isinstance(await counters.take(requests(amount=1)), Taken), "counted in the new, empty Redis again"
    assert isinstance(await counters.take(requests(amount=1)), TooMuch)
    await counters.settle(place, [])
    await counters.close()


async def test_while_redis_is_down_nobody_comes_in(own_redis: OwnRedis) -> None:
    clock = Clock()
    counters = RedisCounters(own_redis.address, ProcessCounters(), seconds=5, down="closed", clock=clock)
    taken = await counters.take(Demand(requests().buckets, (("acme", 5),)))
    assert isinstance(taken, Taken)
    own_redis.stop()
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await counters.take(requests())
    await counters.settle(taken, [])  # is not held up, and raises nothing
    own_redis.start()
    clock.now += REST_SECONDS
    assert isinstance(await counters.take(requests()), Taken)
    await counters.close()


async def test_a_redis_that_does_not_answer_is_not_waited_for() -> None:
    """Somebody listens and says nothing; after the first attempt nobody tries for a while."""
    clock = Clock()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        counters = RedisCounters(address, ProcessCounters(), seconds=0.1, down="open", clock=clock)
        with anyio.fail_after(SECONDS):
            for _ in range(50):
                await counters.take(requests(amount=100))
        await counters.close()


def test_addresses_that_are_none() -> None:
    with pytest.raises(ConfigError) as refused:
        open_limits(AccessSettings(redis="mysql://user:hidden@host"))
    assert "hidden" not in str(refused.value)
