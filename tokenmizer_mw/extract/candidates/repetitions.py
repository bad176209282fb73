"""Drop findings from an assistant's sentences that repeat a text which the assistant was given to read: such sentences
decide and plan nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.extract.dialogue.situation import Numbered
from tokenmizer_mw.extract.finding import SPOKEN, Finding
from tokenmizer_mw.extract.read.documents import find_documents
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.model.node import NodeType, Status

TEXT_MAX: Final = 100_000
"""Number of characters that are compared of each text that the assistant was given, such as a document or a tool
result."""

_RUN: Final = 3
"""How many words in a row are compared; of a shorter sentence, all its words."""

_SHARE: Final = 0.5
"""A sentence repeats a text if at least this share of its runs of words occur in it."""

_WORD: Final = re2.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]+|\p{N}+"
)
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_PLAIN: Final = "\u1100"
"""The first character of Hangul. Letters before it belong to scripts with spaces between words."""
_OPEN: Final = frozenset({Status.PENDING, Status.IN_PROGRESS})


def drop_repeated(findings: Sequence[Finding], text: str, before: Sequence[Numbered]) -> list[Finding]:
    """Return the ``findings`` in an assistant's ``text``, without decisions, goals, versions and open tasks from
    sentences that repeat what the assistant was given to read.

    That is: documents, quotations and code in the user's last message, and tool results since then. ``before``: the
    messages before, oldest first.
    """
    if not any(map(_is_word, findings)):
        return list(findings)
    given = [one[:TEXT_MAX] for one in _read_before(before) if one]
    return [
        finding for finding in findings if not (given and _is_word(finding) and _is_repetition(finding, text, given))
    ]


def _read_before(before: Sequence[Numbered]) -> Iterator[str]:
    """Iterate over the texts that the assistant was given to read."""
    for _, message in reversed(before):
        yield from (result.text for result in message.tool_results)
        if message.opens_turn:
            yield _documents_of(message.text[:TEXT_MAX])
            return


def _is_word(finding: Finding) -> bool:
    decides = finding.type in (NodeType.DECISION, NodeType.GOAL, NodeType.ENVIRONMENT)
    return decides or (finding.type is NodeType.TASK and finding.status in _OPEN)


def _is_repetition(finding: Finding, text: str, given: Sequence[str]) -> bool:
    said = text[slice(*finding.span)] if finding.span is not None else finding.quote
    words = _words(said.casefold())
    size = min(len(words), _RUN)  # a sentence of fewer words, such as a heading, is repeated as a whole
    own = _hash_runs(words, size)
    known = [_hash_runs_in(one, size) for one in given] if own else []
    return bool(own) and sum(any(run in one for one in known) for run in own) >= _SHARE * len(own)


@lru_cache(maxsize=4)
def _documents_of(text: str) -> str:
    parts = [text[start:end] for start, end in find_documents(text)]
    parts += [one.text for one in segment(text) if one.kind not in SPOKEN]
    return "\n".join(parts)


@lru_cache(maxsize=8)
def _hash_runs_in(text: str, size: int) -> frozenset[int]:
    return frozenset(_hash_runs(_words(text.casefold()), size))


def _words(folded: str) -> list[str]:
    # in other scripts signs are words: RE2 knows them, and takes thirty times as long
    return (_PLAIN_WORD if all(map(_is_plain, set(folded))) else _WORD).findall(folded)


def _is_plain(sign: str) -> bool:
    """Whether a character is a letter or a digit of a script with spaces, or no letter at all."""
    return (sign < _PLAIN and sign.isdecimal() == sign.isnumeric()) or not sign.isalnum()


def _hash_runs(words: Sequence[str], size: int) -> list[int]:
    """A hash of each run of ``size`` consecutive words."""
    return list(map(hash, zip(*(islice(words, at, None) for at in range(size)), strict=False)))
