"""Trains the head that the classifier of dialogue acts has for a sentence model.

``python -m benchmarks.train_acts --semantic DIRECTORY`` runs this. The sentence model reads the English sentences of
the training text in their context. Its matrices get a low-rank adapter (LoRA, Hu and others 2021); its own weights stay
as they are. Its log odds of each act are added to those of the cues. The weights of both are fitted on authors on whose
text neither was trained.

A head trained on all authors was no better (macro F1 of ``second`` .504 instead of .516, of ``third`` the same), and
the weights of both would not have been fitted for it.

Needs the extras ``train`` and ``embeddings``; takes a quarter of an hour on two cores.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional
from transformers import BertModel

from tokenmizer_mw.extract.score.classifier import ActProbabilities, DialogueAct, SentenceInContext
from tokenmizer_mw.extract.score.encoder import Encoder, digest_of
from tokenmizer_mw.extract.score.semantic import ContextReader, Head

from .act_figures import Pair
from .act_rows import WEIGHED_ON, Row

RANK: Final = 8
EPOCHS: Final = 3
RATE: Final = 7e-4
"""Learning rate after the warm-up; it falls to a fiftieth."""
WARMING: Final = 60
"""Number of steps in which the learning rate rises."""
BATCH: Final = 48
SORTED: Final = 16
"""Number of batches whose sentences are sorted by length together, so that little padding is needed."""
SOFTENED: Final = 0.5
"""Exponent of the rows' weights in training."""
HEAVIEST: Final = 30.0
"""Greatest weight of a row, before the exponent."""
SCALE: Final = 4.0
"""Factor of a vector before the classifier, so that adapter and classifier can have the same learning rate."""
ADAPTED: Final = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)

HEAD_TITLE: Final = (
    "# The same with a sentence model",
    "",
    "Written by `python -m benchmarks.train_acts --semantic DIRECTORY --write`: English sentences alone, judged by",
    "cues and by a sentence model with its adapter, neither of which has read anything of their author.",
    "",
)

Logits = Any
"""Log odds: one row per sentence, one column per act."""
Sequences = list[tuple[list[int], list[int]]]
"""For each sentence in its context, the ids of its tokens and their segment ids."""


class LowRank(nn.Module):
    """A linear layer that is not trained, plus the product of a tall and a wide matrix, which is."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer
        self.wide = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.tall = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, rows: Any) -> Any:
        return self.layer(rows) + 2 * functional.linear(functional.linear(rows, self.wide), self.tall)


class Adapted(nn.Module):
    """A sentence model with an adapter, and a linear classifier on the mean of its token vectors."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        model: Any = BertModel.from_pretrained(str(directory), add_pooling_layer=False, local_files_only=True)
        self.model = model.requires_grad_(False)
        for layer in self.model.encoder.layer:
            for name in ADAPTED:
                holder, _, last = name.rpartition(".")
                part = layer.get_submodule(holder)
                setattr(part, last, LowRank(getattr(part, last)))
        self.judge = nn.Linear(model.config.hidden_size, len(DialogueAct))

    def forward(self, tokens: Any, kinds: Any, there: Any) -> Any:
        read = self.model(input_ids=tokens, token_type_ids=kinds, attention_mask=there).last_hidden_state
        mean = (read * there.unsqueeze(-1)).sum(1) / there.sum(1, keepdim=True)
        return self.judge(mean.float() * SCALE)

    def adapter(self) -> dict[str, tuple[Any, Any]]:
        """Return what is added to the model's matrices: by name of the matrix, the two factors."""
        found = {}
        for number, layer in enumerate(self.model.encoder.layer):
            for name in ADAPTED:
                part = layer.get_submodule(name)
                tall, wide = (one.detach().float().numpy() for one in (part.tall, part.wide))
                found[f"encoder.layer.{number}.{name}.weight"] = (2 * tall, wide)
        return found

    def classifier(self) -> tuple[Any, Any]:
        """Return the classifier's weights (one row per component of the vector, one column per act) and its
        intercepts."""
        weights, added = self.judge.weight.detach().numpy(), self.judge.bias.detach().numpy()
        return weights.T * SCALE, added


def head_for(directory: Path, cues: Any, pairs: Sequence[Pair]) -> tuple[Head, list[Pair]]:
    """Return the head for the sentence model in ``directory``, and the rows of the authors in ``WEIGHED_ON``, on whose
    text neither was trained, with their probabilities.

    ``cues``: the classifier of cues; ``pairs``: rows of held-out authors with their probabilities by classifiers of
    cues that were not trained on them.
    """
    reader = ContextReader(Encoder(directory))
    known = [(row, guess) for row, guess in pairs if row.english and row.text.isascii()]
    read = [row for row, _ in known if row.author not in WEIGHED_ON]
    unread = [(row, guess) for row, guess in known if row.author in WEIGHED_ON]
    model = _train(directory, read, _read_all(reader, read))
    said, rows = _logits([guess for _, guess in unread]), [row for row, _ in unread]
    meant = _judged(model, _read_all(reader, rows))
    slopes, shares, offsets = _mixed(rows, said, meant)
    dense, added = model.classifier()
    numbers = [one.astype(np.float32) for one in (dense * shares, slopes, offsets + shares * added)]
    head = Head(cues.model(), *numbers, reader, digest_of(directory), model.adapter())
    acts = tuple(DialogueAct)
    guesses = 1 / (1 + np.exp(-(said * slopes + meant * shares + offsets)))
    return head, [(row, ActProbabilities(acts, tuple(one))) for row, one in zip(rows, guesses.tolist(), strict=True)]


def _read_all(reader: ContextReader, rows: Sequence[Row]) -> Sequences:
    return [reader.sequence(SentenceInContext(row.text, row.speaker.value, row.before, row.heard)) for row in rows]


def _logits(guesses: Sequence[ActProbabilities]) -> Logits:
    chances = np.clip(np.array([guess.odds for guess in guesses]), 1e-6, 1 - 1e-6)
    return np.log(chances / (1 - chances))


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of sentences, one row each and one column per act: whether it does the act, and how much that
    counts (0 if it is not known)."""

    acts: Any
    counts: Any


def _told(rows: Sequence[Row]) -> Told:
    acts = torch.tensor([[float(act in row.acts) for act in DialogueAct] for row in rows])
    known = torch.tensor([[float(act in row.told) for act in DialogueAct] for row in rows])
    weights = torch.tensor([[min(row.weight, HEAVIEST) ** SOFTENED] for row in rows])
    return Told(acts, known * weights)


def _train(directory: Path, rows: Sequence[Row], texts: Sequences) -> Adapted:
    """A model trained on all sentences that do something and, in each epoch, on as many others."""
    torch.manual_seed(0)
    chance = random.Random(0)
    model = Adapted(directory).train()
    trained = [one for one in model.parameters() if one.requires_grad]
    steps = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    doing = [at for at, row in enumerate(rows) if row.acts]
    idle = [at for at, row in enumerate(rows) if not row.acts]
    taken = min(len(idle), len(doing))
    count = EPOCHS * math.ceil((len(doing) + taken) / BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(steps, lambda at: min(1.0, (at + 1) / WARMING) * max(0.02, 1 - at / count))
    told = _told(rows)
    for _ in range(EPOCHS):
        for batch in _batches([*doing, *chance.sample(idle, taken)], texts, chance):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                said = model(*_padded([texts[at] for at in batch])).float()
            counts = told.counts[batch]
            loss = functional.binary_cross_entropy_with_logits(said, told.acts[batch], counts, reduction="sum")
            steps.zero_grad()
            (loss / counts.sum() * len(DialogueAct)).backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            steps.step()
            rate.step()
    return model.eval()


def _batches(places: list[int], texts: Sequences, chance: random.Random) -> Iterator[list[int]]:
    chance.shuffle(places)
    for start in range(0, len(places), BATCH * SORTED):
        part = sorted(places[start : start + BATCH * SORTED], key=lambda at: len(texts[at][0]))
        yield from (part[at : at + BATCH] for at in range(0, len(part), BATCH))


def _padded(texts: Sequences) -> tuple[Any, Any, Any]:
    width = max(len(tokens) for tokens, _ in texts)
    rows = [(tokens + [0] * (width - len(tokens)), kinds + [0] * (width - len(kinds))) for tokens, kinds in texts]
    there = [[1] * len(tokens) + [0] * (width - len(tokens)) for tokens, _ in texts]
    return torch.tensor([one for one, _ in rows]), torch.tensor([one for _, one in rows]), torch.tensor(there)


def _judged(model: Adapted, texts: Sequences) -> Logits:
    """The log odds by the sentence model."""
    found = np.zeros((len(texts), len(DialogueAct)))
    order = sorted(range(len(texts)), key=lambda at: len(texts[at][0]))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            found[batch] = model(*_padded([texts[at] for at in batch])).numpy()
    return found


def _mixed(rows: Sequence[Row], said: Logits, meant: Logits) -> tuple[Any, Any, Any]:
    """For each act, the weights of cues and of the sentence model, and the intercept, for sentences as frequent as in
    real transcripts. ``said``: by cues, ``meant``: by the sentence model."""
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
