"""What a memory does, as one table for the framework's own memories and for ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.utils import get_tokenizer
from llama_index.memory.tokenmizer_mw import TokenMizerMemory
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore
from scripted_llm import ScriptedLLM, calling
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from tokenmizer_mw import SessionMemory, Settings

LIMIT = 1_200
RULE = "Never push to main without a review."


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role="user")


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


def result(number: int, text: str) -> ChatMessage:
    return ChatMessage(text, role="tool", additional_kwargs={"tool_call_id": f"call-{number}"})


def contents(messages: Sequence[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


def tokens(messages: Sequence[ChatMessage]) -> int:
    return sum(len(get_tokenizer()(message.content or "")) for message in messages)


def put_and_get(memory: BaseMemory) -> None:
    memory.put(user("a"))
    memory.put(assistant("b"))
    assert contents(memory.get()) == ["a", "b"] == contents(memory.get_all())


def nothing_yet(memory: BaseMemory) -> None:
    assert memory.get() == [] == memory.get_all()


def get_with_the_question(memory: BaseMemory) -> None:
    memory.put(user("a"))
    assert contents(memory.get(input="what?")) == ["a"]


def put_several(memory: BaseMemory) -> None:
    memory.put_messages([user("a"), assistant("b"), user("a")])
    assert contents(memory.get_all()) == ["a", "b", "a"]


def set_replaces(memory: BaseMemory) -> None:
    memory.put(user("a"))
    memory.set([user("x"), assistant("y")])
    assert contents(memory.get_all()) == ["x", "y"]
    memory.set([user("x"), assistant("y"), user("z")])
    assert contents(memory.get_all()) == ["x", "y", "z"]


def reset_forgets(memory: BaseMemory) -> None:
    memory.put(user("a"))
    memory.reset()
    assert memory.get() == [] == memory.get_all()
    memory.put(user("b"))
    assert contents(memory.get()) == ["b"]


def async_face(memory: BaseMemory) -> None:
    async def use() -> None:
        await memory.aput(user("a"))
        await memory.aput_messages([assistant("b"), user("c")])
        assert contents(await memory.aget()) == ["a", "b", "c"] == contents(await memory.aget_all())
        assert contents(await memory.aget(input="what?")) == ["a", "b", "c"]
        await memory.aset([user("x")])
        assert contents(await memory.aget_all()) == ["x"]
        await memory.areset()
        assert await memory.aget_all() == []

    asyncio.run(use())


def tool_traffic_comes_back(memory: BaseMemory) -> None:
    messages = [user("look"), calling("look", at="x"), result(1, "seen"), assistant("done")]
    memory.put_messages(messages)
    assert memory.get() == messages


def within_the_limit(memory: BaseMemory) -> None:
    for number in range(60):
        memory.put(user(f"question {number} " + "words " * 20))
        memory.put(assistant(f"answer {number} " + "words " * 20))
    told = memory.get()
    assert tokens(told) <= LIMIT
    assert told[0].role == MessageRole.USER
    assert told[-1].content is not None
    assert told[-1].content.startswith("answer 59 ")


def says_how_it_counts(memory: BaseMemory) -> None:
    assert len(memory.tokenizer_fn("one two three")) == 3  # type: ignore[attr-defined]


def it_is_a_memory(memory: BaseMemory) -> None:
    assert isinstance(memory, BaseMemory)
    assert type(memory).class_name() == type(memory).__name__


ROWS: list[Callable[[BaseMemory], None]] = [
    put_and_get,
    nothing_yet,
    get_with_the_question,
    put_several,
    set_replaces,
    reset_forgets,
    async_face,
    tool_traffic_comes_back,
    within_the_limit,
    says_how_it_counts,
    it_is_a_memory,
]


@pytest.fixture(params=["buffer", "stock", "memory", "disk"])
def memory(request: pytest.FixtureRequest, path: Path, opened: Callable[..., Any]) -> BaseMemory:
    if request.param == "buffer":
        return ChatMemoryBuffer.from_defaults(token_limit=LIMIT, chat_store=SimpleChatStore())
    if request.param == "stock":
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}", poolclass=NullPool)
        return Memory.from_defaults(token_limit=LIMIT, token_flush_size=200, async_engine=engine)
    store = opened("memory://" if request.param == "memory" else path)
    return TokenMizerMemory.from_defaults(token_limit=LIMIT, chat_store=store)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_a_memory(row: Callable[[BaseMemory], None], memory: BaseMemory) -> None:
    row(memory)


# -- ours alone ------------------------------------------------------------------------------------------------


@pytest.fixture
def ours(path: Path, opened: Callable[..., Any]) -> TokenMizerMemory:
    return TokenMizerMemory.from_defaults(token_limit=LIMIT, chat_store=opened(path), session_id="s")


def fill(memory: BaseMemory, turns: int = 20) -> None:
    memory.put_messages([user("Use SQLite for storage."), assistant("Understood.")])
    memory.put_messages([user(RULE), assistant("Understood.")])
    memory.put_messages([user("Switch from SQLite to PostgreSQL because of concurrent writes."), assistant("Done.")])
    for number in range(turns):
        memory.put_messages([user(f"Explain detail {number}. " + "Words " * 40), assistant("Well. " * 40)])


def test_the_older_part_becomes_a_block_and_the_rest_stays(ours: TokenMizerMemory) -> None:
    fill(ours)
    block, *recent = ours.get()
    assert block.role == MessageRole.USER
    assert block.content is not None
    assert RULE.rstrip(".") in block.content
    assert "PostgreSQL for storage (was SQLite for storage: concurrent writes)" in block.content
    assert recent == ours.get_all()[-len(recent) :]
    assert len(ours.get_all()) == 46
    assert recent[0].role == MessageRole.USER


def test_what_a_model_is_told_begins_the_same_from_call_to_call(ours: TokenMizerMemory) -> None:
    fill(ours)
    told = [ours.get()]
    for number in range(40):
        ours.put_messages([user(f"And {number}? " + "Words " * 20), assistant("Well. " * 20)])
        told.append(ours.get())
    changed = sum(after[: len(before)] != before for before, after in pairwise(told))
    assert changed <= 5
    assert all(tokens(each) <= LIMIT for each in told)


def test_instructions_stay_in_front_of_the_block(ours: TokenMizerMemory) -> None:
    ours.put(ChatMessage("Be brief.", role="system"))
    fill(ours)
    first, block, *_ = ours.get()
    assert (first.content, block.role) == ("Be brief.", MessageRole.USER)


def test_calls_and_results_stay_together_in_a_turn_that_is_too_long(ours: TokenMizerMemory) -> None:
    ours.put(user("Use SQLite for storage. Read every file."))
    for number in range(40):
        ours.put_messages([calling("read", id=f"call-{number}", at=number), result(number, "far and wide " * 20)])
        told = ours.get()
        assert tokens(told) <= LIMIT
        questions = [one for one in told if (one.content or "").startswith("Use SQLite")]
        assert len(questions) == 1
        results = [place for place, one in enumerate(told) if one.role == MessageRole.TOOL]
        assert all(told[place - 1].blocks[0].block_type == "tool_call" for place in results)
        assert told[-1] == result(number, "far and wide " * 20)


def test_what_is_taken_by_others_is_left_to_them(ours: TokenMizerMemory) -> None:
    fill(ours, 3)
    assert tokens(ours.get(initial_token_count=LIMIT - 400)) <= 400
    assert contents(ours.get(initial_token_count=LIMIT)) == contents(ours.get_all()[-1:])
    with pytest.raises(ValueError, match="Initial token count exceeds token limit"):
        ours.get(initial_token_count=LIMIT + 1)


def test_one_message_that_is_too_long_is_left_to_the_model(ours: TokenMizerMemory) -> None:
    fill(ours, 3)
    ours.put(user("long " * 3_000))
    assert contents(ours.get()) == ["long " * 3_000]


def test_the_block_is_part_of_no_history_and_makes_no_facts(ours: TokenMizerMemory) -> None:
    fill(ours)
    told, known = ours.get(), len(ours.chat_store.memory.graph("s"))
    assert all("session-record" not in (one.content or "") for one in ours.get_all())
    ours.set(told)  # as agents do that are given a history
    assert len(ours.chat_store.memory.graph("s")) <= known
    assert ours.get_all() == told


def test_a_restart_goes_on_with_the_same_context(path: Path, ours: TokenMizerMemory) -> None:
    fill(ours)
    before = ours.get()
    ours.chat_store.memory.close()
    again = TokenMizerMemory.from_defaults(token_limit=LIMIT, chat_store=path, session_id="s")
    assert again.get() == before
    again.chat_store.memory.close()


def test_it_is_made_again_from_what_it_says_of_itself(path: Path, ours: TokenMizerMemory) -> None:
    fill(ours, 1)
    again = TokenMizerMemory.from_dict(json.loads(json.dumps(ours.to_dict())))
    assert isinstance(again.chat_store, TokenMizerChatStore)
    assert (again.get(), again.token_limit) == (ours.get(), LIMIT)
    again.chat_store.memory.close()
    kept = TokenMizerMemory.from_defaults(chat_history=[user("in this process")])
    moved = TokenMizerMemory.from_dict(json.loads(kept.to_json()))
    assert contents(moved.get_all()) == ["in this process"]


def test_memories_of_one_session_share_it(path: Path, ours: TokenMizerMemory) -> None:
    other = TokenMizerMemory(chat_store=ours.chat_store, chat_store_key="s", token_limit=LIMIT)
    stranger = TokenMizerMemory(chat_store=ours.chat_store, chat_store_key="t", token_limit=LIMIT)
    ours.put(user("a"))
    assert (contents(other.get()), stranger.get()) == (["a"], [])


def test_the_arguments_of_the_frameworks_buffer_are_taken(path: Path, opened: Callable[..., Any]) -> None:
    made = TokenMizerMemory.from_defaults(
        chat_history=[user("a")],
        llm=ScriptedLLM(context_window=4_000),
        chat_store=opened(path),
        chat_store_key="k",
        tokenizer_fn=str.split,
    )
    assert (made.token_limit, made.chat_store_key, contents(made.get())) == (3_000, "k", ["a"])
    assert TokenMizerMemory.from_defaults().token_limit == 30_000
    kept = TokenMizerMemory.from_defaults(chat_history=[], chat_store=made.chat_store, chat_store_key="k")
    assert contents(kept.get_all()) == ["a"]
    with pytest.raises(ValueError, match="Unexpected kwargs"):
        TokenMizerMemory.from_defaults(colour="red")


def test_the_role_of_the_block_is_a_setting(path: Path, opened: Callable[..., Any]) -> None:
    store = opened(path, settings=Settings(block_role="system"))
    memory = TokenMizerMemory.from_defaults(chat_store=store, token_limit=LIMIT)
    fill(memory)
    assert memory.get()[0].role == MessageRole.SYSTEM


@pytest.mark.parametrize(
    "given",
    [{"token_limit": 0}, {"token_limit": "many"}, {"chat_store": 7}, {"chat_store": SimpleChatStore()}],
    ids=str,
)
def test_arguments_that_are_none_are_value_errors(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        TokenMizerMemory(**given)


def test_bad_messages_change_nothing(ours: TokenMizerMemory) -> None:
    ours.put(user("a"))
    for use in (
        lambda: ours.put("text"),  # type: ignore[arg-type]
        lambda: ours.put_messages([user("b"), None]),  # type: ignore[list-item]
        lambda: ours.set([{"role": "user"}]),  # type: ignore[list-item]
    ):
        with pytest.raises(ValueError, match="expected a ChatMessage"):
            use()
    ours.put_messages([])
    ours.put(ChatMessage(blocks=[TextBlock(text="")], role="user"))
    assert contents(ours.get_all()) == ["a", ""]
    with pytest.raises(ValueError, match="session id"):
        TokenMizerMemory(chat_store=ours.chat_store, chat_store_key="").get()


def test_old_results_say_less_where_compression_is_on() -> None:
    store = TokenMizerChatStore(SessionMemory.open("memory://", Settings(compress="history", compress_step=500)))
    memory = TokenMizerMemory.from_defaults(chat_store=store, session_id="t", token_limit=4_000)
    plain = TokenMizerMemory.from_defaults(chat_store=TokenMizerChatStore(), session_id="t", token_limit=4_000)
    for turn in range(12):
        output = "\n".join(f"value_{turn}_{line} = {line}" for line in range(40))
        result = ChatMessage(output, role="tool", additional_kwargs={"tool_call_id": f"c{turn}"})
        call = ToolCallBlock(tool_call_id=f"c{turn}", tool_name="read_file", tool_kwargs={"path": f"part{turn}.py"})
        asked = ChatMessage(f"Look at part {turn}.", role="user")
        messages = [asked, ChatMessage(role="assistant", blocks=[call]), result]
        memory.put_messages(messages)
        plain.put_messages(messages)
    told = memory.get()
    results = [message for message in told if message.role == MessageRole.TOOL]
    assert sum("left out" in (message.content or "") for message in results) >= 3
    assert "left out" not in (results[-1].content or "")
    assert all("left out" not in (message.content or "") for message in memory.get_all())
    assert len(told) > len(plain.get())
