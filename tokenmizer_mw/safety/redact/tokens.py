"""Reader of credentials that are recognised by their own shape."""

from __future__ import annotations

from typing import Final

from . import shape as shapes
from .found import PlaceReading, Reader, SecretSpan, refusal
from .judge import CHECKS, LOOK_MAX, WHOLE, entropy, placeholder
from .names import identifier
from .pattern import compile_outline, compile_pattern
from .rule import Token

WINDOW: Final = 1024
"""Bytes in which a shape must be complete; only what was accepted is followed further."""

SKIP: Final = 3
"""Bytes behind the start of something refused from which on the search goes on."""

_RUN: Final = compile_pattern(r"[A-Za-z0-9+/_-]*")
_BASE64: Final = compile_pattern(r"[A-Za-z0-9+/]*")
_BEFORE: Final = 40
_AROUND_MAX: Final = 100


def row(token: Token, shape: str) -> tuple[str, Reader]:
    """Return the beginning of a shape, and its reader."""
    if token.around:
        return shapes.mark_gate(shape), _Around(token, shape).read
    return shapes.gate(shape), _Shape(token, shape).read


class _Shape:
    """A shape that begins where it is looked for."""

    __slots__ = ("_forbidden", "_hexadecimal", "_outline", "_pattern", "_token")

    def __init__(self, token: Token, shape: str) -> None:
        self._token = token
        self._pattern = compile_pattern(shapes.pattern(shape))
        self._outline = compile_outline(shapes.pattern(shape))
        self._forbidden = frozenset(shapes.follows(shape).encode())
        self._hexadecimal = shapes.hexadecimal(shape)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """What stands at ``start``."""
        token, onward = self._token, start + SKIP
        last = min(len(text), start + WINDOW)
        end = self._outline.reach(text, start, last)
        if end == start:
            return refusal(token.kind, start, onward, "too short or of other characters", onward)
        if end < len(text) and text[end] in self._forbidden:
            return refusal(token.kind, start, end, "longer than such a key is", onward)
        match = self._pattern.match(text, start, last)
        body = match.start(1) if match is not None else start
        why = doubts(token, text[start:end], body - start, named=not self._hexadecimal)
        if not why and in_base64(text, start):
            why = "in the middle of base 64"
        if why:
            return refusal(token.kind, start, end, why, max(onward, end - 1))
        if end == start + WINDOW:
            end = self._outline.reach(text, start, len(text))
        return PlaceReading(end, (SecretSpan(token.kind, start, end, f"has the shape {token.shape}"),))


class _Around:
    """A mark in the middle of a run: the run is the secret."""

    __slots__ = ("_least", "_token")

    def __init__(self, token: Token, shape: str) -> None:
        self._token, self._least = token, shapes.least(shape)

    def read(self, text: bytes, start: int) -> PlaceReading:
        """The run around ``start``."""
        token = self._token
        first = start
        while first and start - first < _AROUND_MAX and _RUN.reach(text, first - 1, first) == first:
            first -= 1
        end = _RUN.reach(text, start, min(len(text), start + WINDOW))
        if end - first > _AROUND_MAX:
            return refusal(token.kind, first, end, "longer than such a key is", end)
        while end < len(text) and text[end] == 0x3D and end - first < _AROUND_MAX:
            end += 1
        short = "" if end - first >= self._least else "shorter than such a key is"
        why = short or doubts(token, text[first:end], 0, named=False)
        if why:
            return refusal(token.kind, first, end, why, end)
        return PlaceReading(end, (SecretSpan(token.kind, first, end, f"has the shape {token.shape}"),))


def doubts(token: Token, said: bytes, prefix: int, *, named: bool) -> str:
    """Return why ``said``, which has the shape of ``token``, is not a secret; "" if it is one.

    ``prefix``: number of literal bytes at its start; ``named``: whether the rest may be a name.
    """
    text = said[: LOOK_MAX + prefix].decode("latin-1")
    body = text[prefix:]
    if token.check and not CHECKS[token.check](text if token.check in WHOLE else body):
        return f"fails the check {token.check!r}"
    if placeholder(body):
        return "a placeholder"
    if entropy(body) < min(token.floor, 0.6 * len(body) ** 0.5):
        return "too little entropy"
    few = 4 if token.check == "mixed" else 2
    return "reads like a name" if named and sum(map(str.isdigit, body)) < few and identifier(body) else ""


def in_base64(text: bytes, start: int) -> bool:
    """Return whether a long run of base64 precedes ``start``, in which anything may occur by chance."""
    if text[start - 1 : start] not in (b"+", b"/"):
        return False
    before = text[max(0, start - _BEFORE) : start]
    whole = len(before) == _BEFORE and _BASE64.reach(before, 0, _BEFORE) == _BEFORE
    return whole and not identifier(before.decode("latin-1"))
