"""A shortened request, and how much room it has for a reminder. Pure."""

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
    """A request that is sent without some of its messages.

    - ``kept``: indexes of the messages that are sent after the leading system messages, in order.
    - ``left``: tokens of the window that are free.
    - ``cut``: the cut whose block replaces the other messages; ``None``: the session's cut in force.
    - ``sent``: numbers of messages before the cut's anchor that are sent all the same.
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
        """Index of the first message that is sent after the leading system messages."""
        return self.kept[0]

    @property
    def left_out(self) -> int:
        """Tokens of the messages that are not sent."""
        counts = self.counter.request_counts(self.request)
        return sum(counts[self.request.prefix :]) - sum(counts[place] for place in self.kept)


def count_upto(messages: Iterable[Message], enough: int, counter: MessageCounter) -> int:
    """Count the tokens of ``messages`` one after the other, and stop at ``enough``."""
    tokens = 0
    for message in messages:
        tokens += counter.count(message)
        if tokens >= enough:
            break
    return tokens
