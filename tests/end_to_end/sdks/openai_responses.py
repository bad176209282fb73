"""The OpenAI SDK, Responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import openai

from .openai_chat import aclient, client, refused
from .talk import SYSTEM, TOOLS, Call, Refused, Said, Talk, parsed


class OpenAIResponsesTalk(Talk):
    name = "openai responses"
    failures = (openai.APIError,)

    def begin(self) -> None:
        """The system speaks in the instructions."""

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        self.history.append({"type": "function_call_output", "call_id": call.id, "output": text})

    def request(self, model: str) -> dict[str, Any]:
        tools = [
            {"type": "function", "name": name, "description": told, "parameters": given, "strict": False}
            for name, told, given in TOOLS
        ]
        given = {"model": model, "input": self.history, "instructions": SYSTEM, "tools": tools}
        return {**given, "store": False, "include": ["reasoning.encrypted_content"], "extra_headers": self.headers}

    def whole(self, model: str) -> Any:
        return client(self.url).responses.create(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        return client(self.url).responses.create(**self.request(model), stream=True)

    async def awhole(self, model: str) -> Any:
        return await aclient(self.url).responses.create(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in await aclient(self.url).responses.create(**self.request(model), stream=True):
            yield event

    def take(self, response: Any) -> Said:
        self.history += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
        return Said(
            response.output_text,
            tuple(Call(call.call_id, call.name, parsed(call.arguments)) for call in calls),
            "".join(thoughts),
        )

    def take_events(self, events: list[Any]) -> Said:
        said = self.take(events[-1].response)
        deltas = (event.delta for event in events if event.type == "response.output_text.delta")
        assert "".join(deltas) == said.text
        return said

    def refused(self, error: BaseException) -> Refused | None:
        return refused(error)
