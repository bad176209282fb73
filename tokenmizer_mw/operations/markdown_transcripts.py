"""Parser of conversations in Markdown: SpecStory's histories, and aider's.

SpecStory writes a line like ``_**User**_`` or ``_**Assistant (model)**_`` before each message and a rule between
messages. aider writes user text after ``####`` with two blanks at each line end, its own output after ``>``, and
replies as they are. A message may quote such a mark: it does not count inside a code block or a folded section, nor
without the rule before it or the blanks after it. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from tokenmizer_mw.model.message import Message, Role

_SPEAKER: Final = re.compile(r"(?m)^_\*\*(User|Assistant|Agent)\b[^\n*]*\*\*_[ \t]*$")
_AIDER: Final = re.compile(r"(?m)^# aider chat started at ")
_RULE: Final = re.compile(r"\n---[ \t]*$")
_ASKS: Final = "#### "
_ENDS: Final = "  "
"""How aider ends the lines of the user, unless an editor took the blanks away."""
_TELLS: Final = ("> ", "# aider chat started")
"""How the lines begin that aider itself has written."""

_MARK: Final = re.compile(
    r"(?m)^[ \t]*(?:(`{3,}|~{3,})([^\n`~]*)|<details\b(?:(?!</details>)[^\n])*|(</details>)[ \t]*)$"
)
_FOLD: Final = "<details>"


def is_markdown_transcript(text: str) -> bool:
    """Return whether ``text`` is such a file."""
    return _SPEAKER.search(text) is not None or _AIDER.search(text) is not None


def read_markdown_transcript(text: str) -> list[Message]:
    """Return the non-empty messages of ``text``, in order."""
    told = _aider(text) if _AIDER.search(text) is not None else _specstory(text)
    return [message for message in told if message.text]


def _specstory(text: str) -> Iterator[Message]:
    found = list(_speakers(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        role = Role.USER if match.group(1) == "User" else Role.ASSISTANT
        yield Message(role, _RULE.sub("", text[match.end() : end].rstrip()).strip())


def _speakers(text: str) -> Iterator[re.Match[str]]:
    """The lines that begin a message: the first one, and those behind a rule that no message quotes."""
    quoted = list(_find_quoted_blocks(text))
    starts = [start for start, _ in quoted]
    first = True
    for match in _SPEAKER.finditer(text):
        place = bisect_right(starts, match.start()) - 1
        if place >= 0 and match.start() < quoted[place][1]:
            continue
        if first or _is_behind_rule(text, match.start()):
            first = False
            yield match


def _is_behind_rule(text: str, place: int) -> bool:
    """Whether the last line before ``place`` that is not blank is a rule."""
    while place > 0 and text[place - 1].isspace():
        place -= 1
    line = text.rfind("\n", 0, place) + 1
    return text[line:place] == "---"


def _find_quoted_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Blocks of code and folded parts that have an end, in order."""
    opened, start = "", 0
    for match in _MARK.finditer(text):
        fence, language, closes = match.groups()
        if not opened:
            opened, start = ("" if closes else fence or _FOLD), match.start()
        elif (opened == _FOLD and closes) or (fence and fence.startswith(opened) and not (language or "").strip()):
            yield start, match.end()
            opened = ""


def _aider(text: str) -> Iterator[Message]:
    every = text.replace("\r\n", "\n").split("\n")
    ends = _ENDS if any(line.startswith(_ASKS) and line.endswith(_ENDS) for line in every) else ""
    role, lines = Role.ASSISTANT, list[str]()
    for line in every:
        if line.rstrip() == ">" or line.startswith(_TELLS):
            continue
        speaks = Role.USER if line.startswith(_ASKS) and line.endswith(ends) else Role.ASSISTANT
        if speaks is not role and (line.strip() or speaks is Role.USER):
            yield Message(role, "\n".join(lines).strip())
            role, lines = speaks, []
        lines.append(line.removeprefix(_ASKS) if speaks is Role.USER else line)
    yield Message(role, "\n".join(lines).strip())
