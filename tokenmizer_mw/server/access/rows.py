"""Conversion between API keys and table rows; the columns are the same in every database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenmizer_mw.errors import StoreCorrupt

from .keys import Key


def row_of(key: Key) -> tuple[Any, ...]:
    """Return the row of a key: id, tenant, digest, scopes separated by commas, and the three times."""
    scopes = ",".join(sorted(key.scopes))
    return (key.id, key.tenant, key.digest, scopes, key.created_at, key.expires_at, key.revoked_at)


def key_of(row: Sequence[Any], place: str) -> Key:
    """Return the key in a row. Raises ``StoreCorrupt`` for an invalid row."""
    id_, tenant, digest, scopes, created_at, expires_at, revoked_at = row
    try:
        times = [None if at is None else float(at) for at in (expires_at, revoked_at)]
        return Key(id_, tenant, bytes(digest), frozenset(scopes.split(",")), float(created_at), *times)
    except (TypeError, ValueError, AttributeError):
        raise StoreCorrupt(f"{place}: is damaged: a key cannot be read") from None
