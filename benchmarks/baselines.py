"""Simpler methods of extraction, compared on the same sessions with the same categories of labels.

- ``structure``: our pipeline with all prose taken for quotation, so that only tool traffic, edits, test output and
  lists count.
- ``last``: every line of the last turns, in each category.
- ``cues``: lines with a usual word of a category, such as "done" or "TODO".
- ``peer``: another package, tokenmizer, if it is installed in an environment of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES, derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.messages import history

from .labelled import Labelled
from .readout import labels_of

PEER_VARIABLE: Final = "TOKENMIZER_PEER"
"""Environment variable with the path of a Python in whose environment the package tokenmizer is installed."""
PEER_SECONDS: Final = 600

LAST_TURNS: Final = 10
_LINE_MIN: Final = 8
_LINE_MAX: Final = 300

Labels = Mapping[str, Sequence[str]]

_PATH: Final = re.compile(r"(?:[\w.@~-]+/)*[\w.@-]+\.[a-z][a-z0-9]{0,5}\b")
_PROSE: Final = ("tasks_done", "tasks_pending", "decisions", "superseded", "errors")
_CUES: Final[Mapping[str, re.Pattern[str]]] = {
    "tasks_done": re.compile(
        r"(?i)\b(done|fixed|added|implemented|created|updated|removed|finished|completed|works)\b"
    ),
    "tasks_pending": re.compile(r"(?i)\b(todo|next|later|remaining|still need|need to|pending|tomorrow|not yet)\b"),
    "decisions": re.compile(r"(?i)\b(decided|use|let's|go with|always|never|don't|instead|prefer|keep|must)\b"),
    "superseded": re.compile(r"(?i)\b(instead of|rather than|replaced?|switch(?:ed)? (?:to|from)|no longer|back to)\b"),
    "errors": re.compile(r"(?i)\b(\w*error|\w*exception|fail(?:s|ed|ure|ing)?|broken|crash\w*|bug|doesn't work)\b"),
}


def structure(session: Labelled) -> Labels:
    """Return the labels that tool traffic, edits, test output and lists alone give."""
    graph = SessionGraph()
    settings = Settings(guard="fence")
    numbered = list(enumerate(history(session.turns), 1))
    for at, message in enumerate(numbered):
        before = numbered[max(0, at - CONTEXT_MESSAGES) : at]
        for event in derive(graph, [message], before, settings, {message[0]: ("baseline",)}):
            graph.apply(event)
    return labels_of(graph)


def last(session: Labelled) -> Labels:
    """Return every line of the last ``LAST_TURNS`` messages as a label of each category; the goal is the user's last
    line."""
    lines = list(_lines(session.turns[-LAST_TURNS:]))
    asked = [line for line in _lines(session.turns, "user")][-1:]
    return {"goal": asked, "files": _paths(lines), **dict.fromkeys(_PROSE, lines)}


def cues(session: Labelled) -> Labels:
    """Return the lines that contain a usual word of a category; the goal is the user's first line."""
    lines = list(_lines(session.turns))
    asked = [line for line in _lines(session.turns, "user")][:1]
    found = {name: [line for line in lines if cue.search(line)] for name, cue in _CUES.items()}
    return {"goal": asked, "files": _paths(lines), **found}


def _lines(turns: Sequence[Mapping[str, Any]], role: str = "") -> Iterator[str]:
    for turn in turns:
        if role in ("", turn["role"]):
            stripped = (line.strip(" \t-*#>") for line in str(turn.get("content") or "").splitlines())
            yield from (line for line in stripped if _LINE_MIN <= len(line) <= _LINE_MAX)


def _paths(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(path for line in lines for path in _PATH.findall(line)))


PLAIN: Final[Mapping[str, Callable[[Labelled], Labels]]] = {"structure": structure, "last": last, "cues": cues}
"""Baselines that need nothing but this package, by name."""


def peer(sessions: Sequence[Labelled]) -> list[Labels] | None:
    """Return the labels that tokenmizer finds in each session; ``None`` if ``PEER_VARIABLE`` is not set.

    Raises ``subprocess.CalledProcessError`` if it fails, and ``subprocess.TimeoutExpired`` after ``PEER_SECONDS``.
    """
    python = os.environ.get(PEER_VARIABLE)
    if not python:
        return None
    given = json.dumps([{"id": session.id, "turns": list(session.turns)} for session in sessions])
    script = Path(__file__).parent / "peer.py"
    ended = subprocess.run(
        [python, str(script)], input=given, capture_output=True, text=True, timeout=PEER_SECONDS, check=True
    )
    found: list[Labels] = json.loads(ended.stdout)
    return found
