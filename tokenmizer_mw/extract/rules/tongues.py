"""The languages other than English, in the order in which they are asked."""

from __future__ import annotations

from typing import Final

from .chinese import CHINESE
from .french import FRENCH
from .german import GERMAN
from .japanese import JAPANESE
from .korean import KOREAN
from .russian import RUSSIAN
from .spanish import SPANISH
from .tongue import Tongue

TONGUES: Final[tuple[Tongue, ...]] = (SPANISH, FRENCH, GERMAN, CHINESE, RUSSIAN, JAPANESE, KOREAN)
"""All of them; codes are their own."""
