"""Text passages of a chat: their types, reading them from messages, and writing changed passages back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from tokenmizer_mw.extract.structure.tools import Arguments, ToolKind, command_of, kind_of, paths_of, read_arguments
from tokenmizer_mw.model.message import Message, Role, ToolCall
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.passages import Spot, Steps, spots


class PassageKind(StrEnum):
    """Whose text a passage is.

    "said": the assistant's visible text; "result": a tool result; "fixed": text that no stage may change (user and
    system texts, arguments of calls), which is read because later text may repeat it.
    """

    VISIBLE = "said"
    RESULT = "result"
    FIXED = "fixed"


class OutputKind(StrEnum):
    """The kind of a tool's output, judged by the call and by its lines: a source file, the lines that a search found, a
    file listing and so on. "printed": printed by a command, of unknown kind; "text": anything else."""

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
    """One text of a chat: a text of a message, the arguments of a tool call, or a tool result.

    ``message``: index of its message, from 0. For calls and results, as far as the call has them, else "": ``tool``:
    name of the called tool; ``path``: the file that the call names; ``command``: its command line.
    """

    message: int
    kind: PassageKind
    text: str
    tool: str = ""
    path: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """A few words that name the source of the passage: its tool, and the beginning of its command line or path,
        such as "Bash pytest -q"; "a tool" if neither is known."""
        what = self.command.strip().split("\n", 1)[0] if self.command else self.path
        short = what if len(what) <= _TITLE_MAX else what[: _TITLE_MAX - 3] + "..."
        return " ".join(filter(None, (self.tool or "a tool", short)))


_TITLE_MAX = 80


STRINGS_MAX: Final = 1_000
"""Number of values in the arguments of a call that are read."""


@dataclass(frozen=True, slots=True)
class PlacedPassage:
    """A passage and its position in the message (``spot``); ``None`` if no stage may change it."""

    passage: ChatPassage
    spot: Spot | None = None


class MessageReader:
    """Splits messages, passed one after another, into text passages. It finds the call of each tool result, so that the
    passage of the result has the call's tool, path and command."""

    def __init__(self) -> None:
        self._calls: dict[str, ChatPassage] = {}
        self._open: list[ChatPassage] = []

    def message(self, number: int, message: Message, raw: object) -> Iterator[PlacedPassage]:
        """Yield the passages of one message. ``number``: its index; ``raw``: the message as it was sent, ``None`` if
        unknown."""
        found = spots(raw) if isinstance(raw, Mapping | tuple) else _own_spots(message)
        results = [spot for spot in found if spot.result]
        if message.role in (Role.USER, Role.SYSTEM) and message.text:
            yield PlacedPassage(ChatPassage(number, PassageKind.FIXED, message.text))
        for spot in found:
            if spot.text and not spot.result:
                yield PlacedPassage(ChatPassage(number, PassageKind.VISIBLE, spot.text), spot)
        for call in message.tool_calls:
            yield PlacedPassage(self._read_call(number, call))
        for spot in results:
            called = self._close_call(spot.call_id)
            yield PlacedPassage(replace(called, message=number, kind=PassageKind.RESULT, text=spot.text), spot)

    def _read_call(self, number: int, call: ToolCall) -> ChatPassage:
        arguments = read_arguments(call)
        shell = kind_of(call.name, arguments) is ToolKind.SHELL
        path = "" if shell else next(iter(paths_of(arguments)), "")
        command = command_of(arguments) if shell else ""
        known = ChatPassage(number, PassageKind.FIXED, "\n".join(_strings(arguments)), call.name, path, command)
        self._calls[call.id] = known
        self._open.append(known)
        return known

    def _close_call(self, call_id: str) -> ChatPassage:
        """Return the call with this id as a passage, and count it as answered. Without an id it is the first unanswered
        call; an empty passage if there is none."""
        known = self._calls.get(call_id) if call_id else None
        if known is None:
            known = self._open[0] if self._open and not call_id else ChatPassage(0, PassageKind.FIXED, "")
        self._open = [one for one in self._open if one is not known]
        return known


def read(messages: History, start: int = 0) -> list[PlacedPassage]:
    """Return the text passages of the messages from index ``start`` on, in order, with their positions in the
    messages."""
    reading = MessageReader()
    found: list[PlacedPassage] = []
    for number in range(start, len(messages)):
        found += reading.message(number, messages[number], messages.sent[number])
    return found


def read_results(messages: Sequence[Message], places: Iterable[int]) -> list[PlacedPassage]:
    """Return the passages of the messages at ``places``; only tool results in them may be changed."""
    reading = MessageReader()
    found = (one for place in places for one in reading.message(place, messages[place], None))
    return [
        one if one.passage.kind is PassageKind.RESULT else PlacedPassage(replace(one.passage, kind=PassageKind.FIXED))
        for one in found
    ]


def put_back(messages: Sequence[Any], changed: Mapping[int, Mapping[Steps, str]]) -> list[Any]:
    """Return the messages with changed texts in them. ``changed``: new texts, by message index and by their path in the
    message. Changed messages are copies, all others are the same objects."""
    return [_put(message, changed[number]) if number in changed else message for number, message in enumerate(messages)]


def _put(message: Any, new: Mapping[Steps, str]) -> Any:
    if isinstance(message, Message):
        return _put_own(message, new)
    for steps, text in new.items():
        message = _with(message, steps[1:], text)  # the first step leads into the elements of the message: it is one
    return message


def _with(value: Any, steps: Steps, text: str) -> Any:
    """Return a copy of ``value`` in which ``text`` stands at the path ``steps``. All other parts are shared with
    ``value``."""
    if not steps:
        return text
    copied: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copied[steps[0]] = _with(value[steps[0]], steps[1:], text)
    return copied


def _put_own(message: Message, new: Mapping[Steps, str]) -> Message:
    results = tuple(
        replace(result, text=new.get(("tool_results", number), result.text))
        for number, result in enumerate(message.tool_results)
    )
    return replace(message, text=new.get(("text",), message.text), tool_results=results)


def _own_spots(message: Message) -> list[Spot]:
    spots = [Spot(("text",), message.text)] if message.role is Role.ASSISTANT and message.text else []
    results = enumerate(message.tool_results)
    return spots + [Spot(("tool_results", at), result.text, True, result.call_id) for at, result in results]


def _strings(arguments: Arguments) -> Iterator[str]:
    """Yield the texts in the arguments of a call, nested ones included. At most ``STRINGS_MAX`` values are examined."""
    waiting: list[Any] = [dict(arguments.members)]
    left = STRINGS_MAX
    if arguments.raw:
        yield arguments.raw
    while waiting and left:
        value = waiting.pop()
        left -= 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)


def texts(placed: Iterable[PlacedPassage]) -> list[ChatPassage]:
    """Return the passages of ``placed`` in order, without their positions in the messages."""
    return [one.passage for one in placed]
