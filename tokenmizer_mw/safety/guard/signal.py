"""The words of the guard's tables: whose text it is, and a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Voice(StrEnum):
    """Whose text it is. Tools and files have no business to instruct anybody, so that less is needed there."""

    USER = "user"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Signal:
    """A row: what it is called, what it looks like in plain lower case, and how much it weighs in each voice.

    ``example`` matches and ``counter`` does not. A weight below zero speaks for the text.
    """

    name: str
    pattern: str
    example: str
    counter: str
    user: float = 1.0
    tool: float = 1.0
