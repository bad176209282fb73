"""Parse JSON as models write it, tolerating errors, in one pass.

Accepts prose and code fences around an object, single quotes, surplus and missing commas, line breaks in strings, and a
truncated end. Linear in the text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

DEPTH_MAX: Final = 16
"""Brackets inside of brackets; what lies deeper is skipped."""

_SPACE: Final = frozenset(" \t\r\n\f\v\u00a0\u2028\u2029\ufeff")
_QUOTES: Final = {'"': '"', "'": "'", "\u201c": "\u201d"}
_AFTER_TEXT: Final = frozenset(",:]}")
_WORD_ENDS: Final = frozenset(",:]}[{\n")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class LooseObject:
    """A JSON object found in a text.

    ``members``: its members; ``cut``: names of members whose value is incomplete because the text ends in it;
    ``broken``: the beginning of each incomplete value that is a string.
    """

    members: dict[str, Any] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without quotes that is not a JSON value."""

    text: str


def objects(text: str) -> list[LooseObject]:
    """Return the outermost JSON objects in ``text``, in order. If the text ends inside an object, its complete members
    are returned."""
    scanner = _Scanner(text)
    found = []
    while (start := text.find("{", scanner.at)) >= 0:
        scanner.at = start
        found.append(scanner.object(0)[0])
    return found


@dataclass(slots=True)
class _Scanner:
    text: str
    at: int = 0

    def value(self, depth: int) -> tuple[Any, bool]:
        """The value that begins here, and whether it is complete."""
        char = self._next()
        if char == "{" and depth < DEPTH_MAX:
            return self.object(depth)
        if char == "[" and depth < DEPTH_MAX:
            return self._array(depth)
        if char in _QUOTES:
            return self._string(_QUOTES[char])
        return self._word()

    def object(self, depth: int) -> tuple[LooseObject, bool]:
        """The object whose opening brace is here."""
        self.at += 1
        found = LooseObject()
        while (char := self._next()) and char not in "}]":
            if char in _QUOTES:
                key, whole = self._string(_QUOTES[char])
            else:
                key, whole = self._word()
            if not whole or self._next() != ":":
                self._skip_comma()
                continue
            self.at += 1
            value, whole = self.value(depth + 1)
            name = key.text if isinstance(key, Bare) else str(key)
            if whole or isinstance(value, list | LooseObject):
                found.members[name] = value
            if not whole:
                found.cut.add(name)
            if not whole and isinstance(value, str):
                found.broken[name] = value
            self._skip_comma()
        return found, self._closes("}")

    def _array(self, depth: int) -> tuple[list[Any], bool]:
        self.at += 1
        found: list[Any] = []
        while (char := self._next()) and char not in "}]":
            value, whole = self.value(depth + 1)
            if whole:
                found.append(value)
            self._skip_comma()
        return found, self._closes("]")

    def _closes(self, bracket: str) -> bool:
        """Whether something closes here. A bracket of the other kind closes too, and is left to who opened it."""
        char = self.text[self.at : self.at + 1]
        self.at += char == bracket
        return bool(char)

    def _string(self, quote: str) -> tuple[str, bool]:
        """The text in quotes that begins here. A quote ends it where JSON goes on behind, or the text does not."""
        start = at = self.at + 1
        text = self.text
        while at < len(text):
            char = text[at]
            if char == "\\":
                at += 1
            elif char == quote and self._goes_on(at + 1):
                self.at = at + 1
                return _unescape(text[start:at]), True
            at += 1
        self.at = len(text)
        return _unescape(text[start:]), False

    def _goes_on(self, at: int) -> bool:
        while at < len(self.text) and self.text[at] in _SPACE:
            at += 1
        return at == len(self.text) or self.text[at] in _AFTER_TEXT

    def _word(self) -> tuple[Any, bool]:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _WORD_ENDS:
            self.at += 1
        if self.at == start:
            self.at += 1  # a bracket too deep, or one that nobody opened
        word = self.text[start : self.at].strip()
        if word in _WORDS:
            return _WORDS[word], True
        try:
            return float(word), self.at < len(self.text)
        except ValueError:
            return Bare(word), self.at < len(self.text)

    def _next(self) -> str:
        """The next character that is no white space, "" at the end."""
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _skip_comma(self) -> None:
        while self._next() in (",", ":"):
            self.at += 1


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")
