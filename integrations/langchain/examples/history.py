"""A chain with a message history that survives restarts and overlapping runs: ``python history.py``."""

from __future__ import annotations

import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory

warnings.simplefilter("ignore")  # LangChain says that RunnableWithMessageHistory is deprecated

prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("past"), ("human", "{asked}")])
config: Any = {"configurable": {"session_id": "ann"}}


def chain(memory: SessionMemory) -> Any:
    """Return the chain on a memory."""
    return RunnableWithMessageHistory(
        prompt | ScriptedModel(),
        TokenMizerChatMessageHistory.factory(memory),
        input_messages_key="asked",
        history_messages_key="past",
    )


with tempfile.TemporaryDirectory() as folder:
    url = f"sqlite:///{Path(folder) / 'memory.db'}"
    memory = SessionMemory.open(url)
    running = chain(memory)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: running.invoke({"asked": f"Question {n}?"}, config), range(4)))
    memory.close()

    memory = SessionMemory.open(url)
    chain(memory).invoke({"asked": "And after a restart?"}, config)
    messages = TokenMizerChatMessageHistory("ann", memory).messages
    print(f"messages kept of five runs: {len(messages)}")
    memory.close()
