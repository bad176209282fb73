"""Calls in words, that hold everything that a call can hold."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.server.translate.chat import (
    AnswerFormat,
    Attachment,
    ChatCall,
    ChatTurn,
    ModelToolCall,
    ModelToolResult,
    Sampling,
    Text,
    Thinking,
    Thought,
    Tool,
    ToolChoice,
)

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "where"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER: Final = Tool("get_weather", "Tells the weather.", SCHEMA)
TIME: Final = Tool("get_time", "Tells the time.")
PIXEL: Final = b64encode(b"\x89PNG pixel").decode()
PDF: Final = b64encode(b"%PDF-1.7 page").decode()
NOTES: Final = b64encode("Grüße, 漢字".encode()).decode()


def user(*parts: Any) -> ChatTurn:
    return ChatTurn("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def assistant(*parts: Any) -> ChatTurn:
    return ChatTurn("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def system(text: str) -> ChatTurn:
    return ChatTurn("system", (Text(text),))


def call(*said: ChatTurn, **more: Any) -> ChatCall:
    return ChatCall("model-1", said, **more)


LOOP: Final = (
    system("Be brief."),
    user("Weather in Oslo and Rome?"),
    assistant(
        "Let me look.",
        ModelToolCall("call_1", "get_weather", '{"city":"Oslo"}'),
        ModelToolCall("call_2", "get_weather", '{"city":"Rome","days":2}'),
    ),
    user(
        ModelToolResult("call_2", (Text("no such city"),), "get_weather", failed=True),
        ModelToolResult("call_1", (Text("sunny"),), "get_weather"),
        "And the time?",
    ),
)

CALLS: Final[dict[str, ChatCall]] = {
    "text": call(user("Grüße, 漢字 🦉")),
    "system": call(system("Be brief."), system("Be kind."), user("Hi"), assistant("Hello."), user("Bye")),
    "system_between": call(
        user("Hi"), assistant("Hello."), user("Go on."), system("Mind the budget."), assistant("Yes."), user("Bye")
    ),
    "texts": call(user("one", "two"), user("three"), assistant("four", "five"), user("six")),
    "tools": call(*LOOP, tools=(WEATHER, TIME), choice=ToolChoice("auto"), parallel=True),
    "one_tool_at_a_time": call(user("Hi"), tools=(WEATHER,), parallel=False),
    "no_tool": call(user("Hi"), tools=(WEATHER,), choice=ToolChoice("none")),
    "any_tool": call(user("Hi"), tools=(WEATHER, TIME), choice=ToolChoice("any")),
    "this_tool": call(user("Hi"), tools=(WEATHER,), choice=ToolChoice("named", "get_weather")),
    "strict": call(user("Hi"), tools=(replace(WEATHER, strict=True),)),
    "sampling": call(
        user("Hi"),
        sampling=Sampling(max_tokens=99, temperature=0.0, top_p=0.9, stop=("END", "STOP")),
        user="user-7",
    ),
    "seed": call(user("Hi"), sampling=Sampling(seed=7, frequency_penalty=0.5, presence_penalty=-0.5)),
    "top_k": call(user("Hi"), sampling=Sampling(top_k=40)),
    "object": call(user("Hi"), format=AnswerFormat()),
    "schema": call(user("Hi"), format=AnswerFormat(SCHEMA, "weather", strict=True)),
    "effort": call(user("Hi"), thinking=Thinking("medium", shown=True)),
    "no_thinking": call(user("Hi"), thinking=Thinking("none")),
    "budget": call(user("Hi"), thinking=Thinking(tokens=5_000), sampling=Sampling(max_tokens=16_000)),
    "thoughts": call(
        user("Hi"),
        assistant(Thought("They greet."), Thought("", "c2VjcmV0", "anthropic", hidden=True), "Hello."),
        user("Think again."),
        assistant(
            Thought("Again.", "c2lnbmVk", "anthropic"), ModelToolCall("call_1", "get_time", "{}", "Zw==", "gemini")
        ),
        user(ModelToolResult("call_1", (Text("12:00"),))),
        tools=(TIME,),
    ),
    "image": call(user("What is this?", Attachment("image", "image/png", PIXEL, detail="low"))),
    "image_link": call(user(Attachment("image", url="https://example.com/owl.png"))),
    "document": call(user(Attachment("document", "application/pdf", PDF, name="page.pdf"), "Sum it up.")),
    "notes": call(user(Attachment("document", "text/plain", NOTES, name="notes.txt"), "Sum it up.")),
    "sound": call(user(Attachment("audio", "audio/wav", PIXEL))),
    "image_in_result": call(
        user("Look."),
        assistant(ModelToolCall("call_1", "get_time", "")),
        user(ModelToolResult("call_1", (Text("the clock"), Attachment("image", "image/png", PIXEL)), "get_time")),
        tools=(TIME,),
    ),
    "streamed": call(user("Hi"), stream=True, usage=True),
}
"""What is called, by what is special about it."""
