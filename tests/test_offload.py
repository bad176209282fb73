"""Work beside the event loop: results, errors, context, cancellation, full pools, and a process that forks.

What a caller sees is tried on asyncio, uvloop and trio.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextvars import Context, ContextVar
from itertools import count
from typing import Any

import anyio
import pytest

from tokenmizer_mw.runtime.offload import CPU, STORE, STORE_THREADS, WorkerPool, offload

MARK: ContextVar[str] = ContextVar("mark", default="unset")
LOOPS: dict[str, dict[str, Any]] = {
    "asyncio": {"backend": "asyncio"},
    "uvloop": {"backend": "asyncio", "backend_options": {"use_uvloop": True}},
    "trio": {"backend": "trio"},
}

NUMBERS = count(1)

Run = Callable[[Callable[[], Awaitable[Any]]], Any]

FORKING = """
import asyncio, os, sys
from tokenmizer_mw.runtime.offload import CPU, offload

async def work():
    return await offload(lambda: 7, CPU)

assert asyncio.run(work()) == 7
child = os.fork()
if child == 0:
    os._exit(0 if asyncio.run(asyncio.wait_for(work(), 10)) == 7 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

ENDING = """
import asyncio, time
from tokenmizer_mw.runtime.offload import CPU, offload

async def leave():
    job = asyncio.ensure_future(offload(lambda: (time.sleep(0.2), print("done", flush=True)), CPU))
    await asyncio.sleep(0.05)
    job.cancel()

asyncio.run(leave())
"""


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Run:
    """Run an async function on an event loop of each kind."""
    options = LOOPS[request.param]
    pytest.importorskip("uvloop" if "backend_options" in options else options["backend"])
    return lambda work: anyio.run(work, **options)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """A pool of 4 threads."""
    pool = WorkerPool(f"test{next(NUMBERS)}", 4)
    yield pool
    pool.settle(20)


def test_result_comes_back_from_another_thread(run: Run) -> None:
    async def work() -> tuple[int, int]:
        return threading.get_ident(), await offload(threading.get_ident, CPU)

    here, there = run(work)
    assert here != there


def test_error_is_the_same_object(run: Run) -> None:
    error = LookupError("mine")

    def fail() -> None:
        raise error

    async def work() -> None:
        with pytest.raises(LookupError) as caught:
            await offload(fail, CPU)
        assert caught.value is error

    run(work)


def test_stop_iteration_becomes_an_error_that_a_coroutine_can_raise(run: Run) -> None:
    async def work() -> None:
        with anyio.fail_after(20), pytest.raises(RuntimeError, match="StopIteration"):
            await offload(lambda: next(iter(())), CPU)

    run(work)


def test_context_variables_go_with_the_task_and_do_not_come_back(run: Run) -> None:
    def look() -> str:
        seen = MARK.get()
        MARK.set("changed there")
        return seen

    async def work() -> tuple[str, str]:
        MARK.set("set here")
        return await offload(look, CPU), MARK.get()

    assert run(work) == ("set here", "set here")


def test_jobs_run_side_by_side(run: Run) -> None:
    together = threading.Barrier(CPU.size, timeout=20)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(CPU.size):
                group.start_soon(offload, together.wait, CPU)

    run(work)


def test_more_jobs_than_threads_are_all_done(run: Run) -> None:
    done: list[int] = []

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for number in range(5 * STORE_THREADS):
                group.start_soon(offload, lambda number=number: done.append(number), STORE)

    run(work)
    assert sorted(done) == list(range(5 * STORE_THREADS))
    started = [thread for thread in threading.enumerate() if re.fullmatch(r"tokenmizer-store-\d+", thread.name)]
    assert len(started) <= STORE_THREADS


def test_a_full_pool_does_not_delay_the_other(run: Run) -> None:
    go = threading.Event()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(2 * STORE.size):
                group.start_soon(offload, lambda: go.wait(60), STORE)
            await anyio.sleep(0.05)
            try:
                with anyio.fail_after(20):
                    assert await offload(lambda: 1, CPU) == 1
                assert STORE.outstanding == 2 * STORE.size
            finally:
                go.set()

    run(work)


def test_no_job_waits_while_a_thread_could_take_it() -> None:
    """Jobs arrive at any moment around the end of others; then as many at once as the pool has threads."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(4):
            _send_then_fill(WorkerPool(f"test{next(NUMBERS)}", 30))
    finally:
        sys.setswitchinterval(interval)


def _send_then_fill(pool: WorkerPool) -> None:
    async def send() -> None:
        for _ in range(100):
            await asyncio.gather(offload(lambda: None, pool), offload(lambda: None, pool))

    async def fill() -> None:
        together = threading.Barrier(pool.size, timeout=20)
        await asyncio.gather(*(offload(together.wait, pool) for _ in range(pool.size)))

    others = [threading.Thread(target=lambda: asyncio.run(send())) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    asyncio.run(fill())
    assert pool.outstanding == 0


def test_a_thread_whose_caller_is_held_up_takes_the_next_job(run: Run) -> None:
    """Nobody's thread waits until an event loop has time to look at its result."""
    pool, go, next_done = WorkerPool(f"test{next(NUMBERS)}", 1), threading.Event(), threading.Event()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(offload, lambda: go.wait(60), pool)
            while not pool.outstanding:
                await anyio.sleep(0)
            pool.put((next_done.set, Context(), None))
            go.set()
            assert next_done.wait(60)  # blocks the loop

    run(work)


def test_cancelled_caller_leaves_and_the_task_ends(run: Run) -> None:
    go, ended = threading.Event(), threading.Event()

    def slow() -> None:
        go.wait(20)
        ended.set()

    async def work() -> None:
        with anyio.move_on_after(0.05) as scope:
            await offload(slow, CPU)
        assert scope.cancelled_caught
        assert not ended.is_set()

    run(work)
    go.set()  # its loop is closed by now
    assert ended.wait(20)
    assert run(_again) == 1


def test_task_of_a_caller_cancelled_before_a_thread_is_free_still_runs(run: Run, pool: WorkerPool) -> None:
    go, ended = threading.Event(), threading.Event()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(pool.size):
                group.start_soon(offload, lambda: go.wait(20), pool)
            await anyio.sleep(0.05)
            with anyio.move_on_after(0.01):
                await offload(ended.set, pool)
            assert not ended.is_set()
            go.set()

    run(work)
    assert ended.wait(20)


def test_threads_of_cancelled_callers_count_until_they_are_free(pool: WorkerPool) -> None:
    """A store that hangs must not collect more and more threads, however many clients give up."""
    go = threading.Event()

    async def work() -> None:
        for _ in range(5 * pool.size):
            with anyio.move_on_after(0.002):
                await offload(lambda: go.wait(20), pool)

    asyncio.run(work())
    assert sum(thread.name.startswith(f"tokenmizer-{pool.name}-") for thread in threading.enumerate()) == pool.size
    assert pool.outstanding == 5 * pool.size
    go.set()
    pool.settle(20)
    assert pool.outstanding == 0


async def _again() -> int:
    return await offload(lambda: 1, CPU)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_gets_threads_of_its_own() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=60)


def test_the_end_of_the_process_waits_for_what_runs() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout.strip()) == (0, "done")
