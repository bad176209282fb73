"""How the least chances in ``extract/score/classifier_findings.py`` were chosen.

The authors of ``corpus/effects`` are divided into two halves. The sentences of each half are judged by a classifier
that was trained without it, and the findings of rules in their last messages are compared with the labels. For each
type and move of a finding, the table shows how many are right, and how many, and how many right ones, a least chance
drops.

    python -m benchmarks.finding_chances

Needs the extra ``train``; takes some minutes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.candidates.acts import read_acts
from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.finding import SPOKEN, Finding, Move
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.score.classifier import Model
from tokenmizer_mw.extract.score.classifier_findings import LEAST_CHANCES, judge_sentence
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType

from .act_rows import training_rows
from .effects import FITTED, Trial, load_trials, states_words
from .train_acts import Trained, calibration_of

CHANCES: Final = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3)

_CARRYING: Final = {
    (NodeType.DECISION, Move.NOTE): {"settles", "replaces", "rule"},
    (NodeType.DECISION, Move.SET): {"settles", "replaces"},
    (NodeType.TASK, Move.CLOSE): {"done", "fixed"},
    (NodeType.ERROR, Move.CLOSE): {"done", "fixed"},
    (NodeType.ERROR, Move.NOTE): {"fails"},
    (NodeType.TASK, Move.NOTE): {"open", "replaces"},
}
"""Labelled effects that make a finding of a type and move right."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding: its type and move, the highest chance of the acts that count for it, and whether a label says it."""

    kind: tuple[NodeType, Move]
    chance: float
    right: bool


def judged_findings(trial: Trial, model: Model) -> Iterator[Judged]:
    """Iterate over the findings of rules in a trial's last message, with the chances that ``model`` gives them."""
    told = [*trial.turns, ("user", trial.message)]
    messages = [(number, Message(role=Role(role), text=text)) for number, (role, text) in enumerate(told, 1)]
    situation = read_situation(messages[-1], messages[:-1], has_goal=True)
    segments = segment(trial.message)
    spoken = [piece for piece in segments if piece.kind in SPOKEN]
    read = [read_hits(piece.text, situation.speaker) for piece in spoken]
    places = {(piece.start, piece.end): at for at, piece in enumerate(spoken)}
    for finding in read_acts(segments, situation):
        chances = LEAST_CHANCES.get((finding.type, finding.move))
        if chances is not None and finding.span in places:
            guess = judge_sentence(places[finding.span], spoken, read, situation, model)
            best = max(guess.chance(act) for act in chances)
            yield Judged((finding.type, finding.move), best, _is_right(finding, trial))


def _is_right(finding: Finding, trial: Trial) -> bool:
    carrying = _CARRYING[finding.type, finding.move]
    words = [one.get("what") or one.get("new", "") for one in trial.effects if one["effect"] in carrying]
    return any(states_words(finding.label, finding.quote, clause) for clause in words if clause)


def held_out_findings(trials: Sequence[Trial]) -> Iterator[Judged]:
    """Iterate over the findings in the trials' last messages, each judged by a classifier that was trained without the
    trial's half of the authors."""
    authors = sorted({trial.author for trial in trials})
    rows = training_rows()
    for half in (set(authors[::2]), set(authors[1::2])):
        trained = Trained([row for row in rows if row.author not in half])
        held = [row for row in rows if row.author in half or row.author not in authors]
        trained.calibrate(calibration_of(held, trained.sums(held)))
        model = trained.model()
        for trial in trials:
            if trial.author in half:
                yield from judged_findings(trial, model)


def table(found: Sequence[Judged]) -> list[str]:
    """Return the lines of the table."""
    by_kind: defaultdict[tuple[NodeType, Move], list[Judged]] = defaultdict(list)
    for one in found:
        by_kind[one.kind].append(one)
    lines = ["finding          number  right   dropped (of these right) at a least chance of"]
    lines.append(" " * 32 + "".join(f"{least:>14}" for least in CHANCES))
    for kind, some in sorted(by_kind.items()):
        right = sum(one.right for one in some) / len(some)
        below = [[one for one in some if one.chance < least] for least in CHANCES]
        cells = (f"{len(part):>7} ({sum(one.right for one in part):>3}) " for part in below)
        lines.append(f"{' '.join(kind):<15} {len(some):>7} {right:>6.2f}  {''.join(cells)}")
    return lines


def main() -> int:
    print("\n".join(table(list(held_out_findings(load_trials(FITTED))))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
