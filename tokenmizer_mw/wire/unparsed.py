"""Search the bytes of a request without the positions of all its members: for words, for the models that it may name,
and for one member whose value is a text."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from tokenmizer_mw.wire.json_text import SPACE, decode_value

MODELS_MAX: Final = 8
"""Most members called "model" that are read in an unparsed request. A request with more counts as one that may name any
model."""

_MODEL: Final = b'"model"'
_FIRST: Final = (b'{"model":"', b'{"model": "')
_NAMED: Final = len(b"{") + len(_MODEL)
_MODEL_BYTES: Final = 256
_TAIL: Final = 512
_TEXT: Final = re.compile(rb'[ \t\n\r]*:[ \t\n\r]*"([^"\\]*)"')
_COMMA: Final = re.compile(rb"[ \t\n\r]*,[ \t\n\r]*")


def has_bytes(body: bytes, words: bytes) -> bool:
    """Whether ``words`` occur anywhere in ``body``."""
    # CPython looks for a few bytes up to five times as fast from the end of a long body as from its start.
    return body.rfind(words) >= 0


def find_models(body: bytes) -> tuple[str, ...]:
    """Return the models that a request may name. Empty when it names none, more than ``MODELS_MAX``, or one with
    escapes or non-ASCII characters: it may then be any model.

    Most clients name the model first, or after the messages with only short values after it. These places are searched
    first; otherwise every member called "model", at any depth, counts. If a request names two models at its top level,
    the one in these places is used.
    """
    first = body.startswith(_FIRST)
    name = _name(body[_NAMED:_MODEL_BYTES]) if first else _find_in_tail(body[-_TAIL:])
    return (name,) if name else tuple(_find_anywhere(body))


def _find_in_tail(tail: bytes) -> str | None:
    """Return the model in the last member called "model" if it must be a top-level one: only one closing brace and no
    escape follow it. ``None`` otherwise."""
    _, found, rest = tail.rpartition(_MODEL)
    plain = found and rest.count(b"}") == 1 and b"{" not in rest and b"\\" not in rest
    return _name(rest) if plain else None


def _find_anywhere(body: bytes) -> list[str]:
    names: list[str] = []
    place = len(body)
    while (place := body.rfind(_MODEL, 0, place)) >= 0:
        rest = body[place + len(_MODEL) : place + len(_MODEL) + _MODEL_BYTES].lstrip()
        if rest[:1] not in (b":", b""):
            continue  # a value that reads "model"
        name = _name(rest)
        if name is None or len(names) == MODELS_MAX:
            return []
        names.append(name)
    return names


def _name(rest: bytes) -> str | None:
    """Return the text value after a member's name; ``None`` when it is not a text, has escapes, or is not ASCII."""
    opening, _, value = rest.partition(b'"')
    name, closing, _ = value.partition(b'"')
    if opening.strip() != b":" or not closing or b"\\" in name or not name.isascii():
        return None
    return name.decode("ascii")


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
