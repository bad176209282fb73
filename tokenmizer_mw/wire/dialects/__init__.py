"""The supported dialects, and the request paths that select them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.wire.dialects.anthropic import Anthropic
from tokenmizer_mw.wire.dialects.cohere import Cohere
from tokenmizer_mw.wire.dialects.gemini import Gemini
from tokenmizer_mw.wire.dialects.ollama import Ollama
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.dialects.openai_responses import OpenAIResponses
from tokenmizer_mw.wire.request import Dialect

_GEMINI: Final = Gemini()

ROUTES: Final[Mapping[str, Dialect]] = {
    "/chat/completions": OpenAIChat(),
    "/responses": OpenAIResponses(),
    "/v1/messages": Anthropic(),
    ":generateContent": _GEMINI,
    ":streamGenerateContent": _GEMINI,
    "/api/chat": Ollama(),
    "/v2/chat": Cohere(),
}
"""Maps the end of a request's path to the dialect that is used there."""
