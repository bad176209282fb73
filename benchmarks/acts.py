"""The training text for dialogue acts: conversations read from their files, and checked.

``benchmarks/training/README.md`` describes the format and the tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw.extract.learned import DialogueAct

SCENES: Final = Path(__file__).parent / "training" / "scenes"

TAGS: Final = {
    "g": None,
    "d": DialogueAct.DECISION,
    "s": None,
    "x": DialogueAct.COMPLETION,
    "o": DialogueAct.POSTPONEMENT,
    "e": DialogueAct.COMPLAINT,
    "D": DialogueAct.DECISION,
    "S": None,
    "X": DialogueAct.COMPLETION,
    "O": None,
    "E": DialogueAct.COMPLAINT,
    "G": None,
    "-": None,
}
"""What the tags of a sentence mean for training. A capital: it was so, and no longer is at the end; work that was asked
for and done later is no postponement."""

SPEAKERS: Final = {"U": "user", "A": "assistant"}

Line = tuple[frozenset[DialogueAct], str]
"""A sentence's acts, and the sentence as it was written."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker, ``user`` or ``assistant``, says at a time."""

    speaker: str
    lines: Sequence[Line]

    @property
    def text(self) -> str:
        """The turn as one message: every line a paragraph."""
        return "\n\n".join(sentence for _, sentence in self.lines)


@dataclass(frozen=True, slots=True)
class Scene:
    """A small conversation. ``author``: the name of its file up to the first dash, for who wrote it."""

    name: str
    language: str
    author: str
    turns: Sequence[Turn]

    @property
    def lines(self) -> Iterator[Line]:
        """All sentences in order."""
        return (line for turn in self.turns for line in turn.lines)


def scenes(folder: Path = SCENES) -> list[Scene]:
    """All scenes of a folder, file by file. Raises ``ValueError`` that names file and line where one is malformed."""
    return [scene for path in sorted(folder.glob("*.txt")) for scene in _read(path)]


def parsed(text: str, author: str = "", where: str = "") -> list[Scene]:
    """The scenes of a file's text. Raises ``ValueError`` with ``where`` and the line's number."""
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
    """Adds a line to what was found; what is wrong with it, "" when nothing is."""
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
    tags, colon, sentence = line.partition(": ")
    if not set(tags) <= TAGS.keys() or not colon or not sentence.strip():
        return "neither a speaker nor 'tags: sentence'"
    if not turns:
        return "nobody speaks"
    acts = frozenset(act for tag in tags if (act := TAGS[tag]) is not None)
    turns[-1][1].append((acts, sentence.strip()))
    return ""


def _read(path: Path) -> list[Scene]:
    return parsed(path.read_text(encoding="utf-8"), path.stem.partition("-")[0], path.name)


def repeated(found: Sequence[Scene]) -> list[str]:
    """Names that several scenes have."""
    return [name for name, count in Counter(scene.name for scene in found).items() if count > 1]
