"""Deadlines of request bodies, on asyncio and on trio."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import anyio
import pytest

from tokenmizer_mw.server.access.requests import within

pytestmark = pytest.mark.anyio

LONG, SHORT = 20.0, 0.01


async def test_what_need_not_be_waited_for() -> None:
    async def at_once() -> int:
        return 5

    assert await within(LONG, at_once()) == 5
    assert await within(0.0, at_once()) == 5


async def test_what_must_be_waited_for() -> None:
    event = anyio.Event()

    async def waits() -> str:
        await event.wait()
        await anyio.sleep(0)
        return "done"

    async def sets() -> None:
        await anyio.sleep(0)
        event.set()

    async with anyio.create_task_group() as group:
        group.start_soon(sets)
        assert await within(LONG, waits()) == "done"


async def test_what_does_not_come_is_cancelled() -> None:
    cleaned: list[bool] = []

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cleaned.append(True)

    assert await within(SHORT, waits()) is None
    assert cleaned == [True]
    await anyio.sleep(0)  # nothing of the deadline is left


@pytest.mark.parametrize("inner", [SHORT, LONG])
@pytest.mark.parametrize("outer", [SHORT, LONG])
async def test_deadlines_inside(inner: float, outer: float) -> None:
    """A server's ``receive`` may have deadlines of its own, entered before it first waits."""

    async def waits() -> str:
        with anyio.move_on_after(inner):
            with anyio.move_on_after(LONG):
                await (anyio.sleep_forever() if min(inner, outer) == SHORT else anyio.sleep(0))
            return "came"
        return "not in its own time"

    found = await within(outer, waits())
    if inner == outer == SHORT:
        assert found in (None, "not in its own time")
    else:
        assert found == {SHORT: "not in its own time", LONG: None if outer == SHORT else "came"}[inner]
    with anyio.fail_after(LONG):
        await anyio.sleep(0)


async def test_a_deadline_around_it() -> None:
    with anyio.move_on_after(SHORT) as scope:
        await within(LONG, anyio.sleep_forever())
    assert scope.cancelled_caught


@pytest.mark.parametrize("late", [False, True])
async def test_errors_come_through(late: bool) -> None:
    async def fails() -> None:
        if late:
            await anyio.sleep(0)
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await within(LONG, fails())


async def test_things_that_are_no_coroutines() -> None:
    class Waits:
        def __await__(self) -> Generator[Any, Any, int]:
            yield from anyio.sleep(0).__await__()
            return 5

    assert await within(LONG, Waits()) == 5


def test_a_task_that_is_cancelled_stays_cancelled() -> None:
    async def waits() -> None:
        await within(LONG, asyncio.sleep(LONG))

    async def main() -> None:
        task = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
