"""A chat engine whose chat survives the process and exceeds its window: run it twice.

    python chat.py [PATH]

The model is scripted, so that no API key and no network are needed; replace it with your own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.memory.tokenmizer_mw import TokenMizerMemory
from scripted_llm import ScriptedLLM, said

ASKED = [
    "Use SQLite for storage in the invoice service.",
    "Never push to main without a review.",
    "Switch from SQLite to PostgreSQL because of concurrent writes.",
    *(f"Explain detail {number} of invoices." for number in range(1, 13)),
]


def answer(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Return a long answer."""
    return said("That is a long story, and it goes like this. " * 12)


def main(path: str) -> None:
    """Chat, and print what a model gets at the end."""
    memory = TokenMizerMemory.from_defaults(chat_store=path, session_id="invoices", token_limit=1_000)
    print(f"{len(memory.get_all())} messages from before")
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM(answer=answer), memory=memory)
    for text in ASKED:
        engine.chat(text)
    messages = memory.get()
    print(f"{len(memory.get_all())} messages are kept, {len(messages)} go to the model; the first one:")
    print(messages[0].content)
    memory.chat_store.memory.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "chat.db")
