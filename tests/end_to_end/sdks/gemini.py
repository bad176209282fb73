"""The Google Gen AI SDK: contents kept by hand, and its own chat object, which keeps them itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types

from .talk import CLIENTS, KEY, SYSTEM, TOOLS, Call, Refused, Said, Talk


@CLIENTS.once
def client(url: str) -> genai.Client:
    made = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))
    CLIENTS.close.append(made.close)
    CLIENTS.aclose.append(made.aio.aclose)
    return made


class GeminiTalk(Talk):
    name = "gemini"
    failures = (errors.APIError, httpx2.TransportError)

    def begin(self) -> None:
        self._results: list[types.Part] = []

    def user(self, text: str) -> None:
        self.history.append(types.Content(role="user", parts=[types.Part(text=text)]))

    def result(self, call: Call, text: str) -> None:
        """All responses to a turn's calls belong into one content."""
        if not self._results:
            self.history.append(types.Content(role="user", parts=[]))
        answer = types.FunctionResponse(id=call.id or None, name=call.name, response={"result": text})
        self._results.append(types.Part(function_response=answer))
        self.history[-1].parts = self._results

    def config(self) -> types.GenerateContentConfig:
        declared = [
            types.FunctionDeclaration(name=name, description=told, parameters_json_schema=given)
            for name, told, given in TOOLS
        ]
        return types.GenerateContentConfig(
            system_instruction=SYSTEM,
            tools=[types.Tool(function_declarations=declared)],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            http_options=types.HttpOptions(headers=self.headers),
        )

    def request(self, model: str) -> dict[str, Any]:
        return {"model": model, "contents": self.history, "config": self.config()}

    def whole(self, model: str) -> Any:
        return client(self.url).models.generate_content(**self.request(model))

    def stream(self, model: str) -> Iterable[Any]:
        return client(self.url).models.generate_content_stream(**self.request(model))

    async def awhole(self, model: str) -> Any:
        return await client(self.url).aio.models.generate_content(**self.request(model))

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in await client(self.url).aio.models.generate_content_stream(**self.request(model)):
            yield event

    def take(self, response: Any) -> Said:
        self._results = []
        content = response.candidates[0].content
        self.history.append(content)
        return said(content.parts)

    def take_events(self, events: list[Any]) -> Said:
        """Users put the parts of all pieces into one content."""
        self._results = []
        parts = [part for event in events for part in event.candidates[0].content.parts]
        self.history.append(types.Content(role="model", parts=parts))
        return said(parts)

    def refused(self, error: BaseException) -> Refused | None:
        if not isinstance(error, errors.APIError) or error.response is None:
            return None
        headers = getattr(error.response, "headers", {})
        return Refused(error.code, headers.get("retry-after"))


class GeminiChatTalk(GeminiTalk):
    """``client.chats``: of a streamed reply it keeps a content for every piece."""

    name = "gemini chats"

    def begin(self) -> None:
        super().begin()
        self._chat: Any = None
        self._message: Any = ""

    def user(self, text: str) -> None:
        self._message = text

    def result(self, call: Call, text: str) -> None:
        answer = types.FunctionResponse(id=call.id or None, name=call.name, response={"result": text})
        self._message = [*self._results, types.Part(function_response=answer)]
        self._results = self._message

    def chat(self, model: str, chats: Any) -> Any:
        kept = self._chat.get_history(curated=True) if self._chat is not None else []
        self._chat = chats.create(model=model, config=self.config(), history=kept)
        return self._chat

    def whole(self, model: str) -> Any:
        return self.chat(model, client(self.url).chats).send_message(self._message)

    def stream(self, model: str) -> Iterable[Any]:
        return self.chat(model, client(self.url).chats).send_message_stream(self._message)

    async def awhole(self, model: str) -> Any:
        return await self.chat(model, client(self.url).aio.chats).send_message(self._message)

    async def astream(self, model: str) -> AsyncIterator[Any]:
        async for event in await self.chat(model, client(self.url).aio.chats).send_message_stream(self._message):
            yield event


def said(parts: list[types.Part]) -> Said:
    texts = ["".join(part.text or "" for part in parts if bool(part.thought) is thought) for thought in (False, True)]
    found = [part.function_call for part in parts if part.function_call is not None]
    calls = tuple(Call(call.id or "", call.name or "", dict(call.args or {})) for call in found)
    return Said(texts[0], calls, texts[1])
