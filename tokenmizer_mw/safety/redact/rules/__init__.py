"""The rule tables, one rule per row."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import PlaceRule
from tokenmizer_mw.safety.redact.rule import Token

from .addresses import ADDRESSES
from .calls import CALLS
from .clouds import CLOUDS
from .code import CODE
from .commands import COMMANDS
from .data import DATA
from .files import FILES
from .headers import HEADERS
from .models import MODELS
from .money import MONEY
from .prose import PROSE
from .talk import TALK

TOKENS: Final[tuple[Token, ...]] = (*MODELS, *CLOUDS, *CODE, *MONEY, *TALK, *DATA)
"""Credentials that are known by their own shape; of two rows that read the same text, the longer one names it, then
the first."""

PLACES: Final[tuple[PlaceRule, ...]] = (*HEADERS, *ADDRESSES, *COMMANDS, *CALLS, *FILES, *PROSE)
"""Secrets that one pattern finds by the place they stand in. The three parts of an example are joined; the middle one
is the secret. Rows of which the secret has a checksum or an inner form leave it empty."""
