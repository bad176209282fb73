"""Count the tokens of messages, with a cache by text, so that a resent transcript costs next to nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.dialect import ChatRequest

from .counter import TokenCounter

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its text: its role and its delimiters."""

TOOL_TOKENS: Final = 8
"""What a tool call or result costs beside its text: ids and structure."""

ATTACHMENT_TOKENS: Final = 1_100
"""What an image or another part without text is taken to cost: a large image in tiles, as OpenAI counts it."""

_ENTRIES_MAX: Final = 20_000
_CHARACTERS_MAX: Final = 8_000_000


class _Memo:
    """Counts by text. Two generations of a dictionary: when the younger one is full, the older one is forgotten."""

    def __init__(self, entries: int, characters: int) -> None:
        self._entries = entries
        self._characters = characters
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._held = 0

    def get_known(self, texts: Iterable[str]) -> list[int | None]:
        """The counts of the texts, ``None`` where they must be looked for with ``get``."""
        return list(map(self._young.get, texts))

    def get(self, text: str) -> int | None:
        """The count of a text. One of the older generation becomes young again."""
        tokens = self._young.get(text)
        if tokens is None and (tokens := self._old.get(text)) is not None:
            self.put(text, tokens)
        return tokens

    def clear(self) -> None:
        self._young, self._old, self._held = {}, {}, 0

    def put(self, text: str, tokens: int) -> None:
        if len(text) > self._characters:
            return
        if len(self._young) >= self._entries or self._held + len(text) > self._characters:
            self._old, self._young, self._held = self._young, {}, 0
        self._young[text] = tokens
        self._held += len(text)


class MessageCounter:
    """Counts messages with a ``TokenCounter`` and remembers what it has counted.

    Remembered are at most ``2 * entries`` texts with ``2 * characters`` characters. Threads may share a counter.
    """

    def __init__(
        self, counter: TokenCounter, *, entries: int = _ENTRIES_MAX, characters: int = _CHARACTERS_MAX
    ) -> None:
        self.counter = counter
        self._texts = _Memo(entries, characters)

    def clear(self) -> None:
        """Forget what was counted."""
        self._texts.clear()

    def count(self, message: Message) -> int:
        """Tokens of one message, its overhead included."""
        return self.counts((message,))[0]

    def counts(self, messages: Iterable[Message]) -> list[int]:
        """Tokens of each message, their overheads included. The sum errs high against the whole by under 1 %."""
        given = list(messages)
        texts = [message.text for message in given]
        found = [
            (self.text(text) if tokens is None else tokens) + MESSAGE_TOKENS
            for text, tokens in zip(texts, self._texts.get_known(texts), strict=True)
        ]
        for index, m in enumerate(given):
            if m.tool_calls or m.tool_results or m.thinking or m.refusal or m.attachments:
                found[index] += self._beside(m)
        return found

    def request_counts(self, request: ChatRequest) -> Sequence[int]:
        """Return the tokens of each message of a request. Messages that were counted in an earlier request are not
        parsed.
        """
        return request.messages.column(f"tokens: {self.counter.name}", self.counts)

    def text(self, text: str) -> int:
        """Tokens of a text, remembered."""
        tokens = self._texts.get(text)
        if tokens is None:
            tokens = self.counter.count(text)
            self._texts.put(text, tokens)
        return tokens

    def _beside(self, message: Message) -> int:
        """Tokens of everything but the text."""
        tokens = len(message.attachments) * ATTACHMENT_TOKENS
        for call in message.tool_calls:
            tokens += self.text(call.name) + self.text(call.arguments) + TOOL_TOKENS
        for result in message.tool_results:
            tokens += self.text(result.text) + TOOL_TOKENS
        for aside in (message.thinking, message.refusal):
            if aside:
                tokens += self.text(aside)
        return tokens
