"""The scripted session of the demonstration, as OpenAI Chat Completions messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

ChatMessage = dict[str, Any]
"""A message as the Chat Completions API spells it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call of the assistant (``arguments`` is JSON text) and its result."""

    id: str
    say: str
    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about an old fact, which the model must find in its request.

    - ``question``: the topic.
    - ``mentions`` (any of these words) and ``shape`` (a pattern): recognise a line that answers it.
    - ``then``: what the scripted model adds to its answer.
    - ``expected``: words that a right answer contains; used for judging only.
    """

    question: str
    mentions: tuple[str, ...]
    shape: str
    then: str
    expected: str


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn: the user message, the assistant's steps, and its final reply ("" for a probe)."""

    number: int
    user: str
    steps: tuple[Step, ...]
    reply: str
    probe: Probe | None


@dataclass(frozen=True, slots=True)
class DemoScript:
    """A whole session. ``tools``: the definitions in every request."""

    system: str
    tools: tuple[dict[str, Any], ...]
    turns: tuple[ScriptTurn, ...]

    def transcript(self) -> Iterator[ChatMessage]:
        """Return all messages in order, without the system prompt and the replies of probes."""
        for turn in self.turns:
            yield {"role": "user", "content": turn.user}
            for step in turn.steps:
                yield calling(step)
                yield {"role": "tool", "tool_call_id": step.id, "content": step.result}
            if turn.reply:
                yield {"role": "assistant", "content": turn.reply}


def calling(step: Step) -> ChatMessage:
    """Return the assistant message with a step's tool call."""
    function = {"name": step.name, "arguments": step.arguments}
    return {
        "role": "assistant",
        "content": step.say or None,
        "tool_calls": [{"id": step.id, "type": "function", "function": function}],
    }


def split_reminder(message: ChatMessage) -> tuple[ChatMessage, str]:
    """Split a message into its original text and the appended reminder ("" for none)."""
    said, mark, reminder = text_of(message).partition("\n\n<session-record ")
    return ({**message, "content": said}, (mark + reminder).strip()) if mark else (message, "")


def text_of(message: ChatMessage) -> str:
    """Return the text of a message, whether its content is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def load_script() -> DemoScript:
    """Load the session that is included in the package."""
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
