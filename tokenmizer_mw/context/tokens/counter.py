"""Choose the token counter for a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import tiktoken

from .estimate import estimate
from .tables import find_encoding

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
"""How many tokens of theirs one token of o200k_base becomes, as others measured; the first prefix that fits."""

_FACTOR: Final = 1.25
"""The same for all other vendors, whose published tokenizers stay below it on the kinds of text that chats hold."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text as a model would.

    ``exact`` is true when it is the model's own tokenizer; otherwise the count errs high. ``name`` says what
    counts: an encoding ("o200k_base"), an encoding with a safety factor ("o200k_base*1.25"), or "estimate".
    """

    name: str
    exact: bool
    count: Callable[[str], int]


def counter_for(model: str, directory: str | None = None) -> TokenCounter:
    """Return the best available token counter for ``model`` ("": unknown). Never downloads, never fails.

    Looks for tiktoken's tables in ``directory``, in tiktoken's cache directories and in the copies that installed
    packages contain; each file is read once per process. OpenAI's models are counted exactly with their table, other
    vendors' models with o200k_base and a safety factor. Without a table the count is an estimate. The last two are not
    ``exact``.
    """
    encoding_name, own = _encoding_of(model)
    factor = _factor_of(model)
    encoding = find_encoding(encoding_name, directory)
    if encoding is None:
        return _scale_counter(TokenCounter("estimate", False, estimate), factor)
    return _scale_counter(TokenCounter(encoding.name, own, partial(_count, encoding)), factor)


def _bare(model: str) -> str:
    """The model's name without the routing prefixes of gateways: "openai/gpt-4o" is "gpt-4o"."""
    return model.rpartition("/")[2].strip().lower()


def _encoding_of(model: str) -> tuple[str, bool]:
    """An encoding's name, and whether the model is known to use it."""
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
    """``text`` in pieces of at most ``_PIECE`` characters, cut before a word where there is one: tokens of these
    encodings never run across such a place, so the sum is the count of the whole. Elsewhere it is slightly high."""
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
