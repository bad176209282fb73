"""Reminders: what a cut took out comes back with the question, or the tool's result, that asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory, TokenMizerMemory, TokenMizerMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

WINDOW = 2_000
FENCE = "\n\n<session-record "
FIRST = ("We begin with the orders.", "Who brings the parcels, by the way?")
COURIER = "The courier of the parcels is called Hermine and drives a green van."
ASKED = "Who is the courier of the parcels, and what does she drive?"
OpenMemory = Callable[..., SessionMemory]


@tool
def look(at: str) -> str:
    """Look at something."""
    return "KeyError: retry_budget_ms" if "retries" in at else f"saw {at}. " + "detail " * 40


def looking(messages: Sequence[BaseMessage]) -> AIMessage:
    last = messages[-1]
    if isinstance(last, HumanMessage) and last.text.lower().startswith("look"):
        calls: Any = [{"name": "look", "args": {"at": last.text[:20]}, "id": f"c{len(last.text)}-{last.id}"}]
        return AIMessage("", tool_calls=calls)
    if "Who brings" in last.text:
        return AIMessage(COURIER)
    if "configuration" in last.text:
        return AIMessage("The configuration has retry_budget_ms with 4500, since the outage in May.")
    return AIMessage("Understood. " + "words " * 20)


@pytest.fixture
def memory(opened: OpenMemory) -> SessionMemory:
    return opened(block_tokens=80)


Ask = Callable[[str], None]


def agent_asked(model: Any, memory: SessionMemory, *, is_async: bool) -> Ask:
    agent: Any = create_agent(
        model, tools=[look], middleware=[TokenMizerMiddleware(memory, window=WINDOW)], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}

    def ask(text: str) -> None:
        said: Any = {"messages": [HumanMessage(text)]}
        if is_async:
            asyncio.run(agent.ainvoke(said, config))
        else:
            agent.invoke(said, config)

    return ask


def talk(ask: Ask, *first: str) -> None:
    for text in first:
        ask(text)
    for number in range(18):
        ask(f"Look at part {number}. " + "please " * 10)


def reminded(memory: SessionMemory, session: str = "t") -> list[Reminded]:
    events = memory.log.read(SessionKey(LOCAL_TENANT, session))
    return [one.event for one in events if isinstance(one.event, Reminded)]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_question_comes_with_what_the_cut_took_out(scripted: Any, memory: SessionMemory, is_async: bool) -> None:
    model = scripted(answer=looking)
    ask = agent_asked(model, memory, is_async=is_async)
    talk(ask, *FIRST)
    ask(ASKED)
    newest = model.prompts[-1][-1].text
    assert newest.startswith(ASKED + FENCE)
    assert "green van" in newest
    memory.flush()
    kept = [one.message.text for one in memory.messages("t")]
    assert ASKED in kept
    assert not any(FENCE in text for text in kept)
    event = reminded(memory)[-1]
    assert 4 in event.messages
    assert event.turn == len(kept)
    assert 0 < event.tokens <= memory.settings.reminder_tokens


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_calls_of_a_turn_with_tools_begin_the_same(scripted: Any, memory: SessionMemory, is_async: bool) -> None:
    model = scripted(answer=looking)
    ask = agent_asked(model, memory, is_async=is_async)
    talk(ask, *FIRST)
    ask("Look: who is the courier of the parcels?")
    first, second = model.prompts[-2:]
    assert "green van" in first[-1].text
    assert second[: len(first)] == first
    assert isinstance(second[-1], ToolMessage)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_tool_result_that_names_what_was_removed_is_followed_by_it(
    scripted: Any, memory: SessionMemory, is_async: bool
) -> None:
    model = scripted(answer=looking)
    ask = agent_asked(model, memory, is_async=is_async)
    talk(ask, "We begin with the orders.", "What does the configuration say?")
    ask("Look at retries now, please.")
    result = model.prompts[-1][-1]
    assert isinstance(result, ToolMessage)
    assert result.text.startswith("KeyError: retry_budget_ms" + FENCE)
    assert "4500" in result.text


def test_middle_of_a_long_turn_comes_back_when_a_tool_asks_for_it(scripted: Any, memory: SessionMemory) -> None:
    @tool
    def run(step: int) -> str:
        """Run a step."""
        if step == 1:
            return "The ledger was imported with checksum_seed at 90210. " + "detail " * 90
        return "ValueError: checksum_seed" if step == 20 else f"step {step}. " + "detail " * 90

    def running(messages: Sequence[BaseMessage]) -> AIMessage:
        step = len(model.prompts)
        calls: Any = [{"name": "run", "args": {"step": step}, "id": f"c{step}"}]
        return AIMessage("", tool_calls=calls) if step <= 20 else AIMessage("Done.")

    model = scripted(answer=running)
    agent: Any = create_agent(model, tools=[run], middleware=[TokenMizerMiddleware(memory, window=WINDOW)])
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 100}
    agent.invoke({"messages": [HumanMessage("Go through the steps.")]}, config)
    last = model.prompts[-1]
    assert "90210" not in "".join(message.text for message in last[1:-1])
    assert "90210" in last[-1].text


def test_no_reminder_where_it_is_switched_off(scripted: Any, opened: OpenMemory) -> None:
    model, memory = scripted(answer=looking), opened(block_tokens=80, reminder_tokens=0)
    ask = agent_asked(model, memory, is_async=False)
    talk(ask, *FIRST)
    ask(ASKED)
    assert model.prompts[-1][-1].text == ASKED
    assert not reminded(memory)


def test_parts_of_a_question_keep_their_form(scripted: Any, memory: SessionMemory) -> None:
    model = scripted(answer=looking)
    ask: Any = agent_asked(model, memory, is_async=False)
    talk(ask, *FIRST)
    ask([{"type": "text", "text": ASKED}])
    parts = model.prompts[-1][-1].content
    assert parts[0] == {"type": "text", "text": ASKED}
    assert "green van" in parts[1]["text"]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_chain_memory_tells_what_its_block_does_not(opened: OpenMemory, is_async: bool) -> None:
    memory = opened()
    chain = TokenMizerMemory(memory=memory, session_id="t", budget=64)
    for said in ("Never push to main without a review.", "Use PostgreSQL for the invoices.", "Deploy on Fridays only."):
        chain.save_context({"input": said}, {"output": "Noted."})
    chain.save_context({"input": FIRST[1]}, {"output": COURIER})
    for number in range(10):
        chain.save_context({"input": f"Part {number} is in work. " * 8}, {"output": "Well. " * 20})
    asked = {"input": ASKED}
    told = asyncio.run(chain.aload_memory_variables(asked)) if is_async else chain.load_memory_variables(asked)
    assert "green van" in told["history"]
    about_nothing = chain.load_memory_variables({"input": "Thanks."})["history"]
    assert "green van" not in about_nothing
    chain.save_context({"input": ASKED}, {"output": "Hermine."})
    assert 8 in reminded(memory)[-1].messages
    assert not any("<session-record" in one.message.text for one in memory.messages("t"))


def test_history_ends_with_what_the_next_question_asks_for(memory: SessionMemory) -> None:
    history = TokenMizerChatMessageHistory("t", memory)
    history.add_messages([HumanMessage(FIRST[0]), AIMessage("Good."), HumanMessage(FIRST[1]), AIMessage(COURIER)])
    for number in range(20):
        history.add_messages([HumanMessage(f"Part {number} is in work. " * 8), AIMessage("Well. " * 40)])
    plain = history.context_messages(window=WINDOW)
    asked = history.context_messages(window=WINDOW, question=ASKED)
    assert asked[:-1] == plain
    assert "green van" in asked[-1].text
    history.add_messages([HumanMessage(ASKED)])
    assert history.context_messages(window=WINDOW)[-1].text.startswith(ASKED + FENCE)
