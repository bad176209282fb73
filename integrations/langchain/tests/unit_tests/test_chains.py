"""A chain with a history, far beyond the window of its model: what reaches the model fits, and what was said stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableConfig, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory
from pydantic import PrivateAttr

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.tokens import estimate

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WINDOW = 2_000
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{question}")]
)
SESSION: Any = {"configurable": {"session_id": "s"}}
Build = Callable[[BaseChatModel, SessionMemory], tuple[Runnable[Any, Any], Callable[[str], Any]]]


class Listening(BaseChatModel):
    """A model that keeps what it is sent."""

    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "listening"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self._prompts.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Well noted. " * 25))])


def keyed(model: BaseChatModel, memory: SessionMemory) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    histories = TokenMizerChatMessageHistory.factory(memory, window=WINDOW)
    chain = RunnableWithMessageHistory(
        PROMPT | model, histories, input_messages_key="question", history_messages_key="history"
    )
    return chain, lambda text: {"question": text}


def plain(model: BaseChatModel, memory: SessionMemory) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    histories = TokenMizerChatMessageHistory.factory(memory, window=WINDOW)
    return RunnableWithMessageHistory(model, histories), lambda text: [HumanMessage(text)]


def with_reminders(model: BaseChatModel, memory: SessionMemory) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    def history_for(given: dict[str, Any], config: RunnableConfig) -> list[BaseMessage]:
        history = TokenMizerChatMessageHistory(config["configurable"]["session_id"], memory)
        return history.context_messages(window=WINDOW, question=given["question"])

    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(history=history_for) | PROMPT | model,
        TokenMizerChatMessageHistory.factory(memory),
        input_messages_key="question",
        history_messages_key="history",
    )
    return chain, lambda text: {"question": text}


def play(chain: Runnable[Any, Any], ask: Callable[[str], Any], way: str) -> None:
    """Twenty turns, about three windows of messages."""
    texts = ["Use SQLite for storage in the invoice service.", "The courier's green van comes at 16:40 on Fridays."]
    texts += [f"Write part {number} of the report on pumps and valves. " * 12 for number in range(18)]
    for text in texts:
        if way == "invoke":
            chain.invoke(ask(text), SESSION)
        else:
            asyncio.run(chain.ainvoke(ask(text), SESSION))


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("build", [keyed, plain, with_reminders])
def test_a_chain_outlives_the_window_of_its_model(memory: SessionMemory, build: Build, way: str) -> None:
    model = Listening()
    chain, ask = build(model, memory)
    play(chain, ask, way)
    sizes = [sum(estimate(message.text) for message in prompt) for prompt in model._prompts]
    assert max(sizes) <= WINDOW
    last = "\n".join(message.text for message in model._prompts[-1])
    assert "SQLite" in last and "<session-record" in last
    stored = TokenMizerChatMessageHistory("s", memory).messages
    assert len(stored) == 40, "every message once, and no block among them"
    assert not any("<session-record" in message.text for message in stored)


def test_what_the_question_asks_for_is_looked_up(memory: SessionMemory) -> None:
    model = Listening()
    chain, ask = with_reminders(model, memory)
    play(chain, ask, "invoke")
    chain.invoke(ask("When does the courier's van come?"), SESSION)
    assert "16:40" in "\n".join(message.text for message in model._prompts[-1])


def test_a_history_is_whole_where_it_is_asked_for(memory: SessionMemory) -> None:
    model = Listening()
    play(*keyed(model, memory), "invoke")
    assert len(TokenMizerChatMessageHistory("s", memory).messages) == 40
    assert len(TokenMizerChatMessageHistory.factory(memory, cut=False, window=WINDOW)("s").messages) == 40
    cut = TokenMizerChatMessageHistory.factory(memory, window=WINDOW)("s")
    assert cut.messages == asyncio.run(cut.aget_messages()) == cut.context_messages()
    assert len(cut.messages) < 40
