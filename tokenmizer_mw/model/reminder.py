"""The reminder of one request: what a cut removed and the request needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReminderPart:
    """A text that is added after one message. ``nodes``: ids of its facts; ``messages``: numbers of the messages it
    quotes.
    """

    text: str
    tokens: int
    nodes: tuple[str, ...] = ()
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reminder:
    """The reminder of one request: what its newest turn asks for and the cut in force removed.

    - ``places``: index of a message in the client's request, and the part that is added after it.
    - ``cut``: id of the checkpoint whose cut is in force.
    - ``new``: the part that no earlier request contained; ``None`` if all were sent before.
    """

    places: tuple[tuple[int, ReminderPart], ...]
    cut: str
    new: ReminderPart | None = None

    @property
    def tokens(self) -> int:
        """Tokens of all its parts."""
        return sum(part.tokens for _, part in self.places)

    def text_behind(self, place: int) -> str:
        """Return the text that is added after message ``place``; "" for none."""
        return "\n\n".join(part.text for at, part in self.places if at == place)
