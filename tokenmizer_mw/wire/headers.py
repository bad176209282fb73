"""Helpers for raw HTTP header lists."""

from __future__ import annotations

from collections.abc import Iterable

Headers = Iterable[tuple[bytes, bytes]]
"""Header names (in any case) and values, as on the wire."""


def by_name(headers: Headers) -> dict[bytes, bytes]:
    """The first value of each header by its name in lower case."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        found.setdefault(name.lower(), value)
    return found


def header(headers: Headers, name: bytes) -> bytes | None:
    """The first value of one header, ``None`` when there is none. ``name`` is given in lower case."""
    for key, value in headers:
        if key == name or key.lower() == name:
            return value
    return None


def with_length(headers: Headers, length: int) -> list[tuple[bytes, bytes]]:
    """Return the headers for a body of ``length`` bytes: without transfer encoding, and with a content length if there
    was either.
    """
    framing = (b"content-length", b"transfer-encoding")
    given = list(headers)
    kept = [(name, value) for name, value in given if name.lower() not in framing]
    return kept if len(kept) == len(given) else [*kept, (b"content-length", str(length).encode())]
