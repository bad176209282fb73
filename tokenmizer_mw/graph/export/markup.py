"""Text that stays text inside Markdown, wherever it is shown: no link, no tag, no heading, no formula."""

from __future__ import annotations

from typing import Final

_ALWAYS: Final = frozenset("\\`*[]<>|~$^@&")
_IN_PAIRS: Final = frozenset("=%")
_AT_EDGES: Final = frozenset("_#")
_AT_START: Final = frozenset("-+=")


def markdown(text: str) -> str:
    """One line of harmless text as Markdown that shows just that: in CommonMark, in GitHub's dialect, in Obsidian's."""
    return "".join(f"\\{char}" if _means(text, place, char) else char for place, char in enumerate(text))


def _means(text: str, place: int, char: str) -> bool:
    """Whether a character could be more than itself where it stands."""
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
    """Whether a mark makes a numbered item of what stands before it, or an address of what follows."""
    if char == ":":
        return tail == "//"
    return (char in ".)" and head.isdigit()) or (char == "." and head[-3:].lower() == "www")
