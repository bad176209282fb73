"""Sentences of a session's messages, split before a resume block needs them."""

from __future__ import annotations

from tokenmizer_mw.model.message import Message, Role

from .sentences import CHARACTERS_MAX, READ_MAX, MessageSentences, message_sentences


class PreparedSentences:
    """Cache of the sentences of messages, by number; per speaker as many characters as a block reads, oldest dropped
    first. Reading is safe beside one thread that prepares.
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[Message, MessageSentences]] = {}
        self._sizes = dict.fromkeys(CHARACTERS_MAX, 0)

    def __contains__(self, number: int) -> bool:
        return number in self._found

    @property
    def size(self) -> int:
        """Number of characters of the prepared messages."""
        return sum(self._sizes.values())

    def prepare(self, number: int, message: Message) -> int:
        """Split message ``number`` into sentences and cache them; returns how many characters were read."""
        found = message_sentences(number, message)
        self._found[number] = (message, found)
        if message.role in self._sizes:
            self._sizes[message.role] += found.characters
            self._prune(message.role)
        return found.characters

    def _prune(self, role: Role) -> None:
        while self._sizes[role] > CHARACTERS_MAX[role] + READ_MAX:
            oldest = min(number for number, (message, _) in self._found.items() if message.role is role)
            self._sizes[role] -= self._found.pop(oldest)[1].characters

    def read(self, number: int, message: Message) -> MessageSentences:
        """Return the sentences of a message; split it now if it is not cached or its text changed."""
        found = self._found.get(number)
        return found[1] if found is not None and found[0] == message else message_sentences(number, message)
