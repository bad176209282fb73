"""LlamaIndex's own `Memory` with this package's chat store and memory block.

python block.py [PATH]
"""

from __future__ import annotations

import asyncio
import sys

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.memory.tokenmizer_mw import TokenMizerMemoryBlock
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerAsyncChatStore


async def main(path: str) -> None:
    """Add a chat that is too long, and print what a model gets."""
    store = TokenMizerAsyncChatStore(path)
    memory = Memory.from_defaults(
        session_id="invoices",
        chat_store=store,
        token_limit=600,
        token_flush_size=200,
        memory_blocks=[TokenMizerMemoryBlock(store.memory)],
    )
    await memory.aput(ChatMessage("Use SQLite for storage.", role="user"))
    await memory.aput(ChatMessage("Understood.", role="assistant"))
    await memory.aput(ChatMessage("Switch from SQLite to PostgreSQL because of concurrent writes.", role="user"))
    for number in range(12):
        await memory.aput(ChatMessage(f"Detail {number}. " + "One more word. " * 12, role="assistant"))
        await memory.aput(ChatMessage(f"And detail {number + 1}?", role="user"))
    print((await memory.aget())[0].content)
    store.memory.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "block.db"))
