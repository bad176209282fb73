"""Whose key goes to a provider. A key of this server's own callers never does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode

from tokenmizer_mw.access.keys import PREFIX

from .headers import CREDENTIALS, Header, value_of
from .routing import Target

_OWN_PREFIX: Final = PREFIX.encode("ascii")

OWN_HEADER: Final = b"x-tokenmizer-key"

_BEARER: Final = b"bearer "
_IN_QUERY: Final = "key"


def takes_clients(target: Target) -> bool:
    """Whether the client's own key goes to this target."""
    if target.server.keys == "client":
        return True
    return target.server.keys == "auto" and not target.server.key and target.chosen


def with_credentials(target: Target, headers: Sequence[Header]) -> list[Header]:
    """The headers of a call in the provider's own dialect, with the key that is meant for the target: the client's own
    credentials as they are, or the server's in their place."""
    if takes_clients(target):
        return [pair for pair in headers if not _ours(pair)]
    kept = [pair for pair in headers if pair[0].lower() not in CREDENTIALS and not _ours(pair)]
    return kept + credentials(target, headers)


def credentials(target: Target, headers: Sequence[Header]) -> list[Header]:
    """The headers that carry the key for the target, as its dialect puts it; none where there is no key."""
    key = token(headers) if takes_clients(target) else target.server.key if target.server.keys != "client" else ""
    given = target.server.row.credentials(key)
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in given.items()]


def token(headers: Sequence[Header]) -> str:
    """The client's own key for a provider; "" where it sends none."""
    for name in CREDENTIALS:
        value = value_of(headers, name)
        if value is None or _ours((name, value)):
            continue
        bare = value[len(_BEARER) :] if value[: len(_BEARER)].lower() == _BEARER else value
        return bare.strip().decode("latin-1")
    return ""


def query_for(target: Target, query: bytes) -> bytes:
    """The query as it goes on: Google's clients may put a key there."""
    if b"key=" not in query:
        return query
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    clients = takes_clients(target)
    kept = [(name, value) for name, value in pairs if name != _IN_QUERY or (clients and not value.startswith(PREFIX))]
    return query if kept == pairs else urlencode(kept).encode("latin-1")


def _ours(pair: Header) -> bool:
    return pair[0].lower() == OWN_HEADER or (_OWN_PREFIX in pair[1] and pair[0].lower() in CREDENTIALS)
