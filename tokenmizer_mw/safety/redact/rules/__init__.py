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
"""Credentials that are recognised by their own shape. If two rows match the same text, the one with the longer match
gives the kind; if both are equally long, the first row does."""

PLACES: Final[tuple[PlaceRule, ...]] = (*HEADERS, *ADDRESSES, *COMMANDS, *CALLS, *FILES, *PROSE)
"""Secrets that are recognised by their position. The three parts of ``PlaceRule.example`` form one text, in which the
middle part is the secret. The middle part is "" if the secret has a checksum or an inner form, so that none can be
generated."""
