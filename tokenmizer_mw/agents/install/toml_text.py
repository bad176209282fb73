"""Add or remove a section of TOML text; all other characters stay. Pure.

The boundaries of sections are found by parsing: a line starts something new if everything above it parses by itself.
Each result is parsed again, and refused if more has changed than intended.
"""

from __future__ import annotations

import tomllib
from typing import Any, Final

from .json_text import NotPlain

_ELSEWHERE: Final = "it keeps us, or its servers, in a form that is not changed by itself"


def with_section(text: str, name: str, section: str) -> str:
    """Return the TOML text ``text`` with ``section`` at its end. ``section``: the text of the section, whose first line
    is the header ``[name]``.

    If ``text`` already has a section ``[name]``, only the keys of ``section`` are set in it; ``text`` itself is
    returned if they have these values already. Raises ``NotPlain`` if ``text`` is not TOML, or if its section cannot be
    changed alone, for example because it is an inline table.
    """
    path = name.split(".")
    values = _read(text)
    wanted = _at(_read(section), path)
    known = _at(values, path)
    if isinstance(known, dict) and wanted.items() <= known.items():
        return text
    after = _keys_set(text, path, section) if known is not None else _append_section(text, section)
    return _verify_text(after, _put(values, path, {**known, **wanted} if isinstance(known, dict) else wanted), path)


def without_section(text: str, name: str) -> str:
    """Return ``text`` without the section ``[name]`` and its subsections, each up to its last key; comments after that
    stay. Returns ``text`` itself if there is no such section.

    Raises ``NotPlain`` for invalid TOML, and if more or less than that would be removed.
    """
    path = name.split(".")
    values = _read(text)
    if _at(values, path) is None:
        return text
    lines = text.split("\n")
    for start, end in reversed(_sections(lines, path)):
        first = start - 1 if start and not lines[start - 1].strip() else start
        del lines[first:end]
    rest = "\n".join(lines)
    return _verify_text(rest, _put(values, path, None), path)


def _append_section(text: str, section: str) -> str:
    if not text:
        return section
    return f"{text}\n{section}" if text.endswith("\n") else f"{text}\n\n{section.rstrip()}"


def _keys_set(text: str, path: list[str], section: str) -> str:
    """Return ``text`` with the keys of ``section`` in its own section of that name, replacing keys that are there."""
    lines = text.split("\n")
    spans = [span for span in _sections(lines, path) if _header(lines[span[0]]) == path]
    if len(spans) != 1:
        raise NotPlain(_ELSEWHERE)
    start, end = spans[0]
    names = _at(_read(section), path).keys()
    section_lines, piece = [lines[start]], ""
    for line in lines[start + 1 : end]:
        piece = f"{piece}\n{line}" if piece else line
        if (keys := _try_parse(f"{piece}\n")) is not None:
            section_lines += [] if keys.keys() & names else [piece]
            piece = ""
    section_lines[1:1] = section.rstrip().split("\n")[1:]
    return "\n".join([*lines[:start], *section_lines, *lines[end:]])


def _sections(lines: list[str], path: list[str]) -> list[tuple[int, int]]:
    """Return the line numbers of the sections named ``path`` and of those below them: that of the header, and the one
    after the last line with content."""
    found: list[tuple[int, int]] = []
    start = -1
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("["):
            continue
        ours = _header(line)[: len(path)] == path
        if (ours or start >= 0) and _try_parse("\n".join([*lines[:number], ""])) is not None:
            found += [(start, _last(lines, start, number))] if start >= 0 else []
            start = number if ours else -1
    return found if start < 0 else [*found, (start, _last(lines, start, len(lines)))]


def _last(lines: list[str], start: int, end: int) -> int:
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _header(line: str) -> list[str]:
    """Return the names in a section header; an empty list for any other line and for an array of tables."""
    values: Any = _try_parse(line.strip())
    path = []
    while isinstance(values, dict) and len(values) == 1:
        ((name, values),) = values.items()
        path.append(name)
    return path if values == {} else []


def _at(result: Any, path: list[str]) -> Any:
    for name in path:
        result = result.get(name) if isinstance(result, dict) else None
    return result


def _put(values: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """Return ``values`` with ``value`` at ``path``; if it is ``None``, without what is there."""
    name, *further = path
    inner = _put(values[name] if isinstance(values.get(name), dict) else {}, further, value) if further else value
    others = {known: value_of for known, value_of in values.items() if known != name}
    return others if inner is None else {**others, name: inner}


def _verify_text(text: str, wanted: dict[str, Any], path: list[str]) -> str:
    """Return ``text`` if its content is ``wanted`` (an empty table may also be missing). Raises ``NotPlain`` if not."""
    values = _try_parse(text)
    above = path[:-1]
    if values is not None and above and _at(wanted, above) == {} and _at(values, above) is None:
        wanted = _put(wanted, above, None)
    if values is None or values != wanted:
        raise NotPlain(_ELSEWHERE)
    return text


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=str)  # a number that is none differs from itself
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotPlain(f"it is not TOML ({error})") from None


def _try_parse(text: str) -> dict[str, Any] | None:
    try:
        return _read(text)
    except NotPlain:
        return None
