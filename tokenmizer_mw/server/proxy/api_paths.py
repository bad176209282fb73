"""Finds out to which provider API (such as OpenAI's) a request path belongs and which model a request names, and
replaces that model name.

If possible, the model name is found by searching a few bytes of the body, and replaced there without parsing the body.
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
    """The provider API that a request path belongs to.

    - ``family``: name of the API, such as "openai" (one of ``routing.FAMILIES``). It also selects the default provider.
    - ``path``: the path to append to a provider's base address.
    - ``dialect``: name of the body's format if the path is that of a chat call, such as "openai_chat"; else "".
    - ``vendor``: the provider whose SDK sent the request, if that SDK uses the paths of another API, such as "mistral";
      else "".
    """

    family: str
    path: str
    dialect: str = ""
    vendor: str = ""

    @property
    def error_dialect(self) -> str:
        """Name of the format of error responses for this path: the dialect of a chat call, else the family."""
        return self.dialect or self.family

    @property
    def chat_dialect(self) -> Dialect | None:
        """The ``Dialect`` object that parses the chat call; ``None`` if the path is not that of a chat call."""
        return DIALECTS.get(self.dialect)


DIALECTS: Final = {dialect.name: dialect for dialect in ROUTES.values()}
"""The ``Dialect`` objects, which parse chat calls, by the name of their format, such as "openai_chat"."""

STANDALONE: Final = {"/responses/compact": "openai_responses"}
"""Paths whose calls ask for nothing but a compaction (a short text that replaces old messages) of the conversation in
their body: path -> name of the body's format."""

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
"""The paths of Ollama's API that are served. The others, such as "/api/pull", change which models an Ollama server has;
clients of a proxy must not do that."""

_GEMINI_CALLS: Final = (":generateContent", ":streamGenerateContent")
_VERSION: Final = b"anthropic-version"
_GOOGLES: Final = (b"x-goog-api-client", b"x-goog-api-key")
_V1: Final = "/v1"

_WITHOUT_VERSION: Final = ("/chat/completions", "/responses", "/embeddings", "/models")
"""Beginnings of OpenAI's paths that are also accepted without "/v1", from clients whose base URL lacks it."""

_AGENT: Final = b"user-agent"

_SDKS: Final = ((b"mistral-client-", "mistral"),)
"""Pairs: how the user agent of an SDK begins that uses OpenAI's paths for another provider, and the name of that
provider."""


def api_path_of(path: str, headers: Sequence[Header]) -> ApiPath | None:
    """Return the provider API that the request path ``path`` belongs to. Where APIs share a path, ``headers`` decide.

    ``None`` if the path belongs to no API or has a segment "." or "..". Paths without OpenAI's "/v1", or with two of
    them, are accepted, too, because clients may have such base URLs.
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
    """Return ``path`` with exactly one "/v1" in front if it is a path of OpenAI without it (such as "/models") or with
    two of them. Any other path is returned unchanged."""
    if path.startswith("/v1/v1/"):
        return path.removeprefix(_V1)
    if path.startswith(_WITHOUT_VERSION) and any(_is_below(path, start) for start in _WITHOUT_VERSION):
        return f"{_V1}{path}"
    return path


def _first_version(path: str, headers: Sequence[Header]) -> ApiPath:
    """Return the API of a path below "/v1/". OpenAI, Anthropic and Gemini all have such paths; the rest of the path and
    the headers tell them apart."""
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
"""Maximum size in bytes of a body that is parsed on the event loop. A longer one is parsed in a worker thread."""

_MODELS: Final = "/models/"
_BLANKS: Final = 64


async def run_where_it_fits(work: Callable[[], T], body: bytes) -> T:
    """Call ``work``, which parses ``body``, and return its result. It runs on the event loop, or in a worker thread if
    ``body`` is longer than ``INLINE_MAX`` bytes."""
    return work() if len(body) <= INLINE_MAX else await offload(work, CPU)


async def model_of(api_path: ApiPath, body: bytes) -> str:
    """Return the name of the model that a call names in its path or its JSON body; "" if it names none."""
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
    """Return the path and the body of a call in which the model name ``old`` is replaced by ``new``. The name is in the
    path for some APIs, else in the body; all other bytes stay unchanged. The call must name a model."""
    if _MODELS in api_path.path:
        before, marker, rest = api_path.path.rpartition(_MODELS)
        return before + marker + rest.replace(old, new, 1), body
    if body.count(b'"model"') == 1:
        for between in (b'"model":', b'"model": '):
            if (quoted := between + json.dumps(old).encode()) in body:
                return api_path.path, body.replace(quoted, between + json.dumps(new).encode(), 1)
    return api_path.path, await run_where_it_fits(partial(_replace_model, body, new), body)


def _model_in_path(path: str) -> str:
    """Return the model name in a path: "name" in "/v1beta/models/name:call", "provider/name" in
    "/models/provider/name"."""
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
