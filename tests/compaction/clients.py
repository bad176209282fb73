"""Clients of the compaction contracts, with the real SDKs, and the servers that they are tested against."""

from __future__ import annotations

import json
import secrets
from typing import Any, Final

import anthropic
import openai

from tests.proxy.serving import Served
from tests.upstream.server import Upstream
from tokenmizer_mw.server.translate.table import PROVIDERS as TABLE

KEYS: Final = {row.key_variable: secrets.token_hex(8) for row in TABLE.values() if row.key_variable}
PROVIDERS: Final = (
    "openai",
    "deepseek",
    "mistral",
    "openrouter",
    "grok",
    "gemini",
    "cohere",
    "ollama",
    "anthropic",
)
RULE: Final = "Never push to the main branch."
FILLER: Final = "The orders of the shop are sorted by their date and by the customer. "
QUESTION: Final = "Which database do we use? " + "Mind the orders of the past and the customers of the shop. " * 70
THRESHOLD: Final = 3_000
EDIT: Final[Any] = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": THRESHOLD}}


class Chat:
    """A client of Anthropic's dialect that appends what it is answered, as the SDK's documentation has it."""

    def __init__(self, served: Served, name: str, provider: str, *, stream: bool = False, **options: Any) -> None:
        self.messages: list[Any] = []
        self._stream = stream
        headers = {"x-session-id": name} if name else {}
        self.client = anthropic.Anthropic(base_url=served.url, api_key="client", default_headers=headers, max_retries=0)
        self._options = {"model": f"{provider}/fake-n3", "max_tokens": 99, "betas": ["compact-2026-01-12"], **options}

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def say(self, text: str) -> Any:
        self.messages.append({"role": "user", "content": text})
        return self.ask()

    def ask(self, **more: Any) -> Any:
        options = {**self._options, **more}
        create = self.client.beta.messages
        if self._stream:
            with create.stream(messages=self.messages, **options) as events:
                answer: Any = events.get_final_message()
        else:
            answer = create.create(messages=self.messages, **options)
        self.messages.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        return answer


def fill(chat: Any) -> None:
    for number in range(3):
        chat.say(f"Part {number}. " + FILLER * 45)


def sent(upstream: Upstream) -> str:
    """What the provider was sent last."""
    return json.dumps(upstream.calls[-1].json, ensure_ascii=False)


class Talk:
    """A client of OpenAI's Responses that sends all items with each call, as an application without a chain does."""

    def __init__(self, served: Served, name: str, provider: str, *, stream: bool = False, **options: Any) -> None:
        self.items: list[Any] = []
        self.model = ""
        self._stream = stream
        headers = {"x-session-id": name}
        self.client = openai.OpenAI(
            base_url=f"{served.url}/v1", api_key="client", default_headers=headers, max_retries=0
        )
        self._options = {"model": f"{provider}/fake-n3", "store": False, **options}

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def say(self, text: str) -> Any:
        self.items.append({"role": "user", "content": text})
        return self.ask()

    def ask(self) -> Any:
        options = {**self._options, **({"model": self.model} if self.model else {})}
        if self._stream:
            with self.client.responses.stream(input=self.items, **options) as events:
                answer: Any = events.get_final_response()
        else:
            answer = self.client.responses.create(input=self.items, **options)
        self.items += [item.model_dump(exclude_none=True) for item in answer.output]
        return answer
