"""The learned classifier of dialogue acts: a table of weights, one row a cue, added up for a sentence.

The file is a line of JSON and a compressed body: the cues, one a line, then their weights as signed bytes, a row of
classes for each cue. Weights are added many at a time: a row is one whole number whose 16-bit lanes hold the weights of
its classes, raised by 128 so that no lane goes below zero.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

FORMAT: Final = 1
"""Version of the file's format."""

CUES_MAX: Final = 240
"""Cues of one sentence that count: a lane has room for 257 rows."""

MODEL_MAX: Final = 2 * 1024 * 1024
"""Bytes of a model file, and half the bytes that its body may have when it is not compressed."""

_RAISED: Final = 128
_FILE: Final = "acts.model"


class DialogueAct(StrEnum):
    """What a sentence does in its conversation."""

    REQUEST = "request"
    PROPOSAL = "proposal"
    ACCEPTANCE = "acceptance"
    REFUSAL = "refusal"
    DECISION = "decision"
    RULE = "rule"
    PREFERENCE = "preference"
    COMPLETION = "completion"
    CONFIRMATION = "confirmation"
    COMPLAINT = "complaint"
    CORRECTION = "correction"
    RETRACTION = "retraction"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    QUOTATION = "quotation"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Guess:
    """How likely each act is for a sentence: ``odds`` in the order of ``classes``, 0..1."""

    classes: tuple[DialogueAct, ...]
    odds: tuple[float, ...]

    @property
    def act(self) -> DialogueAct:
        """The likeliest act."""
        return self.classes[self.odds.index(max(self.odds))]

    def chance(self, acts: frozenset[DialogueAct]) -> float:
        """How likely one of some acts is."""
        return sum([odd for act, odd in zip(self.classes, self.odds, strict=True) if act in acts])


@dataclass(frozen=True, slots=True)
class Spread:
    """What further cues may do to each class: by how many scale-ths they lower it at most, and raise it at most."""

    least: tuple[int, ...]
    most: tuple[int, ...]


class BadModel(ValueError):
    """A model file that is damaged, or of another version."""


class Model:
    """A linear classifier. ``cues`` and ``weights`` go together: a row of ``scale``-ths for each cue, a class a column.

    Raises ``BadModel`` when they do not.
    """

    __slots__ = ("_rows", "_unpack", "classes", "cues", "scale", "weights")

    def __init__(self, classes: Sequence[DialogueAct], cues: Sequence[str], weights: bytes, scale: float) -> None:
        if len(weights) != len(cues) * len(classes):
            raise BadModel(f"{len(weights)} weights for {len(cues)} cues and {len(classes)} classes")
        self.classes, self.cues, self.weights, self.scale = tuple(classes), tuple(cues), weights, scale
        self._unpack = struct.Struct(f"<{len(classes)}H").unpack
        lanes = bytearray(2 * len(weights))
        lanes[::2] = bytes((weight + _RAISED) & 0xFF for weight in weights)
        width = 2 * len(classes)
        self._rows = {
            cue: int.from_bytes(lanes[at : at + width], "little")
            for cue, at in zip(cues, range(0, len(lanes), width), strict=True)
        }

    def weight(self, cues: Iterable[str]) -> int:
        """What a sentence with these cues weighs, as lanes. The weights of parts of a sentence's cues may be added, as
        long as they are the sum of no more than 257 cues."""
        return sum([row for row in map(self._rows.get, cues) if row is not None][:CUES_MAX])

    def _lanes(self, total: int, meaning: Sequence[float] = ()) -> Sequence[float]:
        lanes = self._unpack(total.to_bytes(2 * len(self.classes), "little"))
        return [lane + more for lane, more in zip(lanes, meaning, strict=True)] if meaning else lanes

    def meaning(self, text: str) -> Sequence[float]:
        """What the meaning of a sentence adds to each class, in scale-ths; () for a model that looks at cues alone."""
        return ()

    def guess(self, total: int, meaning: Sequence[float] = ()) -> Guess:
        """What a sentence does whose cues weigh ``total``, and whose meaning adds ``meaning``."""
        lanes = self._lanes(total, meaning)
        best, scale = max(lanes), self.scale
        raised = [math.exp((lane - best) * scale) for lane in lanes]
        whole = sum(raised)
        return Guess(self.classes, tuple([one / whole for one in raised]))

    def spread(self, groups: Iterable[Iterable[str]]) -> Spread:
        """What it may do to a sentence when one cue of each group, or none, is added to its own."""
        rows = [[self._row(cue) for cue in group] for group in groups]
        return Spread(
            tuple(sum(min(0, *(row[at] for row in group)) for group in rows) for at in range(len(self.classes))),
            tuple(sum(max(0, *(row[at] for row in group)) for group in rows) for at in range(len(self.classes))),
        )

    def _row(self, cue: str) -> Sequence[int]:
        row = self._rows.get(cue)
        return [int(lane) - _RAISED for lane in self._lanes(row)] if row is not None else [0] * len(self.classes)

    def most(self, total: int, spread: Spread, acts: frozenset[DialogueAct], meaning: Sequence[float] = ()) -> float:
        """No less than the chance of some acts, whatever the further cues of a sentence are that weighs ``total``."""
        lanes = self._lanes(total, meaning)
        best, scale = max(lanes), self.scale
        wanted = others = 0.0
        for act, lane, least, most in zip(self.classes, lanes, spread.least, spread.most, strict=True):
            if act in acts:
                wanted += math.exp((lane + most - best) * scale)
            else:
                others += math.exp((lane + least - best) * scale)
        return wanted / (wanted + others)

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
    def from_bytes(cls, data: bytes) -> Model:
        """The model of a file. Raises ``BadModel`` for one that is damaged, too large or of another version."""
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
        return cls(classes, cues.decode().split("\n"), weights, scale)


@cache
def shipped() -> Model:
    """The model that comes with this package, read when first used."""
    return Model.from_bytes(files(__package__).joinpath(_FILE).read_bytes())
