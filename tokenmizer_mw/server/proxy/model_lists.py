"""Responses to "GET /v1/models" and similar requests: the model names of the configuration, merged into the provider's
own list. Does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from tokenmizer_mw.server.translate.translation import dump, load

from .api_paths import ApiPath

LIST_MAX: Final = 8 * 1024 * 1024
"""Maximum size in bytes of a provider's list of models. A longer one is ignored."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model name that is defined under ``models`` in the configuration. ``owner``: name of the provider that is asked
    first for it. ``since``: the creation time to report, in seconds since the epoch."""

    name: str
    owner: str
    since: int


@dataclass(frozen=True, slots=True)
class ModelListing:
    """How an API family formats its list of models.

    - ``paths``: request paths of the list. ``pages``: query parameters that ask for a later page.
    - ``member``: member of the response that contains the entries, such as "data".
    - ``key``: member of an entry that contains the model's name, such as "id".
    - ``entry``: function that makes an entry.
    - ``empty``: the other members of the response, used if the provider returned no list.
    """

    paths: tuple[str, ...]
    member: str
    key: str
    entry: Callable[[NamedModel], Entry]
    empty: Mapping[str, Any]
    pages: frozenset[str] = frozenset()


def _openai(model: NamedModel) -> Entry:
    return {"id": model.name, "object": "model", "created": model.since, "owned_by": model.owner}


def _anthropic(model: NamedModel) -> Entry:
    since = datetime.fromtimestamp(model.since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": model.name, "display_name": model.name, "created_at": since}


def _gemini(model: NamedModel) -> Entry:
    methods = ["generateContent", "streamGenerateContent"]
    entry = {"name": f"models/{model.name}", "baseModelId": model.name, "version": "", "displayName": model.name}
    return {**entry, "supportedGenerationMethods": methods}


def _ollama(model: NamedModel) -> Entry:
    since = datetime.fromtimestamp(model.since, UTC).isoformat()
    entry = {"name": model.name, "model": model.name, "modified_at": since, "size": 0, "digest": ""}
    return {**entry, "details": {"format": "", "family": model.owner, "families": None}}


_LISTINGS: Final[Mapping[str, ModelListing]] = {
    "openai": ModelListing(("/models",), "data", "id", _openai, {"object": "list"}),
    "anthropic": ModelListing(
        ("/v1/models",), "data", "id", _anthropic, {"has_more": False}, frozenset({"after_id", "before_id"})
    ),
    "gemini": ModelListing(
        ("/v1beta/models", "/v1/models"), "models", "name", _gemini, {}, frozenset({"pageToken", "page_token"})
    ),
    "ollama": ModelListing(("/api/tags",), "models", "name", _ollama, {}),
}


def listing(api_path: ApiPath, query: bytes) -> ModelListing | None:
    """Return the format of the model list that a GET request with this path and query asks for. ``None`` for any other
    path, and if the query asks for a later page."""
    found = _LISTINGS.get(api_path.family)
    if found is None or api_path.path not in found.paths:
        return None
    parameters = {name for name, _ in parse_qsl(query.decode("latin-1"), max_num_fields=50)} if query else set()
    return None if parameters & found.pages else found


def named_in_path(api_path: ApiPath) -> tuple[str, ModelListing] | None:
    """Return the model name and the list format for a GET request about one model, such as "/models/gpt-5"; ``None``
    for any other path."""
    found = _LISTINGS.get(api_path.family)
    start = next((f"{path}/" for path in found.paths if api_path.path.startswith(f"{path}/")), "") if found else ""
    return (api_path.path.removeprefix(start), found) if found and start else None


def model_body(listing: ModelListing, model: NamedModel) -> bytes:
    """Return the response body, as JSON, for a request about one model, in the format ``listing``."""
    return dump(listing.entry(model))


def list_models(listing: ModelListing, models: Sequence[NamedModel], provider: bytes = b"") -> bytes:
    """Return the list of models as a JSON body in the format ``listing``: first ``models``, then the provider's entries
    with other names. ``provider``: the body of the provider's own list; it is ignored if it cannot be parsed."""
    own = [listing.entry(model) for model in models]
    answer, others = dict(listing.empty), _split_listing(listing, provider)
    if others is not None:
        answer = others[0]
        names = {entry[listing.key] for entry in own}
        own += [entry for entry in others[1] if not (isinstance(entry, dict) and entry.get(listing.key) in names)]
    answer[listing.member] = own
    if listing.pages >= {"after_id"} and own:
        answer |= {"first_id": own[0][listing.key], "last_id": answer.get("last_id") or own[-1][listing.key]}
    return dump(answer)


def _split_listing(listing: ModelListing, provider: bytes) -> tuple[dict[str, Any], list[Any]] | None:
    try:
        answer = load(provider)
    except ValueError:
        return None
    listed = answer.get(listing.member)
    return (answer, listed) if isinstance(listed, list) else None
