"""Sentences of an assistant that repeat what it was given to read: they decide nothing and plan nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
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
_OPEN: Final = frozenset({Status.PENDING, Status.IN_PROGRESS})


def repeatable(before: Sequence[Numbered]) -> frozenset[int]:
    """The runs of words of what the assistant was given to read in the messages ``before`` its own, the last of which
    is the newest: documents, quotations and code of the user's last message, and results of tools since."""
    texts: list[str] = []
    for _, message in reversed(before):
        texts += [result.text for result in message.tool_results]
        if message.opens_turn:
            texts.append(_documents_of(message.text[:TEXT_MAX]))
            break
    sizes = range(1, _RUN + 1)  # a sentence of fewer words, such as a heading, is repeated as a whole
    return frozenset(chain.from_iterable(_runs(text[:TEXT_MAX], size) for text in texts if text for size in sizes))


def without_repeated(findings: Iterable[Finding], text: str, runs: frozenset[int]) -> list[Finding]:
    """``findings`` without those of decisions, goals and open work in sentences that repeat ``runs``."""
    return [finding for finding in findings if not (runs and _is_word(finding) and _repeats(finding, text, runs))]


def _is_word(finding: Finding) -> bool:
    decides = finding.type in (NodeType.DECISION, NodeType.GOAL, NodeType.ENVIRONMENT)
    return decides or (finding.type is NodeType.TASK and finding.status in _OPEN)


def _repeats(finding: Finding, text: str, runs: frozenset[int]) -> bool:
    said = text[slice(*finding.span)] if finding.span is not None else finding.quote
    own = _runs(said, _RUN)
    return bool(own) and sum(run in runs for run in own) >= _SHARE * len(own)


@lru_cache(maxsize=4)
def _documents_of(text: str) -> str:
    parts = [text[start:end] for start, end in find_documents(text)]
    parts += [one.text for one in segment(text) if one.kind not in SPOKEN]
    return "\n".join(parts)


@lru_cache(maxsize=8)
def _runs(text: str, size: int) -> tuple[int, ...]:
    """A number for each run of ``size`` words of a text; of all words where they are fewer."""
    words = _WORD.findall(text.casefold())
    return tuple(hash(tuple(words[at : at + size])) for at in range(max(1, len(words) - size + 1))) if words else ()
