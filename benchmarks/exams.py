"""Continuation exams: what the older part of a session says, asked by questions whose answers have checkable points.

An exam is a JSON object ``{"session", "tail_from", "questions": [{"id", "kind", "question", "points"}]}``. The messages
from ``tail_from`` on stay in the context; the questions are on those before it, the *head*. ``points`` is a list of
points, each a list of strings. A text tells a point when one of these strings stands in it, without regard to case,
quotation marks and white space. A question counts by the share of its points that are told.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .labelled import VARIABLE

FOLDER: Final = "continuation"
TAIL_TOKENS: Final = 800
"""Tokens of the newest messages that stay in the context whatever the head is replaced by."""

_CHARACTERS_A_TOKEN: Final = 4
_MARKS: Final = re.compile(r"[`\"'*“”‘’]")
_SPACE: Final = re.compile(r"\s+")

Turn = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question on the head. ``kind`` is decision, change, state, error, rule or fact."""

    id: str
    kind: str
    text: str
    points: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions on one session. ``turns`` are all its messages, ``tail_from`` the index of the first that stays."""

    session: str
    language: str
    turns: Sequence[Turn]
    tail_from: int
    questions: Sequence[Question]

    @property
    def head(self) -> Sequence[Turn]:
        """The messages that a text replaces."""
        return self.turns[: self.tail_from]

    @property
    def tail(self) -> str:
        """The newest messages that stay, as text."""
        return newest_messages(self.turns[self.tail_from :], TAIL_TOKENS)


def read_exams(roots: Iterable[Path] | None = None) -> list[Exam]:
    """The exams in folders named ``continuation`` below ``roots`` whose session lies below them, too.

    ``roots`` default to the folders that TOKENMIZER_CORPUS names. Returns [] when there are none.
    """
    given = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    folders = list(given if roots is None else roots)
    asked = [raw for path in _files(folders, FOLDER) if "questions" in (raw := _loaded(path))]
    wanted = {raw["session"] for raw in asked}
    named = [path for path in _files(folders) if path.stem in wanted and path.parent.name != FOLDER]
    found = {path.stem: raw for path in named if "turns" in (raw := _loaded(path))}
    return [_exam(raw, found[raw["session"]]) for raw in asked if raw["session"] in found]


def _files(folders: Sequence[Path], name: str = "") -> Iterator[Path]:
    """JSON files below ``folders``; only those directly in a folder called ``name``, where one is given."""
    for folder in folders:
        paths = sorted(folder.rglob("*.json"))
        yield from (path for path in paths if not name or path.parent.name == name)


def _loaded(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _exam(raw: Mapping[str, Any], session: Mapping[str, Any]) -> Exam:
    questions = [Question(one["id"], one["kind"], one["question"], one["points"]) for one in raw["questions"]]
    return Exam(raw["session"], session.get("language") or "en", session["turns"], raw["tail_from"], questions)


def estimate_tokens(text: str) -> int:
    """A quarter of the characters, rounded up."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def message_text(turn: Turn) -> str:
    """A message as text, with its role and the calls that it makes."""
    content = turn.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    calls = [
        f"\n[calls {call.get('name', '')} {json.dumps(call.get('arguments', {}), ensure_ascii=False)}]"
        for call in turn.get("tool_calls", ())
    ]
    return f"[{turn['role']}] {content}{''.join(calls)}"


def whole_text(turns: Sequence[Turn]) -> str:
    """All messages as text."""
    return "\n".join(map(message_text, turns))


def newest_messages(turns: Sequence[Turn], budget: int) -> str:
    """The end of the messages, ``budget`` tokens long."""
    return whole_text(turns)[-_CHARACTERS_A_TOKEN * budget :] if budget else ""


def normalize(text: str) -> str:
    """``text`` in the form in which strings are compared."""
    return _SPACE.sub(" ", _MARKS.sub("", text)).lower()


def score_text(text: str, points: Sequence[Sequence[str]]) -> float:
    """The share of ``points`` that ``text`` tells."""
    said = normalize(text)
    return sum(any(normalize(one) in said for one in point) for point in points) / len(points)
