"""What a request is addressed to: the API of its path (family, dialect, provider's path), and its model.

The model name is found by a search of a few bytes if possible, and replaced in place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.http import Header, header
from tokenmizer_mw.wire.json_text import decode_value
from tokenmizer_mw.wire.request import Dialect
from tokenmizer_mw.wire.spans import decode_body, read_object
from tokenmizer_mw.wire.unparsed import find_models


@dataclass(frozen=True, slots=True)
class ApiPath:
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
    def error_dialect(self) -> str:
        """The API format (dialect) in which error responses for this path are written."""
        return self.dialect or self.family

    @property
    def chat_dialect(self) -> Dialect | None:
        """The ``Dialect`` object; ``None`` if the path is no chat call."""
        return DIALECTS.get(self.dialect)


DIALECTS: Final = {dialect.name: dialect for dialect in ROUTES.values()}
"""The dialects by their names."""

STANDALONE: Final = {"/responses/compact": "openai_responses"}
"""Paths at which a whole conversation is sent to be compacted, and the dialect of it."""

_CHAT_PATHS: Final = {
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


def api_path_of(path: str, headers: Sequence[Header]) -> ApiPath | None:
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
        return ApiPath("cohere", path, _CHAT_PATHS.get(path, ""))
    return ApiPath("ollama", path, _CHAT_PATHS.get(path, "")) if path in _OLLAMA else None


def _with_version(path: str) -> str:
    """``path`` with exactly one "/v1" where it is a path below that."""
    if path.startswith("/v1/v1/"):
        return path.removeprefix(_V1)
    if path.startswith(_WITHOUT_VERSION) and any(_is_below(path, start) for start in _WITHOUT_VERSION):
        return f"{_V1}{path}"
    return path


def _first_version(path: str, headers: Sequence[Header]) -> ApiPath:
    """Three families share "/v1"."""
    if path.endswith(_GEMINI_CALLS):
        return _gemini(path)
    if _is_below(path, "/v1/models") and any(header(headers, name) is not None for name in _GOOGLES):
        return _gemini(path)
    if _is_below(path, "/v1/messages") or header(headers, _VERSION) is not None:
        return ApiPath("anthropic", path, _CHAT_PATHS["/v1/messages"] if path == "/v1/messages" else "")
    return ApiPath("openai", path.removeprefix(_V1), _CHAT_PATHS.get(path, ""), _vendor(headers))


def _vendor(headers: Sequence[Header]) -> str:
    agent = header(headers, _AGENT) or b""
    return next((vendor for start, vendor in _SDKS if agent.startswith(start)), "")


def _is_below(path: str, start: str) -> bool:
    return path.startswith(start) and path[len(start) : len(start) + 1] in ("", "/")


def _gemini(path: str) -> ApiPath:
    return ApiPath("gemini", path, "gemini" if path.endswith(_GEMINI_CALLS) else "")


T = TypeVar("T")

INLINE_MAX: Final = 32 * 1024
"""Bytes of a body that may be read on the event loop; longer ones are read in a worker thread."""

_MODELS: Final = "/models/"
_BLANKS: Final = 64


async def run_where_it_fits(work: Callable[[], T], body: bytes) -> T:
    """Run ``work`` here, or in a worker thread if ``body``, which it parses, is longer than ``INLINE_MAX`` bytes."""
    return work() if len(body) <= INLINE_MAX else await offload(work, CPU)


async def model_of(api_path: ApiPath, body: bytes) -> str:
    """Return the model that a call names; "" if it names none."""
    if _MODELS in api_path.path:
        return _model_in_path(api_path.path)
    if body[:_BLANKS].lstrip()[:1] != b"{":
        return ""
    named = (
        api_path.chat_dialect.models(body, api_path.path) if api_path.chat_dialect is not None else find_models(body)
    )
    if len(named) == 1:
        return named[0]
    return await run_where_it_fits(partial(_model_in_body, body), body)


async def rename_model(api_path: ApiPath, body: bytes, old: str, new: str) -> tuple[str, bytes]:
    """Return the path and the body of a call with the model name ``old`` replaced by ``new``."""
    if _MODELS in api_path.path:
        before, marker, rest = api_path.path.rpartition(_MODELS)
        return before + marker + rest.replace(old, new, 1), body
    if body.count(b'"model"') == 1:
        for between in (b'"model":', b'"model": '):
            if (quoted := between + json.dumps(old).encode()) in body:
                return api_path.path, body.replace(quoted, between + json.dumps(new).encode(), 1)
    return api_path.path, await run_where_it_fits(partial(_replace_model, body, new), body)


def _model_in_path(path: str) -> str:
    """Of "/v1beta/models/name:call" or "/models/provider/name"."""
    name, colon, call = path.rpartition(_MODELS)[2].rpartition(":")
    return name if colon and call.isalpha() else path.rpartition(_MODELS)[2]


def _model_in_body(body: bytes) -> str:
    try:
        found = read_object(decode_body(body)).values.get("model")
    except MalformedRequest:
        return ""  # its provider will say so
    return found if isinstance(found, str) else ""


def _replace_model(body: bytes, new: str) -> bytes:
    text = decode_body(body)
    place = read_object(text).places["model"]
    end = decode_value(text, place)[1]
    return (text[:place] + json.dumps(new) + text[end:]).encode("utf-8", "surrogatepass")
