"""Helpers that dialects share to collect replies. Nothing here raises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from .text import storable

ERROR_MAX: Final = 1_000
"""Characters kept of a provider's error message."""

COUNT_MAX: Final = 2**53
"""The largest number of tokens that is believed."""


_decode: Final = json.JSONDecoder().decode


def parse_json(text: str) -> object:
    """Parse JSON; ``None`` if ``text`` is not valid JSON."""
    try:
        value: object = _decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def token_counts(raw: object, table: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return a provider's token counts by our names.

    ``table`` pairs the place of each count (a name, or two joined by a dot) with our name. Values that are not counts
    are left out; 3.0 is accepted, as some providers write it.
    """
    if not isinstance(raw, dict):
        return {}
    found: dict[str, int] = {}
    for path, name in table:
        outer, _, inner = path.partition(".")
        value = raw.get(outer)
        if inner:
            value = value.get(inner) if isinstance(value, dict) else None
        if isinstance(value, int | float) and type(value) is not bool and 0 <= value <= COUNT_MAX and value % 1 == 0:
            found[name] = int(value)
    return found


def error_text(error: object) -> str:
    """Return a provider's error message: a text, or an object with a message. Never empty."""
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else ""
    return storable(text[:ERROR_MAX]) or "unspecified error"
