"""Add or remove one value in JSON text; all other characters, such as blanks and line breaks, stay. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.wire.json_text import Span, decode_value, skip_space, walk_elements, walk_members

_STEP: Final = "  "
_DEPTH_MAX: Final = 100
_MARK: Final = "  "
"""Blanks around a value that is put into an empty container. By them ``take`` recognises that the container was there
before, and keeps it."""


class NotPlain(ValueError):
    """Raised for a configuration file that cannot be edited safely: it is not a JSON object (or not TOML), has comments
    or duplicate members, or is nested too deeply; or a value on the path to the edited member is missing or has another
    type than the edit needs."""


@dataclass(slots=True)
class _Part:
    """A value in the text, from ``start`` to ``end``. For an object or array, ``parts`` are the values in it,
    ``begins`` where each begins (a member with its name), and ``names`` the names of members. ``kind``: the first
    character."""

    start: int
    end: int = 0
    kind: str = ""
    names: list[str] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)


def put(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return the JSON ``text`` with ``value`` at ``path``, in place of the value that is there; missing objects on the
    path are created. A blank ``text`` counts as an empty object.

    ``path``: names of members from the outside in; numbers are indices of existing elements. Raises ``NotPlain`` if
    that is not possible (also for an element that does not exist), and ``ValueError`` for an empty path.
    """
    _require_steps(path)
    text = text if text.strip() else "{}\n"
    part = _read(text)
    for depth, step in enumerate(path):
        index = _index_of(part, step)
        if index < 0:
            return _add_part(text, part, *_new_member(part, path, depth, value))
        part = part.parts[index]
    return text[: part.start] + _format_value(value, _indent(text, part.start), text) + text[part.end :]


def _new_member(part: _Part, path: Sequence[str | int], depth: int, value: Any) -> tuple[Any, str]:
    """Return the value and the name of the member to add to ``part``, which has nothing at step ``depth`` of the path:
    ``value``, in objects for the rest of the path. Raises ``NotPlain`` if ``part`` is not an object, and if an element
    of a list would have to be created."""
    steps = [str(step) for step in path]
    for number, step in enumerate(path[depth:], depth):
        if isinstance(step, int):
            raise NotPlain(f"{'.'.join(steps[: number + 1])} does not exist")
    if part.kind != "{":
        raise NotPlain(f"{'.'.join(steps[:depth]) or 'it'} is not an object")
    for inner in reversed(steps[depth + 1 :]):
        value = {inner: value}
    return value, steps[depth]


def append(text: str, path: list[str], value: Any) -> str:
    """Return the JSON ``text`` with ``value`` appended to the array at ``path`` (names of members from the outside in),
    which is created if it is missing. A blank ``text`` counts as an empty object. Raises ``NotPlain`` if that is not
    possible."""
    text = text if text.strip() else "{}\n"
    part = _find_part(text, path)
    if part is None:
        return put(text, path, [value])
    if part.kind != "[":
        raise NotPlain(f"{'.'.join(path)} is not a list")
    return _add_part(text, part, value)


def take(text: str, path: Sequence[str | int]) -> str:
    """Return the JSON ``text`` without the member or element at ``path``, and without objects and arrays that become
    empty by that. Those that were empty before ``put`` or ``append`` added the value stay.

    Returns ``text`` unchanged if there is nothing at ``path``. Raises ``NotPlain`` if ``text`` is not plain JSON, and
    ``ValueError`` for an empty path.
    """
    _require_steps(path)
    part = _read(text) if text.strip() else _Part(0)
    chain = [(part, -1)]
    for step in path:
        index = _index_of(part, step)
        if index < 0:
            return text
        chain[-1] = (part, index)
        part = part.parts[index]
        chain.append((part, -1))
    holder, index = chain[-2]
    for above, place in reversed(chain[:-2]):
        if len(holder.parts) > 1 or _was_empty(text, holder):
            break
        holder, index = above, place
    return _remove_part(text, holder, index)


def value_of(text: str) -> dict[str, Any]:
    """Parse ``text`` as a JSON object; an empty object for blank text. Raises ``NotPlain`` for anything else, also for
    JSON with comments or duplicate members."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_require_unique_names)
    except json.JSONDecodeError as error:
        comment = text.startswith(("//", "/*"), error.pos)
        reason = f"line {error.lineno} has a comment" if comment else str(error)
        raise NotPlain(f"it is not plain JSON ({reason})") from None
    except (ValueError, RecursionError) as error:
        raise NotPlain(f"it is not plain JSON ({error})") from None
    if not isinstance(value, dict):
        raise NotPlain("it is not a JSON object")
    return value


def _require_unique_names(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as a dictionary. Raises ``ValueError`` for duplicate names, of which most parsers see only the
    last."""
    result = dict(members)
    if len(result) < len(members):
        raise ValueError("a member is there twice")
    return result


def _remove_part(text: str, holder: _Part, index: int) -> str:
    if len(holder.parts) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if index == 0:
        return text[: holder.begins[0]] + text[holder.begins[1] :]
    return text[: holder.parts[index - 1].end] + text[holder.parts[index].end :]


def _add_part(text: str, holder: _Part, value: Any, name: str | None = None) -> str:
    outer = _indent(text, holder.start)
    if holder.parts:
        first = holder.begins[0]
        alone = "\n" in text[holder.start : first]
        inner = _indent(text, first) if alone else ""
        between = f"\n{inner}" if alone else " "
        at = holder.parts[-1].end
        return text[:at] + "," + between + _member(name, _format_value(value, inner, text, alone)) + text[at:]
    if text[: holder.start].strip():
        body = f"{_MARK}{_member(name, _format_value(value, '', text, False))}{_MARK}"
        return text[: holder.start + 1] + body + text[holder.end - 1 :]
    inner = outer + _step(text)
    body = f"\n{inner}{_member(name, _format_value(value, inner, text))}\n{outer}"
    return text[: holder.start + 1] + body + text[holder.end - 1 :]


def _was_empty(text: str, holder: _Part) -> bool:
    """Return whether the only value in ``holder`` was put into it while it was empty (see ``_MARK``)."""
    inside = text[holder.start + 1 : holder.end - 1]
    return inside == f"{_MARK}{inside.strip()}{_MARK}"


def _member(name: str | None, spelled: str) -> str:
    return spelled if name is None else f"{json.dumps(name)}: {spelled}"


def _format_value(value: Any, indent: str, text: str, lines: bool = True) -> str:
    if not lines:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=_step(text)).replace("\n", f"\n{indent}")


def _step(text: str) -> str:
    """Return the indentation of one level in ``text``."""
    for line in text.split("\n")[1:]:
        if line.strip() and line[0] in " \t":
            return line[: len(line) - len(line.lstrip(" \t"))]
    return _STEP


def _indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _require_steps(path: Sequence[str | int]) -> None:
    if not path:
        raise ValueError("the path is empty: it names the whole text, and no value in it")


def _index_of(part: _Part, step: str | int) -> int:
    """Return the index in ``part.parts`` of the member or element that ``step`` names; -1 for none."""
    if isinstance(step, int):
        return step if part.kind == "[" and 0 <= step < len(part.parts) else -1
    return part.names.index(step) if step in part.names else -1


def _find_part(text: str, path: list[str]) -> _Part | None:
    part = _read(text)
    for name in path:
        if part.kind != "{" or name not in part.names:
            return None
        part = part.parts[part.names.index(name)]
    return part


def _read(text: str) -> _Part:
    value_of(text)
    return _part(text, skip_space(text, 0), _DEPTH_MAX)


def _part(text: str, start: int, depth: int) -> _Part:
    """Parse the value at ``start`` of ``text``, which is valid JSON. Raises ``NotPlain`` for too deep nesting."""
    if depth == 0:
        raise NotPlain("it is nested too deeply")
    part = _Part(start, kind=text[start])

    def element(begin: int, place: int) -> int:
        part.begins.append(begin)
        part.parts.append(_part(text, place, depth - 1))
        return part.parts[-1].end

    def member(name: str, span: Span, place: int) -> int:
        part.names.append(name)
        return element(span[0], place)

    if part.kind == "{":
        part.end = walk_members(text, start, member)
    elif part.kind == "[":
        part.end = walk_elements(text, start, lambda _, place: element(place, place))
    else:
        part.end = decode_value(text, start)[1]
    return part
