"""What goes out for every call, as it stands in the golden files; and the providers' own types take it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anthropic.types
import cohere
import ollama
import openai.types.chat.completion_create_params as openai_params
import pytest
from google.genai import types as genai
from mistralai.client import models as mistral
from ollama._types import ChatRequest
from pydantic import BaseModel, TypeAdapter

from tests.translate.calls import CALLS, PIXEL, TIME, assistant, call, system, user
from tokenmizer_mw.errors import Untranslatable
from tokenmizer_mw.server.translate.chat import (
    Attachment,
    ModelToolCall,
    ModelToolResult,
    Sampling,
    Text,
    Thinking,
    Thought,
    ToolChoice,
)
from tokenmizer_mw.server.translate.providers.anthropic import DRAWING_VERSION, VERSION
from tokenmizer_mw.server.translate.providers.request_parts import ONE_CALL
from tokenmizer_mw.server.translate.table import PROVIDERS

GOLDEN: Final = Path(__file__).parent / "golden"
ROWS: Final = ("openai", "anthropic", "gemini", "cohere", "ollama")


def outgoing(provider: str, name: str) -> dict[str, Any]:
    """What goes out, or what is refused."""
    try:
        sent = PROVIDERS[provider].side().outgoing(CALLS[name])
    except Untranslatable as error:
        return {"refused": error.field}
    return {"path": sent.path, **({"headers": sent.headers} if sent.headers else {}), "body": sent.body}


@pytest.mark.parametrize("provider", ROWS)
def test_requests_are_those_on_record(provider: str) -> None:
    recorded = json.loads((GOLDEN / f"{provider}.json").read_text())
    assert {name: outgoing(provider, name) for name in CALLS} == recorded


OPENAI: Final = TypeAdapter(openai_params.CompletionCreateParamsNonStreaming)
OPENAI_STREAM: Final = TypeAdapter(openai_params.CompletionCreateParamsStreaming)
ANTHROPIC: Final = TypeAdapter(anthropic.types.message_create_params.MessageCreateParamsNonStreaming)
ANTHROPIC_STREAM: Final = TypeAdapter(anthropic.types.message_create_params.MessageCreateParamsStreaming)
DRAWING: Final = frozenset({"temperature", "top_p", "top_k"})
COHERE_ROLES: Final[Mapping[str, type[BaseModel]]] = {
    "user": cohere.UserChatMessageV2,
    "assistant": cohere.AssistantChatMessageV2,
    "system": cohere.SystemChatMessageV2,
    "tool": cohere.ToolChatMessageV2,
}


def taken(adapter: TypeAdapter[Any], body: Any) -> Any:
    """What a type takes of a body: what it does not know is gone."""
    return plain(adapter.validate_python(body))


def plain(value: Any) -> Any:
    """A validated value without lazy iterables, as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, str | int | float | None):
        return value
    return [plain(inner) for inner in value]


def openai_takes(path: str, body: dict[str, Any]) -> None:
    assert path == "/chat/completions"
    assert taken(OPENAI_STREAM if body.get("stream") else OPENAI, body) == body


def mistral_takes(path: str, body: dict[str, Any]) -> None:
    assert path == "/chat/completions"
    kind = mistral.ChatCompletionStreamRequest if body.get("stream") else mistral.ChatCompletionRequest
    known = {field.alias or name for name, field in kind.model_fields.items()}
    assert body.keys() <= known
    read = kind.model_validate(body)
    for message in body["messages"]:
        assert all(len(made["id"]) == 9 for made in message.get("tool_calls", ()))
    assert len(read.messages) == len(body["messages"])


def anthropic_takes(path: str, body: dict[str, Any]) -> None:
    assert path == "/v1/messages"
    told = {name: value for name, value in body.items() if name not in DRAWING}
    assert taken(ANTHROPIC_STREAM if told.get("stream") else ANTHROPIC, told) == told


def in_one_alphabet(value: Any) -> str:
    return json.dumps(value, sort_keys=True).replace("-", "+").replace("_", "/")


def gemini_takes(path: str, body: dict[str, Any]) -> None:
    """These types refuse what they do not know; bytes are spelled anew, in the alphabet for URLs."""
    assert path.startswith("/v1beta/models/")
    known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}
    assert body.keys() <= known
    for content in [*body["contents"], *([body["systemInstruction"]] if "systemInstruction" in body else [])]:
        read = genai.Content.model_validate(content).model_dump(mode="json", by_alias=True, exclude_none=True)
        assert in_one_alphabet(read) == in_one_alphabet(content)
    for tool in body.get("tools", ()):
        assert genai.Tool.model_validate(tool).function_declarations
    genai.ToolConfig.model_validate(body.get("toolConfig", {}))
    genai.GenerationConfig.model_validate(body.get("generationConfig", {}))


def nothing_extra(value: Any) -> None:
    """Cohere's types keep what they do not know apart."""
    if isinstance(value, BaseModel):
        assert not value.model_extra, value
        for name in type(value).model_fields:
            nothing_extra(getattr(value, name))
    elif isinstance(value, list):
        for inner in value:
            nothing_extra(inner)


def cohere_takes(path: str, body: dict[str, Any]) -> None:
    assert path == "/v2/chat"
    for message in body["messages"]:
        nothing_extra(COHERE_ROLES[message["role"]].model_validate(message))
    for tool in body.get("tools", ()):
        nothing_extra(cohere.ToolV2.model_validate(tool))
    for document in body.get("documents", ()):
        nothing_extra(cohere.Document.model_validate(document))
    if "thinking" in body:
        nothing_extra(cohere.Thinking.model_validate(body["thinking"]))
    taking = cohere.ClientV2.chat.__annotations__.keys() | {"stream"}
    assert body.keys() <= taking


def ollama_takes(path: str, body: dict[str, Any]) -> None:
    assert path == "/api/chat"
    assert body.keys() <= ChatRequest.model_fields.keys()
    ChatRequest.model_validate({**body, "messages": []})
    for message in body["messages"]:
        assert message.keys() <= ollama.Message.model_fields.keys()
        images = [ollama.Image(value=data) for data in message.get("images", ())]
        ollama.Message.model_validate({**message, "images": images})
    for tool in body.get("tools", ()):
        ollama.Tool.model_validate(tool)
    options = body.get("options", {})
    assert ollama.Options.model_validate(options).model_dump(exclude_none=True) == options


TAKERS: Final[Mapping[str, Callable[[str, dict[str, Any]], None]]] = {
    "openai": openai_takes,
    "grok": openai_takes,
    "mistral": mistral_takes,
    "anthropic": anthropic_takes,
    "gemini": gemini_takes,
    "cohere": cohere_takes,
    "ollama": ollama_takes,
}


@pytest.mark.parametrize("provider", TAKERS)
def test_the_types_of_the_provider_take_it(provider: str) -> None:
    for name in CALLS:
        sent = outgoing(provider, name)
        if "refused" not in sent:
            TAKERS[provider](sent["path"], json.loads(json.dumps(sent["body"])))


def body(provider: str, told: Any) -> Any:
    return PROVIDERS[provider].side().outgoing(told).body


def test_deepseek_gets_thoughts_back_with_every_answer() -> None:
    told = call(user("a"), assistant("b"), user("c"), assistant(Thought("hm"), "d"), user("e"))
    answers = [message for message in body("deepseek", told)["messages"] if message["role"] == "assistant"]
    assert [answer["reasoning_content"] for answer in answers] == ["", "hm"]
    silent = replace(told, thinking=Thinking("none"))
    assert "reasoning_content" not in body("deepseek", silent)["messages"][1]
    assert body("deepseek", silent)["thinking"] == {"type": "disabled"}
    assert "reasoning_content" not in body("grok", told)["messages"][1]


def test_mistral_gets_ids_of_nine_characters_that_still_pair_and_no_user_behind_a_result() -> None:
    told = call(
        user("a"),
        assistant(ModelToolCall("call_1", "get_time", "{}"), ModelToolCall("abcDEF123", "get_time", "{}")),
        user(ModelToolResult("call_1", (Text("1"),)), ModelToolResult("abcDEF123", (Text("2"),)), "go on"),
        sampling=Sampling(seed=3),
        stream=True,
        usage=True,
        user="somebody",
    )
    sent = body("mistral", told)
    made = [made["id"] for made in sent["messages"][1]["tool_calls"]]
    assert made == [message["tool_call_id"] for message in sent["messages"][2:4]]
    assert made[1] == "abcDEF123"
    assert [message["role"] for message in sent["messages"][2:]] == ["tool", "tool", "assistant", "user"]
    assert sent["random_seed"] == 3
    assert sent.keys().isdisjoint({"stream_options", "user", "seed"})


def test_one_tool_at_a_time_is_said_in_words_where_there_is_no_field() -> None:
    told = CALLS["one_tool_at_a_time"]
    for provider in ("gemini", "cohere", "ollama", "deepseek"):
        assert ONE_CALL in json.dumps(body(provider, told))
    for provider in ("openai", "anthropic", "mistral", "openrouter", "grok"):
        assert ONE_CALL not in json.dumps(body(provider, told))
    assert body("gemini", call(user("a"), parallel=False)) == body("gemini", call(user("a")))


def test_system_messages_stand_where_anthropic_takes_them() -> None:
    told = call(user("a"), assistant("b"), system("early"), user("c"), system("late"), assistant("d"), user("e"))
    messages = body("anthropic", told)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "system", "assistant", "user"]
    assert [block["text"] for block in messages[3]["content"]] == ["early", "late"]
    for stray in (
        call(user("a"), assistant("b"), system("c")),
        call(user("a"), assistant("b"), system("c"), assistant("d")),
    ):
        with pytest.raises(Untranslatable, match="next to a message of the user"):
            body("anthropic", stray)


def test_anthropic_thinks_by_budget_or_by_effort_as_the_model_can() -> None:
    def sent(model: str, **more: Any) -> Any:
        return body("anthropic", replace(call(user("a"), **more), model=model))

    high = Thinking("high")
    assert sent("claude-opus-5-5", thinking=high)["output_config"] == {"effort": "high"}
    old = sent("claude-sonnet-4-5-20250929", thinking=high)
    assert (old["thinking"]["budget_tokens"], old["max_tokens"]) == (24_576, 24_576 + 8_192)
    capped = sent("claude-haiku-4-5", thinking=high, sampling=Sampling(max_tokens=3_000))
    assert (capped["thinking"]["budget_tokens"], capped["max_tokens"]) == (2_999, 3_000)
    with pytest.raises(Untranslatable) as refused:
        sent("claude-3-7-sonnet-latest", thinking=high, sampling=Sampling(max_tokens=500))
    assert refused.value.field == "sampling.max_tokens"
    assert sent("claude-opus-5-5", thinking=Thinking(tokens=0))["thinking"] == {"type": "disabled"}
    assert sent("claude-opus-5-5", thinking=Thinking(tokens=900))["output_config"] == {"effort": "low"}
    assert "thinking" not in sent("claude-opus-5-5", thinking=Thinking(shown=True))


def test_gemini_thinks_by_budget_or_by_level_as_the_model_can() -> None:
    def config(model: str, thinking: Thinking) -> Any:
        return body("gemini", replace(call(user("a"), thinking=thinking), model=model))["generationConfig"][
            "thinkingConfig"
        ]

    assert config("gemini-2.5-pro", Thinking("low")) == {"thinkingBudget": 1_024}
    assert config("gemini-2.5-pro", Thinking(tokens=77, shown=True)) == {"thinkingBudget": 77, "includeThoughts": True}
    assert config("gemini-3.8-flash", Thinking(tokens=30_000)) == {"thinkingLevel": "HIGH"}
    assert config("gemini-3.8-flash", Thinking("max")) == {"thinkingLevel": "XHIGH"}


def test_models_cannot_leave_the_path_of_gemini() -> None:
    def path(model: str) -> str:
        return PROVIDERS["gemini"].side().outgoing(replace(call(user("a")), model=model)).path

    assert path("models/gemini-3.8-flash") == "/v1beta/models/gemini-3.8-flash:generateContent"
    assert path("tunedModels/mine") == "/v1beta/tunedModels/mine:generateContent"
    assert path("../../x?y#z") == "/v1beta/models/..%2F..%2Fx%3Fy%23z:generateContent"
    assert path("models/a/../b") == "/v1beta/models/a%2F..%2Fb:generateContent"


def test_seals_go_back_to_their_maker_only() -> None:
    told = call(
        user("a"),
        assistant(
            Thought("", "Zw==", "gemini", hidden=True),
            Thought("hm", "YQ==", "anthropic"),
            ModelToolCall("c1", "get_time", "{}", "Yg==", "gemini"),
        ),
        user(ModelToolResult("c1", (Text("1"),))),
        tools=(TIME,),
    )
    assert "YQ==" not in json.dumps(body("gemini", told))
    assert body("gemini", told)["contents"][1]["parts"][0] == {"text": "", "thoughtSignature": "Zw=="}
    assert body("anthropic", told)["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "YQ==",
    }
    for provider in PROVIDERS:
        sealed = {"gemini": "Zw==", "anthropic": "YQ=="}
        assert {maker for maker, seal in sealed.items() if seal in json.dumps(body(provider, told))} <= {provider}


REFUSED: Final = [
    ("anthropic", call(user(Attachment("image", "image/tiff", PIXEL))), "image.media_type"),
    ("anthropic", call(user(Attachment("document", "text/csv", PIXEL))), "document.media_type"),
    ("anthropic", call(user(Attachment("document", "text/plain", "%%"))), "document.data"),
    ("cohere", call(user(Attachment("document", "text/plain", PIXEL))), "document.data"),
    ("cohere", call(user("a"), tools=(TIME, replace(TIME, name="b")), choice=ToolChoice("named", "b")), "choice.named"),
    ("gemini", call(user(Attachment("image", "", PIXEL))), "image.media_type"),
    ("gemini", call(user(ModelToolResult("c9", (Text("1"),)))), "result.name"),
    ("ollama", call(user(ModelToolResult("c9", (Text("1"),)))), "result.name"),
    (
        "ollama",
        call(user(ModelToolResult("c9", (Attachment("image", url="https://e.org/a.png"),), "t"))),
        "result.image.url",
    ),
    ("ollama", call(user("a"), assistant(ModelToolCall("c1", "t", "[1]"))), "call.arguments"),
    ("anthropic", call(user("a"), assistant(ModelToolCall("c1", "t", "not json"))), "call.arguments"),
    ("openai", call(user(Attachment("audio", "audio/flac", PIXEL))), "audio.media_type"),
    ("openai", call(user(Attachment("document", url="https://e.org/a.pdf"))), "document.url"),
    ("openai", call(assistant(Attachment("image", "image/png", PIXEL))), "assistant.image"),
]


@pytest.mark.parametrize(("provider", "told", "field"), REFUSED)
def test_what_cannot_be_said_is_refused_by_name(provider: str, told: Any, field: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        body(provider, told)
    assert refused.value.field == field


def test_the_end_user_is_named_shortly() -> None:
    long = body("openai", call(user("a"), user="u" * 200))["user"]
    assert (len(long), body("openai", call(user("a"), user="u7"))["user"]) == (32, "u7")


def test_anthropic_is_asked_by_the_version_that_takes_what_is_told() -> None:
    def version(**sampling: Any) -> str:
        told = call(user("a"), sampling=Sampling(**sampling))
        return PROVIDERS["anthropic"].side().outgoing(told).headers["anthropic-version"]

    assert version(max_tokens=5, stop=("a",)) == VERSION
    assert version(temperature=0.0) == version(top_k=4) == version(top_p=0.9) == DRAWING_VERSION
    assert version(temperature=1.0, top_p=1.0) == VERSION


def test_penalties_of_nothing_are_nothing_to_refuse() -> None:
    told = call(user("a"), sampling=Sampling(frequency_penalty=0.0, presence_penalty=0))
    assert "frequency_penalty" not in body("anthropic", told)
    with pytest.raises(Untranslatable, match=r"sampling\.presence_penalty"):
        body("anthropic", call(user("a"), sampling=Sampling(presence_penalty=0.1)))
