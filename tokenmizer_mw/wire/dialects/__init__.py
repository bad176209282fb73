"""The dialects, and the paths at which they are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.wire.dialect import Dialect

from .openai_chat import OpenAIChat

ROUTES: Final[Mapping[str, Dialect]] = {"/chat/completions": OpenAIChat()}
"""Path endings and the dialect that is spoken there."""
