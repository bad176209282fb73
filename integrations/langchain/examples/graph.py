"""A LangGraph graph whose nodes read the session's decisions: ``python graph.py``."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_tokenmizer_mw import TokenMizerMiddleware, TokenMizerStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory

memory = SessionMemory.open("memory://")
chat = create_agent(ScriptedModel(), middleware=[TokenMizerMiddleware(memory)])


def report(state: MessagesState, *, store: BaseStore) -> Any:
    """Return the current decisions, read from the store."""
    facts = store.search(("invoices", "decision"), filter={"current": True})
    return {"messages": [AIMessage("Decided: " + "; ".join(item.value["label"] for item in facts))]}


graph = StateGraph(MessagesState)
graph.add_node("chat", chat)
graph.add_node("report", report)
graph.add_edge(START, "chat")
graph.add_edge("chat", "report")
app: Any = graph.compile(checkpointer=InMemorySaver(), store=TokenMizerStore(memory))
config: Any = {"configurable": {"thread_id": "invoices"}}

app.invoke({"messages": [HumanMessage("Use SQLite for storage in the invoice service.")]}, config)
switch = HumanMessage("Switch from SQLite to PostgreSQL because of concurrent writes.")
print(app.invoke({"messages": [switch]}, config)["messages"][-1].text)
memory.close()
