"""Secrets taken out at the door: of requests before anything else reads them, of messages before they are kept.

A client sends the whole history with every call. What was clean, or was made clean, in the call before is known by its
length and a hash, so that only what is new has to be looked at. Of a request that held secrets the clean beginning is
kept, never the original one.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Final

from tokenmizer_mw.model.message import Message, ToolCall, ToolResult
from tokenmizer_mw.redact import Redactor
from tokenmizer_mw.wire.dialect import ChatRequest

QUICK_MAX: Final = 16 * 1024
"""Bytes of news in a request that may be looked at on an event loop."""

_OPENING: Final = b'{"":[0'
_SHORTEST: Final = 4 * 1024


@dataclass(frozen=True, slots=True)
class _Beginning:
    """How the last request of a session began: bytes, their hash, and what they became (``None``: nothing changed)."""

    length: int
    mark: int
    clean: bytes | None


class Ingress:
    """The door. ``beginnings_max``: sessions whose last request is known; ``bytes_max``: what is kept of those with
    secrets in them. Threads may share it when they bring a ``lock``."""

    def __init__(
        self,
        redactor: Redactor,
        *,
        beginnings_max: int,
        bytes_max: int,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._redactor = redactor
        self._beginnings: OrderedDict[Hashable, _Beginning] = OrderedDict()
        self._beginnings_max = beginnings_max
        self._bytes_max = bytes_max
        self._held = 0
        self._lock = lock if lock is not None else nullcontext()

    @property
    def redactor(self) -> Redactor:
        """What finds the secrets."""
        return self._redactor

    def quick(self, key: Hashable, body: bytes) -> bool:
        """Whether ``clean`` takes no longer than an event loop can bear."""
        known = self._known(key, body)
        news = len(body) - (known.length if known is not None else 0)
        return news <= QUICK_MAX

    def clean(self, key: Hashable, body: bytes) -> bytes:
        """The request of the session ``key`` without secrets; the same object when there are none."""
        known = self._known(key, body)
        if known is None:
            return self._redacted(body)
        rest = _OPENING + body[known.length :]
        redacted = self._redacted(rest)
        if known.clean is not None:
            return known.clean + redacted[len(_OPENING) :]
        return body if redacted is rest else body[: known.length] + redacted[len(_OPENING) :]

    def note(self, key: Hashable, body: bytes, clean: bytes, request: ChatRequest) -> None:
        """The session's newest request was ``body`` and is ``clean`` now, as read in ``request``: the next one will
        begin like it, up to the end of its messages."""
        end = _end_of_messages(request)
        length = len(body) - (len(clean) - end)
        if end < _SHORTEST or length <= 0 or body[length:] != clean[end:]:
            return
        known = _Beginning(length, hash(body[:length]), None if clean is body else clean[:end])
        with self._lock:
            self._drop(key)
            self._beginnings[key] = known
            self._held += len(known.clean or b"")
            while len(self._beginnings) > self._beginnings_max or self._held > self._bytes_max:
                self._drop(next(iter(self._beginnings)))

    def forget(self) -> None:
        """Keep nothing of any request."""
        with self._lock:
            self._beginnings.clear()
            self._held = 0

    def text(self, text: str) -> str:
        """``text`` without secrets, as a member of a request would be read; the same object when there are none."""
        if not self._redactor.suspects(text):
            return text
        wrapped = json.dumps({"content": text}, ensure_ascii=False)
        redacted = self._redactor.redact_body(wrapped)
        return text if redacted is wrapped else str(json.loads(redacted)["content"])

    def message(self, message: Message) -> Message:
        """``message`` without secrets; the same object when there are none."""
        calls = tuple(self._call(call) for call in message.tool_calls)
        results = tuple(self._result(result) for result in message.tool_results)
        changed = replace(
            message,
            text=self.text(message.text),
            tool_calls=calls,
            tool_results=results,
            thinking=self.text(message.thinking),
            refusal=self.text(message.refusal),
        )
        return message if changed == message else changed

    def _call(self, call: ToolCall) -> ToolCall:
        arguments = self.text(call.arguments)
        return call if arguments is call.arguments else replace(call, arguments=arguments)

    def _result(self, result: ToolResult) -> ToolResult:
        text = self.text(result.text)
        return result if text is result.text else replace(result, text=text)

    def _redacted(self, body: bytes) -> bytes:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return body  # no JSON: it is not read, and nothing of it is kept
        redacted = self._redactor.redact_body(text)
        return body if redacted is text else redacted.encode()

    def _known(self, key: Hashable, body: bytes) -> _Beginning | None:
        known = self._beginnings.get(key)
        if known is None or len(body) <= known.length or hash(body[: known.length]) != known.mark:
            return None
        return known

    def _drop(self, key: Hashable) -> None:
        known = self._beginnings.pop(key, None)
        self._held -= len(known.clean or b"") if known is not None else 0


def _end_of_messages(request: ChatRequest) -> int:
    """Where, in bytes, the bracket closes behind the last message; 0 when the messages are no list."""
    ends = [end for _, (start, end) in request.members if start < request.array < end]
    if not ends or request.text[ends[-1] - 1] != "]":
        return 0
    before = request.text[: ends[-1] - 1].rstrip()
    return len(before) if before.isascii() else len(before.encode())
