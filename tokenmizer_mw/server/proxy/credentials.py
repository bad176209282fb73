"""Chooses the API key that is sent to a provider. The keys with which clients log in to this server are never sent.

A client's key is sent only to the provider whose API the client's path belongs to, such as Anthropic for
"/v1/messages". A model name alone never sends the key elsewhere. There is one exception: with ``keys: client`` in the
configuration, a client can send its key to another provider by writing that provider's name in front of the model, such
as "grok/grok-4".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from tokenmizer_mw.server.access.keys import PREFIX
from tokenmizer_mw.wire.http import CREDENTIALS, Header, header

from .routing import Routes, Target

_OWN_PREFIX: Final = PREFIX.encode("ascii")
OWN_HEADER: Final = b"x-tokenmizer-key"
_BEARER: Final = b"bearer "
_IN_QUERY: Final = "key"
_KEY_MIN: Final = 8
"""Minimum length of a value that is treated as a key. A shorter one could be in any header by chance."""


def takes_clients(target: Target) -> bool:
    """Return whether the client's own API key is sent to this target (a provider and a model), instead of the server's
    key.

    - With ``keys: client`` in the configuration: if the client's path belongs to the provider's API, or if the client
      wrote the provider's name in front of the model.
    - Otherwise: if the client's path belongs to the provider's API, the model is not one that the configuration
      defines, and the server has no key of its own for the provider (nor is ``keys: server`` set).
    """
    if target.server.keys == "client":
        return target.addressed or target.choice == "named"
    ours = target.server.keys == "server" or target.server.key != ""
    return target.addressed and target.choice != "configured" and not ours


def missing_key(target: Target) -> str:
    """Return an error message if the target (a provider and a model) needs an API key and neither the client's nor the
    server's may be sent to it; else "". It is not checked whether the client has sent a key."""
    server, row = target.server, target.server.row
    ours = server.key != "" and server.keys != "client"
    if row.auth == "none" or ours or takes_clients(target):
        return ""
    if server.keys == "client":
        variable = row.key_variable or "a key"
        return (
            f"{server.name} takes keys of clients (keys: client) only from those that address it:"
            f" name the model {server.name}/{target.model}, or configure keys: auto and set {variable}"
        )
    if not row.key_variable:
        return server.lack
    where = "in the environment of this server; a client's key goes only to the provider whose API the client calls"
    return f"no key for {server.name}: set {row.key_variable} {where}"


def missing_for_models(routes: Routes) -> dict[str, str]:
    """Return the model names of the configuration (under ``models``) for which an API key is missing, each with the
    error message. A name is included if any of its targets lacks a key."""
    lacks = {
        name: [text for target in targets if (text := missing_key(replace(target, addressed=True)))]
        for name, targets in routes.configured.items()
    }
    return {name: "; ".join(texts) for name, texts in lacks.items() if texts}


def with_credentials(target: Target, headers: Sequence[Header]) -> list[Header]:
    """Return the client's ``headers`` with the API key to send to the target (a provider and a model). If the client's
    own key may go to it (``takes_clients``), that key stays. Otherwise it is removed from all headers, and the server's
    key is added if there is one. Keys for this server itself are always removed."""
    if takes_clients(target):
        return [pair for pair in headers if not _is_ours(pair)]
    keys = [value for name in CREDENTIALS for value in _bare_values(headers, name)]
    kept = [
        pair
        for pair in headers
        if pair[0].lower() not in CREDENTIALS and not _is_ours(pair) and not any(key in pair[1] for key in keys)
    ]
    return kept + credentials(target, headers)


def _bare_values(headers: Sequence[Header], wanted: bytes) -> list[bytes]:
    """Return the keys in all headers with the lower-case name ``wanted``, without the word "Bearer". Values shorter
    than ``_KEY_MIN`` are left out."""
    bare = [_bare(value) for name, value in headers if name.lower() == wanted]
    return [key for key in bare if len(key) >= _KEY_MIN]


def _bare(value: bytes) -> bytes:
    value = value[len(_BEARER) :] if value[: len(_BEARER)].lower() == _BEARER else value
    return value.strip()


def credentials(target: Target, headers: Sequence[Header]) -> list[Header]:
    """Return the header in which the target (a provider and a model) expects an API key, with the key to send: the
    client's own, taken from ``headers``, if it may go to this target (``takes_clients``), else the server's. ``[]`` if
    there is no such key, or if the provider takes none. The other ``headers`` are not in the result;
    ``with_credentials`` keeps them."""
    key = token(headers) if takes_clients(target) else target.server.key if target.server.keys != "client" else ""
    given = target.server.row.credentials(key)
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in given.items()]


def token(headers: Sequence[Header]) -> str:
    """Return the client's own key for a provider, from the first header that may carry one, without "Bearer"; "" if the
    client sends none. Keys of this server itself are skipped."""
    for name in CREDENTIALS:
        value = header(headers, name)
        if value is None or _is_ours((name, value)):
            continue
        return _bare(value).decode("latin-1")
    return ""


def query_for(target: Target, query: bytes) -> bytes:
    """Return the query to forward to the target (a provider and a model). An API key in it (the parameter "key", as
    Google's clients send it) is removed unless the client's key may go to the target. A key of this server is always
    removed."""
    if b"key=" not in query and b"%" not in query:
        return query
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    clients = takes_clients(target)
    kept = [(name, value) for name, value in pairs if name != _IN_QUERY or (clients and not value.startswith(PREFIX))]
    return query if kept == pairs else urlencode(kept).encode("latin-1")


def _is_ours(pair: Header) -> bool:
    return pair[0].lower() == OWN_HEADER or (_OWN_PREFIX in pair[1] and pair[0].lower() in CREDENTIALS)
