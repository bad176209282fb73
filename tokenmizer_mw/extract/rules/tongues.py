"""The languages other than English, in the order in which they are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .chinese import CHINESE
from .faults import FAULTS
from .french import FRENCH
from .german import GERMAN
from .hindi import HINDI, HINGLISH
from .italian import ITALIAN
from .japanese import JAPANESE
from .korean import KOREAN
from .portuguese import PORTUGUESE
from .reworked import REWORKED
from .russian import RUSSIAN
from .spanish import SPANISH
from .tongue import Tongue

_TONGUES: Final = (
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    FRENCH,
    GERMAN,
    CHINESE,
    RUSSIAN,
    JAPANESE,
    KOREAN,
    HINDI,
    HINGLISH,
)

TONGUES: Final[tuple[Tongue, ...]] = tuple(
    replace(tongue, rules=(*REWORKED.get(tongue.code, ()), *tongue.rules, *FAULTS.get(tongue.code, ())))
    for tongue in _TONGUES
)
"""All of them; codes are their own."""
