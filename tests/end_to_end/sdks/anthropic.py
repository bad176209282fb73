"""The Anthropic SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import anthropic

from .talk import CLIENTS, KEY, SYSTEM, TOOLS, Call, Refused, Said, Talk


@CLIENTS.once
def client(url: str) -> anthropic.Anthropic:
    made = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)
    CLIENTS.close.append(made.close)
    return made


@CLIENTS.once
def aclient(url: str) -> anthropic.AsyncAnthropic:
    made = anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0)
    CLIENTS.aclose.append(made.close)
    return made


class AnthropicTalk(Talk):
    name = "anthropic"
    failures = (anthropic.APIError,)

    def begin(self) -> None:
        self._results: list[dict[str, Any]] = []

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        """All results of a turn belong into one message."""
        if not self._results:
            self.history.append({"role": "user", "content": self._results})
        self._results.append({"type": "tool_result", "tool_use_id": call.id, "content": text})

    def request(self, model: str) -> dict[str, Any]:
        tools = [{"name": name, "description": told, "input_schema": given} for name, told, given in TOOLS]
        given = {"model": model, "max_tokens": 500, "system": SYSTEM, "messages": self.history, "tools": tools}
        return {**given, "extra_headers": self.headers}

    def whole(self, model: str) -> Any:
        return client(self.url).messages.create(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        """The SDK's events, and behind them the message that it puts together of them."""
        with client(self.url).messages.stream(**self.request(model)) as stream:
            yield from stream
            yield stream.get_final_message()

    async def awhole(self, model: str) -> Any:
        return await aclient(self.url).messages.create(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async with aclient(self.url).messages.stream(**self.request(model)) as stream:
            async for event in stream:
                yield event
            yield await stream.get_final_message()

    def take(self, response: Any) -> Said:
        self._results = []
        self.history.append({"role": "assistant", "content": response.content})
        blocks = {kind: [block for block in response.content if block.type == kind] for kind in ("text", "thinking")}
        calls = (Call(block.id, block.name, block.input) for block in response.content if block.type == "tool_use")
        thinking = "".join(block.thinking for block in blocks["thinking"])
        return Said("".join(block.text for block in blocks["text"]), tuple(calls), thinking)

    def take_events(self, events: list[Any]) -> Said:
        return self.take(events[-1])

    def refused(self, error: BaseException) -> Refused | None:
        if not isinstance(error, anthropic.APIStatusError) or error.status_code == 200:
            return None
        return Refused(error.status_code, error.response.headers.get("retry-after"))
