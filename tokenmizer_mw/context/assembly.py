"""What of a chat that is kept here goes to a model: a block for what is old, the newest messages as they are. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.model.reminder import Reminder


@dataclass(frozen=True, slots=True)
class Context:
    """``instructions`` are the system messages that the chat begins with, ``block`` the resume block that stands for
    what is left out ("" when nothing is, or no block fits), ``recent`` the messages that follow, word for word.
    ``reminder`` says what stands behind which of ``recent``; what has the place behind the last one is a message of
    its own there, in front of a question that is not in the chat yet. ``results``: of some of ``recent``, by their
    places, the texts that the results of tools have here, in their order, where compression is switched on. ``tokens``
    counts all of it."""

    instructions: tuple[Written, ...] = ()
    block: str = ""
    recent: tuple[Written, ...] = ()
    tokens: int = 0
    reminder: Reminder | None = None
    results: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shortened:
    """A chat as it goes to a model: behind its leading system messages one of ``role`` with ``block`` (none when that
    is ""), then those of its messages that stand at the places ``kept``, each with what ``reminder`` puts behind it.
    What has the place behind the last message is a message of its own there, in front of a question that is not in the
    chat yet. ``results``: at some places the results of tools say less, where compression is switched on: the texts of
    all results of the message, in their order."""

    block: str
    role: str
    kept: tuple[int, ...]
    reminder: Reminder | None = None
    results: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def newest(messages: Sequence[Message], counts: Sequence[int], start: int, room: int, step: int = 1) -> list[int]:
    """The places, from ``start`` on, of the messages that fit into ``room`` tokens when not even the turn at hand does:
    what the person said last, and behind it as much of the end as fits, tool results with the calls that they answer.

    What is left out is a multiple of ``step`` tokens and what a pair takes: with a large one it stays the same for a
    while as the chat grows. What ends the chat stays whatever its size: the model says better than we could that it is
    too long.
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
    """Whether the rest of a chat may begin at ``place``: with a turn, or amid the turn at hand."""
    return place > asked or messages[place].opens_turn


def _beginnings(messages: Sequence[Message], start: int) -> list[int]:
    """Where from ``start`` on no result in the rest of the chat lacks its call, in order."""
    found: list[int] = []
    answered: set[str] = set()
    for place in range(len(messages) - 1, start - 1, -1):
        pair(answered, messages[place])
        if not answered:
            found.append(place)
    return found[::-1]


def pair(answered: set[str], message: Message) -> None:
    """Going backwards: note what the results of ``message`` answer, strike out what its calls explain. Both stand in
    one message where the provider runs the tool."""
    answered.update(result.call_id for result in message.tool_results)
    if message.tool_calls:
        answered.difference_update([call.id for call in message.tool_calls], ("",))
