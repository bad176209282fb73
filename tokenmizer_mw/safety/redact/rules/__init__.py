"""Tables of the rules that find secrets in texts, one rule per row."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import PlaceRule
from tokenmizer_mw.safety.redact.rules.addresses import ADDRESSES, HEADERS
from tokenmizer_mw.safety.redact.rules.programs import CALLS, COMMANDS, FILES
from tokenmizer_mw.safety.redact.rules.prose import PROSE
from tokenmizer_mw.safety.redact.rules.vendors import CLOUDS, CODE, DATA, MODELS, MONEY, TALK
from tokenmizer_mw.safety.redact.shape import Token

TOKENS: Final[tuple[Token, ...]] = (*MODELS, *CLOUDS, *CODE, *MONEY, *TALK, *DATA)
"""Credentials that are recognised by their own shape. If two rows match the same text, the longer match gives the kind,
else the first row."""

PLACES: Final[tuple[PlaceRule, ...]] = (*HEADERS, *ADDRESSES, *COMMANDS, *CALLS, *FILES, *PROSE)
"""Secrets that are recognised by their position. The three parts of a row's example are joined; the middle one is the
secret. It is empty if the secret has a checksum or an inner form."""
