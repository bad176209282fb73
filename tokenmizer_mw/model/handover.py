"""The handover text that a model wrote about a session during refinement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handover:
    """The sentences of a handover, in order, and the messages that they stand for: ``first`` to ``last``, by number."""

    sentences: tuple[str, ...]
    first: int
    last: int
