"""A LlamaIndex chat of 20 turns with the stock memories and with ours, in one run, with a scripted model.

- ``SimpleChatEngine`` with a limit of 1,000 tokens. The turns, and the values that are replaced in them, are those of
  ``langchain_chain``; each answer has about 60 tokens.
- The model answers at once. If a stock memory asks it, it extracts and summarises perfectly: every statement as it
  was made, and a summary without replaced values. So the comparison favours the stock memories.
- Cost of a memory: calls of the model besides the chat's own, and the tokens of all prompts.
- A value is *stale* if a statement that the memory presents at the end names it without the value that replaced it.
- Lost messages: after 400 puts by 8 threads (8 tasks for ``Memory``, which hangs with threads), after two overlapping
  runs of one session, and after a restart; and how many of 8 messages put at the same time are not returned.
- The memories are ``ChatMemoryBuffer``, ``ChatSummaryMemoryBuffer``, ``Memory`` without and with
  ``FactExtractionMemoryBlock``, ``Memory`` with our store and block, and ``TokenMizerMemory``. The bars are on the
  last two; the figures of all are in the result file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import (
    BaseMemory,
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    FactExtractionMemoryBlock,
    Memory,
)
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.memory.tokenmizer_mw import TokenMizerMemory, TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore
from pydantic import Field
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tokenmizer_mw.context.tokens import ModelCounters

from .langchain_chain import REPLACED, STANDING, TURNS, split_statements
from .measure import at_most

LIMIT: Final = 1_000
FLUSH: Final = 200
THREADS: Final = 8
PUTS: Final = 50
SYSTEM: Final = "You help with a software project."
FILLER: Final = "Understood. " + "That is a sound way to go about it, and it fits with the rest of the project. " * 3
STATED: Final = [text for text, _ in TURNS]


class Scripted(LLM):
    """A model that answers the chat, extracts and summarizes. ``prompts``: all prompts that it received. ``barrier``:
    what each asynchronous call waits for before it answers, ``None`` for nothing."""

    prompts: list[list[ChatMessage]] = Field(default_factory=list)
    barrier: Any = None

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=8_000, is_chat_model=True, model_name="gpt-4o")

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self.prompts.append(list(messages))
        return ChatResponse(message=ChatMessage(_answer(messages), role=MessageRole.ASSISTANT))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        if self.barrier is not None:
            await asyncio.wait_for(self.barrier.wait(), 30)
        return self.chat(messages)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        raise NotImplementedError

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        raise NotImplementedError

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> AsyncIterator[CompletionResponse]:
        raise NotImplementedError


def _answer(messages: Sequence[ChatMessage]) -> str:
    if _own(messages):
        return FILLER
    told = _text(messages)
    stated = [text for text in STATED if text in told]
    if "<existing_facts>" in told:
        return "<facts>" + "".join(f"<fact>{text}</fact>" for text in stated) + "</facts>"
    gone = [old for old, new in REPLACED if any(new in text for text in stated)]
    return "\n".join(text for text in stated if not any(_stale(text, old, dict(REPLACED)[old]) for old in gone))


def _own(messages: Sequence[ChatMessage]) -> bool:
    """Whether a prompt is the chat's own and not a memory's: the system prompt is in one of its first two messages."""
    return any(SYSTEM in str(message.content) for message in messages[:2])


def _text(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


Make = Callable[[Scripted, Path], BaseMemory]


def buffer(model: Scripted, folder: Path) -> BaseMemory:
    return ChatMemoryBuffer.from_defaults(token_limit=LIMIT, chat_store=_saved(folder))


def summary(model: Scripted, folder: Path) -> BaseMemory:
    return ChatSummaryMemoryBuffer.from_defaults(llm=model, token_limit=LIMIT, chat_store=_saved(folder))


def _saved(folder: Path) -> SimpleChatStore:
    """The store that was saved in this folder; an empty one if saving had failed half-way."""
    try:
        return SimpleChatStore.from_persist_path(str(folder / "chat_store.json"))
    except ValueError:
        return SimpleChatStore()


def stock(model: Scripted, folder: Path) -> BaseMemory:
    return Memory.from_defaults(session_id="s", token_limit=LIMIT, token_flush_size=FLUSH, async_engine=_engine(folder))


def facts(model: Scripted, folder: Path) -> BaseMemory:
    return Memory.from_defaults(
        session_id="s",
        token_limit=LIMIT,
        token_flush_size=FLUSH,
        async_engine=_engine(folder),
        memory_blocks=[FactExtractionMemoryBlock(llm=model, priority=1)],
    )


def _engine(folder: Path) -> Any:
    return create_async_engine(f"sqlite+aiosqlite:///{folder / 'memory.db'}", poolclass=NullPool)


def block(model: Scripted, folder: Path) -> BaseMemory:
    store = TokenMizerAsyncChatStore(folder / "chat.db")
    return Memory.from_defaults(
        session_id="s",
        chat_store=store,
        token_limit=LIMIT,
        token_flush_size=FLUSH,
        memory_blocks=[TokenMizerMemoryBlock(store.memory)],
    )


def ours(model: Scripted, folder: Path) -> BaseMemory:
    return TokenMizerMemory.from_defaults(chat_store=folder / "chat.db", session_id="s", token_limit=LIMIT)


MEMORIES: Final[dict[str, Make]] = {
    "ChatMemoryBuffer, SimpleChatStore": buffer,
    "ChatSummaryMemoryBuffer, SimpleChatStore": summary,
    "Memory": stock,
    "Memory, FactExtractionMemoryBlock": facts,
    "Memory, our store and block": block,
    "TokenMizerMemory": ours,
}


def run() -> dict[str, Any]:
    with quiet():
        figures = {name: {**chat(make), **losses(make)} for name, make in MEMORIES.items()}
    mine, inside = figures["TokenMizerMemory"], figures["Memory, our store and block"]
    bars = [
        at_most("model calls besides the chat's own, 20 turns", mine["extra_calls"], 0, digits=0),
        at_most("the same with the block inside Memory", inside["extra_calls"], 0, digits=0),
        at_most("tokens of prompts besides the chat's own", mine["extra_prompt_tokens"], 0, digits=0),
        at_most("longest prompt of the chat", mine["longest_prompt_tokens"], LIMIT, "tokens", 0),
        at_most("stale values presented as current, of five", len(mine["stale"]), 0, digits=0),
        at_most("the same with the block inside Memory", len(inside["stale"]), 0, digits=0),
        at_most("current values not presented, of eight", len(mine["missing"]), 0, digits=0),
        at_most("current values lost after a restart, of eight", len(mine["missing_after_restart"]), 0, digits=0),
        at_most("messages lost after a restart, of 40", mine["restart_lost"], 0, digits=0),
        at_most("messages lost of two overlapping runs", mine["overlap_lost"], 0, digits=0),
        at_most("messages lost of 400 put by 8 threads", mine["threads_lost"], 0, digits=0),
        at_most("of 8 messages put at the same time, not returned", mine["at_once_out_of_sight"], 0, digits=0),
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Context in which warnings and log messages are suppressed, because some stock classes are deprecated and some
    report what they lose."""
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


# -- chats -----------------------------------------------------------------------------------------------------


def chat(make: Make) -> dict[str, Any]:
    """Return the figures of one memory in a chat engine, and after a restart."""
    count = ModelCounters(None).of("gpt-4o").counter.count
    with tempfile.TemporaryDirectory() as name:
        folder, model = Path(name), Scripted()
        memory = make(model, folder)
        engine = SimpleChatEngine.from_defaults(llm=model, memory=memory, system_prompt=SYSTEM)
        for text in STATED:
            engine.chat(text)
        own = [count(_text(prompt)) for prompt in model.prompts if _own(prompt)]
        beside = [count(_text(prompt)) for prompt in model.prompts if not _own(prompt)]
        presented = _statements(memory.get())
        kept = len(memory.get_all())
        _save(memory, folder)
        again = make(model, folder)
        presented_again, kept_again = _statements(again.get()), len(again.get_all())
    return {
        "extra_calls": len(beside),
        "extra_prompt_tokens": sum(beside),
        "prompt_tokens": sum(own),
        "longest_prompt_tokens": max(own),
        "stale": [old for old, new in REPLACED if any(_stale(one, old, new) for one in presented)],
        "missing": _missing(presented),
        "missing_after_restart": _missing(presented_again),
        "restart_lost": kept - kept_again,
    }


def _save(memory: BaseMemory, folder: Path) -> None:
    """Save a store that is not on disk, as its user must; with pydantic 2.14 it fails, which is ignored."""
    store = getattr(memory, "chat_store", None)
    if isinstance(store, SimpleChatStore):
        with contextlib.suppress(Exception):
            store.persist(str(folder / "chat_store.json"))


def _statements(messages: Sequence[ChatMessage]) -> list[str]:
    return split_statements(_text(messages))


def _missing(presented: Sequence[str]) -> list[str]:
    return [value for value in STANDING if not any(value in one for one in presented)]


def _stale(statement: str, old: str, new: str) -> bool:
    return old in statement and new not in statement


# -- losses ----------------------------------------------------------------------------------------------------


def losses(make: Make) -> dict[str, int]:
    """Return how many messages a memory loses: with threads, in two overlapping runs, and of eight that are put at the
    same time."""
    return {
        "threads_lost": _in_folder(make, _threads),
        "overlap_lost": _in_folder(make, _overlap),
        "at_once_out_of_sight": _in_folder(make, _at_once),
    }


def _in_folder(make: Make, lost: Callable[[Callable[[], BaseMemory]], int]) -> int:
    with tempfile.TemporaryDirectory() as name:
        return lost(lambda: make(Scripted(), Path(name)))


def _threads(made: Callable[[], BaseMemory]) -> int:
    memory = made()

    def put(who: int) -> None:
        for number in range(PUTS):
            with contextlib.suppress(Exception):
                memory.put(_said(f"{who}:{number}"))

    async def aput(who: int) -> None:
        for number in range(PUTS):
            with contextlib.suppress(Exception):
                await memory.aput(_said(f"{who}:{number}"))

    async def tasks() -> None:
        await asyncio.gather(*map(aput, range(THREADS)))

    if isinstance(memory, Memory):
        asyncio.run(tasks())
    else:
        threads = [threading.Thread(target=put, args=(who,)) for who in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return THREADS * PUTS - len({str(message.content) for message in _all(memory)})


def _overlap(made: Callable[[], BaseMemory]) -> int:
    """Run one session twice at the same time in one process: both have sent their prompt before either gets its answer.
    Returns the number of lost messages."""
    memory = made()

    async def talk(text: str, barrier: asyncio.Barrier) -> None:
        model = Scripted(barrier=barrier)
        with contextlib.suppress(Exception):
            await SimpleChatEngine.from_defaults(llm=model, memory=memory, system_prompt=SYSTEM).achat(text)

    async def both() -> None:
        barrier = asyncio.Barrier(2)
        await asyncio.gather(talk("one", barrier), talk("two", barrier))

    asyncio.run(both())
    return 4 - len(_all(memory))


def _at_once(made: Callable[[], BaseMemory]) -> int:
    """Put eight messages at the same time into a memory near its limit. Returns how many of them it does not
    present."""

    async def use() -> int:
        memory = made()
        for number in range(12):
            await memory.aput(_said(f"filling {number} " + "words " * 50))
        puts = [memory.aput(_said(f"new {number}")) for number in range(THREADS)]
        await asyncio.gather(*puts, return_exceptions=True)
        told = _text(await memory.aget())
        return sum(f"new {number}" not in told for number in range(THREADS))

    return asyncio.run(use())


def _said(text: str) -> ChatMessage:
    return ChatMessage(text, role=MessageRole.USER)


def _all(memory: BaseMemory) -> list[ChatMessage]:
    if isinstance(memory, Memory):
        parts = [memory.sql_store.get_messages("s", status=status) for status in MessageStatus]
        return [message for part in parts for message in asyncio.run(_done(part))]
    return memory.get_all()


async def _done(coroutine: Any) -> list[ChatMessage]:
    messages: list[ChatMessage] = await coroutine
    return messages
