"""The names that this server gives to models, told where clients ask which models there are. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from tokenmizer_mw.server.translate.encoding import dump, load

from .faces import Face

LIST_MAX: Final = 8 * 1024 * 1024
"""Bytes of a provider's list of models; a longer one is not told."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A name of this server's for a model; ``owner``: the provider that answers to it; ``since``: seconds since the
    epoch."""

    name: str
    owner: str
    since: int


@dataclass(frozen=True, slots=True)
class ModelListing:
    """How a family tells of models: at one of ``paths``, in ``member`` of an object that is ``empty`` otherwise, each
    as ``entry`` makes it, with its name in ``key``. ``pages``: parameters of a query that asks for another page than
    the first."""

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
    told = {"name": f"models/{model.name}", "baseModelId": model.name, "version": "", "displayName": model.name}
    return {**told, "supportedGenerationMethods": methods}


def _ollama(model: NamedModel) -> Entry:
    since = datetime.fromtimestamp(model.since, UTC).isoformat()
    told = {"name": model.name, "model": model.name, "modified_at": since, "size": 0, "digest": ""}
    return {**told, "details": {"format": "", "family": model.owner, "families": None}}


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


def listing(face: Face, query: bytes) -> ModelListing | None:
    """How a call that reads wants to be told of models; ``None`` when it reads something else, or a later page."""
    found = _LISTINGS.get(face.family)
    if found is None or face.path not in found.paths:
        return None
    asked = {name for name, _ in parse_qsl(query.decode("latin-1"), max_num_fields=50)} if query else set()
    return None if asked & found.pages else found


def named_in_path(face: Face) -> tuple[str, ModelListing] | None:
    """The one model that a call reads about, and how it wants to be told; ``None`` when it reads something else."""
    found = _LISTINGS.get(face.family)
    start = next((f"{path}/" for path in found.paths if face.path.startswith(f"{path}/")), "") if found else ""
    return (face.path.removeprefix(start), found) if found and start else None


def one(listing: ModelListing, model: NamedModel) -> bytes:
    """What a client is told of one model."""
    return dump(listing.entry(model))


def listed(listing: ModelListing, models: Sequence[NamedModel], provider: bytes = b"") -> bytes:
    """What a client is told of all: ``models`` first, then what the ``provider`` lists, but for the same names. What of
    it cannot be read is left out."""
    own = [listing.entry(model) for model in models]
    told, others = dict(listing.empty), _others(listing, provider)
    if others is not None:
        told = others[0]
        names = {entry[listing.key] for entry in own}
        own += [entry for entry in others[1] if not (isinstance(entry, dict) and entry.get(listing.key) in names)]
    told[listing.member] = own
    if listing.pages >= {"after_id"} and own:
        told |= {"first_id": own[0][listing.key], "last_id": told.get("last_id") or own[-1][listing.key]}
    return dump(told)


def _others(listing: ModelListing, provider: bytes) -> tuple[dict[str, Any], list[Any]] | None:
    try:
        told = load(provider)
    except ValueError:
        return None
    listed = told.get(listing.member)
    return (told, listed) if isinstance(listed, list) else None
