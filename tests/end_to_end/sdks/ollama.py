"""The Ollama SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx
import ollama

from .talk import CLIENTS, SYSTEM, TOOLS, Call, Refused, Said, Talk


class OllamaTalk(Talk):
    name = "ollama"
    tears_at_separators = True
    failures = (ollama.ResponseError, httpx.TransportError)

    def begin(self) -> None:
        self.history.append({"role": "system", "content": SYSTEM})
        # Headers belong to the client here. Making one loads certificates, which this address does not need.
        self._client = ollama.Client(self.url, headers=self.headers, verify=False)
        self._aclient = ollama.AsyncClient(self.url, headers=self.headers, verify=False)
        CLIENTS.close.append(self._client.close)
        CLIENTS.aclose.append(self._aclient.close)

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        self.history.append({"role": "tool", "tool_name": call.name, "content": text})

    def request(self, model: str) -> dict[str, Any]:
        functions = ({"name": name, "description": told, "parameters": given} for name, told, given in TOOLS)
        tools = [{"type": "function", "function": function} for function in functions]
        return {"model": model, "messages": self.history, "tools": tools}

    def whole(self, model: str) -> Any:
        return self._client.chat(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        return self._client.chat(**self.request(model), stream=True)

    async def awhole(self, model: str) -> Any:
        return await self._aclient.chat(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in await self._aclient.chat(**self.request(model), stream=True):
            yield event

    def take(self, response: Any) -> Said:
        message = response.message
        self.history.append(message)
        found = message.tool_calls or ()
        calls = tuple(Call("", call.function.name, dict(call.function.arguments)) for call in found)
        return Said(message.content or "", calls, message.thinking or "")

    def take_events(self, events: list[Any]) -> Said:
        """Users put the pieces together by hand."""
        text = "".join(event.message.content or "" for event in events)
        thinking = "".join(event.message.thinking or "" for event in events)
        made = [call for event in events for call in event.message.tool_calls or ()]
        self.history.append({"role": "assistant", "content": text, "thinking": thinking, "tool_calls": made})
        calls = tuple(Call("", call.function.name, dict(call.function.arguments)) for call in made)
        return Said(text, calls, thinking)

    def refused(self, error: BaseException) -> Refused | None:
        """This SDK does not hand over the headers of an error."""
        if not isinstance(error, ollama.ResponseError) or error.status_code == -1:
            return None
        return Refused(error.status_code, None)
