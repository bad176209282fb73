"""A chain with ``ConversationKGMemory`` replaced by changing two names: ``python conversation.py``."""

from __future__ import annotations

import warnings

from langchain_classic.chains import ConversationChain
from langchain_tokenmizer_mw import TokenMizerMemory
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory

warnings.simplefilter("ignore")  # LangChain says that its chains are deprecated

model = ScriptedModel()
memory = SessionMemory.open("memory://")  # in your application: "sqlite:///memory.db"
chain = ConversationChain(llm=model, memory=TokenMizerMemory(llm=model, memory=memory, session_id="ann"))

chain.invoke({"input": "Use SQLite for storage in the invoice service."})
chain.invoke({"input": "Never push to main without review."})
chain.invoke({"input": "Switch from SQLite to PostgreSQL because of concurrent writes."})

print(f"calls of the model: {len(model.prompts)} for 3 turns")
print(chain.memory.load_memory_variables({"input": "Which storage?"})["history"])
print(chain.memory.kg.get_triples())
memory.close()
