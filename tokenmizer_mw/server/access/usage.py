"""Token usage of a chat call, read from the first and the last bytes of its response. Pure.

All providers report usage in the last event or at the end of the body; Anthropic's streams report prompt tokens in the
first event. Quotes inside of texts are escaped, so that model output is not mistaken for usage. If no usage is found,
it is estimated from the number of bytes.
"""

from __future__ import annotations

import re
from typing import Final

_ENDS: Final = 4_096
_HELD_MAX: Final = 16 * _ENDS

_TOTAL: Final = re.compile(rb'"(?:total_tokens|totalTokenCount)"\s*:\s*(\d{1,12})')
_PROMPT: Final = re.compile(rb'"(?:prompt_tokens|input_tokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,12})')
_CACHED: Final = re.compile(rb'"cache_creation_input_tokens"\s*:\s*(\d{1,12})')
_REPLY: Final = re.compile(rb'"(?:completion_tokens|output_tokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,12})')

_BYTES_A_TOKEN: Final = 4
_STREAMED_BYTES_A_TOKEN: Final = 330
"""What an event of a stream takes for a token, with all that stands around it."""


class ResponseEnds:
    """Collects the first and last bytes of one response, and its length."""

    __slots__ = ("_first", "_held", "_last", "_plain", "_size", "_status", "_streamed")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._first: bytes | None = None
        self._size = self._last = 0
        self._status = 0
        self._plain = True
        self._streamed = False

    def starts(self, status: int, content_type: bytes, encoding: bytes) -> None:
        """Note the head of the response."""
        self._status = status
        self._plain = encoding in (b"", b"identity")
        self._streamed = b"stream" in content_type or b"ndjson" in content_type

    def passes(self, piece: bytes) -> None:
        """Note a piece of the response body."""
        self._held.append(piece)
        self._size += len(piece)
        if self._size - self._last > _HELD_MAX:
            self._trim()

    def _trim(self) -> None:
        """Hold the ends only."""
        held = b"".join(self._held)
        if self._first is None:
            self._first = held[:_ENDS]
        self._held = [held[-_ENDS:]]
        self._last = self._size

    def tokens(self, request_size: int) -> int:
        """Return the tokens of the call; 0 if the provider answered with an error or not at all.

        ``request_size``: bytes of the request, for an estimate if the response reports no usage.
        """
        if not 200 <= self._status < 300:
            return 0
        told = self._count_tokens() if self._plain else None
        if told is not None:
            return told
        each = _STREAMED_BYTES_A_TOKEN if self._streamed else _BYTES_A_TOKEN
        return request_size // _BYTES_A_TOKEN + self._size // each

    def _count_tokens(self) -> int | None:
        self._trim()
        last, first = self._held[0], self._first or b""
        total, reply = _last(_TOTAL, last), _last(_REPLY, last)
        if total is not None:
            return total
        prompt = _last(_PROMPT, last) or _last(_PROMPT, first)
        if reply is None:
            return None
        cached = _last(_CACHED, last) or _last(_CACHED, first)
        return reply + (prompt or 0) + (cached or 0)


def _last(pattern: re.Pattern[bytes], data: bytes) -> int | None:
    found = pattern.findall(data)
    return int(found[-1]) if found else None
