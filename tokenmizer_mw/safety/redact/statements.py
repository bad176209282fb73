"""Read the words before a password that a sentence or label states ("my wifi password is now ..."): the word for the
password, the verb or colon behind it, and the language of both."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from tokenmizer_mw.safety.redact.pattern import ByteMatch, compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import CHANGES, LANGUAGES, PasswordLanguage

NAME_GROUP, COLON_GROUP, VERB_GROUP, QUOTE_GROUP = 1, 2, 3, 4
"""Numbers of the groups of the pattern ``STATED``."""

STATED_MAX: Final = 256
"""Most bytes of the word for a password and the verb or colon behind it."""

VALUE_MAX: Final = 120
"""Most bytes of a stated password."""

_BEFORE: Final = 64
_DECORATION_MAX: Final = 2
_CHANGES: Final = compile_pattern(CHANGES)
_NEAR_MAX: Final = 3
_GLUED: Final = ("passwort", "kennwort", "wachtwoord", "wachtzin")
"""Names that are also the last part of a compound word ("Adminpasswort")."""

_NETWORKS: Final = frozenset(("wifi", "wi", "wlan", "router", "hotspot", "vpn"))
_ABBREVIATED: Final = ("pass", "pw", "pwd", "clave")
"""Names that often mean something else than a password."""

_TAKEN: Final = frozenset("_.$@/\\=<{[(&#")
"""Characters that stand before a name in code, but not in a sentence."""


class PasswordLexicon(NamedTuple):
    """The words by which a sentence that states a password is judged, of all languages that the sentence may be in. The
    fields are those of ``PasswordLanguage``, merged."""

    mine: frozenset[str]
    generic: frozenset[str]
    links: frozenset[str]
    predicates: frozenset[str]
    ending: re.Pattern[str]
    is_listed: bool

    def is_predicate(self, word: str) -> bool:
        """Return whether a word describes a password ("wrong", "encrypted"), by the list or by its ending."""
        return word in self.predicates or self.has_ending(word)

    def has_ending(self, word: str) -> bool:
        """Return whether a word has an ending of words that describe something ("-able")."""
        return self.ending.search(word) is not None

    def is_content(self, word: str) -> bool:
        """Return whether a word may be a part of a password: it is no function word and does not describe passwords."""
        return word not in self.links and not self.is_predicate(word)


class PasswordStatement(NamedTuple):
    """The words before a stated password.

    - ``name``: the word for it, such as "password" or "Kennwort"; ``verb``: the verb or preposition behind that word
      ("is", "to"), "" for a colon.
    - ``lexicon``: the words of the languages that have both.
    - ``is_mine``: whether a possessive or a word for a network stands before the name ("my password", "wifi password").
    - ``moves``: whether ``verb`` is only a preposition, as in "changed the password to ...".
    - ``near``: the words before the name, the nearest first.
    """

    name: str
    lexicon: PasswordLexicon
    is_mine: bool
    verb: str
    moves: bool
    near: tuple[str, ...]

    @property
    def is_abbreviated(self) -> bool:
        """Whether the name often means something else than a password ("pass")."""
        return self.name.lower() in _ABBREVIATED


def read_statement(text: bytes, match: ByteMatch, start: int) -> PasswordStatement | None:
    """Return the words that state a password; ``None`` if they are code, speak of passwords in general, or are not sure
    to state one. ``start``: position of the word for a password; ``match``: the match of ``STATED`` there."""
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
    """The verb of a statement in lower case; "" for a colon."""
    return " ".join(decode_value(match.group(VERB_GROUP)).lower().replace("’", "'").split())


def _is_prose(before: str, name: str) -> bool:
    """Whether a name behind ``before`` is a word of a sentence, and not a part of code."""
    if not before:
        return True
    last, rest = before[-1], before[:-1]
    if last.isalpha():
        return name in _GLUED
    if last == "-":
        return rest[-1:].isalpha()
    return not (last in _TAKEN or last.isdigit() or last in "\"'" or before.rstrip().endswith(("param", "@")))


def _last_words(before: str) -> list[str]:
    """The last words of a sentence before a name, the nearest first."""
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
    """Return the words of the languages that have this name and this verb ("" for a colon); ``None`` if no language
    does."""
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
    """Return the rest of a line of ``text`` from ``first`` on, at most ``VALUE_MAX`` bytes, decoded by
    ``decode_value``. The line may also end with an escaped line break."""
    line = text[first : first + VALUE_MAX].partition(b"\n")[0].partition(b"\\n")[0]
    return decode_value(line).rstrip("\r")


def decode_value(raw: bytes) -> str:
    """Decode UTF-8; invalid bytes become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def encode_value(text: str) -> bytes:
    """Encode a text that ``decode_value`` returned."""
    return text.encode("utf-8", "surrogateescape")
