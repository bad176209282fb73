"""What a memory block does inside the framework's `Memory`, beside a block of the framework."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory, StaticMemoryBlock
from llama_index.core.utils import get_tokenizer
from llama_index.memory.tokenmizer_mw import TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore

pytestmark = pytest.mark.anyio
LIMIT = 1_000


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role="user")


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


def chat(turns: int) -> list[ChatMessage]:
    said = [user("Use SQLite for storage."), assistant("Understood.")]
    said += [user("Never push to main without a review."), assistant("Understood.")]
    said += [user("Switch from SQLite to PostgreSQL because of concurrent writes."), assistant("Done.")]
    for number in range(turns):
        said += [user(f"Explain detail {number}. " + "Words " * 30), assistant("Well. " * 30)]
    return said


@pytest.fixture
async def memory_of(path: Path, opened: Callable[..., Any]) -> AsyncIterator[Callable[..., Memory]]:
    def made(*blocks: BaseMemoryBlock[Any], session: str = "s", **given: Any) -> Memory:
        store = TokenMizerAsyncChatStore(opened(path.with_name("queue.db")).memory)
        return Memory.from_defaults(
            session_id=session,
            chat_store=store,
            token_limit=LIMIT,
            token_flush_size=200,
            memory_blocks=list(blocks),
            **given,
        )

    return made


async def fill(memory: Memory, turns: int = 20) -> None:
    for message in chat(turns):
        await memory.aput(message)


def blocks(opened: Callable[..., Any], path: Path) -> dict[str, BaseMemoryBlock[Any]]:
    return {
        "stock": StaticMemoryBlock(name="static", static_content="PostgreSQL"),
        "ours": TokenMizerMemoryBlock(opened(path).memory),
    }


@pytest.mark.parametrize("kind", ["stock", "ours"])
async def test_a_block(kind: str, memory_of: Callable[..., Memory], path: Path, opened: Callable[..., Any]) -> None:
    block = blocks(opened, path)[kind]
    assert isinstance(block, BaseMemoryBlock)
    memory = memory_of(block)
    assert (await memory.aget())[:1] == [] or kind == "stock"
    await fill(memory)
    first, *rest = await memory.aget()
    assert first.role == "system"
    assert "<memory>" in str(first.content)
    assert f"<{block.name}>" in str(first.content)
    assert "PostgreSQL" in str(first.content)
    assert rest[0].role == "user"
    assert (await memory.aget(input="Which database?"))[0].role == "system"
    await memory.areset()


@pytest.mark.parametrize("kind", ["stock", "ours"])
async def test_a_block_before_the_newest_question(
    kind: str, memory_of: Callable[..., Memory], path: Path, opened: Callable[..., Any]
) -> None:
    memory = memory_of(blocks(opened, path)[kind], insert_method=InsertMethod.USER)
    await fill(memory)
    await memory.aput(user("Which database?"))
    newest = (await memory.aget())[-1]
    assert "PostgreSQL" in str(newest.content)
    assert str(newest.content).endswith("Which database?")


# -- ours alone ------------------------------------------------------------------------------------------------


async def test_it_says_nothing_while_all_is_in_sight(
    memory_of: Callable[..., Memory], opened: Callable[..., Any]
) -> None:
    memory = memory_of(TokenMizerMemoryBlock(opened().memory))
    await fill(memory, 1)
    assert [one.content for one in await memory.aget()] == [one.content for one in chat(1)]


async def test_always_means_always(memory_of: Callable[..., Memory], opened: Callable[..., Any]) -> None:
    memory = memory_of(TokenMizerMemoryBlock(opened().memory, always=True))
    await fill(memory, 0)
    assert "PostgreSQL for storage (was SQLite for storage: concurrent writes)" in str((await memory.aget())[0].content)


async def test_what_was_said_in_a_short_chat_is_known_in_the_next(path: Path, memory_of: Callable[..., Memory]) -> None:
    block = TokenMizerMemoryBlock(path, session_id="s")
    await block.aget(chat(0))
    block.memory.close()
    again = TokenMizerMemoryBlock(path, session_id="s")
    assert "PostgreSQL" in await again.aget([user("Where were we?")])
    again.memory.close()


async def test_messages_are_recorded_once_however_often_they_come(
    memory_of: Callable[..., Memory], opened: Callable[..., Any]
) -> None:
    block = TokenMizerMemoryBlock(opened().memory)
    memory = memory_of(block)
    for message in chat(20):
        await memory.aput(message)
        await memory.aget()
        await memory.aget(input="What now?" if message.role == "assistant" else None)
        if message.role == "assistant":
            await memory.aput(user("What now?"))
            await memory.aput(assistant("On with it."))
    seen = [one.message.text for one in block.memory.messages("s")]
    assert [text for text in seen if text.startswith("Explain detail")] == [
        one.content for one in chat(20) if str(one.content).startswith("Explain detail")
    ]


async def test_a_store_that_is_shared_keeps_nothing_twice(path: Path, opened: Callable[..., Any]) -> None:
    store = TokenMizerAsyncChatStore(opened(path).memory)
    memory = Memory.from_defaults(
        session_id="s",
        chat_store=store,
        token_limit=LIMIT,
        token_flush_size=200,
        memory_blocks=[TokenMizerMemoryBlock(store.memory)],
    )
    await fill(memory)
    assert "PostgreSQL for storage (was SQLite for storage" in str((await memory.aget())[0].content)
    assert await store.get_messages("s", status=None) == chat(20)


async def test_it_stays_within_its_budget_and_the_memorys_limit(
    memory_of: Callable[..., Memory], opened: Callable[..., Any]
) -> None:
    for budget in (64, 120, 600):
        block = TokenMizerMemoryBlock(opened().memory, budget=budget)
        memory = memory_of(block, session=f"s{budget}")
        await fill(memory)
        told = await block.aget([user("Go on.")], session_id=f"s{budget}")
        assert 0 < block.memory.resume(f"s{budget}", budget=budget).tokens <= budget
        assert "Never push to main" in told or budget == 64


async def test_it_is_shortened_line_by_line(opened: Callable[..., Any]) -> None:
    block = TokenMizerMemoryBlock(opened().memory, session_id="s", priority=1)
    await block.aget(chat(0))
    whole = await block.aget([user("Go on.")])
    count = len(get_tokenizer()(whole))
    for wanted in range(1, count + 10):
        shorter = await block.atruncate(whole, wanted)
        if shorter is None:
            continue
        assert len(get_tokenizer()(shorter)) <= count - wanted
        assert shorter.split("\n")[:2] == whole.split("\n")[:2]
        assert shorter.split("\n")[-1] == whole.split("\n")[-1]
    assert await block.atruncate(whole, 1) is not None
    assert await block.atruncate(whole, count) is None


@pytest.mark.parametrize(
    "text", ["one two three four five six seven eight", "word", "", "a\nb\nc d e f", "<b>x</b> y z"]
)
async def test_any_text_is_shortened(text: str, opened: Callable[..., Any]) -> None:
    block = TokenMizerMemoryBlock(opened().memory, session_id="s", priority=1)
    count = len(get_tokenizer()(text))
    for wanted in range(1, count + 2):
        shorter = await block.atruncate(text, wanted)
        if shorter is not None:
            assert text.startswith(shorter)
            assert len(get_tokenizer()(shorter)) <= count - wanted
    assert count < 6 or await block.atruncate(text, 2)


@pytest.mark.parametrize(
    "text",
    [
        "今天我们决定使用数据库存储订单记录" * 40,
        "QmFzZTY0IGhhcyBubyBibGFua3M" * 40,
        ",".join(map(str, range(300))),
        "short " + "x1y2z3" * 200,
        "\t".join("n" * length for length in range(1, 60)),
    ],
)
async def test_a_long_text_is_shortened_to_what_is_asked_also_without_blanks(
    text: str, opened: Callable[..., Any]
) -> None:
    block = TokenMizerMemoryBlock(opened().memory, session_id="s", priority=1)
    count = len(get_tokenizer()(text))
    for wanted in (count - 10, count // 2, 10):
        shorter = await block.atruncate(text, count - wanted)
        assert shorter
        assert text.startswith(shorter)
        assert wanted // 3 <= len(get_tokenizer()(shorter)) <= wanted


@pytest.mark.parametrize("piece", ["e\u0301", "👩\u200d🔧", "👍🏽", "ก\u0e49", "क\u093f"])
async def test_characters_of_several_codes_stay_whole(piece: str, opened: Callable[..., Any]) -> None:
    block = TokenMizerMemoryBlock(opened().memory, session_id="s", tokenizer_fn=list)
    for most in range(len(piece), 5 * len(piece)):
        shorter = await block.atruncate(piece * 5, 5 * len(piece) - most)
        assert shorter == piece * (most // len(piece))
    assert await block.atruncate("\u0301" * 9, 4)  # marks alone: somewhere


async def test_a_memory_that_is_full_asks_it_to_be_shorter(
    memory_of: Callable[..., Memory], opened: Callable[..., Any]
) -> None:
    memory = memory_of(TokenMizerMemoryBlock(opened().memory, priority=1, always=True), chat_history_token_ratio=1.0)
    await fill(memory)
    told = await memory.aget()
    counted = sum(len(get_tokenizer()(str(one.content))) for one in told)
    assert counted <= LIMIT + 40  # the framework's own template is not counted by it


async def test_sessions_do_not_meet(memory_of: Callable[..., Memory], opened: Callable[..., Any]) -> None:
    block = TokenMizerMemoryBlock(opened().memory)
    await fill(memory_of(block, session="one"))
    assert await memory_of(block, session="two").aget() == []
    other = TokenMizerMemoryBlock(block.memory, tenant="other", always=True)
    assert await other.aget([], session_id="one") == ""


async def test_bad_input(opened: Callable[..., Any]) -> None:
    block = TokenMizerMemoryBlock(opened().memory)
    await block.aput([])
    with pytest.raises(ValueError, match="session"):
        await block.aput([user("a")])
    with pytest.raises(ValueError, match="session"):
        await block.aget([user("a")])
    with pytest.raises(ValueError, match="session id"):
        await block.aget([user("a")], session_id="x" * 300)
    with pytest.raises(ValueError, match="ChatMessage"):
        await block.aget(["text"], session_id="s")  # type: ignore[list-item]
    with pytest.raises(ValueError, match="budget"):
        TokenMizerMemoryBlock(budget=0)
    assert await block.aget([], session_id="s") == ""
