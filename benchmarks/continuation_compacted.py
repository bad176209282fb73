"""Whole requests as they leave the proxy after a compaction through the provider's API, each with a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.server.access.caller import CALLER_KEY, Caller
from tokenmizer_mw.server.proxy.compaction import CompactionMiddleware
from tokenmizer_mw.server.proxy.configuration import Configuration

from .asgi_call import call_app
from .compaction import items_of

_BASE: Final = SessionKey(LOCAL_TENANT, "base")
_RESPONSES: Final = "/v1/responses"
_ROUTES: Final = Configuration.read({"providers": {"openai": {"base_url": "http://127.0.0.1:9/v1"}}}, {}).routes
_CALLER: Final = {CALLER_KEY: Caller(LOCAL_TENANT)}
_REPLY: Final = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}


class CompactedRequests:
    """Compacts one session into a block of ``tokens`` tokens, and sends questions after that compaction, each in a
    session of its own with the same events so far.

    - ``messages``: in OpenAI's format; ``model``: the model of the requests.
    - ``reply``: the recorded reply with which the session is refined before it is compacted; ``None``: it is not
      refined.
    - ``reminds``: requests get a reminder, which has what the block leaves out and the question asks for.
    """

    def __init__(
        self, messages: Sequence[Mapping[str, Any]], model: str, tokens: int, *, reply: str | None, reminds: bool
    ) -> None:
        self._model = model
        # A machine under load must not cost an answer: what is measured is what a request tells.
        given: dict[str, Any] = {"compaction": "ours", "compaction_tokens": tokens, "store_wait_seconds": 60}
        settings = Settings(**given) if reminds else Settings(**given, reminder_tokens=0)
        complete = None if reply is None else lambda _: reply
        self._memory = SessionMemory.open("memory://", settings, complete=complete)
        self._memory.record(_BASE.id, messages)
        if reply is not None:
            self._memory.refine(_BASE.id)
        self._item = self._compact(items_of([dict(message) for message in messages]))
        self._memory.flush()
        self._events = [recorded.event for recorded in self._memory.log.read(_BASE)]

    def send(self, id: str, question: str) -> str:
        """Return the text of the request that reaches the model when ``question`` is asked in a new session ``id``,
        without the question."""
        self._memory.log.append(SessionKey(LOCAL_TENANT, id), self._events, expected_seq=0)
        asked = {"role": "user", "content": question}
        sent, _ = self._call(id, _RESPONSES, [self._item, asked])
        texts = [item["content"] for item in json.loads(sent)["input"]]
        parts = [text if isinstance(text, str) else "\n".join(part["text"] for part in text) for text in texts]
        parts[-1] = parts[-1].replace(question, "", 1)
        return "\n".join(parts)

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()

    def _compact(self, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The item that the standalone endpoint returns. Raises ``ValueError`` unless it returns exactly one."""
        _, answer = self._call(_BASE.id, f"{_RESPONSES}/compact", items)
        (item,) = json.loads(answer)["output"]
        return dict(item)

    def _call(self, session: str, path: str, items: Sequence[Mapping[str, Any]]) -> tuple[bytes, bytes]:
        """Send a request, and return the bodies that reach the provider and the client."""
        body = json.dumps({"model": self._model, "input": items}).encode()
        memory = self._memory

        def wrap(provider: Any) -> CompactionMiddleware:
            return CompactionMiddleware(TokenMizerMiddleware(provider, memory=memory), memory, _ROUTES)

        return call_app(wrap, path, session, body, _REPLY, _CALLER)
