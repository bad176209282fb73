"""Reads passwords that consist of words and that a sentence or a label states.

Sentences about passwords look the same: "the password is 'too short'", "the password is hashed on the server". Lists of
a language's words tell them apart: a password has no articles, prepositions and the like, and nothing of what is said
of passwords. Without quotes it has four words, hyphens between its words, or "my password:" in front of it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan, refusal
from tokenmizer_mw.safety.redact.judge import is_placeholder, stands_in
from tokenmizer_mw.safety.redact.pattern import ByteMatch, compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import (
    CHANGES,
    COMPOUNDS,
    LANGUAGES,
    PREFIXES,
    STATED,
    PasswordLanguage,
)

STATED_MAX: Final = 256
"""Bytes of a name and what states its value."""

VALUE_MAX: Final = 120
"""Bytes in which a value ends."""

QUOTED_MIN: Final = 5
QUOTED_MAX: Final = 60
"""Characters of a value in quotes."""

WORDS_MIN: Final = 4
PHRASE_MIN: Final = 3
"""Words of a value without quotes; of a passphrase."""

WORDS_MAX: Final = 8
LABELLED_MIN: Final = 6
"""Letters of the one word that stands behind "my password:"."""

_BEFORE: Final = 64
_DECORATION_MAX: Final = 2
_STATED: Final = compile_pattern(STATED)
_CHANGES: Final = compile_pattern(CHANGES)
_NAME, _COLON, _VERB, _QUOTE = 1, 2, 3, 4
_CLOSING: Final = {"“": "”“", "„": "“”", "‘": "’", "‹": "›", "«": "»", "「": "」"}
_AROUND_QUOTES: Final = "\\ \xa0\u202f"
_WORD: Final = r"[^\W\d_]+"
_TOKEN: Final = rf"{_WORD}(?:-{_WORD})*"
_RUN: Final = re.compile(rf"{_TOKEN}(?: {_TOKEN}){{0,11}}")
_COMPOUND: Final = re.compile(rf"{_WORD}(?:-{_WORD}){{1,5}}")
_PARTS: Final = re.compile(_WORD)
_PHRASE: Final = re.compile(r"[^\W_][^{}<>$%=/\\_|@#]*")
_NEAR_MAX: Final = 3
_ENDS: Final = re.compile(r"[ \t]*(?:[,;:!?)\]}\"'`*»”“’|]|\\|$)|[.!](?:\s|$|[)\]\"'`*»”“’\\])")
_ALONE: Final = re.compile(r"[.!]?[ \t]*(?:\\|$)")
_GLUED: Final = ("passwort", "kennwort", "wachtwoord", "wachtzin")
"""Names that words are put together with."""

_NETWORKS: Final = frozenset(("wifi", "wi", "wlan", "router", "hotspot", "vpn"))
_PHRASES: Final = ("passphrase", "pass phrase", "phrase secrète", "phrase de passe", "wachtzin", "parola d'ordine")
COMPOUND_MIN: Final = 7
"""Characters of words with hyphens between them."""

_ABBREVIATED: Final = ("pass", "pw", "pwd", "clave")
"""Names that mean something else as well."""

_TAKEN: Final = frozenset("_.$@/\\=<{[(&#")
"""What stands before a name in code."""


class _Lexicon(NamedTuple):
    """The words of the languages that a sentence may be in."""

    mine: frozenset[str]
    generic: frozenset[str]
    links: frozenset[str]
    predicates: frozenset[str]
    ending: re.Pattern[str]
    is_listed: bool

    def is_predicate(self, word: str) -> bool:
        """Return whether a word says something of a password, by itself or by its end."""
        return word in self.predicates or self.has_ending(word)

    def has_ending(self, word: str) -> bool:
        """Return whether a word ends like those that say how something is."""
        return self.ending.search(word) is not None

    def is_content(self, word: str) -> bool:
        """Return whether a word links nothing and says nothing of a password."""
        return word not in self.links and not self.is_predicate(word)


def read_passphrase(text: bytes, start: int) -> PlaceReading:
    """Read the value of the password that is named at ``start``, if it consists of words."""
    onward = start + 3
    match = _STATED.match(text, start, min(len(text), start + STATED_MAX))
    if match is None:
        return refusal("password", start, onward, "nothing is stated", onward)
    first = match.end()
    statement = _read_statement(text, match, start)
    if statement is None:
        return refusal("password", start, onward, "speaks of no certain password", onward)
    line = _line_behind(text, first)
    quote = match.group(_QUOTE)
    size = _measure_quoted(line, _decode(quote), statement) if quote else _measure_bare(line, statement)
    value = line[:size]
    end = first + len(_encode(value))
    if not size or (value.isascii() and (is_placeholder(value) or stands_in(value))):
        return refusal("password", first, max(first, end), "reads like words", onward)
    span = SecretSpan("password", first, end, f"{statement.name!r} states it", FindingRank.NAMED, statement.name)
    return PlaceReading(end, (span,))


class _Statement(NamedTuple):
    """What is in front of a value: a name, the words of its language, whether somebody calls it theirs, a verb ("" for
    a colon), and whether that verb is a motion."""

    name: str
    lexicon: _Lexicon
    is_mine: bool
    verb: str
    moves: bool


def _read_statement(text: bytes, match: ByteMatch, start: int) -> _Statement | None:
    """What states a value at ``start``; ``None`` for code, and for sentences about passwords in general."""
    name, verb = _decode(match.group(_NAME)), " ".join(_decode(match.group(_VERB)).lower().split())
    before = _decode(text[max(0, start - _BEFORE) : start]).rpartition("\n")[2].rpartition("\\n")[2]
    if not _is_prose(before, name.lower()):
        return None
    lexicon = _find_lexicon(name.lower(), verb)
    moves = _is_motion(verb)
    if lexicon is None or (moves and not _is_changed(text, start, match.end())):
        return None
    near = _last_words(before)
    if lexicon.generic.intersection(near):
        return None
    is_mine = bool(lexicon.mine.union(_NETWORKS).intersection(near))
    if name.lower() in _ABBREVIATED and not is_mine:
        return None
    has_purpose = match.span(_COLON)[0] - match.end(_NAME) > _DECORATION_MAX
    is_label = has_purpose or (name[:1].isupper() and not match.group(_QUOTE)) or not name.isascii()
    is_certain = verb or near or is_mine or is_label
    return _Statement(name, lexicon, is_mine, verb, moves) if is_certain else None


def _is_prose(before: str, name: str) -> bool:
    """Whether a name behind ``before`` is a word of a sentence, and no part of code."""
    if not before:
        return True
    last, rest = before[-1], before[:-1]
    if last.isalpha():
        return name in _GLUED
    if last == "-":
        return rest[-1:].isalpha()
    return not (last in _TAKEN or last.isdigit() or last in "\"'" or before.rstrip().endswith(("param", "@")))


def _last_words(before: str) -> list[str]:
    """The last words of a sentence in front of a name, the nearest first."""
    tokens = before.split()[-_NEAR_MAX:]
    if tokens and not before[-1].isspace():
        tokens[-1] = tokens[-1].rstrip("-") if before[-1] == "-" else ""  # "WLAN-Passwort", "Adminpasswort"
    near: list[str] = []
    for token in reversed(tokens):
        if token and not (token[0].isalpha() and token[-1].isalnum()):
            break
        near += token.lower().split("-") if token else []
    return near


@lru_cache(maxsize=256)
def _is_motion(verb: str) -> bool:
    return any(re.fullmatch(language.motions, verb) for language in LANGUAGES)


def _is_changed(text: bytes, start: int, end: int) -> bool:
    """Whether a verb of change stands near ``[start, end)``, in the same line."""
    before = text[max(0, start - _BEFORE) : start].rpartition(b"\n")[2]
    behind = text[end : end + _BEFORE].partition(b"\n")[0]
    return _CHANGES.first(before, 0, len(before)) >= 0 or _CHANGES.first(behind, 0, len(behind)) >= 0


@lru_cache(maxsize=256)
def _find_lexicon(name: str, verb: str) -> _Lexicon | None:
    """The words of the languages that have this name and this verb ("" for a colon); ``None`` for none."""
    spoken = [language for language in LANGUAGES if not verb or _has_verb(language, verb)]
    named = [language for language in spoken if name in language.names]
    found = named or spoken
    if not found:
        return None
    endings = "|".join(language.endings for language in found)
    return _Lexicon(
        frozenset(word for language in found for word in language.mine),
        frozenset(word for language in found for word in language.generic),
        frozenset(word for language in found for word in language.links),
        frozenset(word for language in found for word in language.predicates),
        re.compile(rf"(?:{endings})$"),
        all(language.is_listed for language in found),
    )


def _has_verb(language: PasswordLanguage, verb: str) -> bool:
    return re.fullmatch(f"{language.copulas}|{language.motions}", verb) is not None


def _line_behind(text: bytes, first: int) -> str:
    """The rest of a line from ``first`` on, as far as a value may reach."""
    line = text[first : first + VALUE_MAX].partition(b"\n")[0].partition(b"\\n")[0]
    return _decode(line).rstrip("\r")


def _measure_quoted(line: str, quote: str, statement: _Statement) -> int:
    """The length of the value that stands in quotes at the beginning of ``line``; 0 for none."""
    mark = quote.strip(_AROUND_QUOTES)
    closing = _CLOSING.get(mark, mark)
    end = next((place for place, char in enumerate(line) if char in closing and _closes(line, place)), -1)
    value = line[:end].rstrip(_AROUND_QUOTES) if end > 0 else ""
    if not QUOTED_MIN <= len(value) <= QUOTED_MAX or not _PHRASE.fullmatch(value):
        return 0
    lexicon, tokens, parts = statement.lexicon, value.lower().split(), _PARTS.findall(value.lower())
    if len(tokens) == 1:
        fits = _is_compound(value, lexicon) if len(parts) > 1 else lexicon.is_content(value.lower())
        return len(value) if fits else 0
    few = len(parts) < PHRASE_MIN
    if not lexicon.predicates.isdisjoint(parts if few else parts[1:]) or (few and lexicon.is_predicate(parts[0])):
        return 0
    least = PHRASE_MIN if parts[0] in lexicon.mine else WORDS_MIN
    if parts[0] in lexicon.links and (len(parts) < least or not lexicon.is_content(parts[1])):
        return 0
    return len(value) if sum(word not in lexicon.links for word in parts) > 1 else 0


def _closes(line: str, place: int) -> bool:
    """Whether the mark at ``place`` ends a quotation: an apostrophe inside of a word does not."""
    return not line[place + 1 : place + 2].isalpha()


def _measure_bare(line: str, statement: _Statement) -> int:
    """The length of the value without quotes at the beginning of ``line``; 0 for none."""
    run = _RUN.match(line)
    if run is None:
        return 0
    tokens = run[0].split(" ")
    lexicon = statement.lexicon
    content = [*takewhile(lambda token: token.lower() not in lexicon.links, tokens)]
    if statement.moves and len(content) == 2 and lexicon.is_predicate(content[1].lower()):
        content.pop()  # "auf ... geändert"
    size = len(" ".join(content))
    if content != tokens or _ENDS.match(line, run.end()):
        if len(content) == 1 and "-" in content[0]:
            return size if _is_compound(content[0], lexicon) else 0
        least = PHRASE_MIN if statement.name.lower() in _PHRASES else WORDS_MIN
        if least <= len(content) <= WORDS_MAX and _is_phrase(content, lexicon):
            return size
    alone = len(tokens) == 1 and len(content) == 1 and _ALONE.match(line, run.end())
    labelled = statement.is_mine and alone and size >= LABELLED_MIN and not statement.verb
    return size if labelled and lexicon.is_content(content[0].lower()) else 0


def _is_phrase(tokens: list[str], lexicon: _Lexicon) -> bool:
    """Whether words are a passphrase: they link nothing, and but for the first one say nothing of passwords."""
    parts = [part for token in tokens for part in _PARTS.findall(token.lower())]
    others = lexicon.links | lexicon.predicates
    if not lexicon.is_listed or min(map(len, parts)) < 3 or not others.isdisjoint(parts[1:]):
        return False
    return not lexicon.has_ending(parts[0]) and sum(map(lexicon.has_ending, parts)) < 2


def _is_compound(token: str, lexicon: _Lexicon) -> bool:
    """Whether words with hyphens between them are a password, and no adjective and no name of something."""
    parts = token.lower().split("-")
    if token.lower() in COMPOUNDS or len(token) < COMPOUND_MIN or not _COMPOUND.fullmatch(token):
        return False
    if parts[0] in PREFIXES or parts[0] in lexicon.links or lexicon.is_predicate(parts[-1]):
        return False
    least = 2 if len(parts) > 2 else len(parts)
    content = [part for part in parts if part not in lexicon.links]
    return len(content) >= least and lexicon.predicates.isdisjoint(parts) and min(map(len, parts)) > 1


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
