"""Text that can be stored."""

from __future__ import annotations


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
