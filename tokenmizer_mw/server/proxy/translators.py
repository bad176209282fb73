"""The dialects that can be translated, for clients and for providers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.sides import ClientSide, ProviderSide
from tokenmizer_mw.server.translate.table import DIALECTS, Provider

_CLIENTS: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}


def client_side(dialect: str) -> ClientSide | None:
    """Return the translator for clients that speak ``dialect``; ``None`` if that dialect is not translated."""
    return _CLIENTS.get(dialect)


@lru_cache(maxsize=256)
def provider_side(row: Provider) -> ProviderSide | None:
    """Return the translator for a provider; ``None`` if its dialect is not translated."""
    return row.side() if row.dialect in DIALECTS else None
