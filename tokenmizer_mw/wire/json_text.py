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
    """Return the first position from ``place`` on that is not JSON white space (space, tab, CR, LF); the text's length
    when there is none."""
    end: int = match_space(text, place).end()
    return end


def walk_members(text: str, place: int, visit: Callable[[str, Span, int], int]) -> int:
    """Call ``visit`` for each member of the JSON object that starts at ``place``. Returns the position behind its
    closing brace.

    ``visit`` gets the member's name, the span of the name with its quotes, and the position of the value; it must
    return the position behind the value's last character. ``text`` must be valid JSON there.
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

    ``visit`` gets the index of the element (from 0) and its position; it must return the position behind the element's
    last character. ``text`` must be valid JSON there.
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
    """Return ``text`` so that it can be encoded: a lone surrogate (half of a character, which JSON escapes can contain)
    becomes U+FFFD, and two surrogates that belong together become their character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def json_text(value: object) -> str:
    """Return ``value`` as JSON without spaces, non-ASCII characters unescaped; "" for a value that JSON cannot express,
    or that is nested too deeply."""
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
    """Return the steps of a dotted path: ("answer", "text") for "answer.text", () for "$". Raises ``ConfigError`` for
    anything that is not a text, and for a path with an empty step or one longer than ``STEP_MAX``; ``what`` names the
    setting in the error's message."""
    if text == ROOT:
        return ()
    if not isinstance(text, str) or not all(0 < len(step) <= STEP_MAX for step in text.split(".")):
        raise ConfigError(f'{what} is a dotted path such as "answer.text", or "$", not {text!r}')
    return tuple(text.split("."))


def value_at(value: object, path: Path) -> object:
    """Return the value at ``path`` in a parsed JSON document; ``value`` itself for (). A step is the name of a member,
    or the index of an element, which may be negative ("-1" is the last one). Returns ``None`` if there is no such
    member or element, or if it is ``null``."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            value = _element(value, step)
        else:
            return None
    return value


def put_at(value: object, path: Path, into: dict[str, Any]) -> dict[str, Any]:
    """Set ``value`` at ``path`` in ``into``, and return ``into``. ``path`` is not empty and consists of member names
    only. Missing objects on the path are created. Raises ``ValueError`` if a value on the path is not an object, or if
    there is a value at ``path`` already."""
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
