"""The languages other than English, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from .chinese import CHINESE
from .french import FRENCH
from .german import GERMAN
from .hindi import HINDI, HINGLISH
from .italian import ITALIAN
from .japanese import JAPANESE
from .korean import KOREAN
from .portuguese import PORTUGUESE
from .russian import RUSSIAN
from .spanish import SPANISH
from .tongue import Tongue

TONGUES: Final[tuple[Tongue, ...]] = (
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
"""The phrases of all these languages."""
