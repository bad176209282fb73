"""Continuation exams: questions about the older part of a session, whose answers have points that can be checked.

An exam is a JSON object ``{"session", "tail_from", "questions": [{"id", "kind", "question", "points"}]}``. The messages
from ``tail_from`` on stay in the context; the questions are about those before it, the *head*. ``points`` is a list of
points, each a list of strings. A text contains a point if it contains one of these strings; case, quotation marks and
white space do not matter. The value of a question is the share of its points that a text contains.
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
"""Tokens (estimated) of the newest messages that stay in the context, whatever replaces the head."""

_CHARACTERS_A_TOKEN: Final = 4
_MARKS: Final = re.compile(r"[`\"'*“”‘’]")
_SPACE: Final = re.compile(r"\s+")

Turn = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the head. ``kind``: decision, change, state, error, rule or fact; ``points``: each with the
    strings one of which an answer must contain."""

    id: str
    kind: str
    text: str
    points: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions about one session. ``turns``: all its messages; ``tail_from``: the index of the first one that
    stays."""

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
        """The newest messages that stay, as text of at most ``TAIL_TOKENS`` tokens."""
        return newest_messages(self.turns[self.tail_from :], TAIL_TOKENS)


def read_exams(roots: Iterable[Path] | None = None) -> list[Exam]:
    """Return the exams in folders named ``continuation`` below ``roots``; exams whose session is not below them are
    left out.

    ``roots``: ``None`` for the folders that the environment variable TOKENMIZER_CORPUS names. Returns [] if there are
    none.
    """
    given = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    folders = list(given if roots is None else roots)
    asked = [raw for path in _files(folders, FOLDER) if "questions" in (raw := _loaded(path))]
    wanted = {raw["session"] for raw in asked}
    named = [path for path in _files(folders) if path.stem in wanted and path.parent.name != FOLDER]
    found = {path.stem: raw for path in named if "turns" in (raw := _loaded(path))}
    return [_exam(raw, found[raw["session"]]) for raw in asked if raw["session"] in found]


def _files(folders: Sequence[Path], name: str = "") -> Iterator[Path]:
    """JSON files below ``folders``; with a ``name``, only those directly in a folder of that name."""
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
    """Return the tokens of a text by estimate: a quarter of its characters, rounded up."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def message_text(turn: Turn) -> str:
    """Return a message as text, with its role and its tool calls."""
    content = turn.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    calls = [
        f"\n[calls {call.get('name', '')} {json.dumps(call.get('arguments', {}), ensure_ascii=False)}]"
        for call in turn.get("tool_calls", ())
    ]
    return f"[{turn['role']}] {content}{''.join(calls)}"


def whole_text(turns: Sequence[Turn]) -> str:
    """Return all messages as text."""
    return "\n".join(map(message_text, turns))


def newest_messages(turns: Sequence[Turn], budget: int) -> str:
    """Return the end of the messages as text, at most ``budget`` tokens by estimate; it may begin within a message."""
    return whole_text(turns)[-_CHARACTERS_A_TOKEN * budget :] if budget else ""


def normalize(text: str) -> str:
    """Return ``text`` as it is compared: in lower case, without quotation marks and stars, with single spaces."""
    return _SPACE.sub(" ", _MARKS.sub("", text)).lower()


def score_text(text: str, points: Sequence[Sequence[str]]) -> float:
    """Return the share of ``points`` (0 to 1) that ``text`` contains. There must be at least one point."""
    said = normalize(text)
    return sum(any(normalize(one) in said for one in point) for point in points) / len(points)
