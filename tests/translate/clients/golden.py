"""Replies and streams of the clients' sides to the byte: ``python -m tests.translate.clients.golden`` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.translate.clients.served import CREATED, as_events, streamed
from tokenmizer_mw.server.translate.chat import (
    ChatCall,
    ChatTurn,
    Fault,
    Finish,
    ModelReply,
    ModelToolCall,
    Sampling,
    Text,
    Thought,
    Tool,
    Usage,
)
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.translation import ClientSide

FOLDER: Final = Path(__file__).parent / "golden"
SIDES: Final[Mapping[str, ClientSide]] = {
    side.name: side for side in (OpenAIChatClient(), OpenAIResponsesClient(), AnthropicClient())
}

CALL: Final = ChatCall(
    "asked-for",
    (ChatTurn("user", (Text("hi"),)),),
    tools=(
        Tool("look", "Looks.", {"type": "object", "properties": {}}),
        Tool("patch", "Patches.", {"type": "object"}, form="custom"),
    ),
    sampling=Sampling(max_tokens=50, temperature=0.5),
    stream=True,
    usage=True,
)
ANSWER: Final = ModelReply(
    "reply_1",
    "model-7",
    (
        Thought("First, this.", "c2VhbA==", "anthropic"),
        Thought("", "aGlkZGVu", "gemini", hidden=True),
        Text("Grüße \N{UMBRELLA}\n“so”"),
        ModelToolCall("call_1", "look", '{"q": 1}'),
        ModelToolCall("call_2", "patch", '{"input": "+ a\\n- b"}', seal="Z2Vt", sealed_by="gemini"),
    ),
    Finish.TOOLS,
    Usage(prompt=100, completion=20, cached=40, written=10, thought=5),
)
FAULT: Final = Fault(429, "too fast", "rate_limit_exceeded")


def stream(side: ClientSide) -> bytes:
    return streamed(side, CALL, as_events(ANSWER, 5)) + streamed(side, CALL, [*as_events(ANSWER, 5)[:3], FAULT])


def bodies(side: ClientSide) -> dict[str, Any]:
    return {"reply": side.reply(ANSWER, CALL, created=CREATED), "error": side.error(FAULT)}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, side in SIDES.items():
        (FOLDER / f"{name}.sse").write_bytes(stream(side))
        text = json.dumps(bodies(side), ensure_ascii=False, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
