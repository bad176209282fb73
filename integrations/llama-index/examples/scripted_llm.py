"""A model that answers from a script, for examples and tests without API key and network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from pydantic import Field


def understood(messages: Sequence[ChatMessage]) -> ChatMessage:
    """Return a default answer."""
    return said("Understood.")


def said(text: str) -> ChatMessage:
    """Return an assistant message."""
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def calling(name: str, id: str = "call-1", **arguments: Any) -> ChatMessage:
    """Return an assistant message with a tool call."""
    block = ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])


class ScriptedLLM(FunctionCallingLLM):
    """Answers with the result of ``answer`` for a prompt; ``prompts`` collects all prompts."""

    answer: Callable[[Sequence[ChatMessage]], ChatMessage] = understood
    prompts: list[list[ChatMessage]] = Field(default_factory=list)
    context_window: int = 8_000

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model that calls functions."""
        return LLMMetadata(
            context_window=self.context_window, num_output=256, is_chat_model=True, is_function_calling_model=True
        )

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The next answer."""
        self.prompts.append(list(messages))
        return ChatResponse(message=self.answer(messages))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The next answer."""
        return self.chat(messages)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        """The next answer in two pieces."""
        whole = self.chat(messages).message

        def pieces() -> Iterator[ChatResponse]:
            text = whole.content or ""
            if text:
                yield ChatResponse(message=said(text[:4]), delta=text[:4])
            yield ChatResponse(message=whole, delta=text[4:])

        return pieces()

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        """The next answer in two pieces."""
        pieces = list(self.stream_chat(messages))

        async def one_by_one() -> AsyncIterator[ChatResponse]:
            for piece in pieces:
                yield piece

        return one_by_one()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The answer to a prompt that is no chat."""
        answer = self.chat([ChatMessage(role=MessageRole.USER, content=prompt)])
        return CompletionResponse(text=answer.message.content or "")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The answer to a prompt that is no chat."""
        return self.complete(prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        """The answer to a prompt that is no chat, in one piece."""
        yield self.complete(prompt)

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> AsyncIterator[CompletionResponse]:
        """The answer to a prompt that is no chat, in one piece."""

        async def once() -> AsyncIterator[CompletionResponse]:
            yield self.complete(prompt)

        return once()

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        asked = ChatMessage(role=MessageRole.USER, content=user_msg) if isinstance(user_msg, str) else user_msg
        return {"messages": [*(chat_history or []), *([asked] if asked else [])]}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """The calls in an answer."""
        calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(
                tool_id=call.tool_call_id or "",
                tool_name=call.tool_name,
                tool_kwargs=call.tool_kwargs if isinstance(call.tool_kwargs, dict) else {},
            )
            for call in calls
        ]
