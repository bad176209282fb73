"""JSON: write values as storable text (without lone surrogates), find the positions of values in a text, and address
values in a parsed document by dotted paths ("answer.text", "turns.-1.text"; "$" is the document itself).

A text is scanned with the C scanner of the standard library; only the containers that are needed are walked in Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError

Span = tuple[int, int]
"""Start and end (exclusive) of a piece of a text, in characters."""

Edit = tuple[int, int, str]
"""A change of a text: start and end (exclusive) of the part to replace, in characters, and the text to put there."""

SPACE: Final = " \t\n\r"
match_space: Final[Callable[[str, int], Any]] = re.compile(r"[ \t\n\r]*").match
"""Matches the white space at a position of a text. It always matches, because there may be none."""

decode_value: Final[Callable[[str, int], tuple[Any, int]]] = json.JSONDecoder().raw_decode
"""Parse the JSON value that starts at a position of a text. Returns it and the position where it ends. Raises
``json.JSONDecodeError``."""

scan_string: Final[Callable[[str, int], tuple[str, int]]] = json.decoder.scanstring  # type: ignore[attr-defined]
"""Parse the JSON string whose first character after the quote is at a position of a text. Returns it and the position
after its closing quote. Raises ``json.JSONDecodeError``."""


def skip_space(text: str, place: int) -> int:
    """Return the first position from ``place`` on that is not white space; the text's length when there is none."""
    end: int = match_space(text, place).end()
    return end


def walk_members(text: str, place: int, visit: Callable[[str, Span, int], int]) -> int:
    """Call ``visit`` for each member of the JSON object that starts at ``place``. Returns the position behind its
    closing brace.

    ``visit`` gets the name, the span of the name with its quotes, and the position of the value; it returns the end of
    the value. ``text`` must be valid JSON there.
    """
    place = skip_space(text, place + 1)
    while text[place] != "}":
        start = place
        name, end = scan_string(text, start + 1)
        place = _behind(text, end, ":")
        place = _behind(text, visit(name, (start, end), place), ",")
    return place + 1


def walk_elements(text: str, place: int, visit: Callable[[int, int], int]) -> int:
    """Call ``visit`` for each element of the JSON array that starts at ``place``. Returns the position behind its
    closing bracket.

    ``visit`` gets the index of the element and its position; it returns its end. ``text`` must be valid JSON there.
    """
    place = skip_space(text, place + 1)
    index = 0
    while text[place] != "]":
        place = _behind(text, visit(index, place), ",")
        index += 1
    return place + 1


def _behind(text: str, place: int, mark: str) -> int:
    """Return the first position from ``place`` on that is neither white space nor one ``mark``."""
    while text[place] in SPACE:
        place += 1
    if text[place] != mark:
        return place
    place += 1
    while text[place] in SPACE:
        place += 1
    return place


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
    """Return ``value`` as compact JSON; "" for a value that is not JSON, or is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return ""


ROOT: Final = "$"

STEP_MAX: Final = 100
"""Longest step of a path, in characters."""

Path = tuple[str, ...]
"""The steps to a value in a JSON document: names of members, and numbers of elements as text. () is the document
itself."""


def parse_path(text: object, what: str) -> Path:
    """Parse a dotted path. Raises ``ConfigError`` for anything else; ``what`` names the setting in its message."""
    if text == ROOT:
        return ()
    if not isinstance(text, str) or not all(0 < len(step) <= STEP_MAX for step in text.split(".")):
        raise ConfigError(f'{what} is a dotted path such as "answer.text", or "$", not {text!r}')
    return tuple(text.split("."))


def value_at(value: object, path: Path) -> object:
    """Return the value at ``path`` in a parsed JSON document. A step is the name of a member or the index of an
    element. Returns ``None`` if there is no such member or element, or if it is ``null``."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            value = _element(value, step)
        else:
            return None
    return value


def put_at(value: object, path: Path, into: dict[str, Any]) -> dict[str, Any]:
    """Set ``value`` at ``path``, which consists of member names only, in ``into``; return ``into``. Missing objects on
    the path are created. Raises ``ValueError`` if a value on the path is not an object, or if there is a value at
    ``path`` already."""
    holder = into
    for step in path[:-1]:
        holder = holder.setdefault(step, {})
        if not isinstance(holder, dict):
            raise ValueError(f"{step} is no object")
    if path[-1] in holder:
        raise ValueError(f"{path[-1]} stands there twice")
    holder[path[-1]] = value
    return into


def _element(elements: list[Any], step: str) -> object:
    try:
        return elements[int(step)]
    except (ValueError, IndexError):
        return None
