"""Find the title of a task that is pasted into a message: the first line below "Here's the issue text:".

Clients that work on issues paste them into their first message. What the issue says is not the user's statement and is
not read as one, but its first line says what the session is for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.similar import content

TASK_TITLE: Final = "task title"
"""``Segment.info`` of the heading that ``find_task_title`` returns."""

_READ_MAX: Final = 8_000
"""Most characters of a message, from its beginning, in which a task is looked for."""
_TITLE_MAX: Final = 160
_WORDS_MIN: Final = 3
"""Content stems that a title has at least."""

_KIND: Final = r"(?: (?:description|text|statement|report|title))?"
_TASK: Final = rf"(?:issue|problem|bug|task|ticket|feature request){_KIND}"
_POINTS: Final = PatternSet(
    rf"(?:.{{0,160}}[.!] )?.{{0,60}}\bfollowing (?:{_TASK}|(?:pr|pull request){_KIND}):$",
    rf"(?:.{{0,160}}[.!] )?here(?:'s| is) (?:the|my|an?|your) {_TASK}:$",
    rf"{_TASK}:$|#+ ?{_TASK}:?$",
)
"""Lines that point at the task below them, and its headings.

A heading "PR description:" alone is none: whoever pastes one usually asks about work that is done.
"""
_MARKS: Final = PatternSet(r"</?[\w-]+>$|```")
"""Lines of a tag or a fence, which stand between both."""


def find_task_title(text: str) -> Segment | None:
    """Return the first line of the task description that is pasted into ``text``, as a heading; ``None`` if there is
    none. The line before it must announce or name the task ("Here's the issue text:", "# Issue")."""
    start, lines = 0, []
    for line in text[:_READ_MAX].splitlines(keepends=True):
        if (body := line.strip()) and not _MARKS.any(body):
            lines.append((start + line.find(body), body))
        start += len(line)
    for (_, above), (at, title) in pairwise(lines):
        if _POINTS.any(above) and len(title) <= _TITLE_MAX and len(content(title)) >= _WORDS_MIN:
            return Segment(SegmentKind.HEADING, title.lstrip("# "), at, at + len(title), TASK_TITLE)
    return None
