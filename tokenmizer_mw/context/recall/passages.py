"""Split a message into passages (paragraphs; short ones are joined, long ones split between sentences or lines), and
texts in any language into search terms.

A term is a case-folded word (NFKC), the beginning of a longer word, a part of a compound identifier, or two adjacent
characters of a script that is written without spaces. Because of word beginnings, inflected forms match each other;
this replaces stemming and works in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.text import ASKING, words
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.wire.host_texts import without_host_texts

PREFIX_CHARACTERS: Final = 4
"""Words with more characters than this can also be found by this many of their first characters."""

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean characters."""
_HUMP: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def index_terms(text: str) -> list[str]:
    """Return the search terms of ``text``, with repetitions.

    A term is a casefolded word. A word of letters with more than four also gives its first four with a star: "postgres"
    gives "postgres" and "post*". An identifier such as "LocalDebugButtons" also gives its parts. Text in a script
    without spaces, such as Chinese, gives pairs of adjacent characters.
    """
    found: list[str] = []
    spoken = text if text.isascii() else unicodedata.normalize("NFKC", text)
    for raw in _WORD.findall(spoken):
        word = raw.casefold()
        if not word.isascii() and _UNSPACED.search(word):
            found += _bigrams(word)
            continue
        found.append(word)
        if len(word) > PREFIX_CHARACTERS and word.isalpha():
            found.append(word[:PREFIX_CHARACTERS] + "*")
        if raw != word and not raw.istitle() and not raw.isupper():
            found += _humps(raw)
    return found


def is_function_word(term: str) -> bool:
    """Whether ``term``, as ``index_terms`` returns it, is a common word of English questions, such as "what" or "the",
    or the starred beginning of one, such as "whic*"."""
    return term in _FUNCTION_TERMS or (term.isascii() and term.isalpha() and not words(term))


_FUNCTION_TERMS: Final = ASKING | {f"{word[:PREFIX_CHARACTERS]}*" for word in ASKING if len(word) > PREFIX_CHARACTERS}


def _bigrams(word: str) -> Iterator[str]:
    """Yield each pair of adjacent characters of a script without spaces ("東京都" gives "東京" and "京都"), a single
    such character alone, and the parts in other scripts between them."""
    start = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > start:
            yield word[start : run.start()]
        characters = run.group()
        yield from (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
        start = run.end()
    if start < len(word):
        yield word[start:]


def _humps(word: str) -> list[str]:
    """Return the parts of an identifier in lower case, and the starred beginnings of long ones: "LocalDebug" gives
    "local", "debug", "loca*" and "debu*". ``[]`` for a word of one part."""
    parts = [part.lower() for part in _HUMP.findall(word)]
    longer = [part[:PREFIX_CHARACTERS] + "*" for part in parts if len(part) > PREFIX_CHARACTERS and part.isalpha()]
    return parts + longer if len(parts) > 1 else []


PASSAGE_CHARACTERS: Final = 800
"""Longest passage, in characters."""

_SHORT: Final = 120
"""A paragraph with fewer characters is joined with the next one, because headings, introductions and single words tell
nothing by themselves."""

_END: Final = re.compile(r"[.!?](?=\s)|[。！？\n]")
_FENCES: Final = ("```", "~~~")
_RULE: Final = frozenset("|-: \t+")

Span = tuple[int, int]
"""Start and end of a part of a text: indexes of its first character, and of the one after its last."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message's text, ``[start, end)``. ``head``: for a part from inside a table or a code block, the first
    lines of that table or block; ``None`` if the part begins with them or needs none."""

    start: int
    end: int
    head: Span | None = None


def message_text(message: Message) -> str:
    """Return the text, tool calls and tool results of a message as one text, without thinking and texts inserted by
    client applications."""
    message = without_host_texts(message)
    parts = [message.text]
    parts += [f"{call.name} {call.arguments}" for call in message.tool_calls]
    parts += [result.text for result in message.tool_results]
    return "\n\n".join(part for part in parts if part)


def split_passages(text: str) -> Iterator[Passage]:
    """Split ``text`` into passages, in order; each has at most ``PASSAGE_CHARACTERS`` characters."""
    for start, end, head in _join_short_paragraphs(text):
        if end - start <= PASSAGE_CHARACTERS:
            yield Passage(start, end, head)
            continue
        own = head or _head_of(text, start, end)
        for at, (low, high) in enumerate(_pieces(text, start, end)):
            yield Passage(low, high, head if at == 0 else own)


_Paragraph = tuple[int, int, Span | None]


def _join_short_paragraphs(text: str) -> Iterator[_Paragraph]:
    """Yield the paragraphs of ``text`` in order. One with fewer than ``_SHORT`` characters is joined with the next ones
    as long as the whole is at most ``PASSAGE_CHARACTERS`` long. Each comes as start, end and head (``Passage``)."""
    waiting: _Paragraph | None = None
    for start, end, head in _paragraphs(text):
        if waiting is None:
            waiting = (start, end, head)
        elif waiting[1] - waiting[0] < _SHORT and end - waiting[0] <= PASSAGE_CHARACTERS:
            waiting = (waiting[0], end, waiting[2])
        else:
            yield waiting
            waiting = (start, end, head)
    if waiting is not None:
        yield waiting


def _paragraphs(text: str) -> Iterator[_Paragraph]:
    """Yield the parts of ``text`` between blank lines, in order, each as its start, its end, and its head: for a part
    that begins inside a code block, where the line that opens the block is; else ``None``."""
    start, at = -1, 0
    fence: Span | None = None
    inside = False
    head: Span | None = None
    for line in text.split("\n"):
        end = at + len(line)
        if not line.strip():
            if start >= 0:
                yield start, at - 1, head
            start = -1
        elif start < 0:
            start, head = at, fence if inside else None
        if line.lstrip().startswith(_FENCES):
            inside = not inside
            fence = (at, end)
        at = end + 1
    if start >= 0:
        yield start, len(text), head


def _head_of(text: str, start: int, end: int) -> Span | None:
    """Return where the first two lines are of the Markdown table or the fenced code block that begins at ``start``;
    ``None`` if neither begins there. ``end``: where the paragraph ends."""
    first = _line_end(text, start, end)
    if text.startswith(_FENCES, start):
        return start, _line_end(text, first + 1, end)
    second = _line_end(text, first + 1, end)
    rule = text[first + 1 : second]
    if "|" in text[start:first] and "-" in rule and set(rule) <= _RULE:
        return start, second
    return None


def _line_end(text: str, start: int, end: int) -> int:
    found = text.find("\n", start, end)
    return end if found < 0 else found


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the paragraph from ``start`` to ``end`` in pieces of at most ``PASSAGE_CHARACTERS`` characters. A piece
    ends with a sentence or a line if possible, else at a space, else anywhere."""
    while end - start > PASSAGE_CHARACTERS:
        stop = 0
        for found in _END.finditer(text, start, start + PASSAGE_CHARACTERS):
            stop = found.end()
        if stop <= start + _SHORT:
            space = text.rfind(" ", start + _SHORT, start + PASSAGE_CHARACTERS)
            stop = space + 1 if space > 0 else start + PASSAGE_CHARACTERS
        yield start, stop
        start = stop
    if text[start:end].strip():
        yield start, end
