"""Trains and evaluates the classifier of dialogue acts.

    python -m benchmarks.train_acts             figures on held-out authors
    python -m benchmarks.train_acts --write     the same; also writes them and the model that the package ships

    python -m benchmarks.train_acts --semantic DIRECTORY [--write] [--to FILE]
                                                figures with a sentence model beside the cues; writes its head

The text is that in ``benchmarks/training`` and ``benchmarks/corpus/sessions``. Needs the extra ``train``, and for
``--semantic`` the extra ``embeddings`` as well. Figures and calibration are those of authors on whose text the model
was not trained, because that is what unseen phrasing gets.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.score import classifier
from tokenmizer_mw.extract.score.classifier import ActProbabilities, DialogueAct, Model
from tokenmizer_mw.extract.score.cues import is_of_rules

from .act_figures import Pair, page
from .act_rows import Row, training_rows
from .acts import SCENES

LEAST_SEEN: Final = 3
"""Fewest sentences with a cue for the cue to become part of the model."""

UNREAD: Final = 0.5
"""Share of a sentence's weight that goes to a copy of it without the cues of rules, so that the model does not depend
on rules that may change."""

FOLDS: Final = 4
"""Number of groups of authors; each is judged by a model trained on the others."""

STRENGTH: Final = 0.05
"""Inverse of the regularisation strength, chosen on held-out authors."""

FIGURES: Final = SCENES.parent / "FIGURES.md"
HEAD_FIGURES: Final = FIGURES.with_name("FIGURES_SEMANTIC.md")
TARGET: Final = Path(classifier.__file__).with_name("acts.model")
PACKAGED: Final = TARGET.with_name("acts.head")
SOFTENED: Final = 0.5
"""Exponent of the rows' weights in training, chosen on held-out authors. The calibration uses the full weights."""


class Trained:
    """A logistic regression for each act, trained on ``rows``: weights of the cues, and intercepts by speaker."""

    def __init__(self, rows: Sequence[Row]) -> None:
        count = Counter(cue for row in rows for cue in set(row.own))
        self.index = {cue: at for at, cue in enumerate(sorted(cue for cue in count if count[cue] >= LEAST_SEEN))}
        both = [*rows, *(replace(row, own=[cue for cue in row.own if not is_of_rules(cue)]) for row in rows)]
        matrix = self.matrix(both)
        regressions = [self._regression(act, both, len(rows), matrix) for act in DialogueAct]
        self.weights = np.concatenate([one.coef_ for one in regressions]).T
        """One row per cue, one column per act."""
        self.intercepts = {speaker: np.array([one.intercept_[0] for one in regressions]) for speaker in Speaker}

    @staticmethod
    def _regression(act: DialogueAct, rows: Sequence[Row], read: int, matrix: Any) -> LogisticRegression:
        """The regression of an act on the rows of which it is known whether they do it. The first ``read`` rows have
        the cues of rules, the others do not."""
        told = [at for at, row in enumerate(rows) if act in row.told]
        does = [act in rows[at].acts for at in told]
        shares = ((1 - UNREAD if at < read else UNREAD) for at in told)
        weights = [share * rows[at].weight ** SOFTENED for at, share in zip(told, shares, strict=True)]
        return LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-3).fit(matrix[told], does, sample_weight=weights)

    def matrix(self, rows: Sequence[Row]) -> Any:
        """Return the counts of the known cues: one row per sentence, one column per cue."""
        places = [(at, self.index[cue]) for at, row in enumerate(rows) for cue in row.own if cue in self.index]
        across, down = ([place[axis] for place in places] for axis in (1, 0))
        return csr_matrix((np.ones(len(places)), (down, across)), shape=(len(rows), len(self.index)))

    def sums(self, rows: Sequence[Row]) -> Any:
        """Return the log odds of the acts: one row per sentence, one column per act."""
        return self.matrix(rows) @ self.weights + np.stack([self.intercepts[row.speaker] for row in rows])

    def calibrate(self, calibration: Calibration) -> None:
        """Apply ``calibration`` to the weights and intercepts."""
        self.weights = self.weights * calibration.slopes
        self.intercepts = {
            speaker: self.intercepts[speaker] * calibration.slopes + offsets
            for speaker, offsets in calibration.offsets.items()
        }

    def model(self) -> Model:
        """Return the model as it is shipped, with one byte per weight. The intercepts are added to the cue that all
        sentences of a speaker have."""
        weights = self.weights.copy()
        for speaker, intercepts in self.intercepts.items():
            if (bias := self.index.get(f"{speaker.value}:bias")) is not None:
                weights[bias] += intercepts
        scale = float(np.abs(weights).max() / 127)
        coarse = np.round(weights / scale).astype(np.int8)
        kept = np.flatnonzero(coarse.any(axis=1))
        names = sorted(self.index, key=self.index.__getitem__)
        return Model(tuple(DialogueAct), [names[at] for at in kept], coarse[kept].tobytes(), scale)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt scaling of the sums: a slope for each act, an offset for each act and speaker."""

    slopes: Any
    offsets: dict[Speaker, Any]

    def guesses(self, rows: Sequence[Row], sums: Any) -> list[ActProbabilities]:
        """Return the calibrated probabilities of the acts of each sentence. ``sums``: as ``Trained.sums`` returns
        them."""
        scaled = sums * self.slopes + np.stack([self.offsets[row.speaker] for row in rows])
        return [ActProbabilities(tuple(DialogueAct), tuple(row)) for row in (1 / (1 + np.exp(-scaled))).tolist()]


def calibration_of(rows: Sequence[Row], sums: Any) -> Calibration:
    """Return the scaling that turns sums of held-out sentences into probabilities, with sentences weighted as
    frequently as they occur in real transcripts."""
    speakers = (Speaker.USER, Speaker.ASSISTANT)
    slopes, offsets = [], []
    for number, act in enumerate(DialogueAct):
        told = [at for at, row in enumerate(rows) if act in row.told]
        spoken = [[rows[at].speaker is speaker for speaker in speakers] for at in told]
        given = np.column_stack([sums[told, number], np.array(spoken, float)])
        found = LogisticRegression(C=100.0, fit_intercept=False, max_iter=1000).fit(
            given, [act in rows[at].acts for at in told], sample_weight=[rows[at].weight for at in told]
        )
        slopes.append(found.coef_[0][0])
        offsets.append(found.coef_[0][1:])
    return Calibration(np.array(slopes), dict(zip(speakers, np.array(offsets).T, strict=True)))


def held_out(rows: Sequence[Row]) -> tuple[list[Row], Any]:
    """Return the rows, grouped by fold, and their sums by a model that was not trained on their author."""
    parts, sums = [], []
    for authors in folds(rows):
        part = [row for row in rows if row.author in authors]
        parts += part
        sums.append(Trained([row for row in rows if row.author not in authors]).sums(part))
    return parts, np.concatenate(sums)


def folds(rows: Sequence[Row]) -> list[set[str]]:
    """Return the authors in at most ``FOLDS`` groups with about equally many sentences."""
    count = Counter(row.author for row in rows)
    groups: list[set[str]] = [set() for _ in range(min(FOLDS, len(count)))]
    for author, _ in count.most_common():
        min(groups, key=lambda group: sum(count[one] for one in group)).add(author)
    return groups


def pairs_of(rows: Sequence[Row], calibration: Calibration, sums: Any) -> list[Pair]:
    """Return each row with its calibrated probabilities."""
    return list(zip(rows, calibration.guesses(rows, sums), strict=True))


def calibrated(rows: Sequence[Row]) -> tuple[Trained, list[Pair]]:
    """Return the model of all rows, calibrated on held-out authors, and the held-out rows with their probabilities."""
    parts, sums = held_out(rows)
    calibration = calibration_of(parts, sums)
    found = Trained(rows)
    found.calibrate(calibration)
    return found, pairs_of(parts, calibration, sums)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_acts", description="Train the classifier.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--semantic", type=Path, help="a directory with a sentence model: train a head for its vectors")
    parser.add_argument("--to", type=Path, default=PACKAGED, help="where the head is written; default: the package's")
    given = parser.parse_args(arguments)
    rows = training_rows()
    found, pairs = calibrated(rows)
    if given.semantic is not None:
        return _train_head(given, found, pairs)
    lines = page(pairs)
    print("\n".join(lines))
    if not given.write:
        return 0
    FIGURES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = found.model()
    TARGET.write_bytes(model.to_bytes())
    print(f"{TARGET.name}: {len(model.cues)} cues, {TARGET.stat().st_size} bytes")
    return 0


def _train_head(given: argparse.Namespace, found: Trained, pairs: Sequence[Pair]) -> int:
    from .train_head import HEAD_TITLE, head_for  # needs torch, which the classifier of cues does not

    head, pairs = head_for(given.semantic, found, pairs)
    lines = page(pairs, HEAD_TITLE)
    print("\n".join(lines))
    if given.write:
        given.to.write_bytes(head.to_bytes())
        HEAD_FIGURES.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{given.to}: {given.to.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
