"""Check a model's handover (a prose summary of a session) sentence by sentence, and drop the sentences that the session
does not support.

A sentence is dropped when it contains a name, a path or a number that occurs nowhere in the session, when its words are
not those of the session, or when it reads like an instruction to a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from tokenmizer_mw.context.resume.sentences import words_of
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.safety.guard import suspicion
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import Numbered

HANDOVER_MAX: Final = 4_000
"""Most characters of a handover that are read: twice as many as the model is asked for."""

SENTENCE_MAX: Final = 600
"""Longest sentence of a handover, in characters. Longer ones are dropped."""

BORNE_OUT_LEAST: Final = 0.5
"""Smallest share of a handover's sentences that the session must support. With fewer, the whole handover is dropped."""

KNOWN_LEAST: Final = 0.25
"""Smallest share of a sentence's words that must occur in the session, compared without the endings of long words."""

_NAMES_MOST: Final = 0.1
"""Share of capitalized words in a text from which on a capital letter is no sign of a name, as in German."""

_END: Final = re2.compile("[.!?]+[)\\]\"'\u201d\u2019`]*\\s+|[\u3002\uff01\uff1f\u0964]+[\u300d\u201d]*\\s*|\n+")
_TOKEN: Final = re2.compile(r"[\w.@:/\\~#$%*+-]*\w[\w.@:/\\~#$%*+-]*")
_NUMBER: Final = re2.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_MARKED: Final = re2.compile(r"[A-Za-z0-9](?:[./\\_@:]+|[a-z][A-Z])[A-Za-z0-9]|^[~./\\@$]+[A-Za-z]|^[A-Z][A-Z0-9_]+$")
_STROKE: Final = re2.compile(r"[/-]")
_LATIN: Final = re2.compile(r"[A-Za-z]*")
_PLACED: Final = re.compile(r"\\+")  # RE2 takes microseconds for each match, this tenths of one
_STEM: Final = 5
"""Letters by which longer words are compared, because many languages change the rest."""

_MEMBER_LEAST: Final = 5
"""Fewest letters of a class member's name: shorter ones after a dot are file extensions."""

_ORDINARY: Final = frozenset({"api", "ci", "cli", "http", "id", "json", "ok", "os", "pr", "sql", "ui", "url"})
"""Abbreviations that are not names of anything in a project."""

_OUTER: Final = ".,:;*+#-'\u2019"
_INITIAL: Final = "\"'`(\u201c\u00ab"


@dataclass(frozen=True, slots=True)
class GroundedHandover:
    """The ``sentences`` of a handover that the session supports, and the number of ``dropped`` ones."""

    sentences: tuple[str, ...]
    dropped: int


def ground_handover(
    text: str,
    messages: Sequence[Numbered],
    *,
    flagged: Collection[int] = (),
    known: Iterable[str] = (),
    breaks_off: bool = False,
) -> GroundedHandover:
    """Return the sentences of ``text``, a model's handover, that ``messages`` support, each on one line. Sentences that
    read like instructions to a model are dropped.

    - ``flagged``: numbers of messages that read like an attempt to take over a model; they support nothing.
    - ``known``: further texts that the model was given, and that support sentences as messages do.
    - ``breaks_off``: true if the end of ``text`` is missing. The last, incomplete sentence is then dropped; also if
      ``text`` is longer than ``HANDOVER_MAX``.

    If fewer than half of the sentences remain (``BORNE_OUT_LEAST``), all are dropped. Linear time.
    """
    sentences = list(split_sentences(text[:HANDOVER_MAX]))
    whole = sentences if len(text) <= HANDOVER_MAX and not breaks_off else sentences[:-1]
    source = _Source([*(part for number, message in messages if number not in flagged for part in _texts(message))])
    source.add(known)
    capitals = _capitals(whole)
    supported = [one for one in whole if len(one) <= SENTENCE_MAX and source.holds(one, names=capitals < _NAMES_MOST)]
    lines = [line for one in supported if (line := flatten(one, SENTENCE_MAX)) and not suspicion(one).flagged]
    lines = list(dict.fromkeys(lines)) if len(lines) >= BORNE_OUT_LEAST * len(sentences) else []
    return GroundedHandover(tuple(lines), len(sentences) - len(lines))


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in order, without surrounding white space. A sentence ends at a line break or at a
    mark such as "." or "?", but not at a mark before a lower-case letter, which ends an abbreviation."""
    start = 0
    for match in _END.finditer(text):
        following = text[match.end() : match.end() + 1]
        if "\n" not in match.group() and following.islower():
            continue  # the dot of an abbreviation
        if sentence := text[start : match.end()].strip():
            yield sentence
        start = match.end()
    if sentence := text[start:].strip():
        yield sentence


def _texts(message: Message) -> Iterator[str]:
    yield message.text
    for call in message.tool_calls:
        yield from (call.name, call.arguments)
    yield from (result.text for result in message.tool_results)


class _Source:
    """The texts of a session, in which words, names and numbers are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = ""
        self._words: set[str] = set()
        self._numbers: set[str] = set()
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Add texts that support sentences."""
        found = _plain("\n".join(texts))
        self._text += found + "\n"
        self._words |= _stems(found)
        self._numbers.update(_bare(number) for number in _NUMBER.findall(found))

    def holds(self, sentence: str, *, names: bool) -> bool:
        """Whether the texts contain all names, paths and numbers of ``sentence``, and at least a quarter of its words
        (``KNOWN_LEAST``). ``names``: whether capitalized words, except for the first one, count as names."""
        words = _stems(_plain(sentence))
        if not words or len(words & self._words) < KNOWN_LEAST * len(words):
            return False
        if not all(_bare(number) in self._numbers for number in _NUMBER.findall(_plain(sentence))):
            return False
        if not all(map(self._has, _find_marked_names(sentence))):
            return False
        return not names or all(word in self._text for word in _find_capitalized_names(sentence))

    def _has(self, token: str) -> bool:
        """Whether the texts contain a name of code. Of "Queue._take" the class and the member may stand apart, and so
        may the parts of "esc/del"."""
        if token in self._text or token in _ORDINARY:
            return True
        owner, _, member = token.partition(".")
        if min(len(owner), len(member)) >= _MEMBER_LEAST and owner in self._text and member in self._text:
            return True
        parts = _STROKE.split(token)
        return len(parts) > 1 and "." not in token and all(part and part in self._text for part in parts)


def _plain(text: str) -> str:
    """Return a text in the form in which texts are compared: Unicode form NFKC, lower case, one kind of slash."""
    return _PLACED.sub("/", unicodedata.normalize("NFKC", text)).casefold()


def _stems(text: str) -> frozenset[str]:
    """Return the distinct words of a text, of longer ones only the first ``_STEM`` letters."""
    return frozenset(word[:_STEM] for word in words_of(text) if word)


def _bare(number: str) -> str:
    return number.replace(",", "").replace(".", "")


def _find_marked_names(sentence: str) -> Iterator[str]:
    """Yield the names of code, paths and addresses in a sentence, in the form in which they are compared."""
    for token in _TOKEN.findall(sentence):
        bare = token.strip(_OUTER)
        if _MARKED.search(bare) and not _NUMBER.fullmatch(bare):
            yield _plain(bare)


def _find_capitalized_names(sentence: str) -> Iterator[str]:
    """Yield the words of a sentence that have a capital, without the first word, in the form in which they are
    compared."""
    before = ""
    for word in sentence.split():
        bare = word.strip(_OUTER + _INITIAL + ")]}\u201d\u00bb!?")
        if before and before[-1] not in ':.!?\u2014"(' and word[:1] not in _INITIAL and _is_name(bare):
            yield _plain(_LATIN.findall(bare)[0] or bare)
        before = word


def _is_name(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word[0].isupper() and word[1:].islower()


def _capitals(sentences: Iterable[str]) -> float:
    """Return the share of capitalized words among those that do not begin a sentence."""
    words = [word for one in sentences for word in one.split()[1:] if word.isalpha()]
    return sum(map(_is_name, words)) / len(words) if words else 0.0
