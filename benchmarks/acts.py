"""Reads and checks the training conversations for dialogue acts.

``benchmarks/training/README.md`` describes the format and the tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw.extract.score.classifier import DialogueAct

SCENES: Final = Path(__file__).parent / "training" / "scenes"

_WHEN_SAID: Final = {
    "g": {DialogueAct.GOAL},
    "d": {DialogueAct.DECISION},
    "r": {DialogueAct.DECISION, DialogueAct.RULE},
    "s": {DialogueAct.DECISION, DialogueAct.CHANGE},
    "j": {DialogueAct.REJECTION},
    "x": {DialogueAct.COMPLETION},
    "e": {DialogueAct.COMPLAINT},
    "v": {DialogueAct.STATE},
}
"""Maps tags to acts. The capital form of a tag means the same acts."""

TAGS: Final[Mapping[str, Set[DialogueAct]]] = {
    **_WHEN_SAID,
    **{tag.upper(): acts for tag, acts in _WHEN_SAID.items()},
    "o": {DialogueAct.POSTPONEMENT},
    "O": set(),
    "-": set(),
}
"""Maps the tags of a sentence to its acts for training. A capital: it was so when it was said, and no longer is at the
end. Work that was postponed and done later ("O") is no postponement."""

SPEAKERS: Final = {"U": "user", "A": "assistant", "T": "tool"}
OUTPUT: Final = "|"
"""Beginning of a line of a tool's output."""

Line = tuple[frozenset[DialogueAct], str]
"""A sentence's acts, and its text without tags."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says at a time. ``speaker``: "user", "assistant" or "tool"; the lines of a tool have no acts."""

    speaker: str
    lines: Sequence[Line]

    @property
    def text(self) -> str:
        """The turn as one message: each line is a paragraph, or a line if a tool says it."""
        return ("\n" if self.speaker == "tool" else "\n\n").join(sentence for _, sentence in self.lines)


@dataclass(frozen=True, slots=True)
class Scene:
    """A short conversation. ``author``: who wrote it, from the name of its file up to the first dash."""

    name: str
    language: str
    author: str
    turns: Sequence[Turn]

    @property
    def lines(self) -> Iterator[Line]:
        """All sentences in order, without the output of tools."""
        return (line for turn in self.turns if turn.speaker != "tool" for line in turn.lines)


def scenes(folder: Path = SCENES) -> list[Scene]:
    """Return all scenes of a folder's ``.txt`` files, file by file. Raises ``ValueError`` with the file and the line if
    one is malformed."""
    return [scene for path in sorted(folder.glob("*.txt")) for scene in _read(path)]


def parsed(text: str, author: str = "", where: str = "") -> list[Scene]:
    """Return the scenes of a file's text. ``where``: the file's name for errors. Raises ``ValueError`` with ``where``
    and the line's number."""
    found: list[tuple[str, str, list[tuple[str, list[Line]]]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if fault := _take(line.strip(), found):
            raise ValueError(f"{where}:{number}: {fault}: {line.strip()[:60]!r}")
    return [
        Scene(name, language, author, [Turn(speaker, tuple(lines)) for speaker, lines in turns if lines])
        for name, language, turns in found
    ]


def _take(line: str, found: list[tuple[str, str, list[tuple[str, list[Line]]]]]) -> str:
    """Add a line to the scenes in ``found``. Returns what is wrong with the line; "" for nothing."""
    if line.startswith("== "):
        name, _, language = line[3:].rpartition(" ")
        found.append((name, language, []))
        return "" if name and " " not in name else "a header is '== name language'"
    if not found:
        return "before the first header"
    turns = found[-1][2]
    if line in SPEAKERS:
        turns.append((SPEAKERS[line], []))
        return ""
    if not turns:
        return "nobody speaks"
    said = _output(line) if turns[-1][0] == "tool" else _sentence(line)
    if said is None:
        return "neither a speaker nor 'tags: sentence', nor '| output' of a tool"
    turns[-1][1].append(said)
    return ""


def _output(line: str) -> Line | None:
    """A line of a tool's output; ``None`` if it is none."""
    return (frozenset(), line.removeprefix(OUTPUT).removeprefix(" ")) if line.startswith(OUTPUT) else None


def _sentence(line: str) -> Line | None:
    """A sentence with the acts of its tags; ``None`` if it is malformed."""
    tags, colon, sentence = line.partition(": ")
    if not colon or not set(tags) <= TAGS.keys() or not sentence.strip():
        return None
    return frozenset(act for tag in tags for act in TAGS[tag]), sentence.strip()


def _read(path: Path) -> list[Scene]:
    return parsed(path.read_text(encoding="utf-8"), path.stem.partition("-")[0], path.name)


def repeated(found: Sequence[Scene]) -> list[str]:
    """Return the names that several scenes have."""
    return [name for name, count in Counter(scene.name for scene in found).items() if count > 1]
