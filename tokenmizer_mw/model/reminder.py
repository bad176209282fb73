"""The reminder of one request: what a cut removed and the request needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReminderPart:
    """One text behind one message. ``nodes`` are the ids of the facts in it, ``messages`` the numbers of the messages
    that it quotes."""

    text: str
    tokens: int
    nodes: tuple[str, ...] = ()
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reminder:
    """What a request carries about what its newest turn asks for and the cut in force took out.

    ``places``: the index of each message in the client's request, and what stands behind what it says; ``cut`` is the
    id of the checkpoint whose cut is in force. ``new`` is the part that stands in this request for the first time,
    ``None`` when every part was in a request before.
    """

    places: tuple[tuple[int, ReminderPart], ...]
    cut: str
    new: ReminderPart | None = None

    @property
    def tokens(self) -> int:
        """Tokens of all its parts."""
        return sum(part.tokens for _, part in self.places)

    def text_behind(self, place: int) -> str:
        """What stands behind what message ``place`` says; "" for nothing."""
        return "\n\n".join(part.text for at, part in self.places if at == place)
