"""A store that does not answer takes no threads of the application: our work has threads of its own."""

from __future__ import annotations

import ast
import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.resilience.sick import locked
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.runtime.offload import CALLS_THREADS

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("tokenmizer_mw", "integrations")
    for path in (ROOT / folder).rglob("*.py")
    if not {"tests", "examples"} & set(path.parts)
)
LOOPS = {"asyncio": {}, "uvloop": {"use_uvloop": True}}


def calls_on_borrowed_threads(source: str) -> list[int]:
    """Lines that run something in the threads of the event loop or in anyio's, with no limiter of ours."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and _is_borrowing(node)
        and "limiter" not in {given.arg for given in node.keywords}
    ]


def _is_borrowing(call: ast.Call) -> bool:
    spelled = ast.unparse(call.func)
    if "limiter" in {given.arg for given in call.keywords}:
        return False
    if spelled.rpartition(".")[2] == "run_in_executor":
        return bool(call.args) and ast.unparse(call.args[0]) == "None"
    return spelled.rpartition(".")[2] in ("to_thread", "run_in_threadpool") or spelled.endswith("to_thread.run_sync")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("await anyio.to_thread.run_sync(work)", 1),
        ("await to_thread.run_sync(work, limiter=ours)", 0),
        ("await asyncio.to_thread(work, 1)", 1),
        ("await loop.run_in_executor(None, work)", 1),
        ("await loop.run_in_executor(ours, work)", 0),
        ("await run_in_threadpool(work)", 1),
        ("await offload(work, CALLS)", 0),
        ("from_thread.run_sync(work)", 0),
    ],
)
def test_the_search_finds_calls_on_borrowed_threads(source: str, found: int) -> None:
    assert len(calls_on_borrowed_threads(f"async def f():\n    {source}")) == found


def test_no_call_of_ours_runs_on_borrowed_threads() -> None:
    assert len(SOURCES) > 400
    found = {str(path.relative_to(ROOT)): calls_on_borrowed_threads(path.read_text("utf-8")) for path in SOURCES}
    assert {place: lines for place, lines in found.items() if lines} == {}


@pytest.mark.parametrize("loop", LOOPS)
def test_calls_that_wait_for_a_locked_store_delay_nobody_else(tmp_path: Path, loop: str) -> None:
    """Somebody else's work comes back while every one of our calls still waits."""
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    path = tmp_path / "memory.db"
    ended: list[int] = []

    async def record(number: int) -> None:
        await memory.arecord(f"s{number}", [{"role": "user", "content": "We use SQLite."}])
        ended.append(number)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            with locked(path):
                for number in range(50):
                    group.start_soon(record, number)
                await anyio.sleep(0.3)
                with anyio.fail_after(20):
                    for _ in range(20):
                        await anyio.to_thread.run_sync(time.monotonic)
                        await asyncio.to_thread(time.monotonic)
                assert not ended
        assert len(ended) == 50

    with SessionMemory.open(f"sqlite:///{path}", Settings()) as memory:
        memory.record("before", [{"role": "user", "content": "hello"}])
        assert CALLS_THREADS < 50
        anyio.run(work, backend_options=LOOPS[loop])


@contextmanager
def no_threads_left() -> Iterator[None]:
    """All threads of the running loop and of anyio are taken until the block ends."""
    loop, leave = asyncio.get_running_loop(), threading.Event()
    executor, limiter = ThreadPoolExecutor(1), anyio.to_thread.current_default_thread_limiter()
    loop.set_default_executor(executor)
    executor.submit(leave.wait)
    try:
        limiter.total_tokens = 1
        limiter.acquire_on_behalf_of_nowait(executor)
        yield
    finally:
        leave.set()


async def use_memory() -> None:
    async with SessionMemory.open("memory://") as memory:
        await memory.arecord("s", [{"role": "user", "content": "We use SQLite."}])
        assert (await memory.arefine("s", complete=lambda messages: "{}")).outcome
        await memory.agraph("s")


async def use_llama_index() -> None:
    base = pytest.importorskip("llama_index.core.base.llms.types")
    from llama_index.memory.tokenmizer_mw import TokenMizerMemory
    from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore, TokenMizerChatStore

    said = base.ChatMessage("We use SQLite.")
    store = TokenMizerChatStore()
    await store.aset_messages("k", [said])
    await store.async_add_message("k", said)
    assert len(await store.aget_messages("k")) == 2
    await store.adelete_last_message("k")
    await store.adelete_message("k", 0)
    assert await store.aget_keys() == ["k"]
    await store.adelete_messages("k")
    memory = TokenMizerMemory(chat_store=store, chat_store_key="m")
    await memory.aput(said)
    await memory.aput_messages([said])
    await memory.aset([said])
    assert len(await memory.aget_all()) == len(await memory.aget()) == 1
    await memory.areset()
    kept = TokenMizerAsyncChatStore()
    await kept.add_message("k", said)
    assert await kept.count_messages("k") == 1


async def use_langchain() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    from langchain_tokenmizer_mw import TokenMizerChatMessageHistory

    history: Any = TokenMizerChatMessageHistory("s", SessionMemory.open("memory://"))
    await history.aadd_messages([messages.HumanMessage("We use SQLite.")])
    assert len(await history.aget_messages()) == 1
    await history.aclear()


@pytest.mark.parametrize("use", [use_memory, use_llama_index, use_langchain])
def test_the_asynchronous_interfaces_need_no_thread_of_the_application(use: Callable[[], Awaitable[None]]) -> None:
    async def work() -> None:
        with no_threads_left(), anyio.fail_after(120):
            await use()

    asyncio.run(work())
