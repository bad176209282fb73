"""Waiting for somebody else's answer: threads, and tasks of both kinds of event loops."""

from __future__ import annotations

import threading

import anyio
import pytest

from tokenmizer_mw.saving.cache.answer import CachedAnswer
from tokenmizer_mw.saving.cache.flights import Flights

ANSWER = CachedAnswer(b"text/plain", b"said", (4,))
SECONDS = 20.0


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_tasks_wait_for_a_thread() -> None:
    flights = Flights()
    flight, own = flights.join(b"key")
    told: list[CachedAnswer | None] = []

    async def wait() -> None:
        joined, mine = flights.join(b"key")
        assert joined is flight and not mine
        told.append(await joined.await_(SECONDS))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(wait)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            await anyio.to_thread.run_sync(flight.land, ANSWER)
    assert own and told == [ANSWER] * 5
    assert await flight.await_(0) is ANSWER, "who comes late does not wait"


@pytest.mark.anyio
async def test_tasks_wait_for_their_own_loop_and_not_for_ever() -> None:
    flights = Flights()
    flight, _ = flights.join(b"key")
    assert await flight.await_(0.01) is None
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(flight.await_, SECONDS)
            await anyio.lowlevel.checkpoint()
            flights.end(b"key", flight)
    assert flights.join(b"key")[1], "the next one flies by itself"


def test_a_loop_that_has_ended_needs_no_waking(anyio_backend: str) -> None:
    flight, _ = Flights().join(b"key")
    assert anyio.run(flight.await_, 0, backend=anyio_backend) is None
    flight.land(ANSWER)
    assert flight.wait(0) is ANSWER


def test_threads_wait() -> None:
    flights = Flights()
    flight, _ = flights.join(b"key")
    told: list[CachedAnswer | None] = []
    threads = [threading.Thread(target=lambda: told.append(flight.wait(SECONDS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    flight.land(ANSWER)
    flight.land(None)
    flights.end(b"key", flight)
    for thread in threads:
        thread.join(SECONDS)
    assert told == [ANSWER] * 4
    assert flights.join(b"other")[0].wait(0.01) is None


def test_ending_a_flight_leaves_the_next_one_alone() -> None:
    flights = Flights()
    first, _ = flights.join(b"key")
    flights.end(b"key", first)
    second, own = flights.join(b"key")
    flights.end(b"key", first)
    assert own and flights.join(b"key") == (second, False)
