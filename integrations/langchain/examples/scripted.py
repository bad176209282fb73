"""A chat model that answers from a script, for examples and tests without API key and network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field


def understood(messages: Sequence[BaseMessage]) -> AIMessage:
    """Return a default answer."""
    return AIMessage("Understood.")


class ScriptedModel(BaseChatModel):
    """Answers with the result of ``answer`` for a prompt; ``prompts`` collects all prompts."""

    answer: Callable[[Sequence[BaseMessage]], AIMessage] = understood
    prompts: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        """Return the model itself, because the script knows the tools."""
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.prompts.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.prompts.append(list(messages))
        for word in self.answer(messages).text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(word + " "))
