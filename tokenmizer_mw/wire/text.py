"""Make text storable (no lone surrogates), and values into JSON text."""

from __future__ import annotations

import json


def storable(text: str) -> str:
    """Return ``text`` with U+FFFD for every lone surrogate, which no encoding can store.

    JSON escapes can contain half a character; two matching halves become the character.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def json_text(value: object) -> str:
    """``value`` as compact JSON; "" for a value that is not JSON, or is nested too deeply to be written."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return ""
