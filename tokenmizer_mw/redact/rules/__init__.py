"""The tables of rules: one row a rule."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.redact.rule import Token

from .clouds import CLOUDS
from .code import CODE
from .data import DATA
from .models import MODELS
from .money import MONEY
from .talk import TALK

TOKENS: Final[tuple[Token, ...]] = (*MODELS, *CLOUDS, *CODE, *MONEY, *TALK, *DATA)
"""Credentials that are known by their own shape; of two rows that read the same text, the longer one names it, then
the first."""
