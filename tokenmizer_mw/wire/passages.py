"""Find the texts of a message in its JSON, in any dialect, and replace them in place; append a text to a message.

The texts that may be replaced are those of the assistant and of tools. ``spots`` returns each with its path in the
message. The formats of the dialects do not contradict each other, so one walk handles all. Some clients pass tool
output as JSON within the text; then the output inside is returned.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.json_text import (
    Edit,
    Span,
    decode_value,
    json_text,
    scan_string,
    storable,
    value_at,
    walk_elements,
    walk_members,
)
from tokenmizer_mw.wire.request import get_text
from tokenmizer_mw.wire.spans import element_spans, read_object, replace_elements, splice

Step = str | int
Steps = tuple[Step, ...]
"""The path to a text in a message: names of members, and numbers of elements."""

WRAPPED_MAX: Final = 2_000_000
"""Longest tool result that is searched for JSON with an output in it, in characters."""

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_TOOLS: Final = frozenset({"tool", "function"})
_ASSISTANTS: Final = frozenset({"assistant", "model"})
_RESPONSES: Final = ("functionResponse", "function_response")
_PRINTED: Final = ("stdout", "stderr")
_OUTPUT: Final = "output"
_WRAPPING: Final = ('{"output":"', '{"output": "')
_LEAF_MIN: Final = 40
"""Fewest characters of a text in the object that a function returned that make it an output, and not just a value."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A text in a message that may be replaced, at the path ``steps``.

    - ``result``: true if a tool returned it, in answer to the call ``call_id`` ("" if the dialect has no ids); false if
      the assistant wrote it.
    - ``around``: if the value at the path is a JSON text that contains ``text`` as a string: the part of it before that
      string, and the part after. ``None`` if the value at the path is ``text`` itself.
    """

    steps: Steps
    text: str
    result: bool = False
    call_id: str = ""
    around: tuple[str, str] | None = None

    def spell(self, text: str) -> str:
        """Return the value to put at this path, with ``text`` in place of the present text: ``text`` itself, or the
        surrounding JSON with ``text`` as a string in it (see ``around``)."""
        if self.around is None:
            return text
        before, behind = self.around
        return f"{before}{json.dumps(text, ensure_ascii=False)}{behind}"


def spots(raw: object) -> list[Spot]:
    """Return the texts in a message that may be replaced, in order: those that tools returned, and those that the
    assistant wrote.

    ``raw``: the message object, or a tuple of objects if the message consists of several. Each path begins with the
    index of the object: 0, unless there are several. Left out are texts of users and of the system, reasoning, parts
    with citations, and short texts in the object that a function returned.
    """
    elements = raw if isinstance(raw, tuple) else (raw,)
    return [
        _unwrap_output(spot) if spot.result else spot
        for number, element in enumerate(elements)
        if isinstance(element, Mapping)
        for spot in _of_element(element, (number,))
    ]


def spot_edits(text: str, span: Span, new: Mapping[Steps, str]) -> list[Edit]:
    """Return the edits that write the ``new`` texts at their paths in the message at ``span`` of the JSON ``text``.
    ``new``: maps a path, as in ``Spot.steps``, to the whole new text.

    Left out are edits that would not make the JSON text shorter, and paths that lead to no text or through a member
    that occurs twice.
    """
    start, end = span
    walk = _Walk("[" + text[start:end] + "]", new)
    walk.value(0, ())
    return [
        (first + start - 1, last + start - 1, spelled)
        for steps, (first, last) in walk.found.items()
        if steps not in walk.twice
        for spelled in (_spell_text(new[steps], text[first + start - 1 : last + start - 1]),)
        if len(spelled) < last - first
    ]


def _spell_text(text: str, before: str) -> str:
    """Return a text as a JSON string: in ASCII if ``before`` was, and if half a character must be escaped."""
    spelled = json.dumps(text, ensure_ascii=before.isascii())
    return spelled if storable(spelled) is spelled else json.dumps(text)


def _of_element(element: Mapping[str, Any], steps: Steps) -> Iterator[Spot]:
    role, kind = (get_text(element, name) for name in ("role", "type"))
    if kind.endswith("_output") and _OUTPUT in element:
        call_id = get_text(element, "call_id")
        for place, text in _texts(element[_OUTPUT], (*steps, _OUTPUT)):
            yield Spot(place, text, True, call_id)
        return
    if "parts" in element:
        yield from _of_parts(element["parts"], (*steps, "parts"), role in _ASSISTANTS)
        return
    content = element.get("content")
    if role in _TOOLS:
        call_id = get_text(element, "tool_call_id")
        for place, text in _texts(content, (*steps, "content")):
            yield Spot(place, text, True, call_id)
    elif role in _ASSISTANTS:
        for place, text in _texts(content, (*steps, "content")):
            yield Spot(place, text)
    elif role == "user" and isinstance(content, list):
        yield from _of_blocks(content, (*steps, "content"))


def _of_blocks(blocks: Sequence[object], steps: Steps) -> Iterator[Spot]:
    """Yield what tools returned among the blocks of a user's message."""
    for number, block in enumerate(blocks):
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            call_id = get_text(block, "tool_use_id")
            for place, text in _texts(block.get("content"), (*steps, number, "content")):
                yield Spot(place, text, True, call_id)


def _of_parts(parts: object, steps: Steps, is_text: bool) -> Iterator[Spot]:
    for number, part in enumerate(parts if isinstance(parts, list) else ()):
        if not isinstance(part, Mapping):
            continue
        text = part.get("text")
        if is_text and isinstance(text, str) and part.get("thought") is not True and "thoughtSignature" not in part:
            yield Spot((*steps, number, "text"), text)
        for name in _RESPONSES:
            answer = part.get(name)
            if isinstance(answer, Mapping):
                for place, leaf in _leaves(answer.get("response"), (*steps, number, name, "response")):
                    yield Spot(place, leaf, True, get_text(answer, "id"))


def _texts(content: object, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield the texts of a content with their paths: one text, or those of its parts."""
    if isinstance(content, str):
        yield steps, content
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, str):
            yield (*steps, number), part
        elif isinstance(part, Mapping):
            yield from _of_part(part, (*steps, number))


def _of_part(part: Mapping[str, Any], steps: Steps) -> Iterator[tuple[Steps, str]]:
    if part.get("citations") or part.get("annotations"):
        return  # they tell places in the text
    kind = get_text(part, "type")
    if kind in _TEXTS:
        names: Sequence[str] = ("text",)
    elif kind == "document":
        yield from _leaves(part.get("document"), (*steps, "document"))
        return
    else:
        names = () if "type" in part else _PRINTED
    for name in names:
        text = part.get(name)
        if isinstance(text, str):
            yield (*steps, name), text


def _leaves(value: object, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield the long texts in an object, at any depth, with their paths."""
    waiting: list[tuple[Steps, object]] = [(steps, value)]
    while waiting:
        place, inner = waiting.pop()
        if isinstance(inner, str):
            if len(inner) >= _LEAF_MIN:
                yield place, inner
        elif isinstance(inner, Mapping):
            waiting += [((*place, str(name)), inner[name]) for name in reversed(list(inner)) if name != "id"]
        elif isinstance(inner, list):
            waiting += [((*place, number), inner[number]) for number in reversed(range(len(inner)))]


def _unwrap_output(spot: Spot) -> Spot:
    """Return the output in a result that is a JSON object with one; else the result itself."""
    text = spot.text
    start = next((len(opening) - 1 for opening in _WRAPPING if text.startswith(opening)), 0)
    if not start or len(text) > WRAPPED_MAX:
        return spot
    try:
        inner, end = scan_string(text, start + 1)
        held = json.loads(text).get(_OUTPUT)
    except (ValueError, RecursionError):
        return spot
    return Spot(spot.steps, inner, True, spot.call_id, (text[:start], text[end:])) if held == inner else spot


class _Walk:
    """Walks the text of a JSON value once, into those members that lead to a wanted path. ``found``: the spans of the
    values at these paths; ``twice``: paths that are not unique."""

    def __init__(self, text: str, wanted: Mapping[Steps, str]) -> None:
        self._text = text
        self._wanted = wanted
        self._leading = {steps[:length] for steps in wanted for length in range(len(steps))}
        self.found: dict[Steps, Span] = {}
        self.twice: set[Steps] = set()

    def value(self, place: int, steps: Steps) -> int:
        """Walk the value that starts at ``place`` and whose path is ``steps``. Returns the position where it ends."""
        if steps in self._leading and self._text[place] == "{":
            return self._members(place, steps)
        if steps in self._leading and self._text[place] == "[":
            return walk_elements(self._text, place, lambda number, start: self.value(start, (*steps, number)))
        _, end = decode_value(self._text, place)
        if steps in self._wanted and self._text[place] == '"':
            if steps in self.found:
                self.twice.add(steps)
            self.found[steps] = (place, end)
        return end

    def _members(self, place: int, steps: Steps) -> int:
        seen: set[str] = set()

        def visit(name: str, _: Span, start: int) -> int:
            inner = (*steps, name)
            if name in seen:
                self.twice.update(found for found in self._wanted if found[: len(inner)] == inner)
            seen.add(name)
            return self.value(start, inner)

        return walk_members(self._text, place, visit)


GAP: Final = "\n\n"
"""Text between a message's own text and a text that is appended to it."""


def apply_edits(request: ChatRequest, edits: Sequence[Edit]) -> ChatRequest:
    """Return ``request`` with the edits, which must lie inside its messages, applied. The positions of all later parts
    are corrected."""
    if not edits:
        return request
    moves = _Moves(edits)
    shifted = replace(
        request,
        text=splice(request.text, edits),
        members=tuple((name, moves.span(span)) for name, span in request.members),
        known_spans=(),
    )
    shifted.__dict__["spans"] = tuple(moves.span(span) for span in request.spans)
    return shifted


class _Moves:
    """How far each position moves when edits are applied."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._ends: list[int] = []
        self._by: list[int] = [0]
        for start, end, new in sorted(edits):
            self._ends.append(end)
            self._by.append(self._by[-1] + len(new) - (end - start))

    def span(self, span: Span) -> Span:
        first, last = span
        return first + self._by[bisect_right(self._ends, first)], last + self._by[bisect_right(self._ends, last)]


def can_append(request: ChatRequest, index: int) -> bool:
    """Whether a text can be appended to message ``index``: its content is a text, or a list of only objects or only
    texts (an empty list, too)."""
    value = value_at(*_content(request, index))
    if isinstance(value, list):
        return all(isinstance(part, dict) for part in value) or all(isinstance(part, str) for part in value)
    return isinstance(value, str)


def append_edits(request: ChatRequest, index: int, text: str) -> list[Edit]:
    """Return the edits that append ``text`` to message ``index``: behind its text, after a blank line, or as a part
    after its other parts. All other characters stay; prompt cache markers stay before the new text.

    Call it only if ``can_append`` is true. Raises ``ValueError`` for a content that is neither a text nor a list.
    """
    raw, path = _content(request, index)
    value = value_at(raw, path)
    start, end = _last_element(request, index)
    for step in path:
        found = read_object(request.text[start:end])
        if step not in found.places:
            raise ValueError(f"message {index} has no text that another could stand behind")
        last = next(last for name, (_, last) in reversed(found.members) if name == step)
        start, end = start + found.places[step], start + last
    if isinstance(value, str):
        return [(end - 1, end - 1, json_text(GAP + storable(text))[1:-1])]
    if not isinstance(value, list):
        raise ValueError(f"message {index} has no text that another could stand behind")
    spans = element_spans(request.text, start)
    plain = bool(value) and isinstance(value[0], str)
    part = storable(text) if plain else {**request.part, "text": storable(text)}
    return replace_elements(spans, len(spans), len(spans), json_text(part), close=end - 1)


def _content(request: ChatRequest, index: int) -> tuple[Any, tuple[str, ...]]:
    """Return the last element of message ``index``, and the path in it to its content."""
    raw = request.messages.sent[index]
    last = raw[-1] if isinstance(raw, tuple) else raw
    kind = last.get("type") if isinstance(last, dict) else None
    is_output = isinstance(kind, str) and kind.endswith("_output")
    return last, (_OUTPUT,) if is_output else request.content


def _last_element(request: ChatRequest, index: int) -> Span:
    """Return the span of the last element of message ``index``."""
    start, end = request.spans[index]
    if not isinstance(request.messages.sent[index], tuple):
        return start, end
    first, last = element_spans(f"[{request.text[start:end]}]", 0)[-1]
    return start + first - 1, start + last - 1
