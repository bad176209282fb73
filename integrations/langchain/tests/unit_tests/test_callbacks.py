"""The callback handler: it observes, it changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_tokenmizer_mw import TokenMizerCallbackHandler
from langchain_tokenmizer_mw.callbacks import RUNS_MAX

from tokenmizer_mw import SessionMemory

PROMPT = ChatPromptTemplate.from_messages([("system", "Be brief."), ("placeholder", "{past}"), ("human", "{asked}")])
CHOICE = "Use SQLite for storage."


def said(memory: SessionMemory, session: str = "s") -> list[str]:
    return [one.message.text.strip() for one in memory.messages(session)]


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke"])
def test_a_chain_is_remembered(scripted: Any, memory: SessionMemory, way: str) -> None:
    model = scripted()
    chain = PROMPT | model
    config: Any = {"callbacks": [TokenMizerCallbackHandler(memory, session_id="s")]}
    past: list[BaseMessage] = []
    for asked in (CHOICE, "And now?"):
        told = {"past": past, "asked": asked}
        match way:
            case "invoke":
                chain.invoke(told, config)
            case "stream":
                list(chain.stream(told, config))
            case _:
                asyncio.run(chain.ainvoke(told, config))
        past += [HumanMessage(asked), AIMessage("Understood.")]
    assert said(memory) == [CHOICE, "Understood.", "And now?", "Understood."]
    assert "SQLite" in memory.resume("s").text
    assert [message.text for message in model.prompts[-1]] == ["Be brief.", CHOICE, "Understood.", "And now?"]


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": {"thread_id": "s"}},
        {"metadata": {"session_id": "s"}},
        {"configurable": {"thread_id": "s"}},
        {"configurable": {"session_id": "s"}},
    ],
    ids=["thread in metadata", "session in metadata", "thread configurable", "session configurable"],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_the_run_names_its_session(scripted: Any, memory: SessionMemory, more: Any, way: str) -> None:
    config: Any = {"callbacks": [TokenMizerCallbackHandler(memory)], **more}
    chain = PROMPT | scripted()
    if way == "invoke":
        chain.invoke({"asked": CHOICE}, config)
    else:
        asyncio.run(chain.ainvoke({"asked": CHOICE}, config))
    assert said(memory) == [CHOICE, "Understood."]


def test_a_run_without_a_session_is_counted(scripted: Any, memory: SessionMemory) -> None:
    (PROMPT | scripted()).invoke({"asked": CHOICE}, {"callbacks": [TokenMizerCallbackHandler(memory)]})
    assert memory.sessions() == []
    assert memory.counters()["no_session"] == 1


def test_the_log_says_where_a_model_called_by_itself_names_its_session(
    scripted: Any, memory: SessionMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """LangChain passes the handler of such a call its metadata and not its configurable."""
    handler = TokenMizerCallbackHandler(memory)
    scripted().invoke(CHOICE, {"callbacks": [handler]})
    assert "in the run's metadata or, of a chain, in its configurable, and no session_id= of the handler" in caplog.text
    scripted().invoke(CHOICE, {"callbacks": [handler], "metadata": {"thread_id": "s"}})
    assert said(memory) == [CHOICE, "Understood."]


def test_a_model_of_texts_is_remembered(memory: SessionMemory) -> None:
    chain = PromptTemplate.from_template("{asked}") | FakeListLLM(responses=["Understood."])
    chain.invoke({"asked": CHOICE}, {"callbacks": [TokenMizerCallbackHandler(memory, session_id="s")]})
    assert said(memory) == [CHOICE, "Understood."]


def test_what_was_asked_is_kept_when_the_model_fails(scripted: Any, memory: SessionMemory) -> None:
    def failing(messages: Sequence[BaseMessage]) -> AIMessage:
        raise TimeoutError("the model did not answer")

    handler = TokenMizerCallbackHandler(memory, session_id="s")
    with pytest.raises(TimeoutError):
        (PROMPT | scripted(answer=failing)).invoke({"asked": CHOICE}, {"callbacks": [handler]})
    assert said(memory) == [CHOICE]
    assert not handler._runs


def test_tools_and_their_results_are_remembered(scripted: Any, memory: SessionMemory) -> None:
    create_agent = pytest.importorskip("langchain.agents").create_agent

    def look(at: str) -> str:
        """Look."""
        return f"saw {at}"

    def looking(messages: Sequence[BaseMessage]) -> AIMessage:
        calls: Any = [{"name": "look", "args": {"at": "x"}, "id": "c1"}]
        return AIMessage("", tool_calls=calls) if messages[-1].type == "human" else AIMessage("Found.")

    agent = create_agent(scripted(answer=looking), tools=[look])
    handler = TokenMizerCallbackHandler(memory, session_id="s")
    agent.invoke({"messages": [HumanMessage("Look at x.")]}, {"callbacks": [handler]})
    kept = [one.message for one in memory.messages("s")]
    assert [message.role.value for message in kept] == ["user", "assistant", "tool", "assistant"]
    assert kept[2].tool_results[0].text == "saw x"


def test_a_store_that_fails_never_stops_a_chain(
    scripted: Any, memory: SessionMemory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.close()
    config: Any = {"callbacks": [TokenMizerCallbackHandler(memory, session_id="s")]}
    assert (PROMPT | scripted()).invoke({"asked": CHOICE}, config).text == "Understood."
    assert "TokenMizerCallbackHandler" in caplog.text


@pytest.mark.parametrize("messages", [[], [[]], [[SystemMessage("Be brief.")]]])
def test_empty_batches_are_nothing(memory: SessionMemory, messages: Any) -> None:
    handler, run = TokenMizerCallbackHandler(memory, session_id="s"), uuid4()
    handler.on_chat_model_start({}, messages, run_id=run)
    handler.on_llm_end(LLMResult(generations=[]), run_id=run)
    handler.on_llm_end(LLMResult(generations=[[]]), run_id=uuid4())
    assert memory.messages("s") == []


def test_runs_that_never_end_are_bounded(opened: Callable[..., SessionMemory]) -> None:
    handler = TokenMizerCallbackHandler(opened(), session_id="s")
    for _ in range(RUNS_MAX + 5):
        handler.on_chat_model_start({}, [[HumanMessage(CHOICE)]], run_id=uuid4())
    assert len(handler._runs) == RUNS_MAX


def test_all_names_that_can_be_imported_here_are_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from langchain_tokenmizer_mw import *", names)
    assert "TokenMizerChatMessageHistory" in names


def test_a_session_id_is_checked_before_a_history_is_used() -> None:
    from langchain_tokenmizer_mw import TokenMizerChatMessageHistory

    from tokenmizer_mw.errors import InvalidSession

    with SessionMemory.open() as memory, pytest.raises(InvalidSession):
        TokenMizerChatMessageHistory(3, memory)  # type: ignore[arg-type]
