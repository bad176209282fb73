"""How ``extract/score/changes.model`` and the weights of ``contrast.py`` beside it are fitted, on many authors' talks.

1. A classifier of passages: does this sentence, with its neighbours, change anything that was settled?
2. A regression over facts: which fact does it change, or none? Its evidence is from ``contrast.collect_evidence``; the
   odds of a passage come from a classifier that has read nothing of the passage's author.

The text: ``beliefs``, ``beliefs_wider``, the longer talks, ``corpus/effects``, where a third of the messages change
something, and the conversations in ``training``, where about one in fifty does. Nothing is fitted on ``beliefs_last``
and ``effects_last``.

    python -m benchmarks.contrast_fit            figures by author held out
    python -m benchmarks.contrast_fit --write    and the model file, and the weights as a table
    python -m benchmarks.contrast_fit --semantic DIRECTORY
                                                 how much a sentence model counts beside the evidence

Needs the extra ``train``, and for ``--semantic`` the extra ``semantic``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.candidates.claims import read_claims
from tokenmizer_mw.extract.dialogue.situation import Situation, read_situation
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.resolve.fact_changes import LEAST_ODDS, LIKELY, find_changeable
from tokenmizer_mw.extract.resolve.ledger import Ledger
from tokenmizer_mw.extract.resolve.may_replace import may_replace
from tokenmizer_mw.extract.score.change_odds import BIAS, LETTERS_SHARE, letter_cues, odds_by_model, word_cues
from tokenmizer_mw.extract.score.classifier import DialogueAct, Model
from tokenmizer_mw.extract.score.classifier_findings import change_log_odds
from tokenmizer_mw.extract.score.contrast import WEIGHTS, Mixture, collect_evidence, count_words, find_sharing_key
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node

from .act_rows import WEIGHED_ON
from .acts import scenes
from .beliefs import CASES, WIDER, Case, load_cases, load_talks, states
from .effects import FITTED, load_trials, states_clause

MODEL: Final = Path(__file__).parents[1] / "tokenmizer_mw" / "extract" / "score" / "changes.model"
CUES_KEPT: Final = 20_000
INVERSE_SHRINK: Final = 0.3
SHRINK: Final = 2.0
SCENES: Final = 0.3
"""How much a message of ``training`` counts for the classifier of passages, where the others count 1."""
SCENES_IN_REGRESSION: Final = 0.6
"""How much it counts for the regression: most messages of whole conversations, which have many facts, change none."""
STEPS: Final = 300
GROUPS: Final = 6
LONG: Final = 0.5
"""Share of its fitted weight that a chat's length gets: of the few changes in the long conversations of the training
text it is not known which facts they change, so the fit sees only messages there that change none."""
_CHANGING: Final = frozenset({DialogueAct.CHANGE, DialogueAct.REJECTION})

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Talk:
    """One talk and the message behind it. ``changes``: old words, "" where they are not known, and new ones;
    ``quoted``: the old words are a clause of the talk, not a value; ``scene``: whether it is of ``training``."""

    author: str
    turns: tuple[tuple[str, str], ...]
    message: str
    changes: frozenset[tuple[str, str]]
    quoted: bool
    scene: bool = False


@dataclass(slots=True)
class Sentence:
    """A sentence of a talk's message. ``line``: its words; ``beside``: with its neighbours; ``found``: its evidence, a
    fact a row; ``right``: which facts it changes; ``ordinary``: the message changes nothing, or nothing known;
    ``meant``: what a sentence model says for it that it changes something."""

    talk: Talk
    line: str
    beside: str
    new: bool
    ordinary: bool
    found: Vector
    right: NDArray[np.bool_]
    meant: float | None = None


def load_labelled() -> list[Talk]:
    """All talks that may be fitted on, a row for each of their messages."""
    whole: dict[tuple[str, tuple[tuple[str, str], ...], str, bool], set[tuple[str, str]]] = {}
    for author, case in _belief_cases():
        changes = whole.setdefault((author, case.turns, case.message, False), set())
        if case.group == "change":
            changes.add((case.expected[0], case.expected[1]))
    for trial in load_trials(FITTED):
        whole.setdefault((trial.author, trial.turns, trial.message, True), set()).update(trial.changes)
    talks = [Talk(key[0], key[1], key[2], frozenset(changes), key[3]) for key, changes in whole.items()]
    return [*talks, *_scene_talks()]


def _scene_talks() -> Iterator[Talk]:
    """The user's messages of the training scenes, but for the first ones."""
    for scene in scenes():
        turns = [(turn.speaker, turn.text) for turn in scene.turns if turn.speaker != "tool"]
        spoken = [turn for turn in scene.turns if turn.speaker != "tool"]
        for at, turn in enumerate(spoken):
            if at > 1 and turn.speaker == "user":
                changes = frozenset(("", text) for acts, text in turn.lines if acts & _CHANGING)
                yield Talk(f"scenes-{scene.author}", tuple(turns[:at]), turn.text, changes, quoted=True, scene=True)


def _belief_cases() -> Iterator[tuple[str, Case]]:
    for folder in (CASES, WIDER):
        for path in sorted(folder.glob("*.json")):
            yield from ((path.stem, case) for case in load_cases(folder, path.name))
    for case in load_talks():
        yield f"talks-{case.kind}", case


def read_sentences(talks: Sequence[Talk], model: Model | None = None) -> Iterator[Sentence]:
    """The sentences of the talks' messages that may change anything. ``model``: judges what they mean."""
    recorder = Recorder()
    for talk in talks:
        ledger = Ledger(recorder.graph(talk.turns).fork())
        ledger.turn = len(talk.turns) + 1
        ledger.put_up = partial(_assistant_texts, talk.turns)
        meaning = partial(change_log_odds, situation=_situation(talk), model=model) if model is not None else None
        claims = list(read_claims(ledger.turn, segment(talk.message), [], meaning))
        known = find_changeable(ledger, [claim for _, claim, _ in claims])
        words = count_words(known)
        for said, claim, _ in claims:
            vars(claim).update(odds=0.0, own_odds=0.0)
            facts = [node for node in find_sharing_key(known, claim) if may_replace(claim, node)]
            changed = [[_states(node, old, talk) for node in facts] for old, _ in talk.changes]
            holding = [rows for rows, (_, new) in zip(changed, talk.changes, strict=True) if _holds(said.text, new)]
            right = np.array([any(rows[at] for rows in holding) for at in range(len(facts))], bool)
            found = np.array([_values(collect_evidence(node, claim, words)) for node in facts], float)
            ordinary = not any(_states(node, old, talk) for node in known for old, _ in talk.changes) and all(
                old for old, _ in talk.changes
            )
            yield Sentence(talk, claim.line, claim.beside, bool(holding), ordinary, found, right, claim.meant)


def _situation(talk: Talk) -> Situation:
    told = [(number, Message(Role(role), text)) for number, (role, text) in enumerate(talk.turns, 1)]
    return read_situation((len(told) + 1, Message(Role.USER, talk.message)), told, has_goal=True)


def _assistant_texts(turns: Sequence[tuple[str, str]]) -> list[tuple[int, str]]:
    return [(number, text) for number, (role, text) in enumerate(turns, 1) if role == "assistant"]


def _values(found: Mapping[str, float]) -> list[float]:
    return [float(found[name]) for name in WEIGHTS]


class Recorder:
    """Talks recorded message by message; one that begins as the last one did goes on from there."""

    def __init__(self) -> None:
        self._memory = SessionMemory.open("memory://")
        self._done: tuple[tuple[str, str], ...] = ()
        self._count = 0

    def graph(self, turns: tuple[tuple[str, str], ...]) -> SessionGraph:
        """The graph after the messages of a talk."""
        if turns[: len(self._done)] != self._done:
            self._done, self._count = (), self._count + 1
        messages = [{"role": role, "content": text} for role, text in turns]
        for end in range(len(self._done) + 1, len(turns) + 1):
            self._memory.record(f"talk-{self._count}", messages[:end])
        self._done = turns
        return self._memory.graph(f"talk-{self._count}")


def _states(node: Node, old: str, talk: Talk) -> bool:
    """Whether a fact states the old words: it holds the value, or stems from the clause."""
    if not old:
        return False
    return states_clause(node, old) if talk.quoted else states(node, old)


def _holds(text: str, value: str) -> bool:
    plain = " ".join(text.casefold().split())
    return any(spelling.strip().casefold() in plain for spelling in value.split("|"))


def fit_passages(sentences: Sequence[Sentence]) -> Model:
    """The classifier of passages. Sentences beside the one that changes something are left out."""
    read = [one for one in sentences if one.new or not one.talk.changes]
    counted = CountVectorizer(analyzer=_cues_of, binary=True, min_df=2)
    there: csr_matrix = counted.fit_transform([one.beside for one in read]).astype(float)
    names = counted.get_feature_names_out()
    share = np.array([1.0 if name[0] in "wbt" else LETTERS_SHARE for name in names])
    often = np.asarray((there > 0).sum(0)).ravel()
    rare = (np.log((1 + len(read)) / (1 + often)) + 1) * np.sqrt(share)
    length = np.sqrt(np.maximum(1.0, np.asarray(there @ share).ravel()))
    scaled = (diags(1 / length) @ there).multiply(rare).tocsr()
    fitted = LogisticRegression(C=INVERSE_SHRINK, max_iter=800).fit(
        scaled, [one.new for one in read], [SCENES if one.talk.scene else 1.0 for one in read]
    )
    weights = fitted.coef_[0] * rare
    worth = np.abs(weights) * np.sqrt(often)
    kept = np.argsort(-worth)[:CUES_KEPT]
    numbers = np.append(weights[kept], fitted.intercept_[0])
    scale = float(np.abs(numbers).max() / 127)
    small = np.round(numbers / scale).astype("i1")
    cues = [*(names[at] for at in kept), BIAS]
    return Model([DialogueAct.CHANGE], cues, small.tobytes(), scale)


def _cues_of(passage: str) -> list[str]:
    return sorted(word_cues(passage) | letter_cues(passage))


def odds_across(sentences: Sequence[Sentence]) -> Vector:
    """The odds of each sentence by its own words, and with its neighbours, by a classifier that has read nothing of its
    author."""
    odds = np.zeros((len(sentences), 2))
    for group in _groups(sentences):
        model = fit_passages([one for one in sentences if one.talk.author not in group])
        for at, one in enumerate(sentences):
            if one.talk.author in group:
                odds[at] = odds_by_model(model, one.line), odds_by_model(model, one.beside)
    return odds


def _groups(sentences: Sequence[Sentence]) -> list[list[str]]:
    """The authors, in groups of which each is judged by what has read only the others."""
    authors = sorted({one.talk.author for one in sentences})
    return [authors[start::GROUPS] for start in range(GROUPS)]


def fit_weights(sentences: Sequence[Sentence], odds: Vector) -> Vector:
    """The weights of the evidence, the bias last. Each message shares its chances among its sentences with each fact,
    and none of these pairs."""
    messages = [some for some in _by_message(sentences, odds) if _is_known(some)]
    rows = np.concatenate([_with_odds(one, odd) for some in messages for one, odd in some])
    place = np.repeat(np.arange(len(messages)), [sum(len(one.found) for one, _ in some) for some in messages])
    right = np.concatenate([one.right for some in messages for one, _ in some]).astype(float)
    changes = np.bincount(place, right, len(messages)) > 0
    counts = np.array([SCENES_IN_REGRESSION if some[0][0].talk.scene else 1.0 for some in messages])

    def loss(weights: Vector) -> tuple[float, Vector]:
        raised = np.exp(np.clip(rows @ weights, -30, 30))
        total = np.bincount(place, raised, len(messages))
        hit = np.bincount(place, raised * right, len(messages))
        chance = np.where(changes, hit, 1.0) / (1 + total)
        pull = np.where(changes, 1 / np.maximum(hit, 1e-9), 0.0)
        slope = raised * (counts[place] * (right * pull[place] - 1 / (1 + total)[place]))
        shrunk = np.append(weights[:-1], 0.0)
        value = -(counts * np.log(np.maximum(chance, 1e-12))).sum() + SHRINK * (shrunk**2).sum() / 2
        return value, -(rows.T @ slope) + SHRINK * shrunk

    fitted: Any = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    weights: Vector = fitted.x
    return weights


def fit_mixture(sentences: Sequence[Sentence], odds: Vector, weights: Vector) -> Mixture:
    """How much the evidence and a sentence model count for each other, on messages whose sentences it has all read."""
    messages = [
        [(_with_odds(one, odd) @ weights, np.full(len(one.found), one.meant), one.right) for one, odd in some]
        for some in _by_message(sentences, odds)
        if _is_known(some) and all(one.meant is not None for one, _ in some)
    ]
    rows = [tuple(map(np.concatenate, zip(*some, strict=True))) for some in messages]

    def loss(shares: Vector) -> float:
        lost = 0.0
        for words, meant, right in rows:
            raised = np.exp(np.clip(shares[0] * words + shares[1] * meant + shares[2], -30, 30))
            taken = (raised * right).sum() if right.any() else 1.0
            lost -= math.log(max(taken / (1 + raised.sum()), 1e-9))
        return lost

    return Mixture(*minimize(loss, np.array([1.0, 0.5, 0.0]), method="Nelder-Mead").x.tolist())


Read = list[tuple[Sentence, Vector]]
"""The sentences of one message, with their odds."""


def _by_message(sentences: Sequence[Sentence], odds: Vector) -> list[Read]:
    """The messages that have anything to be changed, and sentences that may."""
    messages: dict[int, Read] = {}
    for one, odd in zip(sentences, odds, strict=True):
        if len(one.found) and odd[-1] >= LEAST_ODDS:
            messages.setdefault(id(one.talk), []).append((one, odd))
    return list(messages.values())


def _is_known(some: Read) -> bool:
    """Whether it is known which fact a message changes, or that it changes none that is known."""
    return any(one.right.any() or one.ordinary for one, _ in some)


def _with_odds(one: Sentence, odds: Vector) -> Vector:
    """The evidence of a sentence with its odds, which are the last of it, and a one for the bias."""
    count = len(one.found)
    return np.column_stack([one.found[:, :-2], np.tile(odds, (count, 1)), np.ones(count)])


def judge(sentences: Sequence[Sentence], odds: Vector, weights: Vector, likely: float = LIKELY) -> dict[int, bool]:
    """For each talk, by its identity, whose message changes something: whether that is the right fact."""
    taken: dict[int, bool] = {}
    for some in _by_message(sentences, odds):
        sums = np.concatenate([np.clip(_with_odds(one, odd) @ weights, -30, 30) for one, odd in some])
        raised = np.exp(sums)
        if raised.max() / (1 + raised.sum()) >= likely:
            right = np.concatenate([one.right for one, _ in some])
            taken[id(some[0][0].talk)] = bool(right[int(sums.argmax())])
    return taken


def print_figures(sentences: Sequence[Sentence], odds: Vector) -> None:
    """What weights find that were fitted on all other authors."""
    for author in sorted({one.talk.author for one in sentences}):
        mine = np.array([one.talk.author == author for one in sentences])
        others = [one for one, held in zip(sentences, mine, strict=True) if not held]
        weights = fit_weights(others, odds[~mine])
        held = [one for one, held in zip(sentences, mine, strict=True) if held]
        taken = judge(held, odds[mine], weights)
        talks = {id(one.talk): one.talk for one in held}
        _print_row(author, list(talks.values()), taken)


def _print_row(author: str, talks: Sequence[Talk], taken: dict[int, bool]) -> None:
    changing = [talk for talk in talks if talk.changes]
    right = sum(taken.get(id(talk), False) for talk in changing)
    wrong = sum(not taken.get(id(talk), True) for talk in changing)
    false = sum(id(talk) in taken for talk in talks if not talk.changes)
    others = len(talks) - len(changing)
    print(f"{author:12} {right:4} of {len(changing):4} changes, {wrong:3} wrong; {false:3} of {others} others")


def _fitted_elsewhere(talks: Sequence[Talk], unread: Sequence[Sentence]) -> tuple[Vector, Vector]:
    """The odds of sentences by a classifier that has read nothing of their authors, and weights fitted on the rest."""
    read = list(read_sentences([talk for talk in talks if talk.author not in WEIGHED_ON]))
    model = fit_passages(read)
    odds = np.array([(odds_by_model(model, one.line), odds_by_model(model, one.beside)) for one in unread])
    return odds, fit_weights(read, odds_across(read))


def main(arguments: Sequence[str]) -> int:
    """Print the figures; with ``--write``, write the model and print the weights."""
    talks = load_labelled()
    if "--semantic" in arguments:
        from tokenmizer_mw.extract.score.semantic import open_head  # needs an extra

        model = open_head(arguments[arguments.index("--semantic") + 1])
        unread = list(read_sentences([talk for talk in talks if talk.author in WEIGHED_ON], model))
        print(fit_mixture(unread, *_fitted_elsewhere(talks, unread)))
        return 0
    sentences = list(read_sentences(talks))
    odds = odds_across(sentences)
    print_figures(sentences, odds)
    if "--write" in arguments:
        MODEL.write_bytes(fit_passages(sentences).to_bytes())
        *weights, bias = fit_weights(sentences, odds)
        for name, weight in zip(WEIGHTS, weights, strict=True):
            print(f'    "{name}": {weight * (LONG if name == "long" else 1):.2f},')
        print(f"BIAS: Final = {bias:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
