"""The type of a row in the token tables."""

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
    """A credential that is recognised by its own shape, at any position.

    - ``kind``: as shown in the placeholder.
    - ``shape``: one shape, or several separated by blanks.
    - ``counter``: a similar text that is not a credential ("" if those derived from the shape suffice).
    - ``check``: a validator in ``judge.CHECKS``; "" for none.
    - ``inside``: it may begin in the middle of a word, because its beginning is distinctive.
    - ``around``: it is recognised by a mark in its middle.
    - ``floor``: least entropy of its variable part, in bits per character.
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
        """The shapes as a list."""
        return tuple(self.shape.split(" "))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Return generated texts that the row matches as a whole, the same in every run; none for rows with a
        checksum."""
        if self.check:
            return ()
        return tuple(fake for one in self.shapes for fake in shapes.fakes(one, self.kind))

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """Return texts that look like the token but are not: without variation, and the row's counter-example."""
        plain = tuple(shapes.fill_shape(one, filler) for one in self.shapes for filler in _FILLERS)
        return plain + (tuple(shapes.fakes(self.counter, self.kind)) if self.counter else ())
