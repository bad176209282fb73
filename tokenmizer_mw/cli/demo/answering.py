"""How the scripted model answers a question about earlier turns: from the messages of its request only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import re2

from .script import ChatMessage, DemoScript, Probe, ScriptTurn, text_of

QUOTE_MAX: Final = 220
"""Longest quotation in an answer, in characters."""

_NOTES: Final = "My notes on our earlier work say"
_STATED: Final = "You told me earlier"
_SHOWN: Final = "Further up in this conversation it says"


@dataclass(frozen=True, slots=True)
class AnsweringLine:
    """A line of the request that answers a question, and its introduction in the reply."""

    line: str
    introduction: str


def answer(script: DemoScript, turn: ScriptTurn, messages: Sequence[ChatMessage]) -> str:
    """Return the reply to the question of ``turn``, derived from ``messages`` only."""
    assert turn.probe is not None
    found = find(script, turn, messages)
    if found is None:
        return f"I no longer know. Nothing that I was sent says anything about it ({' or '.join(turn.probe.mentions)})."
    return f'{found.introduction}: "{found.line}" {turn.probe.then}'


def find(script: DemoScript, turn: ScriptTurn, messages: Sequence[ChatMessage]) -> AnsweringLine | None:
    """Return the line that answers, searching newest messages first; ``None`` if there is none. The question does not
    count."""
    assert turn.probe is not None
    shape = re2.compile(turn.probe.shape)
    asked = {scripted.user for scripted in script.turns}
    for message in reversed([message for message in messages if text_of(message) != turn.user]):
        for line in answering_lines(turn.probe, [message]):
            if hit := shape.search(line):
                return AnsweringLine(_around(line, hit.start()), _introduction(message, asked))
    return None


def answering_lines(probe: Probe, messages: Iterable[ChatMessage]) -> Iterator[str]:
    """Return the lines about the topic of the question, tool calls included."""
    mention = re2.compile(r"(?i)\b(" + "|".join(map(re2.escape, probe.mentions)) + r")\b")
    for message in messages:
        yield from (line for line in _lines(message) if mention.search(line))


def _introduction(message: ChatMessage, asked: set[str]) -> str:
    if message.get("role") in {"assistant", "tool"}:
        return _SHOWN
    return _STATED if text_of(message) in asked else _NOTES


def _lines(message: ChatMessage) -> Iterator[str]:
    yield from text_of(message).splitlines()
    for call in message.get("tool_calls") or ():
        yield from _arguments(call).replace("\\n", "\n").splitlines()


def _arguments(call: dict[str, Any]) -> str:
    return str(call.get("function", {}).get("arguments", ""))


def _around(line: str, place: int) -> str:
    line_start = len(line) - len(line.lstrip(" -*"))
    if len(line) - line_start <= QUOTE_MAX:
        return line[line_start:].rstrip()
    start = max(line_start, place - QUOTE_MAX // 2)
    return ("..." if start > line_start else "") + line[start : start + QUOTE_MAX].rstrip() + "..."
