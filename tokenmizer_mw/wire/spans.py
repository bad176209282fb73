"""Parse the top level of a JSON object with the positions of its members, and make edits that keep every other
character.

Values are parsed by the C scanner of the standard library. Only the top level is walked in Python, so that parsing
costs one ``json.loads``. The positions of array elements are found in a second walk, if needed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.wire.json_text import SPACE, Edit, Span, decode_value, match_space, scan_string, skip_space

_USUAL: Final = (", {", ",{")


@dataclass(frozen=True, slots=True)
class ObjectSpans:
    """A parsed JSON object.

    - ``members``: name and span of every top-level member in order, duplicates too; a span reaches from the name's
      quote to the end of the value.
    - ``values``: the parsed values by name, the last one of equal names; ``places``: the position of each.
    """

    text: str
    members: tuple[tuple[str, Span], ...]
    values: dict[str, Any]
    places: dict[str, int]


def decode_body(body: bytes) -> str:
    """Decode ``body`` as UTF-8, keeping a byte order mark. Raises ``MalformedRequest`` when it is not UTF-8."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedRequest(f"not JSON in UTF-8: {error.reason} at byte {error.start}") from None


def read_object(text: str) -> ObjectSpans:
    """Parse the JSON object in ``text``, which may begin with a byte order mark. Duplicate member names are accepted.

    Raises ``MalformedRequest`` for anything that is not one JSON object, is nested too deeply, or has a number too long
    for ``json.loads``.
    """
    try:
        place = match_space(text, text.startswith("\ufeff")).end()
        if text[place] != "{":
            raise _syntax_error("{", place)
        return _read_members(text, place + 1, [], {}, {})
    except RecursionError:
        raise MalformedRequest("nested too deeply") from None
    except IndexError:
        raise MalformedRequest("not JSON in UTF-8: ends too early") from None
    except ValueError as error:
        raise MalformedRequest(f"not JSON in UTF-8: {_reason(error)}") from None


def read_on(text: str, found: ObjectSpans, member: int, *, count: int, end: int) -> ObjectSpans | None:
    """Parse the JSON object in ``text`` from ``end`` on, and reuse ``found`` for the part before ``end``.

    - ``found``: an object parsed earlier, without duplicate names; its text is equal to ``text`` up to ``end``.
    - ``member``: index in ``found.members`` of the array that ``end`` lies in.
    - ``count``: number of elements of that array to reuse.
    - ``end``: offset in characters just behind element ``count - 1``. The element must end with a bracket, a brace or
      a quote, because a number could continue in ``text``.

    Returns ``None`` when the rest cannot be parsed or repeats the array's name. The caller then uses ``read_object``,
    which parses ``text`` from its start and raises ``MalformedRequest`` for invalid JSON.
    """
    name, (start, _) = found.members[member]
    before = found.members[:member]
    try:
        elements, place = _rest_of_array(text, end)
        values = {known: found.values[known] for known, _ in before}
        values[name] = [*found.values[name][:count], *elements]
        places = {known: found.places[known] for known, _ in found.members[: member + 1]}
        read = _read_members(text, place, [*before, (name, (start, place))], values, places)
    except (ValueError, IndexError, RecursionError):
        return None
    return read if sum(other == name for other, _ in read.members) == 1 else None


def value_start(text: str, member: Span) -> int:
    """Return the position of a member's value. ``member``: the member's span in ``text``, which must be valid JSON."""
    _, end = decode_value(text, member[0])
    return skip_space(text, skip_space(text, end) + 1)


def without_members(members: Sequence[tuple[str, Span]], names: Collection[str]) -> list[Edit]:
    """Return the edits that remove every member whose name is in ``names``, each with one of the commas around it.
    ``members``: names and spans of all members, as in ``ObjectSpans``. ``[]`` when there is no such member."""
    spans = [span for _, span in members]
    edits: list[Edit] = []
    start: int | None = None
    for place, (name, _) in enumerate(members):
        if name in names:
            start = place if start is None else start
        elif start is not None:
            edits.append(_removal(spans, start, place))
            start = None
    if start is not None:
        edits.append(_removal(spans, start, len(spans)))
    return edits


def replace_elements(elements: Sequence[Span], start: int, stop: int, new: str, *, close: int) -> list[Edit]:
    """Return the edits that replace the elements ``[start, stop)`` of an array by ``new`` (JSON text, "" for nothing).

    ``close``: position of the array's closing bracket. With ``start == stop``, ``new`` is inserted before element
    ``start``. Raises ``ValueError`` for a range outside the array.
    """
    if not 0 <= start <= stop <= len(elements):
        raise ValueError(f"no elements [{start}, {stop}) in an array of {len(elements)}")
    if start < stop:
        return [(elements[start][0], elements[stop - 1][1], new)] if new else [_removal(elements, start, stop)]
    if not new:
        return []
    if start < len(elements):
        return [(elements[start][0], elements[start][0], new + ",")]
    return [(elements[-1][1], elements[-1][1], "," + new)] if elements else [(close, close, new)]


def splice(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with the edits applied, given in any order. Raises ``ValueError`` when two of them overlap."""
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            raise ValueError("edits overlap")
        pieces += (text[done:start], new)
        done = end
    return "".join((*pieces, text[done:]))


def _removal(spans: Sequence[Span], start: int, stop: int) -> Edit:
    """Return the edit that removes the elements ``[start, stop)`` and the comma after them, or before them at the
    end."""
    if stop < len(spans):
        return spans[start][0], spans[stop][0], ""
    return spans[start - 1][1] if start else spans[0][0], spans[-1][1], ""


def _read_members(
    text: str, place: int, members: list[tuple[str, Span]], values: dict[str, Any], places: dict[str, int]
) -> ObjectSpans:
    """Parse the rest of an object. ``members``, ``values``, ``places``: what was parsed up to ``place``, which is after
    the opening brace or after the last member."""
    if members:
        place, more = _next(text, place, "}")
    else:
        place = match_space(text, place).end()
        more = text[place] != "}"
    while more:
        if text[place] != '"':
            raise _syntax_error('"', place)
        start = place
        name, place = scan_string(text, start + 1)
        if text[place] != ":":
            place = match_space(text, place).end()
            if text[place] != ":":
                raise _syntax_error(":", place)
        place = places[name] = match_space(text, place + 1).end()
        values[name], place = decode_value(text, place)
        members.append((name, (start, place)))
        if text.startswith(', "', place):  # as most serialisers write it
            place += 2
        else:
            place, more = _next(text, place, "}")
    if match_space(text, place + 1).end() != len(text):
        raise ValueError("extra data behind the object")
    return ObjectSpans(text, tuple(members), values, places)


def element_spans(text: str, place: int, known: Sequence[Span] = ()) -> tuple[Span, ...]:
    """Return the spans of the elements of the array that starts at ``place`` of ``text``, which must be valid JSON.

    ``known``: the spans of the first elements, if they were found before.
    """
    spans = list(known)
    if spans:
        place, more = _next(text, spans[-1][1], "]")
    else:
        place = match_space(text, place + 1).end()
        more = text[place] != "]"
    while more:
        _, end = decode_value(text, place)
        spans.append((place, end))
        if text.startswith(_USUAL, end):
            place = end + (1 if text[end + 1] == "{" else 2)
        else:
            place, more = _next(text, end, "]")
    return tuple(spans)


def _rest_of_array(text: str, end: int) -> tuple[list[Any], int]:
    """Return the elements after the one that ends at ``end``, and the position where the array ends."""
    place = skip_space(text, end)
    if text[place] == "]":
        return [], place + 1
    if text[place] != ",":
        raise _syntax_error(",", place)
    elements, length = decode_value("[" + text[place + 1 :], 0)
    if not elements:
        raise ValueError("nothing behind the last comma of an array")
    return elements, place + length


def _next(text: str, place: int, close: str) -> tuple[int, bool]:
    """Return the position of the next value after one that ends at ``place``, and true; or that of the closing bracket,
    and false."""
    if text[place] in SPACE:
        place = match_space(text, place).end()
    if text[place] == close:
        return place, False
    if text[place] != ",":
        raise _syntax_error(",", place)
    return match_space(text, place + 1).end(), True


def _syntax_error(char: str, place: int) -> ValueError:
    return ValueError(f"expected {char!r} at character {place}")


def _reason(error: ValueError) -> str:
    """Return what is wrong in a text and where, without any of its content."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error)
