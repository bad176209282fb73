"""Work beside the event loop: results, errors, context, cancellation, and a process that forks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextvars import ContextVar
from importlib.util import find_spec

import anyio
import pytest

from tokenmizer_mw.offload import THREADS_MAX, offload

MARK: ContextVar[str] = ContextVar("mark", default="unset")
FORKING = """
import asyncio, os, sys
from tokenmizer_mw.offload import offload

async def work():
    return await offload(lambda: 7)

assert asyncio.run(work()) == 7
child = os.fork()
if child == 0:
    os._exit(0 if asyncio.run(asyncio.wait_for(work(), 10)) == 7 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

ENDING = """
import asyncio, time
from tokenmizer_mw.offload import offload

async def leave():
    job = asyncio.ensure_future(offload(lambda: (time.sleep(0.2), print("done", flush=True))))
    await asyncio.sleep(0.05)
    job.cancel()

asyncio.run(leave())
"""


def test_result_comes_back_from_another_thread() -> None:
    async def work() -> tuple[int, int]:
        return threading.get_ident(), await offload(threading.get_ident)

    here, there = asyncio.run(work())
    assert here != there


def test_error_is_the_same_object() -> None:
    error = LookupError("mine")

    def fail() -> None:
        raise error

    async def work() -> None:
        with pytest.raises(LookupError) as caught:
            await offload(fail)
        assert caught.value is error

    asyncio.run(work())


def test_context_variables_go_with_the_task_and_do_not_come_back() -> None:
    def look() -> str:
        seen = MARK.get()
        MARK.set("changed there")
        return seen

    async def work() -> tuple[str, str]:
        MARK.set("set here")
        return await offload(look), MARK.get()

    assert asyncio.run(work()) == ("set here", "set here")


def test_jobs_run_side_by_side() -> None:
    together = threading.Barrier(8, timeout=20)

    async def work() -> list[int]:
        return await asyncio.gather(*(offload(together.wait) for _ in range(8)))

    assert sorted(asyncio.run(work())) == list(range(8))


def test_more_jobs_than_threads_are_all_done() -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.gather(*(offload(lambda number=number: done.append(number)) for number in range(5 * THREADS_MAX)))

    asyncio.run(work())
    assert sorted(done) == list(range(5 * THREADS_MAX))
    assert sum(thread.name.startswith("tokenmizer-offload") for thread in threading.enumerate()) <= THREADS_MAX


def test_cancelled_caller_leaves_and_the_task_ends() -> None:
    go, ended = threading.Event(), threading.Event()

    def slow() -> None:
        go.wait(20)
        ended.set()

    async def work() -> None:
        waiting = asyncio.ensure_future(offload(slow))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not ended.is_set()

    asyncio.run(work())
    go.set()  # its loop is closed by now
    assert ended.wait(20)
    assert asyncio.run(_again()) == 1


async def _again() -> int:
    return await offload(lambda: 1)


@pytest.mark.skipif(find_spec("trio") is None, reason="trio is not installed")
def test_other_event_loops_use_their_own_threads() -> None:
    assert anyio.run(_again, backend="trio") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_gets_threads_of_its_own() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=60)


def test_the_end_of_the_process_waits_for_what_runs() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout.strip()) == (0, "done")
