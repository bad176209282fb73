"""Maps a client's request path to an API family, a dialect, and the provider's path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.wire.dialect import Dialect
from tokenmizer_mw.wire.dialects import ROUTES

from .headers import Header, value_of


@dataclass(frozen=True, slots=True)
class Face:
    """The API that a request path belongs to.

    - ``family``: name of the API, which also selects the default provider.
    - ``dialect``: dialect of a chat call; "" if the path is no chat call.
    - ``path``: the path to append to a provider's base address.
    - ``vendor``: the provider whose own SDK the client uses, if that provider shares the paths of another one; else "".
    """

    family: str
    path: str
    dialect: str = ""
    vendor: str = ""

    @property
    def words_of(self) -> str:
        """Name of the dialect for error responses."""
        return self.dialect or self.family

    @property
    def words(self) -> Dialect | None:
        """The ``Dialect`` object; ``None`` if the path is no chat call."""
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
    """Return the API that ``path`` belongs to; ``None`` if it belongs to none or contains dot segments.

    Also accepts paths of clients whose base URL lacks the "/v1" of its API, or repeats it.
    """
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
