"""The SDKs that the examples are driven with, and the endings of the paths that they call."""

from __future__ import annotations

from typing import Final

from .anthropic import AnthropicTalk
from .cohere import CohereTalk
from .gemini import GeminiChatTalk, GeminiTalk
from .mistral import MistralTalk
from .ollama import OllamaTalk
from .openai_chat import OpenAIChatTalk
from .openai_responses import OpenAIResponsesTalk
from .talk import Talk

SDKS: Final[tuple[type[Talk], ...]] = (
    OpenAIChatTalk,
    OpenAIResponsesTalk,
    AnthropicTalk,
    GeminiTalk,
    GeminiChatTalk,
    CohereTalk,
    MistralTalk,
    OllamaTalk,
)

SDK_WARNINGS: Final = (
    # google-genai derives a class from a class of aiohttp, which warns of it.
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning",
)

ENDINGS: Final = (
    "/chat/completions",
    "/responses",
    "/v1/messages",
    ":generateContent",
    ":streamGenerateContent",
    "/v2/chat",
    "/api/chat",
)
