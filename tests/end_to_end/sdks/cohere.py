"""The Cohere SDK, v2."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import cohere
import httpx
from cohere.core.api_error import ApiError

from .talk import CLIENTS, KEY, SYSTEM, TOOLS, Call, Refused, Said, Talk, parsed


@CLIENTS.once
def client(url: str) -> cohere.ClientV2:
    http = httpx.Client()
    CLIENTS.close.append(http.close)
    return cohere.ClientV2(api_key=KEY, base_url=url, max_retries=0, httpx_client=http)


@CLIENTS.once
def aclient(url: str) -> cohere.AsyncClientV2:
    http = httpx.AsyncClient()
    CLIENTS.aclose.append(http.aclose)
    return cohere.AsyncClientV2(api_key=KEY, base_url=url, max_retries=0, httpx_client=http)


class CohereTalk(Talk):
    name = "cohere"
    failures = (ApiError, httpx.TransportError)

    def begin(self) -> None:
        self.history.append({"role": "system", "content": SYSTEM})

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def result(self, call: Call, text: str) -> None:
        document = {"type": "document", "document": {"data": json.dumps({"result": text})}}
        self.history.append({"role": "tool", "tool_call_id": call.id, "content": [document]})

    def request(self, model: str) -> dict[str, Any]:
        functions = ({"name": name, "description": told, "parameters": given} for name, told, given in TOOLS)
        tools = [{"type": "function", "function": function} for function in functions]
        options = {"additional_headers": self.headers}
        return {"model": model, "messages": self.history, "tools": tools, "request_options": options}

    def whole(self, model: str) -> Any:
        return client(self.url).chat(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        return client(self.url).chat_stream(**self.request(model))

    async def awhole(self, model: str) -> Any:
        return await aclient(self.url).chat(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in aclient(self.url).chat_stream(**self.request(model)):
            yield event

    def take(self, response: Any) -> Said:
        message = response.message
        self.history.append(message)
        parts = message.content or []
        calls = (
            Call(call.id, call.function.name, parsed(call.function.arguments)) for call in message.tool_calls or ()
        )
        thinking = "".join(part.thinking for part in parts if part.type == "thinking")
        text = "".join(part.text for part in parts if part.type == "text")
        return Said(text, tuple(calls), "\n".join(filter(None, (thinking, message.tool_plan))))

    def take_events(self, events: list[Any]) -> Said:
        """The SDK leaves putting a streamed message together to its user."""
        if failed := [event.delta.error for event in events if event.type == "message-end" and event.delta.error]:
            raise ApiError(status_code=200, body=failed[0])
        found: dict[str, str] = {"text": "", "thinking": "", "plan": ""}
        calls: list[dict[str, Any]] = []
        for event in events:
            message = getattr(getattr(event, "delta", None), "message", None)
            match event.type:
                case "content-delta":
                    found["text"] += message.content.text or ""
                    found["thinking"] += message.content.thinking or ""
                case "tool-plan-delta":
                    found["plan"] += message.tool_plan
                case "tool-call-start":
                    calls.append(message.tool_calls.model_dump())
                case "tool-call-delta":
                    calls[-1]["function"]["arguments"] += message.tool_calls.function.arguments
        return self._taken(found, calls)

    def _taken(self, found: dict[str, str], calls: list[dict[str, Any]]) -> Said:
        content = [{"type": kind, kind: found[kind]} for kind in ("thinking", "text") if found[kind]]
        message: dict[str, Any] = {"role": "assistant"} | ({"content": content} if content else {})
        if calls:
            message |= {"tool_plan": found["plan"], "tool_calls": calls}
        self.history.append(message)
        made = (Call(call["id"], call["function"]["name"], parsed(call["function"]["arguments"])) for call in calls)
        return Said(found["text"], tuple(made), "\n".join(filter(None, (found["thinking"], found["plan"]))))

    def refused(self, error: BaseException) -> Refused | None:
        if not isinstance(error, ApiError) or error.status_code in (None, 200):
            return None
        return Refused(error.status_code, (error.headers or {}).get("retry-after"))
