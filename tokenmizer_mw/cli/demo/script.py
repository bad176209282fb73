"""The script of the demonstration's session, and the scripted model's answers. Messages have the format of OpenAI Chat
Completions.

The scripted model answers a question about earlier turns only from the messages in its request. The tokens of requests
and messages are counted here, independently of the middleware.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

import re2
import yaml

from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.context.tokens.counter import MESSAGE_TOKENS, TOOL_TOKENS
from tokenmizer_mw.wire.json_text import json_text

ChatMessage = dict[str, Any]
"""A message in the JSON format of the Chat Completions API."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the scripted assistant: a text, a tool call, and the result of the call.

    - ``say``: the text before the call, "" for none.
    - ``id``: id of the tool call; ``name``: the tool; ``arguments``: its arguments as JSON text.
    - ``result``: what the tool returns.
    """

    id: str
    say: str
    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about an old fact, which the model can only answer if its request contains the fact.

    - ``question``: the topic, in a few words.
    - ``mentions`` and ``shape``: a line answers the question if it contains any of the words ``mentions`` and the
      pattern ``shape`` matches in it.
    - ``then``: what the scripted model adds to its answer.
    - ``expected``: pattern that matches in a right answer; only used to judge answers.
    """

    question: str
    mentions: tuple[str, ...]
    shape: str
    then: str
    expected: str


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn of the script: its number (from 1), the user message, the assistant's tool calls, and the final reply.

    ``probe``: the question about an old fact that the user message asks; ``None`` for other turns. ``reply`` is "" if
    there is a probe, because the answer is then derived from the request.
    """

    number: int
    user: str
    steps: tuple[Step, ...]
    reply: str
    probe: Probe | None


@dataclass(frozen=True, slots=True)
class DemoScript:
    """The whole script: the system prompt, the tools that every request offers, and the turns."""

    system: str
    tools: tuple[dict[str, Any], ...]
    turns: tuple[ScriptTurn, ...]

    def transcript(self) -> Iterator[ChatMessage]:
        """Yield all messages in order: user messages, tool calls, tool results and replies. The system prompt and the
        answers to probes are not included."""
        for turn in self.turns:
            yield {"role": "user", "content": turn.user}
            for step in turn.steps:
                yield make_tool_call(step)
                yield {"role": "tool", "tool_call_id": step.id, "content": step.result}
            if turn.reply:
                yield {"role": "assistant", "content": turn.reply}


def make_tool_call(step: Step) -> ChatMessage:
    """Return the assistant message with the text and the tool call of a step."""
    function = {"name": step.name, "arguments": step.arguments}
    return {
        "role": "assistant",
        "content": step.say or None,
        "tool_calls": [{"id": step.id, "type": "function", "function": function}],
    }


def split_reminder(message: ChatMessage) -> tuple[ChatMessage, str]:
    """Split a message into the message without its reminder and the text of the reminder. A reminder is a block
    ``<session-record ...>`` that the middleware appended to the text. Without one, return the message itself and ""."""
    text, mark, reminder = text_of(message).partition("\n\n<session-record ")
    return ({**message, "content": text}, (mark + reminder).strip()) if mark else (message, "")


def text_of(message: ChatMessage) -> str:
    """Return the text of a message, whose content is a string or a list of parts. The texts of parts are joined. "" if
    it has none."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def load_script() -> DemoScript:
    """Load the script that is included in the package (``session.yaml``)."""
    raw = yaml.safe_load(files(__package__).joinpath("session.yaml").read_text(encoding="utf-8"))
    turns = tuple(_turn(number, turn) for number, turn in enumerate(raw["turns"], 1))
    return DemoScript(raw["system"], tuple(map(_tool, raw["tools"])), turns)


def _turn(number: int, raw: Mapping[str, Any]) -> ScriptTurn:
    steps = tuple(_step(f"call_{number}_{place}", step) for place, step in enumerate(raw.get("steps", ()), 1))
    probe = raw.get("probe")
    return ScriptTurn(
        number=number,
        user=raw["user"],
        steps=steps,
        reply=raw.get("reply", ""),
        probe=Probe(**{**probe, "mentions": tuple(probe["mentions"])}) if probe else None,
    )


def _step(id: str, raw: Mapping[str, Any]) -> Step:
    arguments = json.dumps(raw["arguments"], ensure_ascii=False)
    return Step(id, raw.get("say", ""), raw["call"], arguments, raw["result"])


def _tool(raw: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: _property(name, text) for name, text in raw["parameters"].items()}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": raw["name"], "description": raw["description"], "parameters": parameters}
    return {"type": "function", "function": function}


def _property(name: str, description: str) -> dict[str, Any]:
    if name != "todos":
        return {"type": "string", "description": description}
    todo = {"content": {"type": "string"}, "status": {"enum": ["pending", "in_progress", "completed"]}}
    return {"type": "array", "description": description, "items": {"type": "object", "properties": todo}}


QUOTE_MAX: Final = 220
"""Maximum length in characters of a line quoted in an answer."""

_NOTES: Final = "My notes on our earlier work say"
_STATED: Final = "You told me earlier"
_SHOWN: Final = "Further up in this conversation it says"


@dataclass(frozen=True, slots=True)
class AnsweringLine:
    """A line of a request that answers the question put to the scripted model. ``introduction``: the words that
    introduce the quotation in the reply, such as "You told me earlier". Of a line longer than ``QUOTE_MAX`` characters,
    ``line`` is only the part around the answer, with "..." where text is left out."""

    line: str
    introduction: str


def answer_from_messages(script: DemoScript, turn: ScriptTurn, messages: Sequence[ChatMessage]) -> str:
    """Return the scripted model's reply to the question of ``turn``, which must have a probe. The reply quotes the line
    of ``messages`` that answers the question. If there is none, the reply says that the model does not know."""
    assert turn.probe is not None
    found = find_answer(script, turn, messages)
    if found is None:
        return f"I no longer know. Nothing that I was sent says anything about it ({' or '.join(turn.probe.mentions)})."
    return f'{found.introduction}: "{found.line}" {turn.probe.then}'


def find_answer(script: DemoScript, turn: ScriptTurn, messages: Sequence[ChatMessage]) -> AnsweringLine | None:
    """Return the line of ``messages`` that answers the question of ``turn``, which must have a probe. The newest
    messages are searched first; the message that asks the question is skipped. ``None`` if no line answers it."""
    assert turn.probe is not None
    shape = re2.compile(turn.probe.shape)
    questions = {scripted.user for scripted in script.turns}
    for message in reversed([message for message in messages if text_of(message) != turn.user]):
        for line in answering_lines(turn.probe, [message]):
            if hit := shape.search(line):
                return AnsweringLine(_around(line, hit.start()), _introduction(message, questions))
    return None


def answering_lines(probe: Probe, messages: Iterable[ChatMessage]) -> Iterator[str]:
    """Yield the lines of the messages that contain one of the words ``probe.mentions``, ignoring case. Lines in the
    arguments of tool calls are included."""
    mention = re2.compile(r"(?i)\b(" + "|".join(map(re2.escape, probe.mentions)) + r")\b")
    for message in messages:
        yield from (line for line in _lines_of(message) if mention.search(line))


def _introduction(message: ChatMessage, questions: set[str]) -> str:
    if message.get("role") in {"assistant", "tool"}:
        return _SHOWN
    return _STATED if text_of(message) in questions else _NOTES


def _lines_of(message: ChatMessage) -> Iterator[str]:
    yield from text_of(message).splitlines()
    for call in message.get("tool_calls") or ():
        arguments = str(call.get("function", {}).get("arguments", ""))
        yield from arguments.replace("\\n", "\n").splitlines()


def _around(line: str, place: int) -> str:
    line_start = len(line) - len(line.lstrip(" -*"))
    if len(line) - line_start <= QUOTE_MAX:
        return line[line_start:].rstrip()
    start = max(line_start, place - QUOTE_MAX // 2)
    return ("..." if start > line_start else "") + line[start : start + QUOTE_MAX].rstrip() + "..."


def request_tokens(request: Mapping[str, Any], counter: MessageCounter) -> int:
    """Return the number of tokens of a request body: messages and tool definitions. Raises ``ValueError`` for malformed
    tool calls."""
    tools = counter.text(json_text(request["tools"])) if request.get("tools") else 0
    return tools + sum(message_tokens(message, counter) for message in request["messages"])


def message_tokens(message: ChatMessage, counter: MessageCounter) -> int:
    """Return the number of tokens of one message, with the constant overhead that each message has. Raises
    ``ValueError`` for malformed tool calls."""
    tokens = MESSAGE_TOKENS + counter.text(text_of(message))
    try:
        functions = [call["function"] for call in message.get("tool_calls") or ()]
        tokens += sum(TOOL_TOKENS + counter.text(f["name"]) + counter.text(f["arguments"]) for f in functions)
    except (KeyError, TypeError):
        raise ValueError("Invalid value for 'tool_calls'.") from None
    return tokens + (TOOL_TOKENS if message.get("role") == "tool" else 0)
