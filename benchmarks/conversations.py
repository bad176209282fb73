"""Generated conversations for tests of cuts: neutral items, and for each dialect a small writer that turns them into
requests.

A client resends its history with every call. It asks questions, calls tools (several at once and one after the other),
lets the model think, attaches images, puts a system message in the middle, asks the same again, goes back and asks
something else, and trims its history. The same seed gives the same conversation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Told:
    """A system message, at the start or in the middle."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A message of the user. ``image``: with an image; ``joined``: in one message with the tool results before it, if
    the dialect can do that."""

    text: str
    image: bool = False
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the assistant says, thinks and calls in one step; "" and () for nothing."""

    text: str
    thinking: str = ""
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, slots=True)
class Returned:
    """The results of the tools that the step before called, in order."""

    results: tuple[tuple[Called, str], ...]


Item = Told | Asked | Answered | Returned

# fmt: off
_AREAS: Final = ("billing", "ledger", "payroll", "catalog", "booking", "calendar", "gallery", "audit", "coupon",
                 "fleet", "sensor", "harvest", "clinic", "triage", "webhook", "currency", "rating", "archive", "mail")
_PARTS: Final = ("parser", "validator", "scheduler", "renderer", "cache", "index", "router", "sampler", "planner",
                 "resolver", "notifier", "watcher", "merger", "splitter", "importer", "exporter")
_TOOLS: Final = ("Redis", "Kafka", "Celery", "RabbitMQ", "MinIO", "Traefik", "Grafana", "Vault", "Nginx", "DuckDB")
_ASKING: Final = (
    "Use {tool} for the {area} {part} because the backups stay small.",
    "TODO: document the {area} {part} for operators.",
    "Please add the {part} to {area}/{part}.py.",
    "Never change the {area} {part} without a migration.",
    "The {area} {part} fails with TypeError \u2014 look? \U0001f642",
)
_ANSWERING: Final = (
    "Implemented the {area} {part} in {area}/{part}.py. All tests pass now.",
    "Noted: {tool} it is for the {area} {part}.",
    "The {area} {part} writes each order once and reads it back \"as is\"\\n.",
)
# fmt: on
_AGAIN: Final = ("continue", "yes", "go on")


@dataclass(slots=True)
class Client:
    """One client with its habits, drawn from ``random``. ``plain``: it only ever adds to its history; ``trims``: it
    removes old messages; ``asked``: how many questions it has asked."""

    random: random.Random
    plain: bool = False
    items: list[Item] = field(default_factory=list)
    asked: int = 0
    trims: bool = False

    def __post_init__(self) -> None:
        self.items += [Told(self._filled(_ASKING)) for _ in range(self.random.choice((0, 1, 1, 2)))]
        self.trims = not self.plain and self.random.random() < 0.15

    def calls(self, turns: int) -> Iterator[tuple[Item, ...]]:
        """Iterate over the history that each call sends, over ``turns`` turns of the user. Iterating changes the
        client."""
        for _ in range(turns):
            self._change_history()
            yield from self._turn()

    def _turn(self) -> Iterator[tuple[Item, ...]]:
        rng = self.random
        asked = Asked(self._question(), image=rng.random() < 0.02)
        told = [Told(self._filled(_ASKING))] if self.asked > 1 and rng.random() < 0.08 else []
        self.items += [asked, *told] if rng.random() < 0.5 else [*told, asked]
        yield from self._sent()
        thinks = rng.random() < 0.3
        while rng.random() < 0.35:
            step = Answered(self._filled(_ANSWERING) if rng.random() < 0.5 else "", self._thought(thinks), self._some())
            self.items += [step, Returned(tuple((call, self._filled(_ANSWERING)) for call in step.calls))]
            if rng.random() < 0.1:
                self.items.append(Asked(self._question(), joined=True))
            yield from self._sent()
        self.items.append(Answered(self._filled(_ANSWERING), self._thought(thinks)))

    def _sent(self) -> Iterator[tuple[Item, ...]]:
        yield tuple(self.items)
        if not self.plain and self.random.random() < 0.08:
            yield tuple(self.items)

    def _change_history(self) -> None:
        starts = [place for place, item in enumerate(self.items) if isinstance(item, Asked) and not item.joined]
        if self.plain or len(starts) < 3:
            return
        if self.random.random() < 0.08:
            del self.items[self.random.choice(starts[-2:]) :]
        elif self.trims and len(starts) > 4:
            first = starts[0]
            del self.items[first : self.random.choice(starts[1:3])]

    def _question(self) -> str:
        self.asked += 1
        if self.random.random() < 0.08:
            return self.random.choice(_AGAIN)
        return " ".join([f"{self.asked}.", *(self._filled(_ASKING) for _ in range(self.random.choice((1, 2, 6))))])

    def _thought(self, thinks: bool) -> str:
        return f"The user wants the {self.random.choice(_PARTS)}, so look there first." if thinks else ""

    def _some(self) -> tuple[Called, ...]:
        rng = self.random
        start = rng.randrange(4)  # ids that come again in later turns, as some servers give them
        path = f"{rng.choice(_AREAS)}/{rng.choice(_PARTS)}.py"
        return tuple(
            Called(f"call_{start}{number}", rng.choice(("read_file", "run_tests")), {"path": path, "lines": 1.50})
            for number in range(rng.choice((1, 1, 2, 3)))
        )

    def _filled(self, templates: Sequence[str]) -> str:
        rng = self.random
        return rng.choice(templates).format(area=rng.choice(_AREAS), part=rng.choice(_PARTS), tool=rng.choice(_TOOLS))


# -- writers ---------------------------------------------------------------------------------------------------

Element = dict[str, Any]
Elements = list[Element]

_PIXEL: Final = "aGVsbG8="

CLOSE: Final = b"]}"
"""The bytes after the last element of every request here."""


@dataclass(frozen=True, slots=True)
class Written:
    """A request as sent. ``elements``: the JSON of each element of its list of messages; ``owners``: for each of them,
    the index of the item that it belongs to."""

    body: bytes
    elements: tuple[str, ...]
    owners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Writer:
    """How a dialect writes a conversation.

    - ``path``: of the request; ``list_name``: the member with the list of messages.
    - ``spell``: returns the elements of an item; ``head``: returns the other members, from the leading system messages;
      ``leading``: whether those are elements as well.
    - ``joins``: the member of an element to which a user's message is added if it comes with tool results; "" if the
      dialect cannot do that.
    - ``system``: the member into which a cut puts its block; "": it goes into the list.
    """

    path: str
    list_name: str
    spell: Callable[[Item], Elements]
    head: Callable[[Sequence[Told]], dict[str, Any]]
    leading: bool = True
    joins: str = ""
    system: str = ""

    def write(self, items: Sequence[Item]) -> Written:
        """Return the request for this history. Its list of messages comes last, so that the next request can begin with
        the same bytes."""
        first = next((place for place, item in enumerate(items) if not isinstance(item, Told)), len(items))
        told = [item for item in items[:first] if isinstance(item, Told)]
        elements: list[tuple[int, Element]] = []
        for number, item in enumerate(items):
            if number < first and not self.leading:
                continue
            new = self.spell(item)
            if self.joins and isinstance(item, Asked) and item.joined:
                elements[-1][1][self.joins] = [*elements[-1][1][self.joins], *new[0][self.joins]]
            else:
                elements += [(number, element) for element in new]
        spelled = tuple(json.dumps(element, ensure_ascii=False) for _, element in elements)
        head = json.dumps({**self.head(told), self.list_name: []}, ensure_ascii=False).removesuffix("]}")
        body = f"{head}{', '.join(spelled)}".encode() + CLOSE
        return Written(body, spelled, tuple(number for number, _ in elements))


_SCHEMA: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
_NAMES: Final = ("read_file", "run_tests")


def _arguments(call: Called) -> str:
    return json.dumps(dict(call.arguments))


def _openai_head(told: Sequence[Told]) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name, "parameters": _SCHEMA}} for name in _NAMES]
    return {"model": "gpt-4o", "temperature": 1.0, "stream": True, "tools": tools}


def _openai_calls(calls: Sequence[Called]) -> dict[str, Any]:
    listed = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
        for call in calls
    ]
    return {"tool_calls": listed} if listed else {}


def _openai_chat(item: Item) -> Elements:
    match item:
        case Told(text):
            return [{"role": "system", "content": text}]
        case Asked(text, image=True):
            picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}}
            return [{"role": "user", "content": [{"type": "text", "text": text}, picture]}]
        case Asked(text):
            return [{"role": "user", "content": text}]
        case Answered(text, thinking, calls):
            reasoning = {"reasoning_content": thinking} if thinking else {}
            return [{"role": "assistant", "content": text or None, **reasoning, **_openai_calls(calls)}]
        case Returned(results):
            return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]


def _responses_head(told: Sequence[Told]) -> dict[str, Any]:
    tools = [{"type": "function", "name": name, "parameters": _SCHEMA} for name in _NAMES]
    return {"model": "gpt-5", "store": False, "instructions": "Be brief.", "tools": tools}


def _responses(item: Item) -> Elements:
    match item:
        case Told(text):
            return [{"role": "developer", "content": text}]
        case Asked(text, image):
            picture = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{_PIXEL}"}
            parts = [{"type": "input_text", "text": text}, *[picture] * image]
            return [{"type": "message", "role": "user", "content": parts}]
        case Answered(text, thinking, calls):
            summary = [{"type": "summary_text", "text": thinking}]
            thought = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "opaque"}
            said = {"type": "output_text", "text": text, "annotations": []}
            spoken = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
            called = [
                {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _arguments(call)}
                for call in calls
            ]
            return [*[thought] * bool(thinking), *[spoken] * bool(text), *called]
        case Returned(results):
            return [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in results]


def _anthropic_head(told: Sequence[Told]) -> dict[str, Any]:
    tools = [{"name": name, "input_schema": _SCHEMA} for name in _NAMES]
    blocks = [{"type": "text", "text": item.text} for item in told]
    if blocks:
        blocks[-1] = {**blocks[-1], "cache_control": {"type": "ephemeral"}}  # type: ignore[dict-item]
    system = {"system": blocks} if blocks else {}
    return {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": tools, **system}


def _anthropic(item: Item) -> Elements:
    match item:
        case Told(text):
            return [{"role": "system", "content": text}]
        case Asked(text, image):
            source = {"type": "base64", "media_type": "image/png", "data": _PIXEL}
            blocks = [{"type": "text", "text": text}, *[{"type": "image", "source": source}] * image]
            return [{"role": "user", "content": blocks}]
        case Answered(text, thinking, calls):
            thought = {"type": "thinking", "thinking": thinking, "signature": "opaque=="}
            said = {"type": "text", "text": text}
            used = [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in calls]
            return [{"role": "assistant", "content": [*[thought] * bool(thinking), *[said] * bool(text), *used]}]
        case Returned(results):
            blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results]
            return [{"role": "user", "content": blocks}]


def _gemini_head(told: Sequence[Told]) -> dict[str, Any]:
    parts = [{"text": item.text} for item in told]
    system = {"systemInstruction": {"parts": parts}} if parts else {}
    return {**system, "tools": [{"functionDeclarations": [{"name": name, "parameters": _SCHEMA} for name in _NAMES]}]}


def _gemini(item: Item) -> Elements:
    match item:
        case Told(text):
            return []  # there is no place for it in a list of contents
        case Asked(text, image):
            picture = {"inlineData": {"mimeType": "image/png", "data": _PIXEL}}
            return [{"role": "user", "parts": [{"text": text}, *[picture] * image]}]
        case Answered(text, thinking, calls):
            thought = {"text": thinking, "thought": True}
            signed = {"thoughtSignature": "b3BhcXVl"} if thinking else {}
            called = [{"functionCall": {"name": call.name, "args": dict(call.arguments)}, **signed} for call in calls]
            return [{"role": "model", "parts": [*[thought] * bool(thinking), *[{"text": text}] * bool(text), *called]}]
        case Returned(results):
            parts = [{"functionResponse": {"name": c.name, "response": {"result": text}}} for c, text in results]
            return [{"role": "user", "parts": parts}]


def _ollama_head(told: Sequence[Told]) -> dict[str, Any]:
    return {**_openai_head(told), "model": "qwen3:8b", "options": {"num_ctx": 8192}}


def _ollama(item: Item) -> Elements:
    match item:
        case Asked(text, image=True):
            return [{"role": "user", "content": text, "images": [_PIXEL]}]
        case Answered(text, thinking, calls):
            called = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in calls]
            thought = {"thinking": thinking} if thinking else {}
            return [{"role": "assistant", "content": text, **thought, **({"tool_calls": called} if called else {})}]
        case Returned(results):
            return [{"role": "tool", "tool_name": call.name, "content": text} for call, text in results]
        case _:
            return _openai_chat(item)


def _cohere_head(told: Sequence[Told]) -> dict[str, Any]:
    return {**_openai_head(told), "model": "command-a-03-2025"}


def _cohere(item: Item) -> Elements:
    match item:
        case Answered(text, thinking, calls):
            plan = {"tool_plan": thinking or "Look first."} if calls else {}
            parts = [*[{"type": "thinking", "thinking": thinking}] * bool(thinking), {"type": "text", "text": text}]
            content = {"content": parts} if text else {}
            return [{"role": "assistant", **plan, **content, **_openai_calls(calls)}]
        case Returned(results):
            return [
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": [{"type": "document", "document": {"data": json.dumps({"result": text})}}],
                }
                for call, text in results
            ]
        case _:
            return _openai_chat(item)


WRITERS: Final[Mapping[str, Writer]] = {
    "openai_chat": Writer("/v1/chat/completions", "messages", _openai_chat, _openai_head),
    "openai_responses": Writer("/v1/responses", "input", _responses, _responses_head),
    "anthropic": Writer(
        "/v1/messages", "messages", _anthropic, _anthropic_head, leading=False, joins="content", system="system"
    ),
    "gemini": Writer(
        "/v1beta/models/gemini-2.5-pro:generateContent", "contents", _gemini, _gemini_head, leading=False, joins="parts"
    ),
    "ollama": Writer("/api/chat", "messages", _ollama, _ollama_head),
    "cohere": Writer("/v2/chat", "messages", _cohere, _cohere_head),
}
"""The writers by the names of their dialects."""
