"""Sentences of a session's messages, read before a resume block needs them."""

from __future__ import annotations

from tokenmizer_mw.model.message import Message, Role

from .sentences import CHARACTERS_MAX, READ_MAX, MessageSentences, message_sentences


class PreparedSentences:
    """The sentences of messages by their numbers, of as many characters a speaker as a block looks at; the oldest give
    way. Reading is safe beside one thread that prepares."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Message, MessageSentences]] = {}
        self._sizes = dict.fromkeys(CHARACTERS_MAX, 0)

    def __contains__(self, number: int) -> bool:
        return number in self._found

    @property
    def size(self) -> int:
        """Characters whose sentences are at hand."""
        return sum(self._sizes.values())

    def prepare(self, number: int, message: Message) -> int:
        """Have the sentences of message ``number`` at hand; how many characters were read."""
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
        """The sentences of a message, read now where it is not at hand or says something else."""
        found = self._found.get(number)
        return found[1] if found is not None and found[0] == message else message_sentences(number, message)
