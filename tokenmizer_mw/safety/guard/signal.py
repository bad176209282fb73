"""Types of the guard's tables: the source of a text, and a table row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Voice(StrEnum):
    """The source of a text. Tools and files have no reason to give instructions, so a lower score flags them."""

    USER = "user"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Signal:
    """A table row: a pattern for plain lower-case text, and its weight by source (``user``, ``tool``).

    ``example`` matches and ``counter`` does not. A negative weight counts in favour of the text.
    """

    name: str
    pattern: str
    example: str
    counter: str
    user: float = 1.0
    tool: float = 1.0
