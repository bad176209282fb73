"""An agent whose thread stays complete while its prompts stay short. Needs no key: ``python agent.py``."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_tokenmizer_mw import TokenMizerMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory


def read_file(path: str) -> str:
    """Read a file of the project."""
    return f"# {path}\n" + "def handler(request): ...\n" * 10


def script(messages: Any) -> AIMessage:
    """Call the file tool when asked to look at a file; else answer."""
    last = messages[-1]
    if isinstance(last, HumanMessage) and last.text.startswith("Look"):
        calls: Any = [{"name": "read_file", "args": {"path": last.text.split()[-1]}, "id": f"call-{last.id}"}]
        return AIMessage("", tool_calls=calls)
    return AIMessage("Understood. It is as it should be.")


model = ScriptedModel(answer=script)  # in your application: "anthropic:claude-sonnet-5", "openai:gpt-6", ...
memory = SessionMemory.open("memory://")  # in your application: "sqlite:///memory.db"
agent = create_agent(
    model,
    tools=[read_file],
    system_prompt="You are a colleague of few words.",
    middleware=[TokenMizerMiddleware(memory, window=2_000)],  # in your application: without window
    checkpointer=InMemorySaver(),
)
config: Any = {"configurable": {"thread_id": "invoices"}}

agent.invoke({"messages": [HumanMessage("Use SQLite for storage in the invoice service.")]}, config)
agent.invoke({"messages": [HumanMessage("Switch from SQLite to PostgreSQL because of concurrent writes.")]}, config)
for number in range(20):
    agent.invoke({"messages": [HumanMessage(f"Look at app/part{number}.py")]}, config)

thread, prompt = agent.get_state(config).values["messages"], model.prompts[-1]
print(f"messages in the thread: {len(thread)}, in the last prompt: {len(prompt)}")
print(f"calls of the model beside the agent's own: {len(model.prompts) - sum(m.type == 'ai' for m in thread)}")
print(prompt[1].text)
memory.close()
