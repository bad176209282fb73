"""Whole applications of LangChain and LangGraph with a scripted model, stopped and started again in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tokenmizer_mw import (
    TokenMizerCallbackHandler,
    TokenMizerChatMessageHistory,
    TokenMizerMiddleware,
    TokenMizerStore,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

from tokenmizer_mw import SessionMemory

CHOICE = "Use SQLite for storage in the invoice service."
SWITCH = "Switch from SQLite to PostgreSQL because of concurrent writes."
Open = Callable[..., SessionMemory]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_chain_with_history_and_callbacks(scripted: Any, url: str, opened: Open) -> None:
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), MessagesPlaceholder("past"), ("human", "{asked}")]
    )
    model, answers = scripted(), []
    for asked in (CHOICE, SWITCH, "Which storage?"):
        memory = opened(url)
        chain = RunnableWithMessageHistory(
            prompt | model | StrOutputParser(),
            TokenMizerChatMessageHistory.factory(memory),
            input_messages_key="asked",
            history_messages_key="past",
        )
        handler = TokenMizerCallbackHandler(memory, session_id="watched")
        config: Any = {"configurable": {"session_id": "s"}, "callbacks": [handler]}
        answers.append(chain.invoke({"asked": asked}, config))
        memory.close()
    assert answers == ["Understood."] * 3
    assert [message.text for message in model.prompts[-1]] == [
        "Be brief.", CHOICE, "Understood.", SWITCH, "Understood.", "Which storage?",
    ]  # fmt: skip
    memory = opened(url)
    assert len(memory.messages("s")) == len(memory.messages("watched")) == 6
    for session in ("s", "watched"):
        decided = [node for node in memory.graph(session).nodes("decision") if node.current]
        assert any("PostgreSQL" in node.label for node in decided)


def test_an_agent_with_tools_whose_work_goes_on_elsewhere(scripted: Any, url: str, opened: Open) -> None:
    files = {"app/db.py": "ENGINE = 'sqlite'"}

    def read_file(path: str) -> str:
        """Read a file."""
        return files[path]

    def write_file(path: str, text: str) -> str:
        """Write a file."""
        files[path] = text
        return "written"

    def working(messages: Sequence[BaseMessage]) -> AIMessage:
        last = messages[-1]
        calls: list[Any] = []
        if isinstance(last, HumanMessage) and last.text == SWITCH:
            calls = [{"name": "read_file", "args": {"path": "app/db.py"}, "id": "r1"}]
        elif isinstance(last, ToolMessage) and last.tool_call_id == "r1":
            arguments = {"path": "app/db.py", "text": "ENGINE = 'postgresql'"}
            calls = [{"name": "write_file", "args": arguments, "id": "w1"}]
        elif isinstance(last, ToolMessage):
            return AIMessage("Switched from SQLite to PostgreSQL. Updated app/db.py.")
        return AIMessage("" if calls else "Understood. " + "words " * 30, tool_calls=calls)

    model, saver = scripted(answer=working), InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    chat = [CHOICE, *(f"Explain part {n}. " + "please " * 30 for n in range(12)), SWITCH]
    chat += [f"Explain part {n}. " + "please " * 30 for n in range(12, 30)]
    for asked in chat:
        memory = opened(url)
        agent = create_agent(
            model,
            tools=[read_file, write_file],
            middleware=[TokenMizerMiddleware(memory, window=2_000)],
            checkpointer=saver,
        )
        agent.invoke({"messages": [HumanMessage(asked)]}, config)
        memory.close()
    assert files == {"app/db.py": "ENGINE = 'postgresql'"}
    block = model.prompts[-1][0].text
    assert "PostgreSQL" in block
    assert "app/db.py" in block
    memory = opened(url)
    assert len(memory.messages("t")) == 2 * len(chat) + 4
    assert "SQLite" not in " ".join(
        n.label for n in memory.graph("t").nodes("decision", "active") if "to" not in n.label
    )


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_graph_whose_nodes_share_a_memory(scripted: Any, url: str, opened: Open, way: str) -> None:
    model, saver = scripted(), InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}

    def compiled(memory: SessionMemory) -> Any:
        agent = create_agent(model, middleware=[TokenMizerMiddleware(memory)])

        def report(state: MessagesState, *, store: BaseStore) -> Any:
            facts = store.search(("t", "decision"), filter={"current": True})
            return {"messages": [AIMessage("; ".join(item.value["label"] for item in facts))]}

        graph = StateGraph(MessagesState)
        graph.add_node("agent", agent)
        graph.add_node("report", report)
        graph.add_edge(START, "agent")
        graph.add_edge("agent", "report")
        return graph.compile(checkpointer=saver, store=TokenMizerStore(memory))

    for asked in (CHOICE, SWITCH):
        memory = opened(url)
        told = {"messages": [HumanMessage(asked)]}
        app = compiled(memory)
        done = app.invoke(told, config) if way == "sync" else asyncio.run(app.ainvoke(told, config))
        memory.close()
    assert "PostgreSQL" in done["messages"][-1].text
    assert len(done["messages"]) == 6
