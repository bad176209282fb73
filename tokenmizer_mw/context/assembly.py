"""Compose what a model gets of a chat: a resume block in place of the old messages, and the newest messages unchanged.
A reminder may be added: facts and passages that the cut removed and that the newest turn asks about.

The functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tokenmizer_mw.model.message import Message, Written, short_repr


@dataclass(frozen=True, slots=True)
class ReminderPart:
    """A text that is added after one message of a request, with what a cut removed and that message asks about.
    ``nodes``: ids of its facts; ``messages``: numbers of the messages it quotes."""

    text: str
    tokens: int
    nodes: tuple[str, ...] = ()
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reminder:
    """The reminder of one request: texts with what the current cut removed and the newest turn asks about.

    - ``places``: pairs of the index of a message in the client's request and the part that is added after it.
    - ``cut``: id of the checkpoint whose cut is in force.
    - ``new``: the part that no earlier request contained; ``None`` if earlier requests contained all of them.
    """

    places: tuple[tuple[int, ReminderPart], ...]
    cut: str
    new: ReminderPart | None = None

    @property
    def tokens(self) -> int:
        """The number of tokens of all texts in ``places`` together."""
        return sum(part.tokens for _, part in self.places)

    def text_behind(self, place: int) -> str:
        """Return the text that is added after the message at index ``place`` of the request; "" for none."""
        return "\n\n".join(part.text for at, part in self.places if at == place)


@dataclass(frozen=True, slots=True)
class Context:
    """The part of a stored chat that is sent to a model, in this order: ``instructions``, ``block``, ``recent``.

    - ``instructions``: the leading system messages.
    - ``block``: the resume block that replaces left-out messages; "" if none are left out or no block fits.
    - ``recent``: the newest messages as they are stored; ``reminder`` and ``results`` are not applied to them yet.
    - ``tokens``: tokens of all of it.
    - ``reminder``: texts to add, each by the index in ``recent`` of the message it follows. A text at index
      ``len(recent)`` becomes a message of its own, before the question that comes next; ``None``: no texts.
    - ``results``: with compression, maps an index in ``recent`` to the shortened texts of all tool results of that
      message, in order; empty without compression.
    """

    instructions: tuple[Written, ...] = ()
    block: str = ""
    recent: tuple[Written, ...] = ()
    tokens: int = 0
    reminder: Reminder | None = None
    results: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        extras = f"{', block' if self.block else ''}{', reminder' if self.reminder else ''}"
        return short_repr(self, f"{self.tokens} tokens, {len(self.recent)} recent messages{extras}")


@dataclass(frozen=True, slots=True)
class Shortened:
    """How a chat is shortened for a model: leading system messages, one message of ``role`` with the resume block, then
    the messages at indexes ``kept``.

    - ``block``: the resume block; "": no such message.
    - ``reminder``: texts to add after messages, by index. A text for the index after the last message becomes a message
      of its own, before a question that is not in the chat yet.
    - ``results``: with compression, maps a message index to the shortened texts of all its tool results, in order.
    """

    block: str
    role: str
    kept: tuple[int, ...]
    reminder: Reminder | None = None
    results: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        extras = f"{', block' if self.block else ''}{', reminder' if self.reminder else ''}"
        return short_repr(self, f"{len(self.kept)} messages stay{extras}")


def newest(messages: Sequence[Message], counts: Sequence[int], start: int, room: int, step: int = 1) -> list[int]:
    """Return the indexes of the messages to keep when even the current turn (the user's question and everything after
    it) exceeds ``room`` tokens: the question, and the newest messages that fit. Tool results stay together with their
    calls.

    ``counts``: tokens of each message. Only messages from index ``start`` on are considered. The number of tokens left
    out is rounded up to a multiple of ``step``, so that the selection changes rarely while the chat grows. The last
    message stays even if it is too long by itself; the provider then reports the error.
    """
    end = len(messages)
    asked = next((place for place in range(end - 1, start - 1, -1) if messages[place].opens_turn), None)
    begins = [place for place in _beginnings(messages, start) if asked is None or _may_begin(messages, place, asked)]
    behind = list(accumulate(reversed(counts[start:]), initial=0))[::-1]  # tokens from each place to the end
    left_out = -(-max(0, behind[0] - room) // step) * step
    fits = behind[0] - left_out
    for begin in begins:
        apart = asked is not None and asked < begin
        if behind[begin - start] + (counts[asked] if apart and asked is not None else 0) <= fits:
            return [*([asked] if apart and asked is not None else []), *range(begin, end)]
    return list(range(begins[-1] if begins else end - 1, end))


def _may_begin(messages: Sequence[Message], place: int, asked: int) -> bool:
    """Whether the kept messages may begin at index ``place``: the message there starts a turn (a user's question), or
    the index lies after ``asked``, the index of the newest question."""
    return place > asked or messages[place].opens_turn


def _beginnings(messages: Sequence[Message], start: int) -> list[int]:
    """Return, in ascending order, the indexes from ``start`` on at which the kept messages may begin: no message from
    there on has a tool result whose call lies before that index."""
    found: list[int] = []
    answered: set[str] = set()
    for place in range(len(messages) - 1, start - 1, -1):
        pair(answered, messages[place])
        if not answered:
            found.append(place)
    return found[::-1]


def pair(answered: set[str], message: Message) -> None:
    """Track unanswered tool results while going backwards through a chat: add the call ids of the tool results of
    ``message`` to ``answered``, and remove the ids of its own tool calls. A message may have both if the provider runs
    the tool.
    """
    answered.update(result.call_id for result in message.tool_results)
    if message.tool_calls:
        answered.difference_update([call.id for call in message.tool_calls], ("",))
