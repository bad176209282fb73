"""Split texts into the parts that a resume block may quote: sentences, lines of lists and of code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .announcements import announces

SENTENCE_MAX: Final = 300
"""Longest part that is quoted, in characters."""

UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
"""A run of signs of a script that has no spaces, or is read like one."""

_PLACEHOLDERS: Final = frozenset({"()", "[]", "<>", "\uff08\uff09", "\u3010\u3011"})
"""First and last sign of a line that stands for something that is not text: "[interrupted by user]"."""

_LETTERS_MIN: Final = 16
_SIGNS_MIN: Final = 6
"""Shortest part that is quoted, in letters, and in signs of a script without spaces."""

_FRAGMENT: Final = 24
_JOINED_MAX: Final = 100
_SIGN_LETTERS: Final = 4
_STATEMENT_MIN: Final = 40
"""Length below which a sentence is a fragment; that of fragments joined; letters that a sign of a script without spaces
counts as; shortest statement that stands without the question behind it. Set on development data."""

# These patterns are linear: classes of characters and single words, one behind the other.
_END: Final = re.compile(r"(?<=[.!?:])\s+|(?<=[。！？；：])|(?<=\u0964)\s*")
_INNER_END: Final = re.compile(r"[.!?:]\s|[。！？；：\u0964]")
_REQUEST: Final = re.compile(
    r"(?i), (?:(?:and|so|but|or) )?(?:(?:can|could|would|will|do|does|is|are|should) (?:you|we|i|it|this|that|there)\b"
    r"|(?:how|what|what's|which|where|when|why|who)\b"
    r"|(?:kannst|können|könntest|könnten|peux|pouvez|pourriez|podrías|puedes|puede|pode|poderia|você pode)\b"
    r"|(?:wie|was|welche[rs]?|comment|quel(?:le)?s?|cómo|qué|cuál|como|qual|можешь|можете|как|какой|какая)\b)"
)
"""Where a question begins behind what is stated in the same sentence."""


def split_parts(text: str, *, person: bool) -> Iterator[tuple[str, bool]]:
    """The parts of ``text`` in order, and of each whether it stands in a code block. Short sentences of one line stay
    together, and what a colon introduces stays with it. ``person``: the user wrote it; of a sentence that states
    something and then asks, only the statement is told."""
    code = False
    for line in map(str.strip, text.split("\n")):
        if line.startswith("```"):
            code = not code
        elif code:
            yield from ((line, True),) if _is_long_enough(line) else ()
        elif line:
            parts = [state_before_question(part) if person else part for part in _sentences(line)]
            yield from ((part, False) for part in join_fragments(parts) if _is_long_enough(part))


def state_before_question(sentence: str) -> str:
    """A sentence without the question at its end, where it states something before; else the whole sentence."""
    if not sentence.endswith("?"):
        return sentence
    found = _REQUEST.search(sentence, _STATEMENT_MIN)
    return sentence[: found.start()] if found else sentence


def join_fragments(parts: Iterable[str]) -> Iterator[str]:
    """``parts`` of one line, short ones and introductions joined with what follows them, save what announces the next
    step: it is worth less than what stands before it."""
    waiting = ""
    for part in parts:
        if waiting and _belong_together(waiting, part) and not announces(part):
            waiting = f"{waiting} {part}"
            continue
        if waiting:
            yield waiting
        waiting = part
    if waiting:
        yield waiting


def _belong_together(before: str, part: str) -> bool:
    sizes = _size(before), _size(part)
    return (min(sizes) < _FRAGMENT or before[-1] in ":\uff1a") and sum(sizes) <= _JOINED_MAX


def _size(part: str) -> int:
    """The length of a part in letters; a sign of a script without spaces counts as several."""
    return len(part) * (_SIGN_LETTERS if UNSPACED.search(part) else 1)


def _sentences(line: str) -> Iterator[str]:
    if _INNER_END.search(line) is None:
        return iter((line,))
    return filter(None, map(str.strip, _END.split(line)))


def _is_long_enough(part: str) -> bool:
    if part[:1] + part[-1:] in _PLACEHOLDERS:
        return False
    if not part.isascii() and UNSPACED.search(part):
        return _SIGNS_MIN <= len(part) <= SENTENCE_MAX
    return _LETTERS_MIN <= len(part) <= SENTENCE_MAX
