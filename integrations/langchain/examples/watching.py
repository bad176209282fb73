"""An unchanged chain, recorded by a callback handler: ``python watching.py``."""

from __future__ import annotations

from langchain_core.prompts import ChatPromptTemplate
from langchain_tokenmizer_mw import TokenMizerCallbackHandler
from scripted import ScriptedModel

from tokenmizer_mw import SessionMemory

memory = SessionMemory.open("memory://")
chain = ChatPromptTemplate.from_messages([("system", "Be brief."), ("human", "{asked}")]) | ScriptedModel()

chain.invoke(
    {"asked": "Use SQLite for storage in the invoice service."},
    {"callbacks": [TokenMizerCallbackHandler(memory, session_id="ann")]},
)
print(memory.resume("ann").text)
memory.close()
