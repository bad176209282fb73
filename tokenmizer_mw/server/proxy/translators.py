"""Which dialects are translated: those that clients speak, and those that providers do."""

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
    """The side of a client that speaks ``dialect``; ``None`` where its words are not translated."""
    return _CLIENTS.get(dialect)


@lru_cache(maxsize=256)
def provider_side(row: Provider) -> ProviderSide | None:
    """The side of a provider; ``None`` where its dialect is not translated."""
    return row.side() if row.dialect in DIALECTS else None
