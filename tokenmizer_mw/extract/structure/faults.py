"""Find errors that tools report in plain words, without an exit code, an error flag or a stack trace."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from tokenmizer_mw.runtime.lazy import expression

from .failures import label_of

FAULTS_MAX: Final = 3
"""Greatest number of errors that are taken from one result."""

TEXT_MAX: Final = 6_000
"""Longest result, in characters, that is searched for errors: a longer one is a file or a log."""

_FAULTS: Final[Any] = expression(
    r"(?m)"
    + "|".join(
        f"^{shape}$"
        for shape in (
            r"(\S[^\n:]{0,200}: (?:file )?not found(?: error)?)\.?",  # aider: a file that was in the chat
            r"((?:Repo-map|repo-map) can't include \S.+)",  # aider
            r"(?:Unable to add [^\n:]+:? ?)?(Cmd\('\w+'\) failed due to: .+)",  # GitPython
            r"\s*(?:stderr: '?)?(The following paths are ignored by one of your \.gitignore files:?)",
            r"(\S[^\n]{0,200}: unable to (?:read|write|open)\b.+)",
            r"\[?(Unable to [^\n]{6,200})",
            r"\[?((?:Could not|Couldn't|Cannot|Can't|Failed to) [a-z][^\n]{6,200})",
            r"(?:/?\S*sh: )?(?:\d+: )?(?:cd: )?(can't cd to \S+)",
            r"\[?(No exact match (?:found )?[^\n]{4,200}?)(?: for)?",  # OpenHands, SEARCH/REPLACE blocks
            r"\[?(Your proposed edit has introduced new syntax error[^\n.]*)\.?[^\n]*",  # SWE-agent
            r"(?:[^\n]{0,80}\b)?((?:SearchReplaceNoExactMatch|\w+RateLimitError)\b[^\n]*)",
            r"\s*(?:\S+\(\d+,\d+\): )?(warning [A-Z]{2,8}\d{2,5}: .+)",  # .NET analyzers
            r"- \[\w+ Error\] (?:Line \d+: )?(.+)",  # editors that report what their language server says
            r"[^\n]{0,200}\berror=\"?([^\n\"]{8,200})\"?",  # structured logs
            r"(The model (?:returned|has) [^\n]*(?:invalid|malformed|exceed)[^\n]*)",
            r"((?:Session|Usage|Rate|Token) limit (?:reached|exceeded)[^\n]*)",
        )
    )
)
_MARKS: Final = (
    *("not found", "can't ", "ould not", "annot ", "ailed", "nable to", "No exact match", "introduced new", "error="),
    *("imit", "warning ", " Error] ", "NoExactMatch", "ignored by", "The model"),
)


def find_faults(text: str) -> list[str]:
    """Return the errors that a tool's result names, each once, at most ``FAULTS_MAX``; [] for a text longer than
    ``TEXT_MAX``."""
    if len(text) > TEXT_MAX or not any(mark in text for mark in _MARKS):
        return []
    found: dict[str, None] = {}
    for match in islice(_FAULTS.finditer(text), 4 * FAULTS_MAX):
        label = label_of(next((group for group in match.groups() if group), ""))
        if label:
            found[label] = None
    return list(found)[:FAULTS_MAX]
