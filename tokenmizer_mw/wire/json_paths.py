"""Dotted paths that address a value in a JSON value: "answer.text", "turns.-1.text"; "$" is the value itself."""

from __future__ import annotations

from typing import Any, Final

from tokenmizer_mw.errors import ConfigError

ROOT: Final = "$"

STEP_MAX: Final = 100
"""Characters of one step of a path."""

Path = tuple[str, ...]
"""The names of members and the numbers of elements that lead to a place."""


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
    """Set ``value`` at ``path``, which consists of member names only, in ``into``; return ``into``. Raises
    ``ValueError`` if a value on the path is not an object."""
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
