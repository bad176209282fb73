"""Edit the messages of a request: replace texts, or append a text to a message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.json_text import Edit, Span, at, json_text, storable
from tokenmizer_mw.wire.spans import element_spans, read_object, replace_elements, splice

GAP: Final = "\n\n"
"""What stands between the text of a message and what is put behind it."""

_OUTPUT: Final = "output"


def apply_edits(request: ChatRequest, edits: Sequence[Edit]) -> ChatRequest:
    """Return ``request`` with the edits applied; the edits lie inside its messages, and later positions are shifted."""
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
    """How far each place moves when edits are made."""

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
    """Whether a text can be appended to message ``index``: its content is a text or a list of parts."""
    value = at(*_content(request, index))
    if isinstance(value, list):
        return all(isinstance(part, dict) for part in value) or all(isinstance(part, str) for part in value)
    return isinstance(value, str)


def append_edits(request: ChatRequest, index: int, text: str) -> list[Edit]:
    """Return the edits that append ``text`` to message ``index``: to its text, or as a part after its other parts. All
    other characters stay; prompt cache markers stay before it.

    Raises ``ValueError`` if ``can_append`` is false.
    """
    raw, path = _content(request, index)
    value = at(raw, path)
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
    """The element that ends message ``index``, and the path in it to what it says."""
    raw = request.messages.sent[index]
    last = raw[-1] if isinstance(raw, tuple) else raw
    kind = last.get("type") if isinstance(last, dict) else None
    is_output = isinstance(kind, str) and kind.endswith("_output")
    return last, (_OUTPUT,) if is_output else request.content


def _last_element(request: ChatRequest, index: int) -> Span:
    """Where the element that ends message ``index`` stands."""
    start, end = request.spans[index]
    if not isinstance(request.messages.sent[index], tuple):
        return start, end
    first, last = element_spans(f"[{request.text[start:end]}]", 0)[-1]
    return start + first - 1, start + last - 1
