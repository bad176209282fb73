"""Work ahead in every language; ``ahead`` says what a row is."""

from __future__ import annotations

from typing import Final

from .ahead import ENGLISH
from .tongues import TONGUES

AHEAD: Final = {row.code: row for row in (ENGLISH, *(tongue.ahead for tongue in TONGUES))}
"""The rows by language."""
