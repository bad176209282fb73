"""A request that was shortened, and how much room a reminder has in it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.wire.dialect import ChatRequest


@dataclass(frozen=True, slots=True)
class Shortening:
    """A request that is sent without some of its messages: those at the places ``kept`` are, in order, behind its
    leading system messages. ``left`` tokens of the window are free then.

    ``cut`` says what the model reads in the place of the others, ``None``: what the cut in force of the session says.
    ``sent`` are the numbers of messages before its anchor that are sent all the same.
    """

    key: SessionKey
    request: ChatRequest
    kept: Sequence[int]
    left: int
    counter: MessageCounter
    cut: Checkpointed | None = None
    sent: Collection[int] = ()

    @property
    def keep_from(self) -> int:
        """The first message that is sent behind the system's."""
        return self.kept[0]

    @property
    def left_out(self) -> int:
        """Tokens of the messages that are not sent."""
        counts = self.counter.request_counts(self.request)
        return sum(counts[self.request.prefix :]) - sum(counts[place] for place in self.kept)


def count_upto(messages: Iterable[Message], enough: int, counter: MessageCounter) -> int:
    """Tokens of ``messages``, counted one after the other until they are ``enough``."""
    tokens = 0
    for message in messages:
        tokens += counter.count(message)
        if tokens >= enough:
            break
    return tokens
