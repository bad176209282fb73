"""The paths that clients know, and whose they are: which dialect is spoken there and where its providers have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.wire.dialect import Dialect
from tokenmizer_mw.wire.dialects import ROUTES

from .headers import Header, value_of


@dataclass(frozen=True, slots=True)
class Face:
    """One call as its path tells it. ``family`` names the API (and the default provider), ``dialect`` the words of a
    chat call ("" where the path is no chat call), ``path`` what stands behind a provider's base address. ``vendor``:
    the provider whose own SDK the client uses, where that provider shares the paths of another one ("" otherwise)."""

    family: str
    path: str
    dialect: str = ""
    vendor: str = ""

    @property
    def words_of(self) -> str:
        """In which dialect the client is told of errors."""
        return self.dialect or self.family

    @property
    def words(self) -> Dialect | None:
        """The dialect itself."""
        return DIALECTS.get(self.dialect)


DIALECTS: Final = {dialect.name: dialect for dialect in ROUTES.values()}
"""The dialects by their names."""

STANDALONE: Final = {"/responses/compact": "openai_responses"}
"""Paths of faces at which a whole conversation is sent to be compacted, and the dialect of it."""

_CHATS: Final = {
    "/v1/chat/completions": "openai_chat",
    "/v1/responses": "openai_responses",
    "/v1/messages": "anthropic",
    "/v2/chat": "cohere",
    "/api/chat": "ollama",
}
_OLLAMA: Final = frozenset(
    f"/api/{name}" for name in ("chat", "embed", "embeddings", "generate", "ps", "show", "tags", "version")
)
"""What of Ollama's API only reads: the others manage the models of a server, which is not for a client of a proxy."""

_GEMINI_CALLS: Final = (":generateContent", ":streamGenerateContent")
_VERSION: Final = b"anthropic-version"
_GOOGLES: Final = (b"x-goog-api-client", b"x-goog-api-key")
_V1: Final = "/v1"
_WITHOUT_VERSION: Final = ("/chat/completions", "/responses", "/embeddings", "/models")
"""Paths of OpenAI's API as clients call them whose base URL ends before "/v1"."""
_AGENT: Final = b"user-agent"
_SDKS: Final = ((b"mistral-client-", "mistral"),)
"""How the user agents of SDKs begin that speak OpenAI's paths to a provider of their own."""


def face_of(path: str, headers: Sequence[Header]) -> Face | None:
    """Whose path this is; ``None`` for nobody's, and for one that leads out of where it begins. A client whose base URL
    lacks the "/v1" of its API, or has one too many, is understood all the same."""
    path = _with_version(path)
    if "/." in path and any(part.partition(";")[0] in (".", "..") for part in path.split("/")):
        return None
    if path.startswith("/v1/"):
        return _first_version(path, headers)
    if path.startswith("/v1beta/"):
        return _gemini(path)
    if path.startswith("/v2/"):
        return Face("cohere", path, _CHATS.get(path, ""))
    return Face("ollama", path, _CHATS.get(path, "")) if path in _OLLAMA else None


def _with_version(path: str) -> str:
    """``path`` with exactly one "/v1" where it is a path below that."""
    if path.startswith("/v1/v1/"):
        return path.removeprefix(_V1)
    return f"{_V1}{path}" if any(_is_below(path, start) for start in _WITHOUT_VERSION) else path


def _first_version(path: str, headers: Sequence[Header]) -> Face:
    """Three families share "/v1"."""
    if path.endswith(_GEMINI_CALLS):
        return _gemini(path)
    if _is_below(path, "/v1/models") and any(value_of(headers, name) is not None for name in _GOOGLES):
        return _gemini(path)
    if _is_below(path, "/v1/messages") or value_of(headers, _VERSION) is not None:
        return Face("anthropic", path, _CHATS["/v1/messages"] if path == "/v1/messages" else "")
    return Face("openai", path.removeprefix(_V1), _CHATS.get(path, ""), _vendor(headers))


def _vendor(headers: Sequence[Header]) -> str:
    agent = value_of(headers, _AGENT) or b""
    return next((vendor for start, vendor in _SDKS if agent.startswith(start)), "")


def _is_below(path: str, start: str) -> bool:
    return path.startswith(start) and path[len(start) : len(start) + 1] in ("", "/")


def _gemini(path: str) -> Face:
    return Face("gemini", path, "gemini" if path.endswith(_GEMINI_CALLS) else "")
