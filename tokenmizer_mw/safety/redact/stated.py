"""Reads passwords that a person made up and that a sentence states: "the password is ...", "the password's ...".

Such a password is one word with a digit, an underscore, a hyphen or a capital inside. Names of code, standards and
versions look the same ("the password is SHA256 hashed", "the password is user_input"). So its parts must not be words
that are said of passwords, nor names of things.
"""

from __future__ import annotations

import re
from typing import Final

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan, begins_word, refusal
from tokenmizer_mw.safety.redact.judge import is_placeholder, stands_in, words
from tokenmizer_mw.safety.redact.passphrases import is_compound
from tokenmizer_mw.safety.redact.pattern import compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import STATED, TECHNICAL
from tokenmizer_mw.safety.redact.statements import (
    QUOTE_GROUP,
    STATED_MAX,
    PasswordLexicon,
    PasswordStatement,
    decode_value,
    encode_value,
    line_behind,
    read_statement,
)

CHOSEN_MIN: Final = 6
"""Characters of such a password."""

WORD_MIN: Final = 4
"""Letters that one of its parts has at least."""

PASS_MIN: Final = 8
"""Characters of a password that stands behind "pass" alone, which is more often a verb."""

_STATED: Final = compile_pattern(STATED)
_TOKEN: Final = re.compile(r"[\w-]+[!?]*")
_PARTS: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[^\W\d_](?:(?![A-Z])[^\W\d_])*")
"""The words of a name: split at digits, signs and humps."""

_GOES_ON: Final = re.compile(r"[([{=<$%\\@/#&+]|\.\w|:[/\w]|['’]\w|[*`\"'”’»]*[ \t]*[=(]")
"""What follows a name in code, an address or a path."""

_NEXT: Final = re.compile(r"[ \t]([^\W\d_]+)")
_CONSTANT: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_MEASURE: Final = re.compile(r"\d+[-_]?[a-z]{1,12}(?:[-_][a-z]+)*")
_ORDINALS: Final = words(
    "first second third fourth last next final each every one single forward backward compiler optimizer another"
    " previous this that boarding test tests"
)
"""Words in front of "pass" where it is no password."""

_PASS: Final = re.compile(r"[Pp]ass:?[ \t]+([A-Za-z][A-Za-z0-9_-]*)")
_PASS_BEFORE: Final = re.compile(
    r"(?:^|[\n,;:/|(–—]|\\n|\b(?:user(?:name)?|login|account|as|name)\b[ :=]*\S{1,40}"
    r"|\b(?:and|with|using|use|the|my|our|is))[ \t]*$"
)
_PASS_BEHIND: Final = re.compile(
    r"[*`\"']*(?:[.,;:!?)\]|]+(?:\s|\\|$)|\s*(?:\\n|$)|\s+(?:and|und|y|et|e|btw|for|but|then|to (?:log|sign|get))\b)"
)
"""What follows a password behind "pass": the end of a sentence, or a word that goes on with it."""

_NUMBER: Final = re.compile(r"\d{2}|\d[A-Za-z]{2}")
_BEFORE: Final = 80
_HANDED: Final = words(
    "argument arguments option options parameter parameters param value values variable string text object token"
    " tokens key keys user users account message request response context index number column field file data"
)
"""What is passed to functions."""


def read_stated(text: bytes, start: int) -> PlaceReading:
    """Read the value of the password that is named at ``start``, if a person made it up."""
    onward = start + 3
    match = _STATED.match(text, start, min(len(text), start + STATED_MAX))
    statement = None if match is None else read_statement(text, match, start)
    if match is None or statement is None:
        return refusal("password", start, onward, "states no certain password", onward)
    first = match.end()
    value = _measure_value(line_behind(text, first), bool(match.group(QUOTE_GROUP)), statement)
    end = first + len(encode_value(value))
    if not value:
        return refusal("password", first, max(first, end), "reads like a name", onward)
    span = SecretSpan("password", first, end, f"{statement.name!r} states it", FindingRank.NAMED, statement.name)
    return PlaceReading(end, (span,))


def _measure_value(line: str, is_quoted: bool, statement: PasswordStatement) -> str:
    """The password at the beginning of ``line``; "" for none."""
    token = _TOKEN.match(line)
    if token is None:
        return ""
    value = token[0].rstrip("_") if is_quoted else token[0].rstrip("_-?")
    if not is_quoted and (_GOES_ON.match(line, token.end()) or _is_described(line[token.end() :], statement)):
        return ""
    if statement.is_abbreviated and not statement.is_mine and not _is_password_of_login(value, statement):
        return ""
    return value if is_chosen(value, statement.lexicon) else ""


def _is_password_of_login(value: str, statement: PasswordStatement) -> bool:
    """Whether "pass" and the like name a password: what they state has a number, and nothing counts passes."""
    return any(map(str.isdigit, value)) and _ORDINALS.isdisjoint(statement.near[:1])


def _is_described(behind: str, statement: PasswordStatement) -> bool:
    """Whether the word behind a value says how something is, as in "SHA-256 hashed"."""
    following = _NEXT.match(behind)
    if following is None or statement.moves or statement.verb.endswith(" auf"):
        return False
    word, lexicon = following[1].lower(), statement.lexicon
    return word not in lexicon.links and lexicon.is_predicate(word) and not word.endswith("ly")


def is_chosen(value: str, lexicon: PasswordLexicon) -> bool:
    """Return whether ``value`` is a word that a person made up for a password, and no name of something.

    It has a digit, an underscore, a hyphen or a capital inside, and none of its parts is said of passwords.
    """
    core = value.rstrip("!?")
    parts = [part.lower() for part in _PARTS.findall(core)]
    if len(core) < CHOSEN_MIN or max(map(len, parts), default=0) < WORD_MIN:
        return False
    if value.isascii() and (is_placeholder(value) or stands_in(value)):
        return False
    if _CONSTANT.fullmatch(core) or _MEASURE.fullmatch(core) or parts[0] in lexicon.links:
        return False
    if not TECHNICAL.isdisjoint(parts):
        return False
    return _is_numbered_name(core, parts, lexicon) if any(map(str.isdigit, core)) else _is_joined(core, parts, lexicon)


def _is_numbered_name(core: str, parts: list[str], lexicon: PasswordLexicon) -> bool:
    """Whether words with a number are a password: at most half of them are said of passwords, and not the last."""
    if lexicon.is_predicate(parts[-1]) and (len(parts) == 1 or "-" in core):
        return False
    return 2 * sum(part in lexicon.predicates or part in lexicon.links for part in parts) <= len(parts)


def _is_joined(core: str, parts: list[str], lexicon: PasswordLexicon) -> bool:
    """Whether words without a digit, joined by signs or capitals, are a password."""
    if "_" in core:
        return is_compound("-".join(parts), lexicon)
    if not lexicon.predicates.isdisjoint(parts):
        return False
    return "-" not in core and len(parts) > 1 and min(map(len, parts)) >= WORD_MIN and not lexicon.has_ending(parts[-1])


def read_pass(text: bytes, start: int) -> PlaceReading:
    """Read the password behind the word "pass" at ``start``, where that word is no verb."""
    line = line_behind(text, start)
    found = _PASS.match(line)
    onward = start + (found.end() if found is not None else 3)
    if found is None or not begins_word(text, start) or len(found[1]) < PASS_MIN:
        return refusal("password", start, onward, "not the whole of it", onward)
    before = decode_value(text[max(0, start - _BEFORE) : start])
    value, first = found[1], start + found.start(1)
    end = first + len(value)
    if not _PASS_BEFORE.search(before) or not _PASS_BEHIND.match(line, found.end()) or not _is_numbered(value):
        return refusal("password", first, end, "reads like a verb and a name", onward)
    return PlaceReading(end, (SecretSpan("password", first, end, "'pass' names it", FindingRank.NAMED, "pass"),))


def _is_numbered(value: str) -> bool:
    """Whether ``value`` is a word with a number that is no version or variable."""
    parts = {part.lower() for part in _PARTS.findall(value)}
    known = not parts.isdisjoint(TECHNICAL) or not parts.isdisjoint(_HANDED)
    if known or len(value) < PASS_MIN or is_placeholder(value) or stands_in(value):
        return False
    return max(map(len, parts)) >= WORD_MIN and _NUMBER.search(value) is not None
