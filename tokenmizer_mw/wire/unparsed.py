"""Search the bytes of a request without parsing it: for words, and for the models that it may name."""

from __future__ import annotations

from typing import Final

MODELS_MAX: Final = 8
"""Most members called "model" that are read in an unparsed request. A request with more counts as one that may name any
model."""

_MODEL: Final = b'"model"'
_FIRST: Final = (b'{"model":"', b'{"model": "')
_NAMED: Final = len(b"{") + len(_MODEL)
_MODEL_BYTES: Final = 256
_TAIL: Final = 512


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
