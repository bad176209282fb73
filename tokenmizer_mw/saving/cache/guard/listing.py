"""Helper for word tables written as text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of ``text``, separated by white space."""
    return frozenset(text.split())
