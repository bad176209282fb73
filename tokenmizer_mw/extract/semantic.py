"""The learned stage on the meaning of sentences: what the words of a sentence say, and beside it what its vector says.

A head is trained for one sentence model by ``python -m benchmarks.train_acts --semantic DIRECTORY``: a line of JSON and
a number for each act and each place of a vector. The package carries the head for all-MiniLM-L6-v2; one for another
model lies beside its weights as ``acts.head``. The vectors are those of the frozen model: nothing of it is trained.

Needs the extra ``semantic``, or ``embeddings``, whose vectors cost less time.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.errors import ConfigError

from .encoder import Encoder, digest_of
from .learned import BadModel, DialogueAct, Guess, Model, load_shipped_model

HEAD: Final = "acts.head"
FORMAT: Final = 2
HEAD_MAX: Final = 1024 * 1024
"""Bytes of a head's file."""
SENTENCES_KEPT: Final = 1024
"""Sentences whose meaning is kept: one sentence is judged up to three times while a message is read."""

_FAR: Final = 500.0

Matrix = NDArray[np.float32]
Embed = Callable[[list[str]], Any]
"""Texts to vectors, a text a row; every call gives the same text the same vector."""


class Head(Model):
    """A classifier of cues and vectors: for each act the log odds are ``slopes`` times those of the cues, plus
    ``offsets``, plus what ``dense`` makes of the vector, a row for each of its places and a column for each act.
    ``trained_on`` names the sentence model: the SHA-256 of its weights, "" for any.

    Sentences with other letters than those of ASCII are judged by their cues alone: the sentence model reads English.
    Raises ``BadModel`` when cues and numbers do not fit.
    """

    __slots__ = ("_cached_meaning", "dense", "embed", "offsets", "slopes", "trained_on")

    def __init__(
        self, cues: Model, dense: Matrix, slopes: Matrix, offsets: Matrix, embed: Embed, trained_on: str = ""
    ) -> None:
        super().__init__(cues.classes, cues.cues, cues.weights, cues.scale)
        acts = len(cues.classes)
        if dense.ndim != 2 or (dense.shape[1], slopes.shape, offsets.shape) != (acts, (acts,), (acts,)):
            raise BadModel(f"{dense.shape} numbers for {acts} classes")
        self.dense, self.slopes, self.offsets = dense, slopes, offsets
        self.embed, self.trained_on = embed, trained_on
        self._cached_meaning = lru_cache(SENTENCES_KEPT)(self._compute_meaning)

    def meaning(self, text: str) -> Sequence[float]:
        """What the vector of a sentence adds to the log odds of each class, () for one that is not embedded. Raises
        ``BadModel`` for a vector of another width than the head was trained on."""
        return self._cached_meaning(text) if text.isascii() else ()

    def _compute_meaning(self, text: str) -> Sequence[float]:
        vector = np.asarray(self.embed([text]), np.float32)
        if vector.shape != (1, len(self.dense)):
            raise BadModel(f"vectors of the shape {vector.shape}, the head takes {len(self.dense)} numbers")
        found: list[float] = (vector[0] @ self.dense + self.offsets).tolist()
        return found

    def guess(self, total: int, meaning: Sequence[float] = ()) -> Guess:
        """What a sentence does whose cues weigh ``total``, and whose meaning adds ``meaning``."""
        if not meaning:
            return super().guess(total)
        sums = [
            max(one * self.scale * slope + more, -_FAR)
            for one, slope, more in zip(self._sums(total, ()), self.slopes.tolist(), meaning, strict=True)
        ]
        return Guess(self.classes, tuple([1 / (1 + math.exp(-one)) for one in sums]))

    def to_bytes(self) -> bytes:
        """The head as a file, without the classifier of cues."""
        body = np.vstack([self.slopes, self.offsets, self.dense]).astype("<f4").tobytes()
        header = {
            "format": FORMAT,
            "width": len(self.dense),
            "classes": self.classes,
            "trained_on": self.trained_on,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        return json.dumps(header).encode() + b"\n" + body

    @classmethod
    def read(cls, data: bytes, embed: Embed, cues: Model) -> Head:
        """The head of a file on a classifier of cues. Raises ``BadModel`` for a file that is damaged, too large, of
        another version or of other acts."""
        line, _, body = data.partition(b"\n")
        try:
            header = json.loads(line)
            found, width, classes = int(header["format"]), int(header["width"]), tuple(header["classes"])
            trained_on, digest = str(header["trained_on"]), header["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadModel(f"not a head: {error}") from None
        if found != FORMAT:
            raise BadModel(f"format {found}, this version reads {FORMAT}")
        if len(data) > HEAD_MAX or hashlib.sha256(body).hexdigest() != digest:
            raise BadModel("damaged: the digest does not fit")
        numbers = np.frombuffer(body, "<f4")
        if classes != tuple(map(str, cues.classes)) or len(numbers) != (width + 2) * len(classes):
            raise BadModel(f"{len(numbers)} numbers for {len(classes)} classes of {width} places")
        slopes, offsets, *dense = numbers.reshape(width + 2, -1)
        return cls(cues, np.stack(dense), slopes, offsets, embed, trained_on)


@cache
def open_head(directory: str, sha256: str = "") -> Head:
    """The head for the model in a directory, with the model, read once.

    The head is that in the directory, else the package's. ``sha256``: what the digest of the weights must be, "" for
    whatever the head was trained on. Raises ``ConfigError`` where weights, tokenizer or head are missing, damaged or do
    not belong together.
    """
    folder = Path(directory)
    digest = digest_of(folder)
    if sha256 and digest != sha256.casefold():
        raise ConfigError(f"{folder}: the digest of its weights is {digest}, not the one in semantic_sha256")
    embed = embedder(folder)
    own = folder / HEAD
    try:
        head = Head.read(
            (own if own.exists() else files(__package__).joinpath(HEAD)).read_bytes(), embed, load_shipped_model()
        )
    except (OSError, BadModel) as error:
        raise ConfigError(f"{own}: {error}") from None
    if head.trained_on not in ("", digest):
        raise ConfigError(f"{own} was trained on other weights" if own.exists() else f"{folder} has no {HEAD}")
    return head


def embedder(folder: Path) -> Embed:
    """The sentence model in a directory: by sentence-transformers where it is installed, else by arithmetic of our own,
    which gives the same vectors. Raises ``ConfigError`` for a directory that is no such model."""
    encoder = Encoder(folder)
    if find_spec("sentence_transformers") is None or not (folder / "modules.json").exists():
        return encoder
    from tokenmizer_mw.context.embedding import find_model

    return find_model(str(folder))


__all__ = ["HEAD", "HEAD_MAX", "DialogueAct", "Embed", "Head", "embedder", "open_head"]
