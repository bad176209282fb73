"""Precision and recall of the classifier of dialogue acts on authors whose text it was not trained on, as lines of a
page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.score.classifier import ActProbabilities, DialogueAct
from tokenmizer_mw.extract.score.classifier_findings import USES

from .act_rows import Row

Pair = tuple[Row, ActProbabilities]

PRECISIONS: Final = (0.5, 0.6, 0.7, 0.8)
"""For each of these precisions, the page shows the lowest threshold of the probability at which it is reached."""
LEAST_TAKEN: Final = 10
"""Fewest sentences above a threshold for which a precision is computed."""

_HEAD: Final = (
    "# How well the classifier of dialogue acts does",
    "",
    "Written by `python -m benchmarks.train_acts --write`. Each author's sentences are judged by a model that has read",
    "nothing of that author, with chances calibrated on all of them. Sentences that do nothing count as often as they",
    "occur in real transcripts. `own` are the sessions in `benchmarks/corpus/sessions`, whose quotes tell the acts.",
    "",
)


def page(pairs: Sequence[Pair], title: Sequence[str] = _HEAD) -> list[str]:
    """Return the lines of the page, beginning with ``title``. ``pairs``: each sentence with the probabilities of its
    acts by a model that was not trained on its author."""
    authors = sorted({row.author for row, _ in pairs})
    lines = [*title, "## Least chance for a precision, and the recall there", "", "```"]
    lines += [*_chances(pairs), "```", "", "## At the chances that the package uses", "", "```"]
    for author in ("all", *authors):
        part = [pair for pair in pairs if author in ("all", pair[0].author)]
        lines += [f"held-out author: {author}", *_quality(part), ""]
    return [*lines[:-1], "```"]


def _chances(pairs: Sequence[Pair]) -> Iterator[str]:
    yield f"{'':24} sentences  " + "".join(f"P >= {precision:.1f}       " for precision in PRECISIONS).rstrip()
    for act in DialogueAct:
        for speaker in (Speaker.USER, Speaker.ASSISTANT):
            ranked = _ranked(pairs, act, speaker)
            wanted = sum(does for _, does, _ in ranked)
            told = "".join(f"{least_chance(ranked, precision):16}" for precision in PRECISIONS)
            yield f"{act:13} {speaker:10} {wanted:9}  {told}".rstrip()


Ranked = Sequence[tuple[float, bool, float]]
"""Probability of an act, whether the sentence does the act, and the sentence's weight; highest probability first."""


def _ranked(pairs: Sequence[Pair], act: DialogueAct, speaker: Speaker) -> Ranked:
    told = [(row, guess) for row, guess in pairs if row.speaker is speaker and act in row.told]
    return sorted(((guess.chance(act), act in row.acts, row.weight) for row, guess in told), reverse=True)


def least_chance(ranked: Ranked, precision: float) -> str:
    """Return the lowest probability from which on the precision is reached, with the recall there: "0.62 (R 0.41)"; "-"
    if it is never reached with at least ``LEAST_TAKEN`` sentences."""
    found, right, taken = "-", 0.0, 0.0
    wanted = sum(weight for _, does, weight in ranked if does)
    for count, (chance, does, weight) in enumerate(ranked, 1):
        right, taken = right + weight * does, taken + weight
        if count >= LEAST_TAKEN and right >= precision * taken:
            found = f"{chance:.2f} (R {right / wanted:.2f})"
    return found


def _quality(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield lines with the precision, recall and F1 of each act that the package uses, at its threshold."""
    yield f"{'':24} precision recall   F1  sentences"
    for use in USES:
        ranked = _ranked(pairs, use.guessed, use.speaker)
        wanted = sum(weight for _, does, weight in ranked if does)
        taken = sum(weight for chance, _, weight in ranked if chance >= use.sure)
        right = sum(weight for chance, does, weight in ranked if does and chance >= use.sure)
        precision, recall, f1 = right / max(taken, 1), right / max(wanted, 1), 2 * right / max(taken + wanted, 1)
        count = sum(does for _, does, _ in ranked)
        yield f"{use.guessed:13} {use.speaker:10} {precision:9.2f} {recall:6.2f} {f1:6.2f} {count:9}"
