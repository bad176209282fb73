"""Stage "neural": shortens prose with an LLMLingua model (extra ``neural``) or any function.

Each paragraph is shortened and checked separately: one that lost a number, a name, a quotation or a negation, or that
was reworded, stays unchanged. Fenced code is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint

from .gate import faithful

Shrink = Callable[[str], str]
"""Says prose in fewer words, such as a model of the LLMLingua family."""

PARAGRAPH_MIN: Final = 300
"""Characters of a paragraph below which nobody is asked to say it shorter."""

_FENCE: Final = re.compile(r"(?m)^[ \t>]*(?:```|~~~)")
_KEPT: Final = ["\n", ".", "!", "?", ",", ":", ";", "not", "no", "never", "`", '"']
"""Tokens that the model is told to leave."""


def in_fewer_words(text: str, shrink: Shrink) -> str:
    """Return ``text`` with the paragraphs that ``shrink`` made shorter without losing anything that the gate checks."""
    return "\n\n".join(_shorten_paragraphs(text, shrink))


def lingua(directory: str | Path, *, rate: float = 0.6) -> Shrink:
    """Return a function that lets the LLMLingua-2 model in ``directory`` keep about ``rate`` of the tokens of a text.

    Downloads nothing. Raises ``ConfigError`` if the extra is not installed or the directory does not exist.
    """
    if not Path(directory).is_dir():
        raise ConfigError(f"no model in {directory}: it is no directory")
    try:
        from llmlingua import PromptCompressor
    except ImportError as error:
        raise ConfigError(f"LLMLingua is not installed: {install_hint('neural')}") from error
    compressor: Any = PromptCompressor(model_name=str(directory), use_llmlingua2=True, device_map="cpu")

    def shrink(text: str) -> str:
        told = compressor.compress_prompt(text, rate=rate, force_tokens=_KEPT, force_reserve_digit=True)
        return str(told["compressed_prompt"])

    return shrink


def _shorten_paragraphs(text: str, shrink: Shrink) -> Iterator[str]:
    inside = False
    for paragraph in text.split("\n\n"):
        fences = len(_FENCE.findall(paragraph))
        yield paragraph if inside or fences else _shorter(paragraph, shrink)
        inside ^= bool(fences % 2)


def _shorter(paragraph: str, shrink: Shrink) -> str:
    if len(paragraph) < PARAGRAPH_MIN:
        return paragraph
    told = shrink(paragraph)
    return told if len(told) < len(paragraph) and faithful(paragraph, told) else paragraph
