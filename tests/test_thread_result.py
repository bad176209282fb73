"""A result that another thread computes for a task."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tokenmizer_mw.runtime.offload import ThreadResult


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def in_a_thread(work: Callable[[], object], after: float = 0.0) -> threading.Timer:
    timer = threading.Timer(after, work)
    timer.start()
    return timer


async def wait_for(result: ThreadResult[str]) -> str:
    return await result


@pytest.mark.anyio
async def test_task_waits_for_the_other_thread() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())
    in_a_thread(lambda: result.resolve("done"), 0.02)
    assert await result == "done"


@pytest.mark.anyio
async def test_result_that_is_there_already_needs_no_wait() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())
    result.resolve("done")
    assert await result == "done"


@pytest.mark.anyio
async def test_error_is_raised_in_the_task() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())
    error = KeyError("x")
    in_a_thread(lambda: result.resolve("", error), 0.02)
    with pytest.raises(KeyError) as raised:
        await result
    assert raised.value is error


@pytest.mark.anyio
async def test_none_is_a_result() -> None:
    result: ThreadResult[None] = ThreadResult(asyncio.get_running_loop())
    in_a_thread(lambda: result.resolve(None), 0.01)
    assert await result is None


@pytest.mark.anyio
async def test_results_that_come_while_the_task_begins_to_wait_are_not_lost() -> None:
    loop = asyncio.get_running_loop()
    results: list[ThreadResult[int]] = [ThreadResult(loop) for _ in range(2_000)]

    def resolve_all() -> None:
        for number, result in enumerate(results):
            result.resolve(number)

    in_a_thread(resolve_all)
    async with asyncio.timeout(20):
        assert [await result for result in results] == list(range(2_000))


@pytest.mark.anyio
async def test_cancelled_task_returns_at_once_and_a_later_result_is_ignored() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())

    task = asyncio.create_task(wait_for(result))
    await asyncio.sleep(0)
    task.cancel("enough")
    with pytest.raises(asyncio.CancelledError):
        await task
    result.resolve("late")
    await asyncio.sleep(0.01)
    assert task.cancelled()


@pytest.mark.anyio
@pytest.mark.parametrize("first", ["cancel", "resolve"])
async def test_task_that_is_cancelled_when_the_result_comes_is_cancelled(first: str) -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())

    task = asyncio.create_task(wait_for(result))
    await asyncio.sleep(0)
    steps: list[Callable[[], object]] = [task.cancel, lambda: result.resolve("done")]
    for step in steps if first == "cancel" else steps[::-1]:
        step()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.anyio
async def test_task_that_is_cancelled_before_it_begins_to_wait() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())

    async def wait() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return await result

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(wait())


@pytest.mark.anyio
async def test_timeout_ends_the_wait() -> None:
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await result


def test_result_after_the_end_of_the_loop_is_ignored() -> None:
    loop = asyncio.new_event_loop()
    result: ThreadResult[str] = ThreadResult(loop)

    async def wait() -> str:
        return await result

    task = loop.create_task(wait())
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    result.resolve("late")


@pytest.mark.anyio
async def test_cancellation_that_is_withdrawn_gives_no_result_that_nobody_computed() -> None:
    """``Task.uncancel`` makes a task of Python 3.13 forget that it has to cancel itself."""
    result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())

    task = asyncio.create_task(wait_for(result))
    await asyncio.sleep(0.01)
    task.cancel("enough")
    task.uncancel()
    result.resolve("too late")
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task


def test_tasks_in_debug_mode_and_tasks_in_python_wait_as_well() -> None:
    async def wait() -> str:
        result: ThreadResult[str] = ThreadResult(asyncio.get_running_loop())
        in_a_thread(lambda: result.resolve("done"), 0.01)
        return await result

    def make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **named: Any) -> Any:
        return asyncio.tasks._PyTask(coroutine, loop=loop, **named)  # type: ignore[attr-defined]

    loop = asyncio.new_event_loop()
    loop.set_debug(True)
    try:
        assert loop.run_until_complete(wait()) == "done"
        loop.set_task_factory(make_task)
        assert loop.run_until_complete(wait()) == "done"
    finally:
        loop.close()
