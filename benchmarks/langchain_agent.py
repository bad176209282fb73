"""A LangChain agent with a tool, 60 turns in a window of 4,000 tokens: the stock summarization compared with ours.

The model is scripted and its calls are counted. If the stock middleware asks it for a summary, the summary is
perfect: every choice that the prompt names, the newest of each kind. ``none`` is the agent without middleware. A
prompt is whole if every tool result in it follows its call. Its beginning is reused if it starts with all of the
previous prompt, which is what a provider's prompt cache can serve.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.tokens import ModelCounters

from .langchain_chain import quiet
from .measure import at_most

WINDOW: Final = 4_000
TURNS: Final = 60
CHOICES: Final = {
    0: "Use SQLite for storage in the invoice service.",
    1: "Never push to main without review.",
    5: "Use Flask for the API.",
    20: "Switch from SQLite to PostgreSQL because of concurrent writes.",
    30: "Switch from Flask to FastAPI because we need async.",
}
STANDING: Final = ("PostgreSQL", "FastAPI", "push to main")
REPLACED: Final = (("SQLite", "PostgreSQL"), ("Flask", "FastAPI"))
SUMMARY: Final = "extract"
"""A word of the stock summary prompt that does not occur in the chat."""


class Scripted(BaseChatModel):
    """A model that calls the tool once if the user says "Look", else answers, and summarizes perfectly. ``prompts``:
    all prompts that it received."""

    prompts: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        self.prompts.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=_answer(messages, len(self.prompts)))])


def _answer(messages: Sequence[BaseMessage], number: int) -> AIMessage:
    last = messages[-1]
    if _summarizes(messages):
        said = [choice for choice in CHOICES.values() if choice in last.text]
        gone = [old for old, new in REPLACED if any(f"to {new}" in choice for choice in said)]
        return AIMessage(" ".join(choice for choice in said if not any(f"Use {old}" in choice for old in gone)))
    if isinstance(last, HumanMessage) and last.text.startswith("Look"):
        calls: Any = [{"name": "look", "args": {"at": last.text.split(".")[0]}, "id": f"call-{number}"}]
        return AIMessage("", tool_calls=calls)
    return AIMessage("Understood. " + "I looked at it and it is as it should be. " * 3)


def _summarizes(messages: Sequence[BaseMessage]) -> bool:
    return len(messages) == 1 and SUMMARY in messages[0].text


def look(at: str) -> str:
    """Look at a part of the service."""
    return f"{at}: " + "a line of output of the tool. " * 12


Make = Callable[[BaseChatModel], Any]


def none(model: BaseChatModel) -> Any:
    return None


def stock(model: BaseChatModel) -> Any:
    from langchain.agents.middleware import SummarizationMiddleware

    return SummarizationMiddleware(model, trigger=("tokens", int(WINDOW * 0.85)), keep=("messages", 12))


def summarizer(model: BaseChatModel) -> Any:
    from langchain_tokenmizer_mw import tokenmizer_summarization

    return tokenmizer_summarization(
        model, SessionMemory.open(), trigger=("tokens", int(WINDOW * 0.85)), keep=("messages", 12)
    )


def ours(model: BaseChatModel) -> Any:
    from langchain_tokenmizer_mw import TokenMizerMiddleware

    return TokenMizerMiddleware(SessionMemory.open(), window=WINDOW)


AGENTS: Final[dict[str, Make]] = {
    "none": none,
    "SummarizationMiddleware": stock,
    "SummarizationMiddleware(summarizer=TokenMizerSummarizer)": summarizer,
    "TokenMizerMiddleware": ours,
}


def run() -> dict[str, Any]:
    with quiet():
        rows = {name: agent(make) for name, make in AGENTS.items()}
    mine, alone = rows["TokenMizerMiddleware"], rows["none"]
    bars = [
        at_most("model calls besides the agent's own", mine["extra_calls"], 0, digits=0),
        at_most("messages of the thread lost", alone["thread"] - mine["thread"], 0, digits=0),
        at_most("prompts with a call or a result alone", mine["torn_prompts"], 0, digits=0),
        at_most("current choices missing in the last prompt, of three", len(mine["missing"]), 0, digits=0),
        at_most("stale choices presented as current", len(mine["stale"]), 0, digits=0),
        at_most("tokens of all prompts, to those without middleware", mine["tokens"] / alone["tokens"], 0.5),
        at_most("tokens of the longest prompt", mine["longest"], WINDOW, digits=0),
    ]
    return {"figures": rows, "bars": bars, "notes": __doc__}


def agent(make: Make) -> dict[str, Any]:
    """Return the figures of an agent with one middleware. ``make``: returns the middleware for a model, ``None`` for
    none."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    model = Scripted()
    middleware = make(model)
    built: Any = create_agent(
        model, tools=[look], middleware=[middleware] if middleware else [], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for number in range(TURNS):
        text = CHOICES.get(number, f"Look at part {number} of the service, please.")
        built.invoke({"messages": [HumanMessage(text)]}, config)
    own = [prompt for prompt in model.prompts if not _summarizes(prompt)]
    sizes = [_tokens(prompt) for prompt in model.prompts]
    told = "\n".join(message.text for message in own[-1])
    return {
        "extra_calls": len(model.prompts) - len(own),
        "tokens": sum(sizes),
        "longest": max(_tokens(prompt) for prompt in own),
        "thread": len(built.get_state(config).values["messages"]),
        "torn_prompts": sum(map(_torn, own)),
        "beginning_reused": round(sum(_begins(after, before) for before, after in pairwise(own)) / (len(own) - 1), 3),
        "missing": [value for value in STANDING if value not in told],
        "stale": [old for old, new in REPLACED if _stale(told, old, new)],
    }


def _tokens(prompt: Sequence[BaseMessage]) -> int:
    count = ModelCounters(None).of("gpt-4o").counter.count
    return sum(count(message.text) + count(str(getattr(message, "tool_calls", "") or "")) + 4 for message in prompt)


def _begins(after: Sequence[BaseMessage], before: Sequence[BaseMessage]) -> bool:
    return [message.text for message in after[: len(before)]] == [message.text for message in before]


def _torn(prompt: Sequence[BaseMessage]) -> bool:
    called: set[str] = set()
    for message in prompt:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in called:
                return True
            called.discard(message.tool_call_id)
        elif called:
            return True
        elif isinstance(message, AIMessage):
            called = {call["id"] or "" for call in message.tool_calls}
    return bool(called)


def _stale(told: str, old: str, new: str) -> bool:
    statements = re.split(r"\n|; |\. |\.$", told)
    return any(old in statement and new not in statement for statement in statements)
