"""Whole requests as the middleware sends them: a session so far, and a question as its newest message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

from .asgi_call import call_app

_PATH: Final = "/v1/chat/completions"
_BASE: Final = SessionKey(LOCAL_TENANT, "base")
_REPLY: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Noted."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


class Requests:
    """Sends questions after the messages of one session, each in a session of its own with the same events so far.

    ``messages``: in OpenAI's format; ``window``: the context window in tokens of ``model``.
    """

    def __init__(self, messages: Sequence[Mapping[str, Any]], window: int, model: str) -> None:
        self._messages = messages
        self._model = model
        # A machine under load must not cost an answer: what is measured is what a request tells.
        self._memory = SessionMemory.open("memory://", Settings(context_window=window, store_wait_seconds=60))
        self._memory.record(_BASE.id, messages)
        self._memory.flush()
        self._events = [recorded.event for recorded in self._memory.log.read(_BASE)]

    def send(self, id: str, question: str) -> str:
        """Return the text of the request that reaches the model when ``question`` is asked in a new session ``id``,
        without the question."""
        self._memory.log.append(SessionKey(LOCAL_TENANT, id), self._events, expected_seq=0)
        asked = {"role": "user", "content": question}
        body = json.dumps({"model": self._model, "messages": [*self._messages, asked]}).encode()
        sent, _ = call_app(lambda app: TokenMizerMiddleware(app, memory=self._memory), _PATH, id, body, _REPLY)
        return request_text(json.loads(sent), question)

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()


def request_text(body: Mapping[str, Any], question: str) -> str:
    """Return the texts and tool calls of the messages of an OpenAI request, without ``question`` in the last one."""
    texts = list(map(_text, body["messages"]))
    texts[-1] = texts[-1].replace(question, "", 1)
    return "\n".join(texts)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content)
    calls = [f"{call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls", ())]
    return "\n".join([content, *calls])
