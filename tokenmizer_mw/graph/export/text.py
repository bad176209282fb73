"""Prepare texts of a graph for exports: remove or escape characters and markup that would have an effect there, in
plain text and in Markdown, and fit texts into a given width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from tokenmizer_mw.model.node import HAND, Node, Source, Transition
from tokenmizer_mw.safety.labels import flatten

TEXT_MAX: Final = 400
"""Characters of a detail, a reason or a quotation in an export."""

_MARKS_MAX: Final = 2
_NARROW: Final = frozenset("iljtfrI.,:;'|!()[]/\\ -`")
_BROAD: Final = frozenset("mwMW@%&")


def label_of(node: Node) -> str:
    """Return the label of a node as one line without control characters and without markup that has an effect (see
    ``flatten``); the node's id if nothing visible is left."""
    return _calm(flatten(node.label)) or flatten(node.id)


def words_of(text: str, limit: int = TEXT_MAX) -> str:
    """Return ``text`` (a detail, a reason or a quotation) as one line of at most ``limit`` characters, without control
    characters and without markup that has an effect (see ``flatten``); "" if nothing visible is left."""
    return _calm(flatten(text, limit))


def speaker_of(source: Source) -> str:
    """Return who said a fact and where, such as "user, message 12"; "by hand" if it was added by hand, "message 12,
    corrected by hand" if it was corrected."""
    if source.role == HAND and not source.is_by_hand:
        return f"{source.place}, corrected by hand"
    role = "" if source.is_by_hand else flatten(source.role, 20)
    return f"{role}, {source.place}" if role else source.place


def step_place(step: Transition, new: Node) -> str:
    """Return where a fact was replaced by ``new``: "message 12", or "by hand"."""
    return "by hand" if new.source.is_by_hand else f"message {step.trigger}"


def _calm(text: str) -> str:
    """Return ``text`` with at most two combining marks per letter, because more of them would reach into neighbouring
    lines."""
    if text.isascii():
        return text
    lines: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= _MARKS_MAX:
            lines.append(char)
    return "".join(lines)


LINES_MAX: Final = 2


def wrap_text(text: str, width: float) -> list[str]:
    """Break ``text`` into at most ``LINES_MAX`` lines of at most ``width`` (in multiples of the font size, see
    ``width_of``). What does not fit is replaced by an ellipsis; a word that is too long for a line is broken. An empty
    text gives one empty line."""
    lines: list[str] = []
    line = ""
    for word in _pieces(text, width):
        grown = f"{line} {word}" if line else word
        if width_of(grown) <= width:
            line = grown
            continue
        lines.append(line)
        line = word
        if len(lines) > LINES_MAX:
            break
    lines.append(line)
    return lines if len(lines) <= LINES_MAX else [lines[0], _end_with_ellipsis(lines[1], width)]


def _pieces(text: str, width: float) -> Iterator[str]:
    """The words of ``text``, those that are too long for a line in parts."""
    for word in text.split():
        rest = word
        while width_of(rest) > width:
            head = max(1, _fitting_length(rest, width))
            yield rest[:head]
            rest = rest[head:]
        if rest:
            yield rest


def fit_text(text: str, width: float) -> str:
    """Return ``text`` if it fits into ``width`` (in multiples of the font size), else as much of its beginning as fits,
    with an ellipsis."""
    return text if width_of(text) <= width else _end_with_ellipsis(text, width)


def _end_with_ellipsis(line: str, width: float) -> str:
    return line[: _fitting_length(line, width - 1.0)].rstrip() + "\u2026"


def _fitting_length(text: str, width: float) -> int:
    """How many of the first characters of ``text`` fit."""
    taken = 0.0
    for count, char in enumerate(text):
        taken += _width(char)
        if taken > width:
            return count
    return len(text)


def width_of(text: str) -> float:
    """Estimate the width of ``text`` in a common sans-serif font, in multiples of the font size; rather too large than
    too small."""
    return sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(char: str) -> float:
    if char in _NARROW:
        return 0.37
    if char in _BROAD:
        return 0.95
    if char.isascii():
        return 0.7 if char.isupper() else 0.57
    if unicodedata.east_asian_width(char) in "WF":
        return 1.02
    return 0.0 if unicodedata.combining(char) else 0.7


_ALWAYS: Final = frozenset("\\`*[]<>|~$^@&")
_IN_PAIRS: Final = frozenset("=%")
_AT_EDGES: Final = frozenset("_#")
_AT_START: Final = frozenset("-+=")


def escape_markdown(text: str) -> str:
    """Return one line of text with backslashes before all characters that could be markup, so that CommonMark, GitHub
    and Obsidian show exactly ``text``."""
    return "".join(f"\\{char}" if _is_mark(text, place, char) else char for place, char in enumerate(text))


def _is_mark(text: str, place: int, char: str) -> bool:
    """Whether the character at ``place`` could be markup there, so that it must be escaped."""
    if char.isalnum() or char == " ":
        return False
    before, behind = text[place - 1 : place], text[place + 1 : place + 2]
    return (
        char in _ALWAYS
        or (char in _AT_EDGES and not (before.isalnum() and behind.isalnum()))
        or (char in _IN_PAIRS and char in (before, behind))
        or (char in _AT_START and not before)
        or _begins(text[:place], char, text[place + 1 : place + 3])
    )


def _begins(head: str, char: str, tail: str) -> bool:
    """Whether a mark would turn the text before it into a numbered list item, or the text after it into a link."""
    if char == ":":
        return tail == "//"
    return (char in ".)" and head.isdigit()) or (char == "." and head[-3:].lower() == "www")
