"""LangChain's summarization middleware with summaries that need no model call: ``python summarization.py``."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_tokenmizer_mw import tokenmizer_summarization
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory

model = ScriptedModel(answer=lambda messages: AIMessage("Understood. " + "It is as it should be. " * 20))
memory = SessionMemory.open("memory://")
summarization = tokenmizer_summarization(model, memory, trigger=("tokens", 1_500), keep=("messages", 4))
agent = create_agent(model, middleware=[summarization], checkpointer=InMemorySaver())
config: Any = {"configurable": {"thread_id": "invoices"}}

agent.invoke({"messages": [HumanMessage("Use SQLite for storage in the invoice service.")]}, config)
for number in range(15):
    agent.invoke({"messages": [HumanMessage(f"Explain part {number}, please.")]}, config)

thread = agent.get_state(config).values["messages"]
print(f"calls of the model: {len(model.prompts)} for 16 turns")
print(
    f"messages left in the thread: {len(thread)}, kept word for word in the memory: {len(memory.messages('invoices'))}"
)
print(thread[0].text)
memory.close()
