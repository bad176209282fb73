"""Every way to ask every dialect, as raw requests: the path and the body that a client would send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

QUESTION: Final = "Where does the Ünal river rise?"

_MESSAGES: Final = [{"role": "user", "content": QUESTION}]
_CONTENTS: Final = [{"role": "user", "parts": [{"text": QUESTION}]}]


@dataclass(frozen=True, slots=True)
class Surface:
    """A dialect, streamed or whole. ``framing``: "sse", "lines", "array" or "" for one document."""

    name: str
    framing: str
    request: Callable[[str], tuple[str, dict[str, Any]]]
    """Path (with its query) and body for a model."""


def _post(path: str, **body: Any) -> Callable[[str], tuple[str, dict[str, Any]]]:
    return lambda model: (path, {"model": model, **body})


def _gemini(method: str) -> Callable[[str], tuple[str, dict[str, Any]]]:
    return lambda model: (f"/v1beta/models/{model}:{method}", {"contents": _CONTENTS})


SURFACES: Final = (
    Surface("openai_chat", "sse", _post("/v1/chat/completions", messages=_MESSAGES, stream=True)),
    Surface("openai_chat", "", _post("/v1/chat/completions", messages=_MESSAGES)),
    Surface("openai_responses", "sse", _post("/v1/responses", input=_MESSAGES, stream=True)),
    Surface("openai_responses", "", _post("/v1/responses", input=_MESSAGES)),
    Surface("anthropic", "sse", _post("/v1/messages", messages=_MESSAGES, max_tokens=500, stream=True)),
    Surface("anthropic", "", _post("/v1/messages", messages=_MESSAGES, max_tokens=500)),
    Surface("gemini", "sse", _gemini("streamGenerateContent?alt=sse")),
    Surface("gemini", "array", _gemini("streamGenerateContent")),
    Surface("gemini", "", _gemini("generateContent")),
    Surface("cohere", "sse", _post("/v2/chat", messages=_MESSAGES, stream=True)),
    Surface("cohere", "", _post("/v2/chat", messages=_MESSAGES)),
    Surface("ollama", "lines", _post("/api/chat", messages=_MESSAGES)),
    Surface("ollama", "", _post("/api/chat", messages=_MESSAGES, stream=False)),
)
