"""What a row of the token tables is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from . import shape as shapes

ENTROPY: Final = 2.4
"""Bits per character that the random part of a token has at least, where its row says nothing else."""

_FILLERS: Final = ("x", "0")


@dataclass(frozen=True)
class Token:
    """A credential that is known by its own shape, wherever it stands.

    ``kind`` is what the placeholder shows. ``shape`` is one shape, or some with blanks between them. ``counter`` is
    a shape that looks similar and is none ("" when those that follow from the shape say enough). ``check`` names a
    validator of ``judge.CHECKS`` ("" for none). ``inside`` rows may begin in the middle of a word: what they begin
    with is distinct enough. ``around`` rows are known by a mark in their middle. ``floor`` is the least entropy, in
    bits per character, of what is not literal.
    """

    kind: str
    shape: str
    counter: str = ""
    check: str = ""
    inside: bool = False
    around: bool = False
    floor: float = ENTROPY

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """The shapes, one by one."""
        return tuple(self.shape.split(" "))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Made-up texts that the row finds as a whole; the same in every run. None for rows with a checksum."""
        if self.check:
            return ()
        return tuple(fake for one in self.shapes for fake in shapes.fakes(one, self.kind))

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """Texts that look like the token and are none: nothing in it varies, and the counter-example of the row."""
        plain = tuple(shapes.filled(one, filler) for one in self.shapes for filler in _FILLERS)
        return plain + (tuple(shapes.fakes(self.counter, self.kind)) if self.counter else ())
