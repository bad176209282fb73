"""The classifier with a sentence model: it judges a sentence by its features and by its embedding in its context.

A *head* is what is trained for one sentence model by ``python -m benchmarks.train_acts --semantic DIRECTORY``: an
adapter (changes of the model's matrices), and a weight for each act and dimension of the embedding. The package
contains the head for all-MiniLM-L6-v2; one for another model is stored beside that model's weights as ``acts.head``.

Needs the extra ``semantic``, or ``embeddings``, which is faster.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import model_directory

from .classifier import ActProbabilities, BadModel, DialogueAct, Model, SentenceInContext, load_shipped_model
from .encoder import Adapter, Encoder, Tokens, digest_of

HEAD: Final = "acts.head"
FORMAT: Final = 3
HEAD_MAX: Final = 4 * 1024 * 1024
"""Largest file of a head, in bytes."""
SENTENCES_KEPT: Final = 1024
"""Number of sentences whose results are cached, because a sentence is judged up to three times while a message is
read."""
TEXT_TOKENS: Final = 56
"""Number of tokens at the beginning of a sentence that are read."""
BEFORE_TOKENS: Final = 24
"""Number of tokens at the end of the preceding sentence that are read."""
HEARD_TOKENS: Final = 28
"""Number of tokens at the end of the other speaker's last sentence that are read."""

_FAR: Final = 500.0

Matrix = NDArray[np.float32]
Read = Callable[[SentenceInContext], Any]
"""Function that gets a sentence in its context and returns its vector."""


class Head(Model):
    """A classifier of features and embeddings. The log odds of each act are ``slopes`` times those of the features,
    plus ``offsets``, plus ``dense`` times the vector (a row per dimension, a column per act).

    - ``read``: makes the vector of a sentence, by the sentence model with ``adapter``.
    - ``trained_on``: SHA-256 of the sentence model's weights, "" for any.

    Sentences with non-ASCII letters are judged by their features alone, because the sentence model reads English.
    Raises ``BadModel`` if features and matrices do not fit.
    """

    __slots__ = ("_cached_meaning", "adapter", "dense", "offsets", "read", "slopes", "trained_on")

    reads_context = True

    def __init__(
        self,
        cues: Model,
        dense: Matrix,
        slopes: Matrix,
        offsets: Matrix,
        read: Read,
        trained_on: str = "",
        adapter: Adapter | None = None,
    ) -> None:
        super().__init__(cues.classes, cues.cues, cues.weights, cues.scale)
        acts = len(cues.classes)
        if dense.ndim != 2 or (dense.shape[1], slopes.shape, offsets.shape) != (acts, (acts,), (acts,)):
            raise BadModel(f"{dense.shape} numbers for {acts} classes")
        self.dense, self.slopes, self.offsets = dense, slopes, offsets
        self.read, self.trained_on, self.adapter = read, trained_on, adapter or {}
        self._cached_meaning = lru_cache(SENTENCES_KEPT)(self._compute_meaning)

    def meaning(self, sentence: SentenceInContext) -> Sequence[float]:
        """Return what the vector of a sentence adds to the log odds of each class; () for a sentence that is not ASCII.
        Raises ``BadModel`` if the vector has another width than the head was trained on."""
        return self._cached_meaning(sentence) if sentence.text.isascii() else ()

    def _compute_meaning(self, sentence: SentenceInContext) -> Sequence[float]:
        vector = np.asarray(self.read(sentence), np.float32)
        if vector.shape != (len(self.dense),):
            raise BadModel(f"vectors of the shape {vector.shape}, the head takes {len(self.dense)} numbers")
        found: list[float] = (vector @ self.dense + self.offsets).tolist()
        return found

    def guess(self, total: int, meaning: Sequence[float] = ()) -> ActProbabilities:
        """Return the probabilities of the acts of a sentence. ``total``: what the method ``weight`` returned for its
        features; ``meaning``: what the method ``meaning`` returned for it; (): judge by the features alone."""
        if not meaning:
            return super().guess(total)
        sums = [
            max(one * self.scale * slope + more, -_FAR)
            for one, slope, more in zip(self._sums(total, ()), self.slopes.tolist(), meaning, strict=True)
        ]
        return ActProbabilities(self.classes, tuple([1 / (1 + math.exp(-one)) for one in sums]))

    def to_bytes(self) -> bytes:
        """Return the head as the content of a file that ``load`` reads, with all numbers in half precision. The
        classifier of features is not in it; ``load`` gets that as its argument ``cues``."""
        named = {"slopes": self.slopes, "offsets": self.offsets, "dense": self.dense}
        for name, (tall, wide) in self.adapter.items():
            named |= {f"{_TALL}{name}": tall, f"{_WIDE}{name}": wide}
        body = b"".join(one.astype("<f2").tobytes() for one in named.values())
        header = {
            "format": FORMAT,
            "classes": self.classes,
            "trained_on": self.trained_on,
            "shapes": {name: one.shape for name, one in named.items()},
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        return json.dumps(header).encode() + b"\n" + body

    @classmethod
    def load(cls, data: bytes, cues: Model, reader: Callable[[Adapter], Read]) -> Head:
        """Make a head from the content of a file that ``to_bytes`` returned.

        ``cues``: the classifier of features that the head completes; ``reader``: gets the adapter and returns the
        function that makes the vectors of sentences.

        Raises ``BadModel`` if the file is damaged, too large, of another version or made for other acts.
        """
        line, _, body = data.partition(b"\n")
        try:
            header = json.loads(line)
            found, classes, shapes = int(header["format"]), tuple(header["classes"]), header.get("shapes", {})
            trained_on, digest = str(header["trained_on"]), header["sha256"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadModel(f"not a head: {error}") from None
        if found != FORMAT:
            raise BadModel(f"format {found}, this version reads {FORMAT}")
        if len(data) > HEAD_MAX or hashlib.sha256(body).hexdigest() != digest:
            raise BadModel("damaged: the digest does not fit")
        if classes != tuple(map(str, cues.classes)):
            raise BadModel(f"made for the acts {', '.join(map(str, classes))}")
        numbers = _split(np.frombuffer(body, "<f2").astype(np.float32), shapes)
        try:
            names = [name.removeprefix(_TALL) for name in numbers if name.startswith(_TALL)]
            adapter = {name: (numbers[_TALL + name], numbers[_WIDE + name]) for name in names}
            dense, slopes, offsets = numbers["dense"], numbers["slopes"], numbers["offsets"]
        except KeyError as error:
            raise BadModel(f"no numbers for {error}") from None
        return cls(cues, dense, slopes, offsets, reader(adapter), trained_on, adapter)


_TALL: Final = "tall "
_WIDE: Final = "wide "


def _split(numbers: Matrix, shapes: Mapping[str, Sequence[int]]) -> dict[str, Matrix]:
    """The matrices of a head's file, by name. Raises ``BadModel`` if shapes and numbers do not fit."""
    found, at = {}, 0
    try:
        for name, shape in shapes.items():
            size = math.prod(shape)
            found[name] = numbers[at : at + size].reshape(tuple(shape))
            at += size
    except (ValueError, TypeError) as error:
        raise BadModel(f"numbers that do not fit their shapes: {error}") from None
    if at != len(numbers):
        raise BadModel(f"{len(numbers)} numbers for {at} places")
    return found


class ContextReader:
    """Makes the vectors of sentences in their context.

    The sentence model reads two texts: first the speaker and the sentence; second the sentence before it and the other
    speaker's last sentence. The vector is the mean of the last layer over all tokens.
    """

    def __init__(self, encoder: Tokens) -> None:
        self._encoder = encoder
        self._begin, self._end = encoder.number("[CLS]"), encoder.number("[SEP]")

    def __call__(self, sentence: SentenceInContext) -> Matrix:
        """Return the vector of a sentence."""
        mean: Matrix = self._encoder.read(*self.sequence(sentence)).mean(axis=0)
        return mean

    def sequence(self, sentence: SentenceInContext) -> tuple[list[int], list[int]]:
        """Return two lists of equal length: the numbers of the tokens to read, and for each token 0 if it belongs to
        the sentence, 1 if it belongs to its context."""
        tokens, end = self._encoder.tokens, self._end
        first = [self._begin, *tokens(sentence.speaker), *tokens(sentence.text)[:TEXT_TOKENS], end]
        before, heard = tokens(sentence.before)[-BEFORE_TOKENS:], tokens(sentence.heard)[-HEARD_TOKENS:]
        second = [*before, end, *heard, end]
        return first + second, [0] * len(first) + [1] * len(second)


@cache
def open_head(directory: str, sha256: str = "") -> Head:
    """Return the head for the sentence model in ``directory``, which may also be the name of an installed package. The
    result is cached.

    The head is the file ``acts.head`` in the directory, else the one in this package. ``sha256``: required digest of
    the weights; "": any that the head was trained on. Raises ``ConfigError`` if weights, tokenizer or head are missing,
    damaged or do not belong together, and if the weights have another digest.
    """
    folder = model_directory(directory)
    digest = digest_of(folder)
    if sha256 and digest != sha256.casefold():
        raise ConfigError(f"{folder}: the digest of its weights is {digest}, not the one in semantic_sha256")
    own = folder / HEAD

    def reader(adapter: Adapter) -> Read:
        return ContextReader(open_encoder(folder, adapter))

    Encoder(folder)  # says what is wrong with the directory
    try:
        data = (own if own.exists() else files(__package__).joinpath(HEAD)).read_bytes()
        if _trained_on(data) not in ("", digest):
            raise ConfigError(f"{own} was trained on other weights" if own.exists() else f"{folder} has no {HEAD}")
        return Head.load(data, load_shipped_model(), reader)
    except (OSError, BadModel) as error:
        raise ConfigError(f"{own}: {error}") from None


def _trained_on(data: bytes) -> str:
    """The digest of the weights that a head's file was trained on. Raises ``BadModel`` if it is no such file."""
    try:
        return str(json.loads(data.partition(b"\n")[0])["trained_on"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadModel(f"not a head: {error}") from None


def open_encoder(folder: Path, adapter: Adapter) -> Tokens:
    """Return the sentence model in ``folder``, with its adapter. It is run by transformers if sentence-transformers is
    installed and has written the directory, else by numpy; both give the same vectors. Raises ``ConfigError`` if the
    directory has no such model."""
    encoder = Encoder(folder, adapter)
    if find_spec("sentence_transformers") is None or not (folder / "modules.json").exists():
        return encoder
    from .torch_encoder import TorchEncoder

    return TorchEncoder(folder, encoder, adapter)


__all__ = ["HEAD", "HEAD_MAX", "ContextReader", "DialogueAct", "Head", "Read", "open_encoder", "open_head"]
