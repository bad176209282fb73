"""The languages other than English, in the order in which they are asked."""

from __future__ import annotations

from typing import Final

from .chinese import CHINESE
from .german import GERMAN
from .spanish import SPANISH
from .tongue import Tongue

TONGUES: Final[tuple[Tongue, ...]] = (SPANISH, GERMAN, CHINESE)
"""All of them; codes are their own."""
