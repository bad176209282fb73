"""Trains the head that the classifier of dialogue acts has for the vectors of a sentence model.

``python -m benchmarks.train_acts --semantic DIRECTORY`` runs this. The sentence model itself stays as it is: every
English sentence of the training text is embedded once, and a regression of each act on the vectors is added to what
the cues say. How much either counts is fitted on authors of whom neither has read anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from tokenmizer_mw.extract import learned
from tokenmizer_mw.extract.encoder import digest_of
from tokenmizer_mw.extract.learned import DialogueAct, Guess
from tokenmizer_mw.extract.semantic import HEAD, Head, embedder

from .act_figures import Pair
from .act_rows import Row

PACKAGED: Final = Path(learned.__file__).with_name(HEAD)
STRENGTH: Final = 20.0
"""Inverse of the regularisation of the regressions on vectors."""
SOFTENED: Final = 0.5
"""Power of the rows' weights in training."""
GROUPS: Final = 4
"""Groups of authors of which each is judged by regressions that have read only the others."""
AT_ONCE: Final = 256
"""Texts that are embedded at once."""

HEAD_TITLE: Final = (
    "# The same with a sentence model",
    "",
    "Written by `python -m benchmarks.train_acts --semantic DIRECTORY --write`: English sentences alone, judged by",
    "cues and by a head on the vectors of the frozen model, neither of which has read anything of their author.",
    "",
)

Logits = Any
"""Log odds, a sentence a row and an act a column."""


def head_for(directory: Path, cues: Any, pairs: Sequence[Pair]) -> tuple[Head, list[Pair]]:
    """The head for the model in a directory on the classifier ``cues``, and what held-out authors get with both.

    ``pairs``: rows of held-out authors with the guesses of classifiers of cues that have not read them.
    """
    embed = embedder(directory)
    known = [(row, guess) for row, guess in pairs if row.english and row.text.isascii()]
    rows = [row for row, _ in known]
    vectors = _embedded(embed, [row.text for row in rows])
    said = _logits([guess for _, guess in known])
    meant = _held_out(rows, vectors)
    slopes, shares, offsets = _mixed(rows, said, meant)
    weights, intercepts = _fitted(rows, vectors)
    guesses = 1 / (1 + np.exp(-(said * slopes + meant * shares + offsets)))
    head = Head(
        cues.model(),
        (weights * shares).astype(np.float32),
        slopes.astype(np.float32),
        (offsets + shares * intercepts).astype(np.float32),
        embed,
        digest_of(directory),
    )
    return head, [(row, Guess(tuple(DialogueAct), tuple(one))) for row, one in zip(rows, guesses.tolist(), strict=True)]


def _embedded(embed: Callable[[list[str]], Any], texts: Sequence[str]) -> Any:
    """The vectors of some texts, each text embedded once."""
    order = sorted(set(texts), key=len)
    parts = [np.asarray(embed(order[at : at + AT_ONCE]), np.float32) for at in range(0, len(order), AT_ONCE)]
    places = {text: at for at, text in enumerate(order)}
    return np.concatenate(parts)[[places[text] for text in texts]]


def _logits(guesses: Sequence[Guess]) -> Logits:
    chances = np.clip(np.array([guess.odds for guess in guesses]), 1e-6, 1 - 1e-6)
    return np.log(chances / (1 - chances))


def _groups(rows: Sequence[Row]) -> list[Set[str]]:
    count = Counter(row.author for row in rows)
    groups: list[set[str]] = [set() for _ in range(min(GROUPS, len(count)))]
    for author, _ in count.most_common():
        min(groups, key=lambda group: sum(count[one] for one in group)).add(author)
    return list(groups)


def _fitted(rows: Sequence[Row], vectors: Any) -> tuple[Any, Any]:
    """Weights of the places of a vector and intercepts, an act a column."""
    found = [_regression(act, rows, vectors) for act in DialogueAct]
    return np.concatenate([one.coef_ for one in found]).T, np.array([one.intercept_[0] for one in found])


def _regression(act: DialogueAct, rows: Sequence[Row], vectors: Any) -> LogisticRegression:
    told = [at for at, row in enumerate(rows) if act in row.told]
    does = [act in rows[at].acts for at in told]
    weights = [rows[at].weight ** SOFTENED for at in told]
    regression = LogisticRegression(C=STRENGTH, max_iter=400, tol=1e-3, solver="newton-cholesky")
    return regression.fit(vectors[told], does, sample_weight=weights)


def _held_out(rows: Sequence[Row], vectors: Any) -> Logits:
    """What the vectors of each row say to regressions that have read nothing of its author."""
    meant = np.zeros((len(rows), len(DialogueAct)))
    for authors in _groups(rows):
        inside = np.array([row.author in authors for row in rows])
        weights, intercepts = _fitted([row for row in rows if row.author not in authors], vectors[~inside])
        meant[inside] = vectors[inside] @ weights + intercepts
    return meant


def _mixed(rows: Sequence[Row], said: Logits, meant: Logits) -> tuple[Any, Any, Any]:
    """How much cues and vectors count for each act, and what is added, for sentences as frequent as in real talks."""
    slopes, shares, offsets = [], [], []
    for number, act in enumerate(DialogueAct):
        told = [at for at, row in enumerate(rows) if act in row.told]
        given = np.column_stack([said[told, number], meant[told, number]])
        found = LogisticRegression(C=100.0, max_iter=1000).fit(
            given, [act in rows[at].acts for at in told], sample_weight=[rows[at].weight for at in told]
        )
        slopes.append(found.coef_[0][0])
        shares.append(found.coef_[0][1])
        offsets.append(found.intercept_[0])
    return np.array(slopes), np.array(shares), np.array(offsets)
