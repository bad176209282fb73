"""Text that can be stored, and values as text."""

from __future__ import annotations

import json


def storable(text: str) -> str:
    """``text`` as it is, or with U+FFFD for every lone surrogate, which no encoding could store.

    JSON escapes can spell half a character; the two halves of one, met side by side, become the character.
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
