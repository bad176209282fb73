"""``Resume``, the result of building a resume block: text, token count, and ids of its facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEVELS: Final = {"critical": 100, "standard": 300, "full": 600}
"""Tokens of the named budgets."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume block. ``text`` is "" and ``tokens`` 0 when there is nothing to say or no fact fits.

    ``tokens`` counts the whole text, fence included, and never exceeds ``budget``; ``exact`` says whether the
    model's own tokenizer counted (else it errs high). ``level`` is "critical", "standard", "full" or, for a budget
    of the caller's own, "custom". ``node_ids`` are the nodes whose facts the text carries, replaced ones that it
    names included. ``turn`` is the number of the newest message that it covers (0 when unknown).
    """

    text: str
    tokens: int
    exact: bool
    level: str
    budget: int
    node_ids: tuple[str, ...]
    turn: int

    def __str__(self) -> str:
        return self.text
