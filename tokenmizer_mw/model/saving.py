"""Tokens that a stage saved in one request, passed from the stages to the accounting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageSaving:
    """Tokens of the texts that a stage changed, before it and after it. ``stage`` is its name in the settings."""

    stage: str
    tokens_before: int
    tokens_after: int
