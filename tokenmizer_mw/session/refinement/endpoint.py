"""Ask a provider over HTTP in the OpenAI Chat Completions dialect. Needs the extra ``llm``."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from tokenmizer_mw.errors import ConfigError, ModelFailed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.usage import Completion
from tokenmizer_mw.session.refinement.client import ReplyTooLong, is_transient
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat

_PATH: Final = "/chat/completions"
_LIMIT_NAMES: Final = {"api.openai.com": "max_completion_tokens"}
"""Maps a host to the name of its request field for the longest reply, where that is not ``max_tokens``."""

_SCHEMA_NAME: Final = "session_record"


class Endpoint:
    """A ``Complete`` function that asks the provider named in the settings over HTTP.

    ``schema``: JSON schema of the reply, sent if the settings say so; ``environ``: environment variables, one of which
    holds the API key. Thread-safe. Raises ``ConfigError`` when the settings do not name a provider and a model, or name
    a variable for the key that is not set.
    """

    def __init__(self, settings: Settings, schema: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
        base = (settings.llm_url or "").rstrip("/")
        if not base.startswith(("http://", "https://")) or not settings.llm_model:
            raise ConfigError("llm_url is a provider's address such as http://localhost:11434/v1, llm_model its model")
        self._url = base if base.endswith(_PATH) else base + _PATH
        self._settings = settings
        self._client = httpx2.Client(headers=_authorization(settings, environ), timeout=settings.llm_timeout)
        limit = _LIMIT_NAMES.get(urlsplit(base).hostname or "", "max_tokens")
        self._fields: dict[str, Any] = {"model": settings.llm_model, limit: settings.llm_output_tokens}
        if settings.llm_schema:
            described = {"name": _SCHEMA_NAME, "schema": schema, "strict": True}
            self._fields["response_format"] = {"type": "json_schema", "json_schema": described}

    def __call__(self, messages: list[dict[str, str]]) -> Completion:
        """Ask the model and return its reply. A reply that was cut off is returned as far as it goes. Raises
        ``ModelFailed`` if the provider cannot be reached, refuses the request, takes longer than ``llm_timeout``, or
        sends a reply that cannot be read, and ``ReplyTooLong`` for a reply of more than ``llm_reply_max`` bytes."""
        try:
            with self._client.stream("POST", self._url, json={**self._fields, "messages": messages}) as response:
                body = b"".join(self._pieces(response))
                if response.status_code != 200:
                    raise _refusal(response)
        except httpx2.InvalidURL as error:
            raise ModelFailed(f"the address cannot be used: {error}", again=False) from error
        except httpx2.HTTPError as error:
            raise ModelFailed(type(error).__name__) from error
        reply = OpenAIChat().collect(body, stream=False)
        if reply.message is None or reply.outcome is Outcome.ERROR:
            raise ModelFailed("the provider's reply cannot be read")
        return Completion(reply.message.text, self._settings.llm_model, reply.usage)

    def close(self) -> None:
        """Close the connections to the provider; no model can be asked with this object any more."""
        self._client.close()

    def _pieces(self, response: httpx2.Response) -> Iterator[bytes]:
        """Yield the body of a response in pieces. Raises ``ModelFailed`` if it takes longer than ``llm_timeout``, even
        if it trickles in, and ``ReplyTooLong`` if it is larger than ``llm_reply_max``."""
        deadline = time.monotonic() + self._settings.llm_timeout
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > self._settings.llm_reply_max:
                raise ReplyTooLong(self._settings.llm_model)
            if time.monotonic() > deadline:
                raise ModelFailed("the reply takes too long")
            yield piece


def _authorization(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    if not settings.llm_key_variable:
        return {}
    key = environ.get(settings.llm_key_variable, "")
    if not key:
        raise ConfigError(f"llm_key_variable names {settings.llm_key_variable}, which is not set")
    return {"Authorization": f"Bearer {key}"}


def _refusal(response: httpx2.Response) -> ModelFailed:
    status = response.status_code
    after = response.headers.get("retry-after", "")
    seconds = float(after) if after.isascii() and after.isdigit() else None
    return ModelFailed(f"the provider answered {status}", again=is_transient(status), after=seconds)
