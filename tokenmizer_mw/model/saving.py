"""What a stage saved of one request, in tokens: handed from those who shorten to those who keep the books."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageSaving:
    """Tokens of the texts that a stage changed, before it and after it. ``stage`` is its name in the settings."""

    stage: str
    tokens_before: int
    tokens_after: int
