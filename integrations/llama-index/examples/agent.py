"""An agent with a tool, on a memory that keeps the whole run: tool calls stay with their results, prompts within the
limit.

    python agent.py [PATH]

The model is scripted, so that no API key and no network are needed; replace it with your own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.memory.tokenmizer_mw import TokenMizerMemory
from scripted_llm import ScriptedLLM, calling, said


def look_up(number: int) -> str:
    """Look up an invoice."""
    return f"Invoice {number}: " + "one more line of it; " * 20


def answer(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Looks up what it is asked for, then says that it has."""
    asked = str(messages[-1].content)
    if asked.startswith("Check invoice"):
        number = int(asked.split()[2].rstrip("."))
        return calling("look_up", id=f"call-{number}", number=number)
    return said("Done.")


async def main(path: str) -> None:
    """Run the agent turn by turn."""
    memory = TokenMizerMemory.from_defaults(chat_store=path, session_id="checks", token_limit=1_000)
    llm = ScriptedLLM(answer=answer)
    agent = FunctionAgent(tools=[look_up], llm=llm)
    for text in ("Amounts are in euros, never in dollars.", *(f"Check invoice {number}." for number in range(1, 11))):
        await agent.run(user_msg=text, memory=memory)
    print(f"{len(memory.get_all())} messages are kept, the last prompt had {len(llm.prompts[-1])}; it began with:")
    print(llm.prompts[-1][0].content)
    memory.chat_store.memory.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "agent.db"))
