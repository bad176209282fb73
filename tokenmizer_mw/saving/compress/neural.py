"""Prose in fewer words, by a model of the LLMLingua family (the extra ``neural``) or by any function.

Each paragraph is handed over by itself and goes through the gate by itself: one that lost a number, a name, a quotation
or a negation, or that says it in other words, stays as it was. Code in fences is handed to nobody.
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
    """``text`` with its paragraphs as ``shrink`` says them, where that is shorter and lost nothing that counts."""
    return "\n\n".join(_told(text, shrink))


def lingua(directory: str | Path, *, rate: float = 0.6) -> Shrink:
    """A function that asks an LLMLingua-2 model in ``directory`` to leave about ``rate`` of the tokens of a text.

    Nothing is downloaded. Raises ``ConfigError`` when the extra is not installed, and when the directory is not there.
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


def _told(text: str, shrink: Shrink) -> Iterator[str]:
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
