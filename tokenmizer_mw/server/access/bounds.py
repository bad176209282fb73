"""Limits on the content of a JSON request: nesting depth, number of messages, number of tools. Does no I/O.

The check runs before the body is parsed, in up to three steps, the cheapest first:

1. If the body has few brackets outside of strings, empty pairs of brackets are removed from these repeatedly, once per
   two levels of the allowed depth. If none are left, the body is within all limits. This decides most bodies.
2. A body with at most ``_READ_MAX`` brackets is parsed, and its depth, messages and tools are counted.
3. Any other body is scanned: strings are cut out, and the remaining brackets are counted.

The result is exact for valid JSON. For invalid JSON, it may or may not be a limit; the code that parses the body
refuses it anyway. If a name occurs twice in an object, the last member counts, except that the scan measures the depth
of both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, Final

_STEPS: Final = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in _STEPS)

_NO_SIGNS: Final = bytes(byte for byte in range(256) if byte not in b'{}[]"\\/bfnrtu')
"""All bytes except brackets, quotes, backslashes, and the characters that may follow a backslash in JSON."""

_READ_MAX: Final = 16_384
"""Maximum number of brackets, including those in strings, of a body that is parsed in step 2. Larger bodies could
create too many Python objects."""

DEEPEST: Final = 250
"""The greatest nesting depth that a setting may allow. The scan stores each depth in one byte."""

_MEMBER: Final = b"\x01\x02"
_ELEMENT: Final = b"\x02\x03"
"""The scan stores the depth after each bracket as one byte. ``_MEMBER``: the two bytes where a member of the top-level
object that is an array or object begins. ``_ELEMENT``: the two bytes where an element of such a member begins that is
itself an array or object."""

_MEMBER_OPENS: Final = re.compile(rb"\s*:\s*[\[{]")
"""Matches what follows the name of a member whose value is an array or object: colon and opening bracket."""

_MEMBER_BEGINS: Final = re.compile(rb"\s*:")
"""Matches what follows the name of any member: the colon."""

_STRUCTURE: Final = re.compile(rb"[\[\]{},]")
_CONTAINERS: Final = frozenset({dict, list})
"""The Python types of parsed JSON that contain other values."""
_MESSAGES: Final = frozenset({"messages", "input", "contents"})
_TOOLS: Final = frozenset({"tools", "functions"})
_LIMITED: Final = frozenset(name.encode() for name in _MESSAGES | _TOOLS)
_HELD: Final = ("functionDeclarations", "function_declarations", "tools")
"""Names of the members of a tool that contain further tools: Gemini's function declarations, and the tools in a
namespace of OpenAI's Responses API."""

_SEARCHED_MAX: Final = 100_000
"""Maximum number of objects and arrays that are searched for the place of too deep nesting; each takes about 1 us."""

_SHOWN: Final = 4
"""Maximum number of steps of a path that an error shows."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a request: nesting depth of objects and arrays (at most ``DEEPEST``), number of messages, and number of
    tools."""

    depth: int = 64
    messages: int = 2_000
    tools: int = 256


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that a request exceeds. ``code``: for programs, such as "too_many_tools". ``place``: path in the body,
    such as "tools"; ``reason``: the limit and the size; both are for people."""

    code: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def excess(body: bytes, bounds: Bounds) -> Excess | None:
    """Return the first limit of ``bounds`` that ``body``, the JSON text of an object, exceeds; ``None`` if it exceeds
    none. For JSON that is no object, the result is ``None`` unless it is nested too deeply. Invalid JSON may give
    ``None`` or a limit."""
    signs = body.translate(None, _NO_SIGNS)
    brackets = signs.translate(None, _NO_BRACKETS)
    if len(brackets) <= 2 * min(bounds.depth, bounds.messages, bounds.tools):
        return None
    if b"\0" not in body[:4] and _is_clearly_within(signs, bounds):  # in UTF-16, bytes are no signs
        return None
    if len(brackets) <= _READ_MAX and _reads_within(body, bounds):
        return None
    return scan_bounds(body, bounds)


def _is_clearly_within(signs: bytes, bounds: Bounds) -> bool:
    """Return true if the brackets outside of strings prove that the body is within ``bounds``. False means that a
    closer look is needed. ``signs``: the body without the bytes in ``_NO_SIGNS``."""
    plain = signs.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(plain.split(b'"')[::2]).translate(None, _NO_BRACKETS)
    if len(brackets) > 2 * min(bounds.messages, bounds.tools):
        return False
    for _ in range(bounds.depth // 2):  # each takes out one level or two
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if not brackets:
            return True
    return False


def _reads_within(body: bytes, bounds: Bounds) -> bool:
    """Parse ``body``. Return true if it is within ``bounds``, is no object, or is not valid JSON. Return false if it
    exceeds a limit or is nested too deeply to be parsed; it must then be scanned."""
    try:
        read = json.loads(body)
    except RecursionError:
        return False
    except ValueError:
        return True
    return not isinstance(read, dict) or (_is_flat(read, bounds.depth) and not _has_many(read, bounds))


def _is_flat(read: dict[str, Any], most: int) -> bool:
    level: list[Any] = [read]
    for _ in range(most):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return True
    return False


def _has_many(read: dict[str, Any], bounds: Bounds) -> bool:
    if any(len(read[name]) > bounds.messages for name in _MESSAGES & read.keys() if type(read[name]) in _CONTAINERS):
        return True
    return any(_tools(read[name]) > bounds.tools for name in _TOOLS & read.keys())


def scan_bounds(body: bytes, bounds: Bounds) -> Excess | None:
    """Return the first limit of ``bounds`` that ``body`` exceeds, as ``excess`` does, but without the faster steps
    before the scan: brackets are counted for a body of any size. The body is only parsed if it may have too many
    tools."""
    pieces = _pieces(body)
    brackets = b"".join(pieces[::2]).translate(None, _NO_BRACKETS)
    levels = _levels(brackets, bounds.depth)
    if levels is None:
        return None
    if levels[-1:] > bytes([bounds.depth]):
        reason = f"nested deeper than the {bounds.depth} levels that this server takes"
        return Excess("nested_too_deeply", _path(pieces, bounds.depth), reason)
    return _too_many(body, pieces, levels, bounds)


def _pieces(body: bytes) -> list[bytes]:
    """Split a body at the quotes that begin and end strings. Items with an even index are what is outside of strings,
    those with an odd index are the strings. Of a string with escaped quotes, only the part before the first of them is
    returned."""
    pieces = body.split(b'"')
    if b'\\"' not in body:
        return pieces
    outer: list[bytes] = []
    open_string = False
    for piece in pieces:
        if not open_string:
            outer.append(piece)
        # Behind an odd number of backslashes, the quote belongs to the string.
        is_escaped = piece.endswith(b"\\") and (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1
        open_string = len(outer) % 2 == 0 and is_escaped
    return outer


def _levels(brackets: bytes, most: int) -> bytes | None:
    """Return the nesting depth after each bracket, one byte each. The result ends with the first depth that exceeds
    ``most``. ``None`` if there are more closing than opening brackets at some place."""
    levels = bytearray()
    for start in range(0, len(brackets), 4_096):
        steps = map(_STEPS.__getitem__, brackets[start : start + 4_096])
        found = list(accumulate(steps, initial=levels[-1] if levels else 0))[1:]
        if min(found) < 0:
            return None
        if max(found) > most:
            return bytes([*levels, most + 1])
        levels += bytes(found)
    return bytes(levels)


def _too_many(body: bytes, pieces: list[bytes], levels: bytes, bounds: Bounds) -> Excess | None:
    """Return the limit on messages or tools that the body exceeds; ``None`` if it exceeds none. ``pieces`` and
    ``levels``: what ``_pieces`` and ``_levels`` return for the body.

    The names of the top-level members are only read if one of them has more elements, or more objects and arrays, than
    the limits allow.
    """
    sizes = [((_MEMBER[1:] + member).count(_ELEMENT), len(member)) for member in levels.split(_MEMBER)[1:]]
    if all(elements <= bounds.messages and length <= 2 * bounds.tools for elements, length in sizes):
        return None
    names = _member_names(pieces, levels)
    for name, (elements, _) in zip(names, sizes, strict=True):
        if name in _MESSAGES and elements > bounds.messages:
            reason = f"{elements} messages are more than the {bounds.messages} that this server takes"
            return Excess("too_many_messages", name, reason)
    crowded = {name for name, (_, length) in zip(names, sizes, strict=True) if length > 2 * bounds.tools}
    return _too_many_tools(body, sorted(_TOOLS & crowded), bounds)


def _too_many_tools(body: bytes, names: list[str], bounds: Bounds) -> Excess | None:
    request = _read(body) if names else {}
    for name in names:
        count = _tools(request.get(name))
        if count > bounds.tools:
            reason = f"{count} tools are more than the {bounds.tools} that this server takes"
            return Excess("too_many_tools", name, reason)
    return None


def _member_names(pieces: list[bytes], levels: bytes) -> list[str]:
    """Return the names of the top-level members that are arrays or objects, in their order. A name is "" if no limit
    applies to it, or if a later member has the same name."""
    places: dict[str, int] = {}
    place = 0
    for index in range(0, len(pieces), 2):
        outside = pieces[index]
        name = pieces[index - 1] if index and levels[place - 1 : place] == _MEMBER[:1] else b""
        if (name in _LIMITED or b"\\" in name) and _MEMBER_BEGINS.match(outside):
            places[_name(name)] = place if _MEMBER_OPENS.match(outside) else -1
        place += len(outside.translate(None, _NO_BRACKETS))
    names = {place: name for name, place in places.items()}
    openings = [found.end() - 1 for found in re.finditer(re.escape(_MEMBER), levels)]
    return [names.get(opening, "") for opening in openings]


def _read(body: bytes) -> dict[str, Any]:
    """Return the JSON object in ``body``, parsed; ``{}`` if ``body`` is not a JSON object."""
    try:
        read = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _tools(listed: Any) -> int:
    """Return the number of tools in the list ``listed``. A tool that contains tools counts as that many instead. 0 if
    ``listed`` is no list."""
    if not isinstance(listed, list):
        return 0
    return sum(max(1, sum(_tools(tool.get(name)) for name in _HELD)) for tool in listed if isinstance(tool, dict))


def _path(pieces: list[bytes], depth: int) -> str:
    """Return the first steps of the path to the first place nested deeper than ``depth``, such as
    "tools[3].parameters...". Just "..." if that place is not among the first ``_SEARCHED_MAX`` objects and arrays."""
    way: list[tuple[str | None, int]] = []
    for before, level, name, index in islice(_openings(pieces), _SEARCHED_MAX):
        del way[before:]
        way.append((name, index))
        if level > depth:
            break
    else:
        return "..."
    steps = [f".{name}" if name is not None else f"[{index}]" for name, index in way[1 : _SHOWN + 1]]
    return "".join(steps).removeprefix(".") + "..."


def _openings(pieces: list[bytes]) -> Iterator[tuple[int, int, str | None, int]]:
    """Yield a tuple for each object and array, in the order of their opening brackets: the depth outside of it, the
    depth inside, its member name (``None`` if it is not a member), and its index in the array or object around it."""
    level = 0
    commas = [0]
    for place in range(0, len(pieces), 2):
        named = _MEMBER_OPENS.match(pieces[place]) if place else None
        for found in _STRUCTURE.finditer(pieces[place]):
            char = found[0]
            if char in b"{[":
                is_named = named is not None and found.end() == named.end()
                yield level, level + 1, _name(pieces[place - 1]) if is_named else None, commas[-1]
                level += 1
                commas.append(0)
            elif char == b",":
                commas[-1] += 1
            else:
                level -= 1
                commas.pop()


def _name(text: bytes) -> str:
    """Return the name of a member as text, with escapes decoded. ``text``: the name between its quotes; only its first
    64 bytes are used."""
    start = text[:64].decode("utf-8", "replace")
    try:
        return str(json.loads(f'"{start}"'))
    except ValueError:
        return start
