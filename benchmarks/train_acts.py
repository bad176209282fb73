"""Trains the classifier of dialogue acts on the text in ``benchmarks/training`` and the sessions in
``benchmarks/corpus/sessions``, and says how well it does.

    python -m benchmarks.train_acts             figures on held-out conversations and authors
    python -m benchmarks.train_acts --write     and the model that the package ships
    python -m benchmarks.train_acts --quick     no figures; with --write only the model

    python -m benchmarks.train_acts --semantic DIRECTORY [--quick] [--write]
                                                figures with a sentence model beside the cues, and its ``acts.head``

Needs the extra ``train``, and for ``--semantic`` the extra of that name. The figures on held-out conversations are what
a new one by the same authors gets; those on held-out authors what unseen phrasing gets.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from tokenmizer_mw.extract import learned
from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.guessing import USES, cues_of
from tokenmizer_mw.extract.learned import DialogueAct, Guess, Model
from tokenmizer_mw.extract.phrases import bounded
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.semantic import HEAD, Embed, Head
from tokenmizer_mw.extract.situation import situation_of
from tokenmizer_mw.model.message import Message, Role

from .acts import SCENES, Line, Scene, scenes
from .labelled import OWN, Labelled, corpora

FOLDS: Final = 5
LEAST_SEEN: Final = 2
"""Sentences that a cue stands in at least to become part of the model."""

STRENGTH: Final = 0.05
"""Inverse of the regularisation, chosen on held-out conversations."""

LOUDNESS: Final = 4.0
"""What a vector of length one is multiplied with, so that its few numbers weigh as much as many cues."""

BARE: Final = 3
"""Cues of a sentence that tell nothing of its words but how it ends: all that vectors stand beside alone."""

Vectors = dict[str, Any]
"""The vectors of texts."""

FIGURES: Final = SCENES.parent / "FIGURES.md"
_HEAD: Final = (
    "# How well the classifier of dialogue acts does",
    "",
    "Written by `python -m benchmarks.train_acts --write`. Held-out conversations: what a new one by the same authors",
    "gets (five folds). Held-out authors: what unseen phrasing gets, English only; `own` are the sessions in",
    "`benchmarks/corpus/sessions`, whose quotes tell the acts. At the chances from which the package takes a sentence",
    "to do an act, before weights are made bytes.",
    "",
    "```",
)
OWN_AUTHOR: Final = "own"
ACTS_OF: Final = {
    "decisions": DialogueAct.DECISION,
    "tasks_done": DialogueAct.COMPLETION,
    "tasks_pending": DialogueAct.POSTPONEMENT,
    "errors": DialogueAct.COMPLAINT,
}
"""What a sentence does that is quoted for a label of a category."""

TARGET: Final = Path(learned.__file__).with_name("acts.model")
_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence as the run time cuts it. ``acts``: what it does; ``text``: what is embedded of it; ``own``: its
    cues; ``talk``: the conversation it stands in; ``author``: who wrote that."""

    acts: frozenset[DialogueAct]
    text: str
    own: list[str]
    speaker: Speaker
    talk: str
    author: str
    english: bool


def rows_of(scene: Scene) -> list[Row]:
    """The sentences of a scene with their cues."""
    told = [(Role(turn.speaker), turn.text, partial(_by_lines, turn.lines)) for turn in scene.turns]
    return _rows(told, scene.name, scene.author, english=scene.language == "en")


def rows_of_session(session: Labelled) -> list[Row]:
    """The sentences of a labelled session with their cues; what is quoted for a label does what the label says."""
    quotes = [(act, quote) for name, act in ACTS_OF.items() for _, quote in session.gold.get(name, ()) if quote]
    said = [(turn["role"], turn.get("content") or "") for turn in session.turns if turn["role"] != "tool"]
    told = [(Role(role), text, partial(_by_quotes, text, quotes)) for role, text in said]
    return _rows(told, session.id, OWN_AUTHOR, english=session.traits["language"] in ("", "en"))


Reader = Callable[[Sequence[Segment]], list[frozenset[DialogueAct]]]
"""The acts of the pieces of a message."""


def _rows(told: Sequence[tuple[Role, str, Reader]], talk: str, author: str, *, english: bool) -> list[Row]:
    messages = [(turn, Message(role=role, text=text)) for turn, (role, text, _) in enumerate(told, 1)]
    found: list[Row] = []
    for number, (message, (_, text, acts_of)) in enumerate(zip(messages, told, strict=True)):
        situation = situation_of(message, messages[:number], has_goal=number > 0)
        spoken = [piece for piece in segment(text) if piece.kind in _SPOKEN]
        read = [hits(piece.text, situation.speaker) for piece in spoken]
        found += [
            Row(
                acts,
                bounded(piece.text),
                cues_of(at, spoken, read, situation),
                situation.speaker,
                talk,
                author,
                english,
            )
            for at, (piece, acts) in enumerate(zip(spoken, acts_of(spoken), strict=True))
        ]
    return found


def _by_lines(lines: Sequence[Line], spoken: Sequence[Segment]) -> list[frozenset[DialogueAct]]:
    """A line that the run time cuts in several gives its acts to the longest."""
    acts: list[frozenset[DialogueAct]] = [frozenset()] * len(spoken)
    start = 0
    for told, line in lines:
        inside = [at for at, piece in enumerate(spoken) if start <= piece.start < start + len(line)]
        if inside:
            acts[max(inside, key=lambda at: len(spoken[at].text))] = told
        start += len(line) + 2
    return acts


def _by_quotes(
    text: str, quotes: Sequence[tuple[DialogueAct, str]], spoken: Sequence[Segment]
) -> list[frozenset[DialogueAct]]:
    """A piece does what a quote tells that shares half of it, or stands half within it."""
    places = [(act, at, at + len(quote)) for act, quote in quotes if (at := text.find(quote)) >= 0]
    return [
        frozenset(
            act for act, start, end in places if 2 * _shared(piece, start, end) >= min(end - start, len(piece.text))
        )
        for piece in spoken
    ]


def _shared(piece: Segment, start: int, end: int) -> int:
    return max(0, min(piece.end, end) - max(piece.start, start))


class Trained:
    """Weights in floating point, with the cues that they belong to: a regression for each act."""

    def __init__(self, rows: Sequence[Row], vectors: Vectors | None = None) -> None:
        self.vectors = vectors
        count = Counter(cue for row in rows for cue in set(row.own))
        self.index = {cue: at for at, cue in enumerate(sorted(cue for cue in count if count[cue] >= LEAST_SEEN))}
        matrix = self.matrix(rows)
        self.regressions = [
            LogisticRegression(C=STRENGTH, max_iter=300, tol=1e-3).fit(matrix, [act in row.acts for row in rows])
            for act in DialogueAct
        ]

    def matrix(self, rows: Sequence[Row]) -> Any:
        """Counts of the cues, a sentence a row, and behind them the vectors of the rows."""
        places = [(at, self.index[cue]) for at, row in enumerate(rows) for cue in row.own if cue in self.index]
        across, down = ([place[axis] for place in places] for axis in (1, 0))
        counts = csr_matrix((np.ones(len(places)), (down, across)), shape=(len(rows), len(self.index)))
        if self.vectors is None:
            return counts
        return hstack([counts, LOUDNESS * np.stack([self.vectors[row.text] for row in rows])], format="csr")

    def odds(self, rows: Sequence[Row]) -> list[Guess]:
        """How likely each sentence does each act."""
        matrix = self.matrix(rows)
        chances = np.stack([one.predict_proba(matrix)[:, 1] for one in self.regressions], axis=1)
        return [Guess(tuple(DialogueAct), tuple(row)) for row in chances.tolist()]

    def coefficients(self) -> Any:
        """The weights: a cue or place of a vector a row, an act a column."""
        return np.concatenate([one.coef_ for one in self.regressions]).T

    def model(self) -> Model:
        """The weights as they are shipped: a byte each. The intercepts are spread over the cues that all sentences of a
        speaker have."""
        weights = self.coefficients()[: len(self.index)].copy()
        for speaker in (Speaker.USER, Speaker.ASSISTANT):
            weights[self.index[f"{speaker.value}:bias"]] += [one.intercept_[0] for one in self.regressions]
        scale = float(np.abs(weights).max() / 127)
        coarse = np.round(weights / scale).astype(np.int8)
        kept = np.flatnonzero(coarse.any(axis=1))
        names = sorted(self.index, key=self.index.__getitem__)
        return Model(tuple(DialogueAct), [names[at] for at in kept], coarse[kept].tobytes(), scale)


def _folds(rows: Sequence[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    groups = [row.talk for row in rows]
    for train, held in GroupKFold(FOLDS).split(rows, groups=groups):
        yield [rows[at] for at in train], [rows[at] for at in held]


def embedded(rows: Sequence[Row], embed: Embed) -> Vectors:
    """The vectors of the rows' texts."""
    texts = sorted({row.text for row in rows})
    return dict(zip(texts, np.asarray(embed(texts), np.float32), strict=True))


def head_of(found: Trained, embed: Embed, trained_on: str) -> Head:
    """The weights of cues and vectors as they are used."""
    model = found.model()
    dense = LOUDNESS * found.coefficients()[len(found.index) :] / model.scale
    return Head(model, dense.astype(np.float32), embed, trained_on)


def beside_words(rows: Sequence[Row], vectors: Vectors) -> list[str]:
    """The macro F1 on held-out conversations with cues alone, with the vectors alone, and with both, as lines."""
    bare = [replace(row, own=row.own[:BARE]) for row in rows]
    ways = {"cues": (rows, None), "vectors": (bare, vectors), "both": (rows, vectors)}
    lines = []
    for name, (used, beside) in ways.items():
        pairs = [
            pair for train, held in _folds(used) for pair in zip(held, Trained(train, beside).odds(held), strict=True)
        ]
        lines.append(f"{name:8} {sum(f1 for _, _, f1 in _quality(pairs).values()) / len(DialogueAct):.3f}")
    return lines


Pair = tuple[Row, Guess]


def _taken(row: Row, guess: Guess, act: DialogueAct) -> bool:
    """Whether the package takes a sentence to do an act."""
    return any(use.guessed is act and use.speaker is row.speaker and guess.chance(act) >= use.sure for use in USES)


def _quality(pairs: Sequence[Pair]) -> dict[DialogueAct, tuple[float, float, float]]:
    """Precision, recall and F1 of each act."""
    found = {}
    for act in DialogueAct:
        wanted = sum(act in row.acts for row, _ in pairs)
        given = sum(_taken(row, guess, act) for row, guess in pairs)
        right = sum(act in row.acts and _taken(row, guess, act) for row, guess in pairs)
        found[act] = (right / max(given, 1), right / max(wanted, 1), 2 * right / max(given + wanted, 1))
    return found


def report(pairs: Sequence[Pair]) -> list[str]:
    """Precision, recall and F1 of each act, as lines."""
    lines = [f"{'':14} precision recall   F1  sentences"]
    for act, (precision, recall, f1) in _quality(pairs).items():
        wanted = sum(act in row.acts for row, _ in pairs)
        lines.append(f"{act:14} {precision:9.2f} {recall:6.2f} {f1:6.2f} {wanted:8}")
    return [*lines, f"{'all':14} {'':9} {'':6} {'':6} {len(pairs):8}"]


def figures(rows: Sequence[Row]) -> list[str]:
    """How well acts are found in held-out conversations and of held-out authors, as lines."""
    held = [pair for train, part in _folds(rows) for pair in zip(part, Trained(train).odds(part), strict=True)]
    lines = ["held-out conversations", *report(held)]
    for author in sorted({row.author for row in rows}):
        part = [row for row in rows if row.author == author and row.english]
        rest = Trained([row for row in rows if row.author != author])
        lines += ["", f"held-out author: {author}", *report(list(zip(part, rest.odds(part), strict=True)))]
    return lines


def training_rows() -> list[Row]:
    """All sentences that the package's model is trained on."""
    own = next(corpus for corpus in corpora([OWN]))
    return [
        *(row for scene in scenes() for row in rows_of(scene)),
        *(row for session in own.sessions for row in rows_of_session(session)),
    ]


def _train_head(directory: Path, rows: Sequence[Row], *, quick: bool, write: bool) -> int:
    from tokenmizer_mw.extract.encoder import Encoder, digest_of  # the extra semantic

    embed = Encoder(directory)
    vectors = embedded(rows, embed)
    if not quick:
        print("\n".join(["held-out conversations", *beside_words(rows, vectors)]))
    if write:
        head = head_of(Trained(rows, vectors), embed, digest_of(directory))
        (directory / HEAD).write_bytes(head.to_bytes())
        print(f"{HEAD}: {len(head.cues)} cues, {len(head.dense)} places")
    return 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_acts", description="Train the classifier.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--semantic", type=Path, help="a directory with a sentence model: train its head")
    given = parser.parse_args(arguments)
    rows = training_rows()
    if given.semantic is not None:
        return _train_head(given.semantic, rows, quick=given.quick, write=given.write)
    if not given.quick:
        lines = figures(rows)
        print("\n".join(lines))
        if given.write:
            FIGURES.write_text("\n".join([*_HEAD, *lines, "```"]) + "\n", encoding="utf-8")
    if given.write:
        model = Trained(rows).model()
        TARGET.write_bytes(model.to_bytes())
        print(f"{TARGET.name}: {len(model.cues)} cues, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
