"""The gate behind a stage that rewrites freely: what must not be lost in another wording was not lost.

Compared are the numbers, the names (paths, addresses, identifiers), what stands in quotes and code, and the words that
turn a sentence round. A rewriting that lost or made up one of them is not used.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from .names import names

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED: Final = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»")
_TURNING: Final = re.compile(
    r"(?i)\b(?:not|no|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|don't|doesn't|didn't|won't|can't"
    r"|isn't|aren't|wasn't|weren't|shouldn't|wouldn't|couldn't|mustn't|haven't|hasn't|hadn't|unless|except|instead|only"
    r"|must|nicht|kein|keine|nie|ohne|pas|jamais|sans|nunca|sin|não|sem|non|mai)\b|не\b|нет\b|никогда|[不没無没]"
)


def faithful(before: str, after: str) -> bool:
    """Whether ``after`` kept of ``before`` all that must not change, as often as it stood there, and added none."""
    return all(_counted(kind, before) == _counted(kind, after) for kind in (_NUMBER, _QUOTED, _TURNING)) and names(
        before
    ) == names(after)


def _counted(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(found.lower() for found in pattern.findall(text))
