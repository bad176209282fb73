"""The Mistral SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx2
from mistralai.client import Mistral, errors

from .talk import CLIENTS, KEY, SYSTEM, TOOLS, Call, Refused, Said, Talk, parsed


@CLIENTS.once
def client(url: str) -> Mistral:
    http, ahttp = httpx2.Client(), httpx2.AsyncClient()
    CLIENTS.close.append(http.close)
    CLIENTS.aclose.append(ahttp.aclose)
    return Mistral(api_key=KEY, server_url=url, client=http, async_client=ahttp)


class MistralTalk(Talk):
    name = "mistral"
    failures = (errors.MistralError, httpx2.TransportError)

    def begin(self) -> None:
        self.history.append({"role": "system", "content": SYSTEM})

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        self.history.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text})

    def request(self, model: str) -> dict[str, Any]:
        functions = ({"name": name, "description": told, "parameters": given} for name, told, given in TOOLS)
        tools = [{"type": "function", "function": function} for function in functions]
        asked = {"model": f"{model}-mistral", "messages": self.history, "tools": tools}
        return {**asked, "http_headers": self.headers}

    def whole(self, model: str) -> Any:
        return client(self.url).chat.complete(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        with client(self.url).chat.stream(**self.request(model)) as events:
            yield from events

    async def awhole(self, model: str) -> Any:
        return await client(self.url).chat.complete_async(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async with await client(self.url).chat.stream_async(**self.request(model)) as events:
            async for event in events:
                yield event

    def take(self, response: Any) -> Said:
        message = response.choices[0].message
        self.history.append(message)
        text, thinking = _texts(message.content)
        calls = (
            Call(call.id, call.function.name, parsed(call.function.arguments)) for call in message.tool_calls or ()
        )
        return Said(text, tuple(calls), thinking)

    def take_events(self, events: list[Any]) -> Said:
        """The SDK leaves putting a streamed message together to its user."""
        text = thinking = ""
        calls: list[Any] = []
        for event in events:
            delta = event.data.choices[0].delta
            told, thought = _texts(delta.content)
            text, thinking = text + told, thinking + thought
            calls += delta.tool_calls or ()
        content: Any = text
        if thinking:
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}
            content = [thought, {"type": "text", "text": text}]
        self.history.append({"role": "assistant", "content": content, "tool_calls": calls or None})
        made = (Call(call.id, call.function.name, parsed(call.function.arguments)) for call in calls)
        return Said(text, tuple(made), thinking)

    def refused(self, error: BaseException) -> Refused | None:
        if not isinstance(error, errors.MistralError) or error.status_code == 200:
            return None
        return Refused(error.status_code, error.headers.get("retry-after"))


def _texts(content: Any) -> tuple[str, str]:
    """Visible text and thinking of a content."""
    if not isinstance(content, list):
        return content or "", ""
    thoughts = [part for chunk in content if chunk.type == "thinking" for part in chunk.thinking]
    visible = "".join(chunk.text for chunk in content if chunk.type == "text")
    return visible, "".join(part.text for part in thoughts)
