"""The framework's chat engines on our memory, end to end, with a restart in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.utils import get_tokenizer
from llama_index.memory.tokenmizer_mw import TokenMizerMemory, TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore
from scripted_llm import ScriptedLLM, said

LIMIT = 1_500
RULE = "Never push to main without a review"
DECIDED = "PostgreSQL for storage (was SQLite for storage: concurrent writes)"


class Manual(BaseRetriever):
    """Finds the same page whatever is asked."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="Invoices are numbered from 1."), score=1.0)]


def simple(llm: ScriptedLLM, memory: BaseMemory) -> BaseChatEngine:
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="Be brief.")


def context(llm: ScriptedLLM, memory: BaseMemory) -> BaseChatEngine:
    return ContextChatEngine.from_defaults(retriever=Manual(), llm=llm, memory=memory, system_prompt="Be brief.")


def condense_plus_context(llm: ScriptedLLM, memory: BaseMemory) -> BaseChatEngine:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=Manual(), llm=llm, memory=memory, system_prompt="Be brief."
    )


ENGINES = [simple, context, condense_plus_context]
MakeEngine = Callable[[ScriptedLLM, BaseMemory], BaseChatEngine]


def words(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def answer(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Knows the database only from what it is told."""
    if "Which database" in str(messages[-1].content):
        return said("PostgreSQL" if DECIDED in words(messages) else "I do not know.")
    return said("Well. " * 30)


def say(engine: BaseChatEngine, how: str, text: str) -> str:
    """``text`` by one of the four ways to chat, to the end of its stream."""
    if how == "chat":
        return str(engine.chat(text))
    if how == "stream_chat":
        streaming = engine.stream_chat(text)
        told = "".join(streaming.response_gen)
        if getattr(streaming, "write_response_to_history_thread", None):
            streaming.write_response_to_history_thread.join()
        return told

    async def use() -> str:
        if how == "achat":
            return str(await engine.achat(text))
        streamed = await engine.astream_chat(text)
        whole = "".join([piece async for piece in streamed.async_response_gen()])
        if getattr(streamed, "awrite_response_to_history_task", None):
            await streamed.awrite_response_to_history_task
        return whole

    return asyncio.run(use())


@pytest.mark.parametrize("how", ["chat", "stream_chat", "achat", "astream_chat"])
@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
def test_a_long_chat_with_a_restart_in_the_middle(
    make: MakeEngine, how: str, path: Path, opened: Callable[..., Any]
) -> None:
    llm = ScriptedLLM(answer=answer)

    def started() -> BaseChatEngine:
        return make(llm, TokenMizerMemory.from_defaults(chat_store=opened(path), session_id="s", token_limit=LIMIT))

    asked = ["Use SQLite for storage.", f"{RULE}.", "Switch from SQLite to PostgreSQL because of concurrent writes."]
    asked += [f"Explain detail {number}. " + "Words " * 30 for number in range(20)]
    engine = started()
    for text in asked[:12]:
        say(engine, how, text)
    engine = started()
    for text in asked[12:]:
        say(engine, how, text)
    assert say(engine, how, "Which database do we use?") == "PostgreSQL"
    last = words(llm.prompts[-1])
    assert RULE in last
    assert asked[5].strip() not in last
    assert "Be brief." in last
    history = engine.chat_history
    assert [str(one.content) for one in history if one.role == "user"] == [*asked, "Which database do we use?"]
    assert len(history) == 48
    told = [len(get_tokenizer()(words(prompt))) for prompt in llm.prompts]
    assert max(told) <= LIMIT + 700  # the engine's own instructions and what it retrieved
    engine.reset()
    assert engine.chat_history == []


@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
def test_no_call_of_a_model_is_ours(make: MakeEngine, path: Path, opened: Callable[..., Any]) -> None:
    ours, stock = ScriptedLLM(), ScriptedLLM()
    memory = TokenMizerMemory.from_defaults(chat_store=opened(path), token_limit=LIMIT)
    other = Memory.from_defaults(chat_store=TokenMizerAsyncChatStore(opened().memory), token_limit=LIMIT)
    for llm, engine in ((ours, make(ours, memory)), (stock, make(stock, other))):
        for number in range(6):
            engine.chat(f"Question {number}?")
        assert llm.prompts
    assert len(ours.prompts) == len(stock.prompts)


@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
def test_the_frameworks_memory_with_our_store_and_block(
    make: MakeEngine, path: Path, opened: Callable[..., Any]
) -> None:
    llm = ScriptedLLM(answer=answer)
    store = TokenMizerAsyncChatStore(opened(path).memory)

    def started() -> BaseChatEngine:
        memory = Memory.from_defaults(
            session_id="s",
            chat_store=store,
            token_limit=LIMIT,
            token_flush_size=300,
            memory_blocks=[TokenMizerMemoryBlock(store.memory)],
        )
        return make(llm, memory)

    engine = started()
    engine.chat("Use SQLite for storage.")
    engine.chat(f"{RULE}.")
    engine.chat("Switch from SQLite to PostgreSQL because of concurrent writes.")
    engine = started()
    for number in range(20):
        engine.chat(f"Explain detail {number}. " + "Words " * 30)
    assert str(engine.chat("Which database do we use?")) == "PostgreSQL"
    assert RULE in words(llm.prompts[-1])


def test_a_history_that_is_handed_over_becomes_the_chat(opened: Callable[..., Any]) -> None:
    memory = TokenMizerMemory.from_defaults(chat_store=opened(), token_limit=LIMIT)
    engine = simple(ScriptedLLM(), memory)
    engine.chat("old")
    engine.chat("new", chat_history=[ChatMessage("given", role="user"), said("yes")])
    assert [str(one.content) for one in engine.chat_history] == ["given", "yes", "new", "Understood."]


def test_an_engine_makes_its_own_memory(opened: Callable[..., Any]) -> None:
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM(), memory_cls=TokenMizerMemory)
    engine.chat("hello")
    assert [str(one.content) for one in engine.chat_history] == ["hello", "Understood."]


def test_a_model_that_fails_leaves_the_question(opened: Callable[..., Any]) -> None:
    def fails(messages: Sequence[ChatMessage]) -> ChatMessage:
        raise RuntimeError("no model today")

    memory = TokenMizerMemory.from_defaults(chat_store=opened(), token_limit=LIMIT)
    with pytest.raises(RuntimeError, match="no model"):
        simple(ScriptedLLM(answer=fails), memory).chat("hello")
    assert [str(one.content) for one in memory.get_all()] == ["hello"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beside", ["the store's memory", "a path to the same file"])
def test_a_block_and_a_store_of_one_file_record_each_message_once(
    engine: MakeEngine, beside: str, path: Path, opened: Callable[..., Any]
) -> None:
    """Engines with a retriever ask the memory with ``input`` before they put the first question into it."""
    store = TokenMizerAsyncChatStore(opened(path).memory)
    block = TokenMizerMemoryBlock(store.memory if beside == "the store's memory" else path)
    memory = Memory.from_defaults(session_id="s", chat_store=store, memory_blocks=[block], token_limit=8_000)
    chat = engine(ScriptedLLM(answer=answer), memory)
    for text in (f"{RULE}.", "Go on.", "Go on."):
        chat.chat(text)
    texts = [one.message.text for one in store.memory.messages("s")]
    assert texts == [str(one.content) for one in asyncio.run(store.get_messages("s", status=None))]
    assert texts[::2] == [f"{RULE}.", "Go on.", "Go on."] and len(texts) == 6
    assert RULE in store.memory.resume("s").text
    block.memory.close()
