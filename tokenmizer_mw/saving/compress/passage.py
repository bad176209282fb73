"""Types of the compression stages: passages of a chat, and kinds of tool output."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PassageKind(StrEnum):
    """Whose text a passage is.

    ``said``: the assistant's visible text; ``result``: a tool result; ``fixed``: text that no stage may change (user
    and system texts, arguments of calls), which is read because later text may repeat it.
    """

    SAID = "said"
    RESULT = "result"
    FIXED = "fixed"


class OutputKind(StrEnum):
    """The kind of a tool's output, judged by the call and by its lines. ``printed``: printed by a command, of unknown
    kind."""

    FILE = "file"
    DIFF = "diff"
    JSON = "json"
    FOUND = "found"
    LISTING = "listing"
    LOG = "log"
    PRINTED = "printed"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ChatPassage:
    """A text of a chat.

    ``message``: index of its message, from 0; ``tool``: name of the called tool; ``path``: file that the call names;
    ``command``: command line of the call; "" if there is none.
    """

    message: int
    kind: PassageKind
    text: str
    tool: str = ""
    path: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """A few words that name the source of the passage."""
        what = self.command.strip().split("\n", 1)[0] if self.command else self.path
        short = what if len(what) <= _TITLE_MAX else what[: _TITLE_MAX - 3] + "..."
        return " ".join(filter(None, (self.tool or "a tool", short)))


_TITLE_MAX = 80
