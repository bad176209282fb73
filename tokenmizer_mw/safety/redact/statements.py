"""Reads what stands in front of a stated password: its name, a verb or a colon, and the language of both."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.pattern import ByteMatch, compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import CHANGES, LANGUAGES, PasswordLanguage

NAME_GROUP, COLON_GROUP, VERB_GROUP, QUOTE_GROUP = 1, 2, 3, 4
"""Groups of ``STATED``."""

STATED_MAX: Final = 256
"""Bytes of a name and what states its value."""

VALUE_MAX: Final = 120
"""Bytes in which a value ends."""

_BEFORE: Final = 64
_DECORATION_MAX: Final = 2
_CHANGES: Final = compile_pattern(CHANGES)
_NEAR_MAX: Final = 3
_GLUED: Final = ("passwort", "kennwort", "wachtwoord", "wachtzin")
"""Names that words are put together with."""

_NETWORKS: Final = frozenset(("wifi", "wi", "wlan", "router", "hotspot", "vpn"))
_ABBREVIATED: Final = ("pass", "pw", "pwd", "clave")
"""Names that mean something else as well."""

_TAKEN: Final = frozenset("_.$@/\\=<{[(&#")
"""What stands before a name in code."""


class PasswordLexicon(NamedTuple):
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


class PasswordStatement(NamedTuple):
    """What is in front of a value: a name, the words of its language, whether somebody calls it theirs, a verb ("" for
    a colon), whether that verb is a motion, and the words in front of the name, the nearest first."""

    name: str
    lexicon: PasswordLexicon
    is_mine: bool
    verb: str
    moves: bool
    near: tuple[str, ...]

    @property
    def is_abbreviated(self) -> bool:
        """Whether the name means something else as well."""
        return self.name.lower() in _ABBREVIATED


def read_statement(text: bytes, match: ByteMatch, start: int) -> PasswordStatement | None:
    """Return what states a value at ``start``; ``None`` for code, and for sentences about passwords in general."""
    name, verb = decode_value(match.group(NAME_GROUP)), _read_verb(match)
    before = decode_value(text[max(0, start - _BEFORE) : start]).rpartition("\n")[2].rpartition("\\n")[2]
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
    has_purpose = match.span(COLON_GROUP)[0] - match.end(NAME_GROUP) > _DECORATION_MAX
    is_label = has_purpose or (name[:1].isupper() and not match.group(QUOTE_GROUP)) or not name.isascii()
    is_certain = verb or near or is_mine or is_label
    return PasswordStatement(name, lexicon, is_mine, verb, moves, tuple(near)) if is_certain else None


def _read_verb(match: ByteMatch) -> str:
    """The verb of a statement in small letters; "" for a colon."""
    return " ".join(decode_value(match.group(VERB_GROUP)).lower().replace("’", "'").split())


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
def _find_lexicon(name: str, verb: str) -> PasswordLexicon | None:
    """The words of the languages that have this name and this verb ("" for a colon); ``None`` for none."""
    spoken = [language for language in LANGUAGES if not verb or _has_verb(language, verb)]
    named = [language for language in spoken if name in language.names]
    found = named or spoken
    if not found:
        return None
    endings = "|".join(language.endings for language in found)
    return PasswordLexicon(
        frozenset(word for language in found for word in language.mine),
        frozenset(word for language in found for word in language.generic),
        frozenset(word for language in found for word in language.links),
        frozenset(word for language in found for word in language.predicates),
        re.compile(rf"(?:{endings})$"),
        all(language.is_listed for language in found),
    )


def _has_verb(language: PasswordLanguage, verb: str) -> bool:
    return re.fullmatch(f"{language.changes}|{language.copulas}|{language.motions}", verb) is not None


def line_behind(text: bytes, first: int) -> str:
    """Return the rest of a line from ``first`` on, as far as a value may reach."""
    line = text[first : first + VALUE_MAX].partition(b"\n")[0].partition(b"\\n")[0]
    return decode_value(line).rstrip("\r")


def decode_value(raw: bytes) -> str:
    """Return the text of some bytes; those that are no UTF-8 become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def encode_value(text: str) -> bytes:
    """Return the bytes of a text from ``decode_value``."""
    return text.encode("utf-8", "surrogateescape")
