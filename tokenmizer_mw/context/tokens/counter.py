"""Token counters: one per model, and for whole messages, with a cache by text, so that a resent transcript costs almost
nothing.

Without a tokenizer's table the tokens are estimated: a weighted sum over classes of characters, rather too high. The
weights were fitted as a high expectile of the larger of the cl100k_base and o200k_base counts over prose, source code,
JSON, tool output, base64 and chats in ten languages, then rounded up. The estimate for English prose is about a fifth
too high. For the other kinds it was never too low for paragraphs; for single lines of JSON and listings of files it was
too low in one case of thirty, by up to a tenth. A short text in another language than English, written in plain ASCII
letters, can be estimated a fifth too low. All passes are over bytes in C; the time is linear.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import tiktoken

from tokenmizer_mw.context.tokens.tables import find_encoding
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.dialect import ChatRequest

_PIECE: Final = 4_096
"""Characters handed to a tokenizer at once: some take quadratic time on a long run without a space."""

_DEFAULT: Final = "o200k_base"
_OPENAI: Final = ("gpt-", "chatgpt-", "o1", "o3", "o4", "codex-")

_FACTORS: Final[tuple[tuple[str, float], ...]] = (
    ("claude-opus-4-7", 1.55),
    ("claude-opus-4-8", 1.55),
    ("claude-3", 1.2),
    ("claude-opus-4", 1.2),
    ("claude-sonnet-4", 1.2),
    ("claude-haiku-4", 1.2),
    ("claude-", 1.55),
    ("anthropic", 1.55),
)
"""Tokens of a vendor's model for each token of o200k_base, from published measurements, by the start of the model's
name; the first match counts."""

_FACTOR: Final = 1.25
"""Tokens of a model for each token of o200k_base, for vendors that are not in ``_FACTORS``. Rather too high: the
published tokenizers need fewer tokens for the kinds of text that chats contain."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text as a model would.

    - ``count``: the function that returns the number of tokens of a text.
    - ``exact``: true if it is the model's own tokenizer; otherwise the count is an upper estimate.
    - ``name``: how it counts: an encoding ("o200k_base"), or "estimate" without a table; with a safety factor for other
      vendors' models ("o200k_base*1.25", "estimate*1.25").
    """

    name: str
    exact: bool
    count: Callable[[str], int]


def counter_for(model: str, directory: str | None = None) -> TokenCounter:
    """Return the best available token counter for ``model`` ("": unknown). Never downloads, never fails.

    Looks for tiktoken's tables in ``directory`` (``None``: not given), in tiktoken's cache directories and in the
    copies that installed packages contain; each file is read once per process. OpenAI's models are counted exactly with
    their table, other vendors' models with o200k_base and a safety factor, an unknown model with o200k_base alone.
    Without a table the count is an estimate, times the same factor. Only the first is ``exact``.
    """
    encoding_name, own = _encoding_of(model)
    factor = _factor_of(model)
    encoding = find_encoding(encoding_name, directory)
    if encoding is None:
        return _scale_counter(TokenCounter("estimate", False, estimate), factor)
    return _scale_counter(TokenCounter(encoding.name, own, partial(_count, encoding)), factor)


def _bare(model: str) -> str:
    """Return the model's name in lower case without what stands before its last "/": "openai/gpt-4o" gives "gpt-4o"."""
    return model.rpartition("/")[2].strip().lower()


def _encoding_of(model: str) -> tuple[str, bool]:
    """Return the name of the encoding for a model, and whether the model is known to use it (false: it is a
    substitute)."""
    try:
        return tiktoken.encoding_name_for_model(_bare(model)), True
    except KeyError:
        return _DEFAULT, False


def _factor_of(model: str) -> float:
    name = _bare(model)
    if not name or name.startswith(_OPENAI) or _encoding_of(name)[1]:
        return 1.0
    name = name.rpartition("anthropic.")[2]
    return next((factor for prefix, factor in _FACTORS if name.startswith(prefix)), _FACTOR)


def _scale_counter(counter: TokenCounter, factor: float) -> TokenCounter:
    if factor == 1.0:
        return counter

    def count(text: str) -> int:
        return math.ceil(counter.count(text) * factor)

    return TokenCounter(f"{counter.name}*{factor:g}", False, count)


def _count(encoding: tiktoken.Encoding, text: str) -> int:
    if len(text) <= _PIECE:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Yield ``text`` in pieces of at most ``_PIECE`` characters, in order. They are cut before a word if possible: no
    token of these encodings runs across such a place, so that the counts of the pieces add up to the count of the
    whole. Cut elsewhere, the sum is slightly too high."""
    start = 0
    while len(text) - start > _PIECE:
        end = _word_start(text, start + _PIECE // 2, start + _PIECE)
        yield text[start:end]
        start = end
    yield text[start:]


def _word_start(text: str, low: int, high: int) -> int:
    place = text.rfind(" ", low, high)
    while place > low:
        if text[place - 1].isalnum() and text[place + 1].isalnum():
            return place
        place = text.rfind(" ", low, place)
    return high


MESSAGE_TOKENS: Final = 4
"""Tokens that a message takes in addition to its text: its role and its delimiters."""

TOOL_TOKENS: Final = 8
"""Tokens that a tool call or result takes in addition to its text: ids and structure."""

ATTACHMENT_TOKENS: Final = 1_100
"""Tokens that an image or another part without text is assumed to take: those of a large image in tiles, as OpenAI
counts it."""

_ENTRIES_MAX: Final = 20_000
_CHARACTERS_MAX: Final = 8_000_000


class _Memo:
    """A cache of token counts by text, in two dictionaries. When the younger one is full (``entries`` texts or
    ``characters`` characters), the older one is dropped and the younger one takes its place."""

    def __init__(self, entries: int, characters: int) -> None:
        self._entries = entries
        self._characters = characters
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._held = 0

    def get_known(self, texts: Iterable[str]) -> list[int | None]:
        """Return for each text its count in the younger dictionary; ``None`` if it is not there. Such a text may be in
        the older one, which ``get`` looks up."""
        return list(map(self._young.get, texts))

    def get(self, text: str) -> int | None:
        """Return the cached count of a text, ``None`` for none. A count from the older dictionary is moved to the
        younger one."""
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
    """Counts the tokens of messages with a ``TokenCounter``, and caches the counts by text.

    The cache holds at most ``2 * entries`` texts with ``2 * characters`` characters. Thread-safe.
    """

    def __init__(
        self, counter: TokenCounter, *, entries: int = _ENTRIES_MAX, characters: int = _CHARACTERS_MAX
    ) -> None:
        self.counter = counter
        self._texts = _Memo(entries, characters)

    def clear(self) -> None:
        """Empty the cache, so that all texts are counted again when they are needed."""
        self._texts.clear()

    def count(self, message: Message) -> int:
        """Return the tokens of one message: its text, thinking, tool calls, tool results and attachments, and the
        overhead for role and delimiters (``MESSAGE_TOKENS``)."""
        return self.counts((message,))[0]

    def counts(self, messages: Iterable[Message]) -> list[int]:
        """Return the tokens of each message, in order, each with its overhead for role and delimiters. The sum is less
        than 1 % above the count of all messages as one text."""
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
        parsed."""
        return request.messages.column(f"tokens: {self.counter.name}", self.counts)

    def text(self, text: str) -> int:
        """Return the tokens of a text alone, without the overhead of a message, and cache the count."""
        tokens = self._texts.get(text)
        if tokens is None:
            tokens = self.counter.count(text)
            self._texts.put(text, tokens)
        return tokens

    def _beside(self, message: Message) -> int:
        """Return the tokens of everything but the message's text and overhead: tool calls and results, thinking,
        refusal, and ``ATTACHMENT_TOKENS`` for each attachment."""
        tokens = len(message.attachments) * ATTACHMENT_TOKENS
        for call in message.tool_calls:
            tokens += self.text(call.name) + self.text(call.arguments) + TOOL_TOKENS
        for result in message.tool_results:
            tokens += self.text(result.text) + TOOL_TOKENS
        for aside in (message.thinking, message.refusal):
            if aside:
                tokens += self.text(aside)
        return tokens


MODELS_MAX: Final = 64
"""Counters of at most this many model names are remembered, because the names come from clients."""


class ModelCounters:
    """Token counters by model. Models that count alike share a cache. ``directory``: a directory to search first for
    tiktoken's tables; ``None``: only the usual places (tiktoken's caches and installed packages)."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory
        self._names: dict[str, str] = {}
        self._counters: dict[str, MessageCounter] = {}

    def __len__(self) -> int:
        return len(self._counters)

    def has(self, model: str) -> bool:
        """Whether the counter for ``model`` was asked for before (and its name is still remembered), so that ``of``
        need not load a table."""
        return model in self._names

    def of(self, model: str) -> MessageCounter:
        """Return the counter for ``model``; "" gives the counter for an unknown model. The first call for a model may
        read a table from disk; later ones return the same object."""
        name = self._names.get(model)
        if name is None:
            counter = counter_for(model, self._directory)
            if len(self._names) >= MODELS_MAX:
                self._names.clear()
            name = self._names[model] = counter.name
            self._counters.setdefault(name, MessageCounter(counter))
        return self._counters[name]

    def clear(self) -> None:
        """Empty the caches of counted texts of all models. The counters and their tables stay."""
        for counter in self._counters.values():
            counter.clear()


_RANGES: Final = (
    (0x20, 0x7F, "."), (0x09, 0x0B, "n"), (0x0D, 0x0E, "n"), (0x20, 0x21, " "), (0x30, 0x3A, "0"), (0x41, 0x5B, "A"),
    (0x61, 0x7B, "a"), (0xC0, 0xCD, "l"), (0xCD, 0xD0, "h"), (0xD0, 0xD4, "y"), (0xD4, 0xE2, "h"), (0xE2, 0xE3, "s"),
    (0xE3, 0xEA, "c"), (0xEA, 0xEE, "k"), (0xEE, 0x100, "m"),
)  # fmt: skip
"""Ranges of bytes, each with the letter of its class: first byte, byte after the last one, letter. Later rows override
earlier ones."""


def _classes() -> bytes:
    """Return a table of 256 letters for ``bytes.translate``: for each byte of UTF-8 the letter of its class
    (``_RANGES``). Continuation bytes are dropped before it is used."""
    table = bytearray(b"x" * 256)
    for first, end, letter in _RANGES:
        table[first:end] = letter.encode() * (end - first)
    return bytes(table)


_CLASS: Final = _classes()
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_LETTERS: Final = bytes(b if b < 0x80 and chr(b).isalpha() else 0x20 for b in range(256))
_LONG_WORD: Final = 11

_WEIGHTS: Final[tuple[tuple[float, tuple[bytes, ...]], ...]] = (
    (0.13, (b"a",)),
    (0.01, (b" ",)),
    (1.4, (b"aA",)),
    (0.34, (b"0",)),
    (1.15, (b"a0", b"A0", b" 0", b".0", b"n0")),
    (0.63, (b".",)),
    (0.85, (b"n",)),
    (1.15, (b"a  ", b"A  ", b"0  ", b".  ", b"n  ", b"l  ", b"y  ", b"h  ", b"s  ", b"c  ", b"k  ", b"m  ")),
    (2.0, (b"x",)),
    (0.95, (b"l",)),
    (1.1, (b"al", b"la")),
    (0.6, (b"y",)),
    (1.35, (b"h",)),
    (1.0, (b"s",)),
    (1.2, (b"c",)),
    (1.5, (b"k",)),
    (3.3, (b"m",)),
)
"""Tokens per occurrence of a class or a sequence of classes. Classes: a lower, A upper case, 0 digits, n line breaks
and tabs, x other controls, l Latin beyond ASCII, y Cyrillic, h other alphabets up to U+1FFF, s symbols
(U+2000 to U+2FFF), c kana and Han, k Hangul, m emoji and the rest."""

_WORD: Final = 0.56
_CAPITAL: Final = 0.45
_LONG_LETTER: Final = 0.5
_FLAT: Final = 2.0


def estimate(text: str) -> int:
    """Estimate the number of tokens in ``text``, rather too high than too low; 0 for the empty text. Linear time."""
    if not text:
        return 0
    raw = text.encode("utf-8", "replace")
    classes = raw.translate(_CLASS, _CONTINUATION)
    lengths = Counter(map(len, raw.translate(_LETTERS).split()))
    total = _FLAT + _WORD * lengths.total()
    total += _LONG_LETTER * sum((length - _LONG_WORD) * n for length, n in lengths.items() if length > _LONG_WORD)
    total += _CAPITAL * (classes.count(b"A") - classes.count(b"Aa"))
    for weight, parts in _WEIGHTS:
        total += weight * sum(map(classes.count, parts))
    return math.ceil(total)
