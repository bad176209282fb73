"""Reminders: what was left out comes back with the message, or the input, that asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, SimpleChatEngine
from llama_index.core.memory import Memory
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.utils import get_tokenizer
from llama_index.memory.tokenmizer_mw import TokenMizerMemory, TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore, TokenMizerChatStore
from scripted_llm import ScriptedLLM, calling

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

LIMIT = 1_500
FENCE = "<session-record "
COURIER = "The courier of the parcels is called Hermine and drives a green van."
ASKED = "Who is the courier of the parcels, and what does she drive?"


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role="user")


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


def chat(turns: int = 30) -> list[ChatMessage]:
    begin = [user("We begin with the orders."), assistant("Good.")]
    aside = [user("Who brings the parcels, by the way?"), assistant(COURIER)]
    work = [m for at in range(turns) for m in (user(f"Part {at} is in work. " * 6), assistant("Well. " * 30))]
    return [*begin, *aside, *work]


@pytest.fixture
def memory() -> TokenMizerMemory:
    store = TokenMizerChatStore(SessionMemory.open("memory://", Settings(block_tokens=80)))
    made = TokenMizerMemory.from_defaults(chat_store=store, session_id="t", token_limit=LIMIT)
    made.put_messages(chat())
    return made


def tokens(messages: Sequence[ChatMessage]) -> int:
    return sum(len(get_tokenizer()(message.content or "")) for message in messages)


def reminded(memory: SessionMemory, session: str = "t") -> list[Reminded]:
    events = memory.log.read(SessionKey(LOCAL_TENANT, session))
    return [one.event for one in events if isinstance(one.event, Reminded)]


def test_message_that_asks_is_followed_by_what_was_left_out(memory: TokenMizerMemory) -> None:
    memory.put(user(ASKED))
    told = memory.get()
    newest = told[-1].content or ""
    assert newest.startswith(f"{ASKED}\n{FENCE}")
    assert "green van" in newest
    assert tokens(told) <= LIMIT
    assert memory.get_all()[-1] == user(ASKED)
    memory.put(assistant("Hermine, a green van."))
    (event,) = reminded(memory.chat_store.memory)
    assert 4 in event.messages
    assert event.turn == len(memory.get_all())


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_input_that_is_asked_next_ends_with_what_was_left_out(memory: TokenMizerMemory, is_async: bool) -> None:
    plain = memory.get()
    told = asyncio.run(memory.aget(input=ASKED)) if is_async else memory.get(input=ASKED)
    assert told[:-1] == plain
    assert "green van" in (told[-1].content or "")
    assert tokens(told) <= LIMIT
    assert memory.get(input="Thanks.") == plain
    memory.put(user(ASKED))
    assert (memory.get(input=ASKED)[-1].content or "").startswith(ASKED)


def test_reminder_fits_into_what_the_limit_leaves() -> None:
    for limit in range(300, 1_500, 100):
        memory = TokenMizerMemory.from_defaults(session_id="t", token_limit=limit)
        memory.put_messages([*chat(), user(ASKED)])
        assert tokens(memory.get()) <= limit


def test_result_of_a_tool_that_names_what_was_left_out(memory: TokenMizerMemory) -> None:
    said = assistant("The configuration has retry_budget_ms with 4500, since the outage in May.")
    memory.set([*chat()[:2], user("What does the configuration say?"), said, *chat()[2:]])
    failed = ChatMessage("KeyError: retry_budget_ms", role="tool", additional_kwargs={"tool_call_id": "call-1"})
    memory.put_messages([user("Go on with the work, please."), calling("read", at="notes"), failed])
    newest = memory.get()[-1]
    assert newest.additional_kwargs == failed.additional_kwargs
    assert (newest.content or "").startswith(f"KeyError: retry_budget_ms\n{FENCE}")
    assert "4500" in (newest.content or "")


class Manual(BaseRetriever):
    """Finds the same page whatever is asked."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="Invoices are numbered from 1."), score=1.0)]


@pytest.mark.parametrize("engine", ["simple", "condense"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_chat_engines_hand_it_to_the_model(memory: TokenMizerMemory, engine: str, is_async: bool) -> None:
    llm = ScriptedLLM(answer=lambda messages: assistant("Hermine."))
    made = (
        SimpleChatEngine.from_defaults(llm=llm, memory=memory)
        if engine == "simple"
        else CondensePlusContextChatEngine.from_defaults(retriever=Manual(), llm=llm, memory=memory, skip_condense=True)
    )
    asyncio.run(made.achat(ASKED)) if is_async else made.chat(ASKED)
    assert "green van" in "\n".join(message.content or "" for message in llm.prompts[-1])
    kept = [message.content or "" for message in memory.get_all()]
    assert kept[-2:] == [ASKED, "Hermine."]
    assert not any(FENCE in text for text in kept)
    assert reminded(memory.chat_store.memory)


def test_block_tells_what_left_the_short_term_memory() -> None:
    store = SessionMemory.open("memory://")
    block = TokenMizerMemoryBlock(store, budget=64)
    memory = Memory.from_defaults(
        session_id="t", token_limit=2_000, memory_blocks=[block], chat_store=TokenMizerAsyncChatStore(store)
    )

    async def talk() -> list[ChatMessage]:
        rule = user("Never push to main without a review, and deploy on Fridays only.")
        goal = user("We build the parcel portal. Use PostgreSQL for the invoices.")
        for message in [rule, goal, *chat(turns=20), user(ASKED)]:
            await memory.aput(message)
        return await memory.aget()

    told = "\n".join(message.content or "" for message in asyncio.run(talk()))
    assert told.count("green van") == 1
    text = asyncio.run(block._aget([user(ASKED)], session_id="t"))
    assert text.count(FENCE) == 2
    shorter = asyncio.run(block.atruncate(text, 20))
    assert shorter is not None
    assert shorter.count(FENCE) == 1
    assert shorter in text
