"""Threads, tasks, processes and overlapping runs on one chat: nothing is lost, and each writer's order is kept."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.memory.tokenmizer_mw import TokenMizerMemory
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore, TokenMizerChatStore
from scripted_llm import ScriptedLLM, said

WRITER = Path(__file__).parents[1] / "writer.py"


def in_order(messages: Sequence[ChatMessage], writers: int, each: int) -> bool:
    """Whether the messages are those of so many writers, all of them, each writer's in their order."""
    found: dict[str, list[int]] = {}
    for message in messages:
        name, _, number = str(message.content).partition(":")
        found.setdefault(name, []).append(int(number))
    return sorted(found) == [f"w{n}" for n in range(writers)] and all(
        numbers == list(range(each)) for numbers in found.values()
    )


def in_threads(writers: int, write: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=write, args=(who,)) for who in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_400_appends_of_8_threads(where: str, path: Path, opened: Callable[..., TokenMizerChatStore]) -> None:
    store = opened("memory://" if where == "memory" else path)

    def write(who: int) -> None:
        for number in range(50):
            store.add_message("k", ChatMessage(f"w{who}:{number}"))

    in_threads(8, write)
    assert in_order(store.get_messages("k"), 8, 50)


def test_400_puts_of_8_memories_of_one_session(path: Path, opened: Callable[..., Any]) -> None:
    memories = [TokenMizerMemory.from_defaults(chat_store=opened(path), token_limit=500) for _ in range(8)]

    def write(who: int) -> None:
        for number in range(50):
            memories[who].put(ChatMessage(f"w{who}:{number}"))
            if number % 10 == 0:
                memories[who].get()

    in_threads(8, write)
    assert in_order(memories[0].get_all(), 8, 50)


@pytest.mark.nightly
def test_8_processes(path: Path, opened: Callable[..., TokenMizerChatStore]) -> None:
    command = [sys.executable, str(WRITER), str(path), "k"]
    writers = [subprocess.Popen([*command, f"w{who}", "25"]) for who in range(8)]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 8
    store = opened(path)
    assert in_order(store.get_messages("k"), 8, 25)
    assert store.get_keys() == ["k"]


@pytest.mark.anyio
async def test_tasks_on_the_async_store(path: Path, opened: Callable[..., Any]) -> None:
    store = TokenMizerAsyncChatStore(opened(path).memory)

    async def write(who: int) -> None:
        for number in range(25):
            await store.add_message("k", ChatMessage(f"w{who}:{number}"))

    await asyncio.gather(*map(write, range(8)))
    assert in_order(await store.get_messages("k"), 8, 25)


@pytest.mark.anyio
async def test_a_memory_that_is_put_to_by_many_keeps_its_newest_messages(
    path: Path, opened: Callable[..., Any]
) -> None:
    """What the framework's own loses: two puts at once archive everything there is."""
    memory = TokenMizerMemory.from_defaults(chat_store=opened(path), token_limit=200)
    for number in range(10):
        await memory.aput(ChatMessage(f"filling {number} " + "words " * 15))
    await asyncio.gather(*(memory.aput(ChatMessage(f"w{who}:0")) for who in range(4)))
    told = [str(one.content) for one in await memory.aget()]
    assert {text for text in told if text.startswith("w")} <= {f"w{who}:0" for who in range(4)}
    assert told[-1].startswith("w")
    assert len(await memory.aget_all()) == 14


@pytest.mark.anyio
async def test_messages_are_only_ever_archived_under_the_frameworks_memory(
    path: Path, opened: Callable[..., Any]
) -> None:
    store = TokenMizerAsyncChatStore(opened(path).memory)
    memory = Memory.from_defaults(session_id="k", chat_store=store, token_limit=100, token_flush_size=20)
    await asyncio.gather(*(memory.aput(ChatMessage(f"w{who}:0")) for who in range(30)))
    assert sorted(str(one.content) for one in await store.get_messages("k", status=None)) == sorted(
        f"w{who}:0" for who in range(30)
    )


@pytest.mark.anyio
async def test_two_runs_of_one_session_overlap(path: Path, opened: Callable[..., Any]) -> None:
    started, release = threading.Event(), threading.Event()

    def answer(messages: Sequence[ChatMessage]) -> ChatMessage:
        asked = str(messages[-1].content)
        if asked == "slow":
            started.set()
            assert release.wait(30)
        return said(f"answer to {asked}")

    def engine() -> SimpleChatEngine:
        memory = TokenMizerMemory.from_defaults(chat_store=opened(path), session_id="s")
        return SimpleChatEngine.from_defaults(llm=ScriptedLLM(answer=answer), memory=memory)

    slow, quick = engine(), engine()
    run = asyncio.create_task(asyncio.to_thread(slow.chat, "slow"))
    await asyncio.to_thread(started.wait, 30)
    await quick.achat("quick")
    release.set()
    await run
    assert [str(one.content) for one in quick.chat_history] == ["slow", "quick", "answer to quick", "answer to slow"]
    assert quick.chat_history == slow.chat_history


def test_setting_and_adding_at_once_leave_whole_chats(path: Path, opened: Callable[..., TokenMizerChatStore]) -> None:
    stores = [opened(path) for _ in range(4)]

    def write(who: int) -> None:
        for number in range(15):
            stores[who].set_messages("k", [ChatMessage(f"w{who}:{number}:{part}") for part in range(4)])

    in_threads(4, write)
    kept = [str(one.content).split(":") for one in stores[0].get_messages("k")]
    assert [part for *_, part in kept] == ["0", "1", "2", "3"]
    assert len({tuple(head) for *head, _ in kept}) == 1
