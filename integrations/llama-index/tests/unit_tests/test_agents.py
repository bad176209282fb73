"""The framework's agents and workflows on our memory, end to end, with a restart in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context
from llama_index.memory.tokenmizer_mw import TokenMizerMemory, TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore
from scripted_llm import ScriptedLLM, calling, said

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),  # what the framework looks at
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
]
LIMIT = 1_500
DECIDED = "PostgreSQL for storage (was SQLite for storage: concurrent writes)"
START = [
    "Use SQLite for storage.",
    "Never push to main without a review.",
    "Switch from SQLite to PostgreSQL because of concurrent writes.",
]


def look_up(number: int) -> str:
    """Look up a detail."""
    return f"detail {number} is " + "long and dull " * 10


def words(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def answer(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Looks a detail up before it explains it, and knows the database only from what it is told."""
    asked = str(messages[-1].content)
    if "Which database" in asked:
        return said("PostgreSQL" if DECIDED in words(messages) else "I do not know.")
    if asked.startswith("Explain detail"):
        number = int(asked.split()[2].rstrip("."))
        return calling("look_up", id=f"call-{number}", number=number)
    return said("Understood.")


def paired(messages: Sequence[ChatMessage]) -> bool:
    """Whether each result follows the call that it answers."""
    called: set[str] = set()
    for message in messages:
        called |= {block.tool_call_id for block in message.blocks if block.block_type == "tool_call"}
        if message.role == "tool" and message.additional_kwargs.get("tool_call_id") not in called:
            return False
    return True


def agent(llm: ScriptedLLM, kind: str = "one") -> Any:
    one = FunctionAgent(name="helper", description="helps", tools=[look_up], llm=llm, system_prompt="Be brief.")
    return one if kind == "one" else AgentWorkflow(agents=[one])


@pytest.mark.parametrize("kind", ["one", "workflow"])
async def test_an_agent_with_tools_and_a_restart_in_the_middle(
    kind: str, path: Path, opened: Callable[..., Any]
) -> None:
    llm = ScriptedLLM(answer=answer)

    def memory() -> TokenMizerMemory:
        return TokenMizerMemory.from_defaults(chat_store=opened(path), session_id="s", token_limit=LIMIT)

    asked = [*START, *(f"Explain detail {number}." for number in range(16))]
    for half in (asked[:9], asked[9:]):
        runner, kept = agent(llm, kind), memory()
        for text in half:
            await runner.run(user_msg=text, memory=kept)
    kept = memory()
    reply = await agent(llm, kind).run(user_msg="Which database do we use?", memory=kept)
    assert str(reply.response.content) == "PostgreSQL"
    assert all(paired(prompt) for prompt in llm.prompts)
    history = kept.get_all()
    assert paired(history)
    assert [one.content for one in history if one.role == "user"] == [*asked, "Which database do we use?"]
    assert len([one for one in history if one.role == "tool"]) == 16
    assert all(one.blocks[0].block_type == "tool_call" for one in history if not one.content)


async def test_a_context_is_kept_and_taken_up_again(path: Path, opened: Callable[..., Any]) -> None:
    llm = ScriptedLLM(answer=answer)
    runner = agent(llm)
    context = Context(runner)
    kept = TokenMizerMemory.from_defaults(chat_store=str(path), session_id="s", token_limit=LIMIT)
    for text in START:
        await runner.run(user_msg=text, memory=kept, ctx=context)
    stored = json.loads(json.dumps(context.to_dict()))
    kept.chat_store.memory.close()
    runner = agent(llm)
    again = Context.from_dict(runner, stored)
    await runner.run(user_msg="Explain detail 1.", ctx=again)
    revived = await again.store.get("memory")
    assert isinstance(revived, TokenMizerMemory)
    assert [one.content for one in revived.get_all() if one.role == "user"] == [*START, "Explain detail 1."]
    revived.chat_store.memory.close()


async def test_an_agent_that_reasons_in_text(path: Path, opened: Callable[..., Any]) -> None:
    def reason(messages: Sequence[ChatMessage]) -> ChatMessage:
        if "Observation:" in str(messages[-1].content):
            return said("Thought: I know it now.\nAnswer: It is dull.")
        return said('Thought: I look it up.\nAction: look_up\nAction Input: {"number": 7}')

    llm = ScriptedLLM(answer=reason)
    kept = TokenMizerMemory.from_defaults(chat_store=opened(path), token_limit=LIMIT)
    reply = await ReActAgent(tools=[look_up], llm=llm).run(user_msg="What is detail 7?", memory=kept)
    assert "It is dull." in str(reply.response.content)
    assert kept.get_all()[0].role == "user"
    assert kept.get_all() == TokenMizerMemory(chat_store=kept.chat_store).get_all()


async def test_two_runs_of_one_session_at_once(path: Path, opened: Callable[..., Any]) -> None:
    spoken: list[ChatMessage] = []

    def recorded(messages: Sequence[ChatMessage]) -> ChatMessage:
        spoken.append(answer(messages))  # whichever run's words stand last: what was said has to be kept
        return spoken[-1]

    llm = ScriptedLLM(answer=recorded)
    memories = [TokenMizerMemory.from_defaults(chat_store=opened(path), session_id="s") for _ in range(2)]
    await asyncio.gather(
        *(agent(llm).run(user_msg=f"Explain detail {n}.", memory=memory) for n, memory in enumerate(memories))
    )
    history = memories[0].get_all()
    assert sorted(str(one.content) for one in history if one.role == "user") == [
        "Explain detail 0.",
        "Explain detail 1.",
    ]
    called = [one for one in spoken if not one.content]
    assert len([one for one in history if one.role == "tool"]) == len(called)
    assert len([one for one in history if one.content == "Understood."]) == len(spoken) - len(called) == 2


async def test_the_frameworks_memory_with_our_store_and_block(path: Path, opened: Callable[..., Any]) -> None:
    llm = ScriptedLLM(answer=answer)
    store = TokenMizerAsyncChatStore(opened(path).memory)
    for half in ([*START, *(f"Explain detail {n}." for n in range(6))], [f"Explain detail {n}." for n in range(6, 16)]):
        kept = Memory.from_defaults(
            session_id="s",
            chat_store=store,
            token_limit=LIMIT // 2,
            token_flush_size=200,
            memory_blocks=[TokenMizerMemoryBlock(store.memory)],
        )
        for text in half:
            await agent(llm).run(user_msg=text, memory=kept)
    reply = await agent(llm).run(user_msg="Which database do we use?", memory=kept)
    assert str(reply.response.content) == "PostgreSQL"
    assert paired(await kept.aget_all())
