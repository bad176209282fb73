"""Trains the classifier of dialogue acts on the scenes in ``benchmarks/training``, and says how well it does.

    python -m benchmarks.train_acts             figures on held-out scenes and authors
    python -m benchmarks.train_acts --write     and the model that the package ships
    python -m benchmarks.train_acts --quick     no figures; with --write only the model

    python -m benchmarks.train_acts --semantic DIRECTORY [--quick] [--write]
                                                figures with a sentence model beside the cues, and its ``acts.head``

Needs the extra ``train``, and for ``--semantic`` the extra of that name. The figures on held-out scenes are what a new
conversation by the same authors gets; those on held-out authors what unseen phrasing gets.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from tokenmizer_mw.extract import learned
from tokenmizer_mw.extract.cues import cues, place
from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.guessing import beside
from tokenmizer_mw.extract.learned import DialogueAct, Model
from tokenmizer_mw.extract.phrases import bounded
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.semantic import HEAD, Embed, Head
from tokenmizer_mw.extract.situation import Situation, situation_of
from tokenmizer_mw.model.message import Message, Role

from .acts import SCENES, Line, Scene, scenes

FOLDS: Final = 5
LEAST_SEEN: Final = 2
"""Sentences that a cue stands in at least to become part of the model."""

STRENGTH: Final = 0.2
"""Inverse of the regularisation, chosen on held-out scenes."""

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
    "Written by `python -m benchmarks.train_acts --write`. Held-out scenes: what a new conversation by the same",
    "authors gets (five folds). Held-out authors: what unseen phrasing gets, English only. Both passes, before",
    "weights are made bytes.",
    "",
    "```",
)
TARGET: Final = Path(learned.__file__).with_name("acts.model")
_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})


@dataclass
class Row:
    """A sentence as the run time cuts it. ``text``: what is embedded of it. ``act``: "" for a piece that stands only
    beside others. ``own``: its cues; ``at``: its number in its turn; ``turn``: the rows of its turn; ``told``: the last
    row of the turn before, for what a user says."""

    act: str
    text: str
    own: list[str]
    speaker: Speaker
    scene: Scene
    at: int
    turn: list[Row] = field(repr=False)
    told: Row | None = field(repr=False)


def rows_of(scene: Scene) -> list[Row]:
    """The sentences of a scene with their cues."""
    messages = [(turn, Message(role=Role(said.speaker), text=said.text)) for turn, said in enumerate(scene.turns, 1)]
    found: list[Row] = []
    told: Row | None = None
    for number, message in enumerate(messages):
        situation = situation_of(message, messages[:number], has_goal=number > 0)
        turn = _turn(scene, situation, message[1].text, scene.turns[number].lines, told)
        found += turn
        told = turn[-1] if turn else None
    return found


def _turn(scene: Scene, situation: Situation, text: str, lines: Sequence[Line], told: Row | None) -> list[Row]:
    speaker = situation.speaker
    spoken = [piece for piece in segment(text) if piece.kind in _SPOKEN]
    acts = _acts_of(spoken, lines)
    turn: list[Row] = []
    for at, (piece, act) in enumerate(zip(spoken, acts, strict=True)):
        own = cues(piece, hits(piece.text, speaker), speaker) + place(at, len(spoken), situation)
        turn.append(
            Row(act, bounded(piece.text), own, speaker, scene, at, turn, told if speaker is Speaker.USER else None)
        )
    return turn


def _acts_of(spoken: Sequence[Segment], lines: Sequence[Line]) -> list[str]:
    """The act of each piece: a line that the run time cuts in several gives its act to the longest."""
    acts = [""] * len(spoken)
    start = 0
    for act, line in lines:
        inside = [at for at, piece in enumerate(spoken) if start <= piece.start < start + len(line)]
        if inside:
            acts[max(inside, key=lambda at: len(spoken[at].text))] = act
        start += len(line) + 2
    return acts


class Trained:
    """Weights in floating point, with the cues that they belong to."""

    def __init__(
        self, rows: Sequence[Row], seen: Callable[[Row], list[str]] | None = None, vectors: Vectors | None = None
    ) -> None:
        self.vectors = vectors
        told = [row for row in rows if row.act]
        lists = [row.own for row in told]
        if seen is not None:  # each sentence twice, so that the weights hold with neighbours and without them
            lists = [*lists, *(row.own + seen(row) for row in told)]
            told = [*told, *told]
        count = Counter(cue for cues_ in lists for cue in set(cues_))
        least = LEAST_SEEN * (1 + (seen is not None))
        self.index = {cue: at for at, cue in enumerate(sorted(cue for cue in count if count[cue] >= least))}
        self.regression = LogisticRegression(C=STRENGTH / (1 + (seen is not None)), max_iter=200, tol=1e-3)
        self.regression.fit(self.matrix(lists, told), [row.act for row in told])
        self.classes: list[str] = list(self.regression.classes_)

    def matrix(self, lists: Sequence[Sequence[str]], rows: Sequence[Row] = ()) -> Any:
        """Counts of the cues, a sentence a row, and behind them the vectors of the rows."""
        places = [(at, self.index[cue]) for at, own in enumerate(lists) for cue in own if cue in self.index]
        across, down = ([place[axis] for place in places] for axis in (1, 0))
        counts = csr_matrix((np.ones(len(places)), (down, across)), shape=(len(lists), len(self.index)))
        if self.vectors is None:
            return counts
        return hstack([counts, LOUDNESS * np.stack([self.vectors[row.text] for row in rows])], format="csr")

    def odds(self, lists: Sequence[Sequence[str]], rows: Sequence[Row]) -> Any:
        """The probability of each class, a sentence a row."""
        return self.regression.predict_proba(self.matrix(lists, rows))

    def acts(self, lists: Sequence[Sequence[str]], rows: Sequence[Row]) -> list[str]:
        """The likeliest class of each sentence."""
        return [self.classes[at] for at in self.odds(lists, rows).argmax(axis=1)] if lists else []

    def model(self) -> Model:
        """The weights as they are shipped: a byte each. The intercept is spread over the cues that all sentences of a
        speaker have."""
        weights = self.regression.coef_.T[: len(self.index)].copy()
        for speaker in (Speaker.USER, Speaker.ASSISTANT):
            weights[self.index[f"{speaker.value}:bias"]] += self.regression.intercept_
        scale = float(np.abs(weights).max() / 127)
        coarse = np.round(weights / scale).astype(np.int8)
        kept = np.flatnonzero(coarse.any(axis=1))
        names = sorted(self.index, key=self.index.__getitem__)
        classes = [DialogueAct(name) for name in self.classes]
        return Model(classes, [names[at] for at in kept], coarse[kept].tobytes(), scale)


def neighbours(rows: Sequence[Row], acts: Sequence[str]) -> Callable[[Row], list[str]]:
    """The cues that sentences have by what those around them seem to do."""
    guessed = {id(row): act for row, act in zip(rows, acts, strict=True)}

    def act_of(row: Row | None) -> str:
        return guessed.get(id(row), "") if row is not None else ""

    def seen(row: Row) -> list[str]:
        before, behind = (row.turn[at] if 0 <= at < len(row.turn) else None for at in (row.at - 1, row.at + 1))
        return beside(act_of(before), act_of(behind), row.at, act_of(row.told), row.speaker)

    return seen


def _folds(rows: Sequence[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    groups = [row.scene.name for row in rows]
    for train, held in GroupKFold(FOLDS).split(rows, groups=groups):
        yield [rows[at] for at in train], [rows[at] for at in held]


def acts_by_themselves(rows: Sequence[Row], vectors: Vectors | None) -> list[str]:
    """What sentences seem to do to models that have not seen their scenes, nor their neighbours."""
    found: dict[int, str] = {}
    for train, held in _folds(rows):
        acts = Trained(train, vectors=vectors).acts([row.own for row in held], held)
        found |= dict(zip(map(id, held), acts, strict=True))
    return [found[id(row)] for row in rows]


def trained(rows: Sequence[Row], vectors: Vectors | None = None) -> Trained:
    """Both passes: the second learns from what models of the first say of scenes that they have not seen."""
    return Trained(rows, neighbours(rows, acts_by_themselves(rows, vectors)), vectors)


def judged(train: Sequence[Row], held: Sequence[Row], vectors: Vectors | None = None) -> list[str]:
    """The acts of held-out sentences, as the run time finds them."""
    both = trained(train, vectors)
    seen = neighbours(held, both.acts([row.own for row in held], held))
    return both.acts([row.own + seen(row) for row in held], held)


def embedded(rows: Sequence[Row], embed: Embed) -> Vectors:
    """The vectors of the rows' texts."""
    texts = sorted({row.text for row in rows})
    return dict(zip(texts, np.asarray(embed(texts), np.float32), strict=True))


def head_of(found: Trained, embed: Embed, trained_on: str) -> Head:
    """The weights of cues and vectors as they are used."""
    model = found.model()
    dense = LOUDNESS * found.regression.coef_.T[len(found.index) :] / model.scale
    return Head(model, dense.astype(np.float32), embed, trained_on)


def beside_words(rows: Sequence[Row], vectors: Vectors) -> list[str]:
    """The share of right acts on held-out scenes: with cues alone, with the vectors alone, and with both, as lines.
    One pass, without neighbours."""
    ways = {"cues": (True, None), "vectors": (False, vectors), "both": (True, vectors)}
    right: Counter[str] = Counter()
    for train, held in _folds(rows):
        for name, (words, used) in ways.items():
            seen = train if words else [replace(row, own=row.own[:BARE]) for row in train]
            part = held if words else [replace(row, own=row.own[:BARE]) for row in held]
            acts = Trained(seen, vectors=used).acts([row.own for row in part], part)
            right[name] += sum(row.act == act for row, act in zip(held, acts, strict=True) if row.act)
    count = sum(1 for row in rows if row.act)
    return [f"{name:8} {right[name] / count:.3f}" for name in ways]


def report(rows: Sequence[Row], acts: Sequence[str]) -> list[str]:
    """Precision and recall of each act, and the share of right ones, as lines."""
    pairs = [(row.act, act) for row, act in zip(rows, acts, strict=True) if row.act]
    right = Counter(act for act, guess in pairs if act == guess)
    wanted, given = Counter(act for act, _ in pairs), Counter(guess for _, guess in pairs)
    lines = [f"{'':14} precision recall  sentences"]
    for act in DialogueAct:
        precision, recall = right[act] / max(given[act], 1), right[act] / max(wanted[act], 1)
        lines.append(f"{act:14} {precision:9.2f} {recall:6.2f} {wanted[act]:10}")
    lines.append(f"{'all':14} {right.total() / max(len(pairs), 1):9.3f} {'':6} {len(pairs):10}")
    return lines


def figures(rows: Sequence[Row]) -> list[str]:
    """How well acts are found on held-out scenes and on held-out authors, as lines."""
    held = [(part, judged(train, part)) for train, part in _folds(rows)]
    lines = ["held-out scenes", *report([row for part, _ in held for row in part], [one for _, a in held for one in a])]
    english = [row for row in rows if row.scene.language == "en"]
    for author in sorted({row.scene.author for row in english}):
        part = [row for row in english if row.scene.author == author]
        acts = judged([row for row in rows if row.scene.author != author], part)
        lines += ["", f"held-out author: {author}", *report(part, acts)]
    return lines


def _train_head(directory: Path, rows: Sequence[Row], *, quick: bool, write: bool) -> int:
    from tokenmizer_mw.extract.encoder import Encoder, digest_of  # the extra semantic

    embed = Encoder(directory)
    vectors = embedded(rows, embed)
    if not quick:
        print("\n".join(["held-out scenes, one pass", *beside_words(rows, vectors)]))
    if write:
        head = head_of(trained(rows, vectors), embed, digest_of(directory))
        (directory / HEAD).write_bytes(head.to_bytes())
        print(f"{HEAD}: {len(head.cues)} cues, {len(head.dense)} places")
    return 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_acts", description="Train the classifier.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--semantic", type=Path, help="a directory with a sentence model: train its head")
    given = parser.parse_args(arguments)
    rows = [row for scene in scenes() for row in rows_of(scene)]
    if given.semantic is not None:
        return _train_head(given.semantic, rows, quick=given.quick, write=given.write)
    if not given.quick:
        lines = figures(rows)
        print("\n".join(lines))
        if given.write:
            FIGURES.write_text("\n".join([*_HEAD, *lines, "```"]) + "\n", encoding="utf-8")
    if given.write:
        model = trained(rows).model()
        TARGET.write_bytes(model.to_bytes())
        print(f"{TARGET.name}: {len(model.cues)} cues, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
