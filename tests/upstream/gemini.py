"""Gemini generateContent, streamed as server-sent events or as a JSON array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .answer import Answer, Asked
from .format import Event, demand, items


class Gemini:
    """generateContent: contents with parts; a stream is a row of whole responses, without a marker at its end."""

    def __init__(self, media_type: str = "text/event-stream") -> None:
        self.media_type = media_type

    def asked(self, body: dict[str, Any]) -> Asked:
        contents = items(body, "contents")
        for content in contents:
            demand(content.get("role", "user") in ("user", "model", "function"), "contents: valid roles: user, model")
            demand(bool(content.get("parts")), "contents.parts must not be empty")
        demand(contents[0].get("role", "user") == "user", "the first content must be of the user")
        _demand_pairs(contents)
        results = [_result(part["functionResponse"]["response"]) for part in _responses(contents[-1])]
        texts = (_text(content) for content in reversed(contents) if content.get("role", "user") == "user")
        return Asked(next(filter(None, texts), ""), tuple(results))

    def whole(self, answer: Answer) -> dict[str, Any]:
        thought = [{"text": "".join(answer.thinking), "thought": True}] if answer.thinking else []
        text = [{"text": answer.text}] if answer.deltas else []
        return _response(answer, [*thought, *text, *_calls(answer)], end=True)

    def stream(self, answer: Answer, body: dict[str, Any], *, usage: bool) -> Iterator[Event]:
        parts = [{"text": piece, "thought": True} for piece in answer.thinking]
        parts += [{"text": piece} for piece in answer.deltas]
        last = _calls(answer) or parts[-1:]
        for part in parts if answer.calls else parts[:-1]:
            yield Event(_response(answer, [part]))
        yield Event(_response(answer, last, end=True), terminal=True)

    def failed(self) -> Event:
        error = {"code": 503, "message": "the model is overloaded", "status": "UNAVAILABLE"}
        return Event({"error": error}, bare=True)

    def error(self, status: int, text: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": text, "status": f"STATUS_{status}"}}


def _demand_pairs(contents: list[dict[str, Any]]) -> None:
    """A content with calls is followed by one with as many responses, of the same names and ids."""
    called: list[tuple[str, str]] = []
    for content in contents:
        answered = [_named(part["functionResponse"]) for part in _responses(content)]
        demand(answered == called, "function response parts must equal the function call parts of the turn before")
        called = [_named(part["functionCall"]) for part in content["parts"] if "functionCall" in part]
        signed = (part.get("thoughtSignature") == "c2lnbmVk" for part in content["parts"] if "functionCall" in part)
        demand(all(signed), "function call is missing a thought_signature")
    demand(not called, "function calls without their responses")


def _named(part: dict[str, Any]) -> tuple[str, str]:
    return part.get("id", ""), part["name"]


def _responses(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in content["parts"] if "functionResponse" in part]


def _result(response: dict[str, Any]) -> str:
    """What a tool returned, under the names that the API documents, or its SDK's own."""
    return str(next((response[name] for name in ("output", "error", "result") if name in response), ""))


def _text(content: dict[str, Any]) -> str:
    return "".join(part["text"] for part in content["parts"] if isinstance(part.get("text"), str))


def _calls(answer: Answer) -> list[dict[str, Any]]:
    calls = ({"id": call.id, "name": call.name, "args": call.arguments} for call in answer.calls)
    return [{"functionCall": call, "thoughtSignature": "c2lnbmVk"} for call in calls]


def _response(answer: Answer, parts: list[dict[str, Any]], *, end: bool = False) -> dict[str, Any]:
    usage = answer.usage
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    figures = {"promptTokenCount": usage.read, "totalTokenCount": usage.read}
    if end:
        candidate["finishReason"] = "MAX_TOKENS" if answer.length else "STOP"
        figures = {
            "promptTokenCount": usage.read,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.written - usage.reasoned,
            "thoughtsTokenCount": usage.reasoned,
            "totalTokenCount": usage.read + usage.written,
        }
    head = {"candidates": [candidate], "usageMetadata": figures, "modelVersion": answer.model}
    return {**head, "responseId": answer.id}
