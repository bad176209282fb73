"""The table of known LLM providers. Another server that uses one of the API formats (dialects) is one more entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tokenmizer_mw.wire.sse import EVENT_MAX

from .providers.anthropic import AnthropicProvider
from .providers.cohere import CohereProvider
from .providers.gemini import GeminiProvider
from .providers.ollama import OllamaProvider
from .providers.openai_chat import OpenAIChatProvider, Quirks
from .providers.request_parts import attached_to
from .translation import ProviderSide

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "none"]
"""How a provider takes an API key: in the header "Authorization: Bearer <key>", in the header with the given name, or
not at all ("none")."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One LLM provider.

    - ``base_url``: base address as the provider's own SDK takes it, without a slash at the end. The dialect's paths are
      appended to it.
    - ``dialect``: name of its API format, a key of ``DIALECTS``.
    - ``auth``: how it takes an API key. ``key_variable``: environment variable with the API key; "" for none.
    - ``prefixes``: beginnings of the names of the provider's own models, such as "claude-".
    - ``quirks``: how it deviates from OpenAI's API, if ``dialect`` is "openai_chat".
    - ``max_tokens``: maximum number of tokens of a reply, if the dialect requires one and the call sets none.
    - ``version``: API version to ask for, if the dialect has versions; "" for the newest that accepts the call.
    """

    name: str
    base_url: str
    dialect: str = "openai_chat"
    auth: Auth = "bearer"
    key_variable: str = ""
    prefixes: tuple[str, ...] = ()
    quirks: Quirks = field(default_factory=Quirks)
    max_tokens: int = 8_192
    version: str = ""

    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the API key ``key``: ``{}`` for an empty key, and for a provider that takes no
        key."""
        if not key or self.auth == "none":
            return {}
        return {"authorization": f"Bearer {key}"} if self.auth == "bearer" else {self.auth: key}

    def side(self, event_max: int = EVENT_MAX) -> ProviderSide:
        """Return the translator for the provider's API format. ``event_max``: maximum size in bytes of a stream event;
        a larger one is an error.

        Raises ``KeyError`` for a API format that is not in ``DIALECTS``.
        """
        return DIALECTS[self.dialect](self, event_max)


DIALECTS: Final[Mapping[str, Callable[[Provider, int], ProviderSide]]] = {
    "openai_chat": lambda row, event_max: OpenAIChatProvider(row.quirks, event_max),
    "anthropic": lambda row, event_max: AnthropicProvider(row.max_tokens, row.version, event_max=event_max),
    "gemini": lambda row, event_max: GeminiProvider(event_max=event_max),
    "cohere": lambda row, event_max: CohereProvider(event_max),
    "ollama": lambda row, event_max: OllamaProvider(event_max),
}
"""Name of a API format that a provider may have -> function that takes a provider and the maximum size of a stream
event in bytes, and returns the translator."""

_TEXT_ONLY: Final = attached_to("result") | {"image", "document", "audio"}
_OPENAI: Final = Quirks(max_tokens="max_completion_tokens", system="developer", verbosity=True)
_DEEPSEEK: Final = Quirks(
    effort="thinking",
    thoughts="reasoning_content",
    thoughts_needed=True,
    parallel=False,
    end_user=False,
    lacks=_TEXT_ONLY | {"sampling.top_k", "sampling.seed", "format.schema", "tools.strict"},
)
_MISTRAL: Final = Quirks(
    seed="random_seed",
    stream_options=False,
    end_user=False,
    bridge="OK.",
    attached="mistral",
    call_id="alphanumeric",
    call_id_lengths=(9, 9),
    lacks=frozenset(),
)
_OPENROUTER: Final = Quirks(
    effort="reasoning", thoughts="reasoning", verbosity=True, lacks=frozenset({"document.url", "audio.url"})
)
_GROK: Final = Quirks(lacks=_TEXT_ONLY - {"image", "result.image"} | {"sampling.top_k"})

# fmt: off
_ROWS: Final = (
    Provider(name="anthropic", base_url="https://api.anthropic.com", dialect="anthropic", auth="x-api-key",
        key_variable="ANTHROPIC_API_KEY", prefixes=("claude-",)),
    Provider(name="openai", base_url="https://api.openai.com/v1", key_variable="OPENAI_API_KEY",
        prefixes=("gpt-", "o1", "o3", "o4", "chatgpt-", "codex-"), quirks=_OPENAI),
    Provider(name="deepseek", base_url="https://api.deepseek.com/v1", key_variable="DEEPSEEK_API_KEY",
        prefixes=("deepseek-",), quirks=_DEEPSEEK),
    Provider(name="mistral", base_url="https://api.mistral.ai/v1", key_variable="MISTRAL_API_KEY",
        prefixes=("mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-", "open-mistral-"),
        quirks=_MISTRAL),
    Provider(name="openrouter", base_url="https://openrouter.ai/api/v1", key_variable="OPENROUTER_API_KEY",
        quirks=_OPENROUTER),
    Provider(name="grok", base_url="https://api.x.ai/v1", key_variable="XAI_API_KEY", prefixes=("grok-",),
        quirks=_GROK),
    Provider(name="cohere", base_url="https://api.cohere.com", dialect="cohere", key_variable="CO_API_KEY",
        prefixes=("command-", "c4ai-")),
    Provider(name="gemini", base_url="https://generativelanguage.googleapis.com", dialect="gemini",
        auth="x-goog-api-key", key_variable="GEMINI_API_KEY", prefixes=("gemini-", "gemma-")),
    Provider(name="ollama", base_url="http://localhost:11434", dialect="ollama", auth="none"),
)
# fmt: on

PROVIDERS: Final[Mapping[str, Provider]] = {row.name: row for row in _ROWS}
"""The known providers: name, such as "anthropic" -> provider."""
