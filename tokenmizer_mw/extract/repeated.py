"""Sentences of an assistant that repeat what it was given to read: they decide nothing and plan nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import re2

from tokenmizer_mw.model.node import NodeType, Status

from .documents import find_documents
from .finding import SPOKEN, Finding
from .segment import segment
from .situation import Numbered

TEXT_MAX: Final = 100_000
"""Characters of one document, and of all results of tools, that are compared."""

_RUN: Final = 3
"""Words in a row that are compared; all of a sentence that has fewer."""

_SHARE: Final = 0.5
"""Share of a sentence's runs of words that makes it a repetition."""

_WORD: Final = re2.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]+|\p{N}+"
)
_ASCII_WORD: Final = re.compile("[a-z]+|[0-9]+")
_OPEN: Final = frozenset({Status.PENDING, Status.IN_PROGRESS})


def without_repeated(findings: Sequence[Finding], text: str, before: Sequence[Numbered]) -> list[Finding]:
    """``findings`` in an assistant's ``text`` without those of decisions, goals and open work in sentences that repeat
    what it was given to read in the messages ``before``, the last of which is the newest: documents, quotations and
    code of the user's last message, and results of tools since."""
    if not any(map(_is_word, findings)):
        return list(findings)
    runs = _repeatable(before)
    return [finding for finding in findings if not (runs and _is_word(finding) and _repeats(finding, text, runs))]


def _repeatable(before: Sequence[Numbered]) -> frozenset[int]:
    """The runs of words of what was to be read."""
    texts: list[str] = []
    for _, message in reversed(before):
        texts += [result.text for result in message.tool_results]
        if message.opens_turn:
            texts.append(_documents_of(message.text[:TEXT_MAX]))
            break
    sizes = range(1, _RUN + 1)  # a sentence of fewer words, such as a heading, is repeated as a whole
    words = [_words(text[:TEXT_MAX].casefold()) for text in texts if text]
    return frozenset(chain.from_iterable(_runs(one, size) for one in words for size in sizes))


def _is_word(finding: Finding) -> bool:
    decides = finding.type in (NodeType.DECISION, NodeType.GOAL, NodeType.ENVIRONMENT)
    return decides or (finding.type is NodeType.TASK and finding.status in _OPEN)


def _repeats(finding: Finding, text: str, runs: frozenset[int]) -> bool:
    said = text[slice(*finding.span)] if finding.span is not None else finding.quote
    own = _runs(_words(said.casefold()), _RUN)
    return bool(own) and sum(run in runs for run in own) >= _SHARE * len(own)


@lru_cache(maxsize=4)
def _documents_of(text: str) -> str:
    parts = [text[start:end] for start, end in find_documents(text)]
    parts += [one.text for one in segment(text) if one.kind not in SPOKEN]
    return "\n".join(parts)


@lru_cache(maxsize=4)
def _words(folded: str) -> list[str]:
    # in other scripts signs are words, and letters are many: RE2 knows them, and takes thirty times as long
    return _ASCII_WORD.findall(folded) if folded.isascii() else _WORD.findall(folded)


def _runs(words: Sequence[str], size: int) -> list[int]:
    """A number for each run of ``size`` words; of all words where they are fewer."""
    if len(words) <= size:
        return [hash(tuple(words))] if words else []
    return list(map(hash, zip(*(islice(words, at, None) for at in range(size)), strict=False)))
