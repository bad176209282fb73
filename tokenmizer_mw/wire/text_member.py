"""Find a member of a JSON object in its bytes, and leave it out, without the positions of all the others."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from tokenmizer_mw.wire.json_text import SPACE, decode_value

_TEXT: Final = re.compile(rb'[ \t\n\r]*:[ \t\n\r]*"([^"\\]*)"')
_COMMA: Final = re.compile(rb"[ \t\n\r]*,[ \t\n\r]*")


class TextMember(NamedTuple):
    """A top-level member of a JSON object whose value is a text.

    ``value``: that text; ``written``: the member as it stands in the body, name and value; ``rest``: the body without
    it and without one comma; ``values``: the parsed values of all members by name.
    """

    value: str
    written: bytes
    rest: bytes
    values: dict[str, Any]


def find_text_member(body: bytes, name: str) -> TextMember | None:
    """Return the member ``name`` of the JSON object ``body``.

    ``None`` if there is no such member, and if only a parser that knows all positions can tell (``read_object``): the
    body is no valid JSON object, the name stands there twice or may be written with escapes, or the value is no text or
    has escapes.
    """
    quoted = encode_name(name)
    start = body.rfind(quoted)
    if start < 0 or body.find(quoted, 0, start) >= 0 or _may_be_escaped(name, body):
        return None
    match = _TEXT.match(body, start + len(quoted))
    values = _parse(body) if match is not None else None
    # The value of the only name that is spelt so: it is a member of the object itself, not of one inside it.
    if match is None or values is None or values.get(name) != (value := match[1].decode()):
        return None
    return TextMember(value, body[start : match.end()], _cut_out(body, start, match.end()), values)


@lru_cache(maxsize=16)
def encode_name(name: str) -> bytes:
    """Return the name of a member as clients write it: with quotes, in UTF-8."""
    return json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _may_be_escaped(name: str, body: bytes) -> bool:
    """Whether ``body`` may have ``name`` in another spelling."""
    return b"\\" in body and (b"\\u" in body or "/" in name)  # one byte is looked for ten times as fast as two


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        text = body.decode()
        values, end = decode_value(text, 0)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and not text[end:].strip(SPACE) else None


def _cut_out(body: bytes, start: int, end: int) -> bytes:
    """Return ``body`` without the member in ``[start, end)``, and without the comma behind it, or before the last
    one."""
    if (comma := _COMMA.match(body, end)) is not None:
        return body[:start] + body[comma.end() :]
    before = body[:start].rstrip(SPACE.encode())
    return (before[:-1].rstrip(SPACE.encode()) if before.endswith(b",") else body[:start]) + body[end:]
