"""The classifier of dialogue acts: a linear model, one row of weights per feature.

The file is a line of JSON and a compressed body: the features, one a line, then their weights as signed bytes, a row of
classes for each. Many weights are added at a time: a row is one integer whose 32-bit lanes hold a one, which counts
rows, and the weights of its classes, raised by 128 so that no lane becomes negative.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import ClassVar, Final, NamedTuple

FORMAT: Final = 3
"""Version of the file's format."""

CUES_MAX: Final = 600
"""Cues of one sentence that count."""

MODEL_MAX: Final = 2 * 1024 * 1024
"""Bytes of a model file, and half the bytes that its body may have when it is not compressed."""

_RAISED: Final = 128
_COUNT: Final = 0xFFFFFFFF
"""The lane that counts rows."""
_FAR: Final = 500.0
"""A sum that is as good as none at all, and whose power can be told."""
_FILE: Final = "acts.model"
_CHANGES_FILE: Final = "changes.model"


class DialogueAct(StrEnum):
    """The classes: what a sentence may do to the state of a session. It may do several of them, or none."""

    DECISION = "decision"
    COMPLETION = "completion"
    POSTPONEMENT = "postponement"
    COMPLAINT = "complaint"
    GOAL = "goal"
    RULE = "rule"
    CHANGE = "change"
    REJECTION = "rejection"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class ActProbabilities:
    """The probability of each class: ``odds`` in the order of ``classes``, 0..1, independent of each other."""

    classes: tuple[DialogueAct, ...]
    odds: tuple[float, ...]

    def chance(self, act: DialogueAct) -> float:
        """The probability of one act."""
        return self.odds[self.classes.index(act)]


class SentenceInContext(NamedTuple):
    """A sentence and what precedes it: ``before``, the sentence before it in its message, and ``heard``, the other
    speaker's last one; "" for none. ``speaker``: "user" or "assistant"."""

    text: str
    speaker: str
    before: str = ""
    heard: str = ""


class BadModel(ValueError):
    """The model file is damaged, or of another version."""


class Model:
    """A linear classifier. ``cues`` and ``weights`` correspond: a row for each feature, a column for each class, in
    units of 1/``scale``. Raises ``BadModel`` if they do not."""

    __slots__ = ("_rows", "_unpack", "classes", "cues", "scale", "weights")

    reads_context: ClassVar[bool] = False
    """Whether ``meaning`` says anything."""

    def __init__(self, classes: Sequence[DialogueAct], cues: Sequence[str], weights: bytes, scale: float) -> None:
        if len(weights) != len(cues) * len(classes):
            raise BadModel(f"{len(weights)} weights for {len(cues)} cues and {len(classes)} classes")
        self.classes, self.cues, self.weights, self.scale = tuple(classes), tuple(cues), weights, scale
        width = len(classes)
        self._unpack = struct.Struct(f"<{width + 1}I").unpack
        size = 4 * (width + 1)
        rows = bytearray(size * len(cues))
        rows[::size] = b"\x01" * len(cues)
        raised = weights.translate(bytes((code + _RAISED) % 256 for code in range(256)))
        for number in range(width):
            rows[4 * (number + 1) :: size] = raised[number::width]
        places = range(0, len(rows), size)
        self._rows = {cue: int.from_bytes(rows[at : at + size], "little") for cue, at in zip(cues, places, strict=True)}

    def weight(self, cues: Iterable[str]) -> int:
        """The sum of the weights of these features, as lanes; only the first ``CUES_MAX`` features count."""
        return sum([row for row in map(self._rows.get, cues) if row is not None][:CUES_MAX])

    def _sums(self, total: int, meaning: Sequence[float]) -> Sequence[float]:
        """The sum of the weights of each class, in scale-ths."""
        rows, *lanes = self._unpack(total.to_bytes(4 * len(self.classes) + 4, "little"))
        sums = [lane - rows * _RAISED for lane in lanes]
        return [one + more for one, more in zip(sums, meaning, strict=True)] if meaning else sums

    def total(self, cues: Iterable[str]) -> tuple[float, int]:
        """The sum of the weights for the first class, and the number of known features."""
        weight = self.weight(cues)
        return self._sums(weight, ())[0] * self.scale, weight & _COUNT

    def meaning(self, sentence: SentenceInContext) -> Sequence[float]:
        """What a sentence model adds for each class; () for a model of features alone."""
        return ()

    def guess(self, total: int, meaning: Sequence[float] = ()) -> ActProbabilities:
        """The probabilities of a sentence whose features sum to ``total`` and for which a sentence model adds
        ``meaning``."""
        sums = [max(one * self.scale, -_FAR) for one in self._sums(total, meaning)]
        return ActProbabilities(self.classes, tuple([1 / (1 + math.exp(-one)) for one in sums]))

    def to_bytes(self) -> bytes:
        """The model as a file."""
        body = zlib.compress("\n".join(self.cues).encode() + b"\0" + self.weights, 9)
        header = {
            "format": FORMAT,
            "classes": self.classes,
            "cues": len(self.cues),
            "scale": self.scale,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        return json.dumps(header).encode() + b"\n" + body

    @classmethod
    def from_bytes(cls, data: bytes, acts: Collection[DialogueAct] = tuple(DialogueAct)) -> Model:
        """The model of a file, which judges ``acts``. Raises ``BadModel`` for one that is damaged, too large, made for
        other acts or of another version."""
        line, _, body = data.partition(b"\n")
        try:
            header = json.loads(line)
            found, digest = header["format"], header["sha256"]
            classes = [DialogueAct(name) for name in header["classes"]]
            scale = float(header["scale"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadModel(f"not a model file: {error}") from None
        if found != FORMAT:
            raise BadModel(f"format {found}, this version reads {FORMAT}")
        if len(data) > MODEL_MAX or hashlib.sha256(body).hexdigest() != digest:
            raise BadModel("damaged: the digest does not fit")
        cues, _, weights = zlib.decompressobj().decompress(body, 2 * MODEL_MAX).partition(b"\0")
        if set(classes) != set(acts):
            raise BadModel(f"made for the acts {', '.join(classes)}")
        return cls(classes, cues.decode().split("\n"), weights, scale)


@cache
def load_shipped_model() -> Model:
    """The classifier of dialogue acts in this package, loaded when first used."""
    return Model.from_bytes(files(__package__).joinpath(_FILE).read_bytes())


@cache
def load_change_model() -> Model:
    """The classifier of changing passages in this package, loaded when first used."""
    return Model.from_bytes(files(__package__).joinpath(_CHANGES_FILE).read_bytes(), {DialogueAct.CHANGE})
