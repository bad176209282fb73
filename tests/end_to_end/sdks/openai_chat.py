"""The OpenAI SDK, Chat Completions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from .talk import CLIENTS, KEY, SYSTEM, TOOLS, Call, Refused, Said, Talk, parsed


@CLIENTS.once
def client(url: str) -> openai.OpenAI:
    made = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
    CLIENTS.close.append(made.close)
    return made


@CLIENTS.once
def aclient(url: str) -> openai.AsyncOpenAI:
    made = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
    CLIENTS.aclose.append(made.close)
    return made


def refused(error: BaseException) -> Refused | None:
    if not isinstance(error, openai.APIStatusError):
        return None
    return Refused(error.status_code, error.response.headers.get("retry-after"))


class OpenAIChatTalk(Talk):
    name = "openai chat"
    failures = (openai.APIError,)

    def begin(self) -> None:
        self.history.append({"role": "developer", "content": SYSTEM})

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        self.history.append({"role": "tool", "tool_call_id": call.id, "content": text})

    def request(self, model: str) -> dict[str, Any]:
        functions = ({"name": name, "description": told, "parameters": given} for name, told, given in TOOLS)
        tools = [{"type": "function", "function": function} for function in functions]
        return {"model": model, "messages": self.history, "tools": tools, "extra_headers": self.headers}

    def whole(self, model: str) -> Any:
        return client(self.url).chat.completions.create(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        return client(self.url).chat.completions.create(**self.request(model), stream=True)

    async def awhole(self, model: str) -> Any:
        return await aclient(self.url).chat.completions.create(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in await aclient(self.url).chat.completions.create(**self.request(model), stream=True):
            yield event

    def take(self, response: Any) -> Said:
        message = response.choices[0].message
        self.history.append(message)
        calls = (
            Call(call.id, call.function.name, parsed(call.function.arguments)) for call in message.tool_calls or ()
        )
        return Said(message.content or "", tuple(calls), getattr(message, "reasoning_content", ""))

    def take_events(self, events: list[Any]) -> Said:
        state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
        for event in events:
            state.handle_chunk(event)
        return self.take(state.get_final_completion())

    def refused(self, error: BaseException) -> Refused | None:
        return refused(error)
