"""The classifier of dialogue acts (what a sentence does): a linear model with one row of weights per feature.

The file is a line of JSON and a compressed body: the features, one per line, then their weights as signed bytes, a row
of classes for each feature. To add many rows fast, a row is one integer with 32-bit lanes: the first lane holds a one
and so counts rows, the others hold the weights of the classes, raised by 128 so that no lane is negative.
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
from itertools import islice
from typing import ClassVar, Final, NamedTuple

FORMAT: Final = 3
"""Version of the file format."""

CUES_MAX: Final = 600
"""How many known features of one sentence count."""

MODEL_MAX: Final = 2 * 1024 * 1024
"""Greatest size of a model file, in bytes. Its body may have twice as many when decompressed."""

_RAISED: Final = 128
_COUNT: Final = 0xFFFFFFFF
"""Mask of the lane that counts rows."""
_FAR: Final = 500.0
"""Sums below minus this value are raised to it, so that their exponential can be computed; the probability is 0
anyway."""
_FILE: Final = "acts.model"
_CHANGES_FILE: Final = "changes.model"


class DialogueAct(StrEnum):
    """The classes: what a sentence may do to the state of a session. A sentence may do several of these, or none."""

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
    """How probable each act is for one sentence. ``odds``: probabilities from 0 to 1 in the order of ``classes``,
    independent of each other."""

    classes: tuple[DialogueAct, ...]
    odds: tuple[float, ...]

    def chance(self, act: DialogueAct) -> float:
        """Return the probability of one act, 0 to 1."""
        return self.odds[self.classes.index(act)]


class SentenceInContext(NamedTuple):
    """A sentence and what precedes it.

    - ``speaker``: "user" or "assistant".
    - ``before``: the sentence before it in its message; ``heard``: the last sentence of the other speaker; "" for none.
    """

    text: str
    speaker: str
    before: str = ""
    heard: str = ""


class BadModel(ValueError):
    """Raised for a model file that is damaged, of another version, or made for other acts."""


class Model:
    """A linear classifier of sentences by dialogue act.

    - ``classes``: the acts; ``cues``: the names of the features.
    - ``weights``: one signed byte for each feature and class, feature by feature, in units of ``scale``.

    Raises ``BadModel`` if there are not as many weights as features times classes.
    """

    __slots__ = ("_rows", "_unpack", "classes", "cues", "scale", "weights")

    reads_context: ClassVar[bool] = False
    """Whether the model also reads sentences in their context, so that ``meaning`` returns something."""

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
        cut = struct.iter_unpack(f"{size}s", rows)
        self._rows = {cue: int.from_bytes(row, "little") for cue, (row,) in zip(cues, cut, strict=True)}

    def weight(self, cues: Iterable[str]) -> int:
        """Return the sum of the rows of these features, as one integer of lanes, for ``guess``. Only the first
        ``CUES_MAX`` known features count."""
        known = filter(None, map(self._rows.get, cues))  # a row is never 0: it counts itself
        return sum(islice(known, CUES_MAX))

    def _sums(self, total: int, meaning: Sequence[float]) -> Sequence[float]:
        """The sum of the weights of each class, in units of ``scale``. ``meaning``: added to the sums if it is not
        empty."""
        rows, *lanes = self._unpack(total.to_bytes(4 * len(self.classes) + 4, "little"))
        sums = [lane - rows * _RAISED for lane in lanes]
        return [one + more for one, more in zip(sums, meaning, strict=True)] if meaning else sums

    def total(self, cues: Iterable[str]) -> tuple[float, int]:
        """Return the sum of the weights for the first class, and how many of the features are known."""
        weight = self.weight(cues)
        return self._sums(weight, ())[0] * self.scale, weight & _COUNT

    def meaning(self, sentence: SentenceInContext) -> Sequence[float]:
        """Return what a sentence model adds for each class; () for a model that has only features."""
        return ()

    def guess(self, total: int, meaning: Sequence[float] = ()) -> ActProbabilities:
        """Return the probabilities of the acts of a sentence. ``total``: what ``weight`` returned for its features;
        ``meaning``: what ``meaning`` returned for it."""
        sums = [max(one * self.scale, -_FAR) for one in self._sums(total, meaning)]
        return ActProbabilities(self.classes, tuple([1 / (1 + math.exp(-one)) for one in sums]))

    def to_bytes(self) -> bytes:
        """Return the model as the content of a file."""
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
        """Return the model in the content of a file. ``acts``: the classes that it must have.

        Raises ``BadModel`` if the file is damaged, too large, of another version or made for other acts.
        """
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
    """Return the classifier of dialogue acts that this package contains, loaded when first used."""
    return Model.from_bytes(files(__package__).joinpath(_FILE).read_bytes())


@cache
def load_change_model() -> Model:
    """Return the classifier of passages that change something, which this package contains, loaded when first used."""
    return Model.from_bytes(files(__package__).joinpath(_CHANGES_FILE).read_bytes(), {DialogueAct.CHANGE})
