"""Stage "neural": shortens prose with an LLMLingua model (extra ``neural``) or any function, and checks the result.

Each paragraph is shortened and checked separately: one that lost a number, a name, a quotation or a negation, or that
was reworded, stays unchanged. The remaining words must be words of the text, in their order, because paraphrases cannot
be checked. Fenced code is not touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint

from .names import names
from .names import words as table

_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(
    r"(?:(?<![\w)\]])[-+−±~]\s?)?[$€£]?\d+(?:[.,:]\d+)*(?:\s?(?!(?:the|a|an|of|and|in|on|at|is|are|was|were)\b)[%\w°€$£]+)?"
)
_MARK: Final = re.compile(r"[<>=≤≥≠+*/^&|~%$€£#@\\{}\[\]]|!(?=[=\w])|(?<=\s)[-−–—](?=\s)|(?<!\w)-(?=\w)")
_CODE: Final = re.compile(r"(?m)^[ \t]*(?:```|~~~)[^\n]*$|^(?: {4}|\t)[^\n]*$")
_QUOTED: Final = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»")
_TURNING: Final = re.compile(
    r"(?i)\b(?:not|no|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|don't|doesn't|didn't|won't|can't"
    r"|isn't|aren't|wasn't|weren't|shouldn't|wouldn't|couldn't|mustn't|haven't|hasn't|hadn't|unless|except|instead|only"
    r"|rarely|hardly|barely|seldom|scarcely|almost|nearly|if|or|may|might|until|before|after|least|most|more|less|fewer"
    r"|must|nicht|kein|keine|nie|ohne|pas|jamais|sans|nunca|sin|não|sem|non|mai)\b|не\b|нет\b|никогда|[不没無没]"
)
_FENCES: Final = ("```", "~~~")
_LITTLE: Final = table(
    "the a an this that these those it its he she they we you i his her their our your my there here in on at of for"
    " and so then thus also as by with from to is are was were be been being has have had do does did will would well"
    " what which who how why when where please however therefore because since while each every both another other"
)
"""Words that often begin a sentence; when capitalised they are not taken for names."""


def is_faithful(before: str, after: str) -> bool:
    """Return whether ``after`` is ``before`` with words removed, and still has every number, name, quotation, negation
    and mark of ``before``, as often."""
    return (
        _is_in_order(before, after)
        and all(_count_matches(kind, before) == _count_matches(kind, after) for kind in (_NUMBER, _QUOTED, _TURNING))
        and all(kind.findall(before) == kind.findall(after) for kind in (_MARK, _CODE))
        and (before == after or not any(fence in before for fence in _FENCES))
        and names(before) == names(after)
        and _capitals(before) <= {word.casefold() for word in _WORD.findall(after)}
    )


def _is_in_order(before: str, after: str) -> bool:
    """Whether ``after`` consists of words of ``before`` in the same order, ignoring case: words may be missing, but
    none is new or moved."""
    left = iter(_WORD.findall(before.casefold()))
    return all(word in left for word in _WORD.findall(after.casefold()))


def _capitals(text: str) -> set[str]:
    """Return the words of a text that begin with a capital, in lower case, without those that often begin a
    sentence."""
    return {word.casefold() for word in _WORD.findall(text) if word[0].isupper()} - _LITTLE


def _count_matches(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(" ".join(found.lower().split()) for found in pattern.findall(text))


Shrink = Callable[[str], str]
"""A function that returns a text in fewer words, such as a model of the LLMLingua family."""

PARAGRAPH_MIN: Final = 300
"""Paragraphs with fewer characters are not shortened."""

_FENCE: Final = re.compile(r"(?m)^[ \t>]*(?:```|~~~)")
_FORCED_TOKENS: Final = ["\n", ".", "!", "?", ",", ":", ";", "not", "no", "never", "`", '"']
"""Tokens that the model must not remove."""


def in_fewer_words(text: str, shrink: Shrink) -> str:
    """Return ``text`` with its paragraphs shortened by ``shrink``. A paragraph stays as it is if it is short, contains
    or is in fenced code, or if ``shrink`` changed more than it may: only words may be removed, but no number, name,
    quotation or negation (``is_faithful``)."""
    return "\n\n".join(_shorten_paragraphs(text, shrink))


def lingua(directory: str | Path, *, rate: float = 0.6) -> Shrink:
    """Return a function for the stage "neural": it shortens a text with the LLMLingua-2 model in ``directory`` to about
    the share ``rate`` of its tokens.

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
        compressed = compressor.compress_prompt(text, rate=rate, force_tokens=_FORCED_TOKENS, force_reserve_digit=True)
        return str(compressed["compressed_prompt"])

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
    shortened = shrink(paragraph)
    return shortened if len(shortened) < len(paragraph) and is_faithful(paragraph, shortened) else paragraph
