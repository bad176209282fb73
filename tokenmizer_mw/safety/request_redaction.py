"""Request redaction: remove secrets from requests before anything else reads them, and from messages before they are
stored.

A client sends the whole transcript with every call. So the start of a session's previous request is remembered, and a
new request that begins with the same bytes is scanned only behind them. If possible, that start ends before the last
message, because clients change that one and send it again. Of a start with secrets, only a hash and its redacted form
are kept, never the original.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from operator import is_
from typing import Final

from tokenmizer_mw.model.message import Message, ToolCall, ToolResult
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.wire.dialect import ChatRequest

CLEAN_MAX: Final = 16_384
"""Number of texts without secrets whose hashes are kept, so that these texts are not scanned again. When it is reached,
all of them are forgotten."""

_OPENING: Final = b'{"":[0'
_SHORTEST: Final = 1024


@dataclass(frozen=True, slots=True)
class Beginning:
    """The start of a session's previous request. ``length``: its bytes as received; ``clean``: the same part with
    secrets redacted; ``mark``: hash of the part as received, ``None`` if it had no secrets and so is equal to
    ``clean``."""

    length: int
    clean: bytes
    mark: int | None = None


class RequestRedactor:
    """Redacts secrets in requests and messages, and remembers what it has scanned.

    ``redactor``: finds and replaces the secrets. ``beginnings_max``: number of sessions whose previous request is
    remembered; ``bytes_max``: total size of what is remembered of them. The oldest is forgotten first. Thread-safe if a
    ``lock`` is passed.
    """

    def __init__(
        self,
        redactor: Redactor,
        *,
        beginnings_max: int,
        bytes_max: int,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._redactor = redactor
        self._beginnings: OrderedDict[Hashable, Beginning] = OrderedDict()
        self._beginnings_max = beginnings_max
        self._bytes_max = bytes_max
        self._held = 0
        self._clean: set[int] = set()
        self._lock = lock if lock is not None else nullcontext()

    @property
    def redactor(self) -> Redactor:
        """The redactor that finds the secrets."""
        return self._redactor

    def find_beginning(self, key: Hashable, body: bytes) -> Beginning | None:
        """Return what ``note`` remembered of session ``key`` if ``body`` begins with the same bytes as were received
        then and has more after them; else ``None``."""
        known = self._beginnings.get(key)
        if known is None or len(body) <= known.length:
            return None
        same = body.startswith(known.clean) if known.mark is None else hash(body[: known.length]) == known.mark
        return known if same else None

    def clean(self, body: bytes, known: Beginning | None = None, left_out: bytes = b"") -> bytes:
        """Return the request ``body`` with secrets redacted; the same object if it has none.

        - ``known``: what ``find_beginning`` returned for this body; that part is not scanned again. ``None``:
          everything is scanned.
        - ``left_out``: bytes of a member of the body that is not forwarded, so that what looks like a secret in it
          (such as a session's id) does not matter.

        Raises ``UnicodeError`` for a body that is not UTF-8.
        """
        if b"\0" in body[:4]:
            raise UnicodeError("JSON in UTF-16 or UTF-32")
        rest = body if known is None else _OPENING + body[known.length :]
        redacted = text = rest.decode()
        if self._redactor.suspects_bytes(rest.replace(left_out, b"", 1) if left_out else rest):
            redacted = self._redactor.redact_suspect_body(text)
        if known is None:
            return body if redacted is text else redacted.encode()
        if redacted is text and known.mark is None:
            return body
        return known.clean + redacted[len(_OPENING) :].encode()

    def note(self, key: Hashable, body: bytes, clean: bytes, request: ChatRequest) -> None:
        """Remember the start of the newest request of session ``key``. ``body``: the request as received; ``clean``: as
        redacted; ``request``: as parsed from ``clean``. The start ends after the last message but one, or else after
        the last one. If neither is possible (the request is shorter than 1,024 bytes, or what follows has secrets),
        what was remembered before stays."""
        known = None
        for end in _ends_of_messages(request):
            known = known or _beginning(body, clean, end)
        if known is None:
            return
        with self._lock:
            self._drop(key)
            self._beginnings[key] = known
            self._held += len(known.clean)
            while len(self._beginnings) > self._beginnings_max or self._held > self._bytes_max:
                self._drop(next(iter(self._beginnings)))

    def forget(self) -> None:
        """Forget the remembered starts of requests, and which texts have no secrets."""
        with self._lock:
            self._beginnings.clear()
            self._clean.clear()
            self._held = 0

    def text(self, text: str) -> str:
        """Return ``text`` with secrets redacted, by the same rules as a text in a request; the same object if it has
        none. Texts without secrets are remembered by their hash and not scanned again."""
        mark = hash(text)
        if mark in self._clean:
            return text
        if not self._redactor.suspects_bytes(text.encode("utf-8", "surrogatepass")):
            self._note_clean(mark)
            return text
        wrapped = json.dumps({"content": text}, ensure_ascii=False)
        redacted = self._redactor.redact_suspect_body(wrapped)
        if redacted is not wrapped:
            return str(json.loads(redacted)["content"])
        self._note_clean(mark)
        return text

    def _note_clean(self, mark: int) -> None:
        """Remember the hash of a text without secrets, so that it is not scanned again when a client sends it again."""
        if len(self._clean) >= CLEAN_MAX:
            self._clean.clear()
        self._clean.add(mark)

    def document(self, text: str) -> str:
        """Return a JSON text with the secrets in its strings redacted; everything else stays as it is.

        Text that is not JSON is redacted as plain text. If nothing is redacted, ``text`` itself is returned, so that a
        caller can compare with ``is``.
        """
        return self._redactor.redact_body(text)

    def message(self, message: Message) -> Message:
        """Return ``message`` with secrets redacted in its text, thinking, refusal, tool calls and tool results; the
        same object if it has none."""
        text = self.text(message.text)
        if not (message.thinking or message.refusal or message.tool_calls or message.tool_results):
            return message if text is message.text else replace(message, text=text)
        thinking, refusal = self.text(message.thinking), self.text(message.refusal)
        calls = tuple([self._call(call) for call in message.tool_calls])
        results = tuple([self._result(result) for result in message.tool_results])
        words = text is message.text and thinking is message.thinking and refusal is message.refusal
        if words and all(map(is_, calls, message.tool_calls)) and all(map(is_, results, message.tool_results)):
            return message
        return replace(message, text=text, tool_calls=calls, tool_results=results, thinking=thinking, refusal=refusal)

    def _call(self, call: ToolCall) -> ToolCall:
        name, arguments = self.text(call.name), self.text(call.arguments)
        same = name is call.name and arguments is call.arguments
        return call if same else replace(call, name=name, arguments=arguments)

    def _result(self, result: ToolResult) -> ToolResult:
        text = self.text(result.text)
        return result if text is result.text else replace(result, text=text)

    def _drop(self, key: Hashable) -> None:
        known = self._beginnings.pop(key, None)
        self._held -= len(known.clean) if known is not None else 0


def _beginning(body: bytes, clean: bytes, end: int) -> Beginning | None:
    """Return the start of ``body`` whose redacted form is ``clean[:end]``; ``None`` if it is short, or if what follows
    was redacted too."""
    length = len(body) - (len(clean) - end)
    if end < _SHORTEST or length <= 0 or body[length:] != clean[end:]:
        return None
    return Beginning(length, clean[:end], None if clean is body else hash(body[:length]))


def _ends_of_messages(request: ChatRequest) -> list[int]:
    """Return the positions, in bytes, at which the last message but one and the last message end. Empty if the messages
    are not a list."""
    text = request.text
    if not text.startswith("[", request.array):
        return []
    ends: list[int] = []
    for _, end in request.spans[-2:]:
        ends.append(end if text.isascii() else len(text[:end].encode()))
    return ends
