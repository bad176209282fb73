"""The learned stage on the meaning of sentences: its cues, and beside them what an embedding says.

A head is trained for one embedding by ``python -m benchmarks.train_acts --semantic DIRECTORY`` and kept beside the
weights as ``acts.head``: a line of JSON, the model of the cues, and a number for each class and each place of a vector.

Needs the extra ``semantic``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.errors import ConfigError

from .encoder import Encoder, digest_of
from .learned import BadModel, Model

HEAD: Final = "acts.head"
FORMAT: Final = 1
HEAD_MAX: Final = 16 * 1024 * 1024
"""Bytes of a head's file."""

Matrix = NDArray[np.float32]
Embed = Callable[[list[str]], Matrix]
"""Texts to vectors, a text a row; every call gives the same text the same vector."""


class Head(Model):
    """A classifier of cues and vectors. ``dense``: for each place of a vector a row, for each class a column, in what
    ``scale`` is for cues. ``trained_on`` names the embedding: the SHA-256 of its weights, "" for any.

    Raises ``BadModel`` when cues, weights and ``dense`` do not fit.
    """

    __slots__ = ("dense", "embed", "trained_on")

    def __init__(self, cues: Model, dense: Matrix, embed: Embed, trained_on: str = "") -> None:
        super().__init__(cues.classes, cues.cues, cues.weights, cues.scale)
        if dense.ndim != 2 or dense.shape[1] != len(cues.classes):
            raise BadModel(f"{dense.shape} numbers for {len(cues.classes)} classes")
        self.dense, self.embed, self.trained_on = dense, embed, trained_on

    def meaning(self, text: str) -> Sequence[float]:
        """What the vector of a sentence adds to each class, in scale-ths. Raises ``BadModel`` for one of another
        width than the head was trained on."""
        vector = np.asarray(self.embed([text]), np.float32)
        if vector.shape != (1, len(self.dense)):
            raise BadModel(f"vectors of the shape {vector.shape}, the head takes {len(self.dense)} numbers")
        found: list[float] = (vector[0] @ self.dense).tolist()
        return found

    def to_bytes(self) -> bytes:
        """The head as a file."""
        model, dense = super().to_bytes(), np.ascontiguousarray(self.dense, "<f4").tobytes()
        header = {
            "format": FORMAT,
            "width": len(self.dense),
            "model": len(model),
            "trained_on": self.trained_on,
            "sha256": hashlib.sha256(model + dense).hexdigest(),
        }
        return json.dumps(header).encode() + b"\n" + model + dense

    @classmethod
    def read(cls, data: bytes, embed: Embed) -> Head:
        """The head of a file. Raises ``BadModel`` for one that is damaged, too large or of another version."""
        line, _, body = data.partition(b"\n")
        try:
            header = json.loads(line)
            found, width, size = int(header["format"]), int(header["width"]), int(header["model"])
            trained_on, digest = str(header["trained_on"]), header["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadModel(f"not a head: {error}") from None
        if found != FORMAT:
            raise BadModel(f"format {found}, this version reads {FORMAT}")
        if len(data) > HEAD_MAX or hashlib.sha256(body).hexdigest() != digest:
            raise BadModel("damaged: the digest does not fit")
        model = Model.from_bytes(body[:size])
        numbers = np.frombuffer(body[size:], "<f4")
        if len(numbers) != width * len(model.classes):
            raise BadModel(f"{len(numbers)} numbers for {len(model.classes)} classes of {width} places")
        return cls(model, numbers.reshape(width, -1), embed, trained_on)


@cache
def opened(directory: str, sha256: str = "") -> Head:
    """The head in a model's directory, with the model, read once.

    ``sha256``: what the digest of the weights must be, "" for whatever the head was trained on. Raises ``ConfigError``
    where weights, tokenizer or head are missing, damaged or do not belong together.
    """
    folder = Path(directory)
    digest = digest_of(folder)
    if sha256 and digest != sha256.casefold():
        raise ConfigError(f"{folder}: the digest of its weights is {digest}, not the one in semantic_sha256")
    encoder = Encoder(folder)
    try:
        head = Head.read((folder / HEAD).read_bytes(), encoder)
    except (OSError, BadModel) as error:
        raise ConfigError(f"{folder / HEAD}: {error}") from None
    if head.trained_on not in ("", digest) or len(head.dense) != encoder.width:
        raise ConfigError(f"{folder / HEAD} was trained on other weights")
    return head
