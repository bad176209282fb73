"""The words of the stages: one passage of a chat, and what kind of thing the output of a tool is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PassageKind(StrEnum):
    """Who a passage belongs to. ``said``: the assistant's visible text. ``result``: what a tool returned. ``fixed``:
    everything that no stage may change: what people and the system say, the arguments of calls. Fixed passages are
    read all the same: what comes later may repeat them."""

    SAID = "said"
    RESULT = "result"
    FIXED = "fixed"


class OutputKind(StrEnum):
    """What the output of a tool is, as far as it can be told from the call and from its lines. ``printed``: a command
    printed it, and it may be anything."""

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
    """A text of a chat. ``message`` is the place of its message, from 0. ``tool`` is the name of the tool that was
    called, ``path`` the file that the call names, ``command`` the command line that it runs; "" where there is none."""

    message: int
    kind: PassageKind
    text: str
    tool: str = ""
    path: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """What the passage is the output of, in a few words."""
        what = self.command.strip().split("\n", 1)[0] if self.command else self.path
        short = what if len(what) <= _TITLE_MAX else what[: _TITLE_MAX - 3] + "..."
        return " ".join(filter(None, (self.tool or "a tool", short)))


_TITLE_MAX = 80
