"""Read the log lines that an editing agent without tool calls, such as aider, leaves in a chat: applied edits, commits,
undone commits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.text.names import as_path
from tokenmizer_mw.extract.text.pattern import compile_lazily
from tokenmizer_mw.model.node import Status

from . import certain

COMMIT: Final = "commit "
"""Beginning of the ``detail`` of a finding of committed work. The commit's hash follows, so that the work is found
again if the commit is undone."""

LINES_MAX: Final = 400
"""Number of lines of one text that are read."""

_COMMIT: Final = compile_lazily(r"commit (?P<hash>[0-9a-f]{7,40}) (?P<subject>\S.{2,200})$")
_UNDONE: Final = compile_lazily(r"(?:removed: |commit `)(?P<hash>[0-9a-f]{7,40})(?: \S|` was (?:reset|removed|undone))")
_OWN_WORK: Final = "Committing "
"""Beginning of the line above a commit of what the user, not the agent, had changed."""
_EDITED: Final = "Applied edit to "
_MARKS: Final = ("Applied edit to ", "Commit ", "Removed: ")


def read_edit_log(text: str) -> list[Finding]:
    """Return the findings of such log lines in ``text``: edited files, committed work, and commits that were undone; []
    for any other text."""
    return list(_read(text)) if any(mark in text for mark in _MARKS) else []


def _read(text: str) -> Iterator[Finding]:
    before_edits = False
    for line in (line.strip() for line in text.split("\n", LINES_MAX)[:LINES_MAX]):
        if line.startswith(_OWN_WORK):
            before_edits = True
        elif line.startswith(_EDITED):
            before_edits = False
            if path := as_path(line.removeprefix(_EDITED).strip()):
                yield certain.file(path, "edited", line)
        elif (match := _COMMIT.match(line)) is not None:
            if not before_edits:
                yield replace(certain.task("", Status.COMPLETED, quote=line), move=Move.CLOSE)
                detail = f"{COMMIT}{match.group('hash')}"
                yield certain.task(match.group("subject"), Status.COMPLETED, detail=detail, quote=line)
            before_edits = False
        elif (match := _UNDONE.match(line)) is not None:
            undone = certain.task("", Status.INVALIDATED, quote=line)
            target = f"{COMMIT}{match.group('hash')}"
            yield replace(undone, move=Move.REJECT, target=target, reason="the commit was undone")
