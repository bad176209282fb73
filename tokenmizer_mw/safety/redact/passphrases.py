"""Reads passwords that consist of words and that a sentence or a label states.

Sentences about passwords look the same: "the password is 'too short'", "the password is hashed on the server". Lists of
a language's words tell them apart: a password has no articles, prepositions and the like, and nothing of what is said
of passwords. Without quotes it has four words, hyphens between its words, or "my password:" in front of it.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan, refusal
from tokenmizer_mw.safety.redact.judge import is_placeholder, stands_in
from tokenmizer_mw.safety.redact.pattern import compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import COMPOUNDS, PREFIXES, STATED
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

QUOTED_MIN: Final = 5
QUOTED_MAX: Final = 60
"""Characters of a value in quotes."""

WORDS_MIN: Final = 4
PHRASE_MIN: Final = 3
"""Words of a value without quotes; of a passphrase."""

WORDS_MAX: Final = 8
LABELLED_MIN: Final = 6
"""Letters of the one word that stands behind "my password:"."""

_STATED: Final = compile_pattern(STATED)
_CLOSING: Final = {"“": "”“", "„": "“”", "‘": "’", "‹": "›", "«": "»", "「": "」"}
_AROUND_QUOTES: Final = "\\ \xa0\u202f"
_WORD: Final = r"[^\W\d_]+"
_TOKEN: Final = rf"{_WORD}(?:-{_WORD})*"
_RUN: Final = re.compile(rf"{_TOKEN}(?: {_TOKEN}){{0,11}}")
_COMPOUND: Final = re.compile(rf"{_WORD}(?:-{_WORD}){{1,5}}")
_PARTS: Final = re.compile(_WORD)
_PHRASE: Final = re.compile(r"[^\W_][^{}<>$%=/\\_|@#]*")
_ENDS: Final = re.compile(r"[ \t]*(?:[,;:!?)\]}\"'`*»”“’|]|\\|$)|[.!](?:\s|$|[)\]\"'`*»”“’\\])")
_ALONE: Final = re.compile(r"[.!]?[ \t]*(?:\\|$)")
_PHRASES: Final = ("passphrase", "pass phrase", "phrase secrète", "phrase de passe", "wachtzin", "parola d'ordine")
COMPOUND_MIN: Final = 7
"""Characters of words with hyphens between them."""


def read_passphrase(text: bytes, start: int) -> PlaceReading:
    """Read the value of the password that is named at ``start``, if it consists of words."""
    onward = start + 3
    match = _STATED.match(text, start, min(len(text), start + STATED_MAX))
    if match is None:
        return refusal("password", start, onward, "nothing is stated", onward)
    first = match.end()
    statement = read_statement(text, match, start)
    if statement is None or (statement.is_abbreviated and not statement.is_mine):
        return refusal("password", start, onward, "speaks of no certain password", onward)
    line = line_behind(text, first)
    quote = match.group(QUOTE_GROUP)
    size = _measure_quoted(line, decode_value(quote), statement) if quote else _measure_bare(line, statement)
    value = line[:size]
    end = first + len(encode_value(value))
    if not size or (value.isascii() and (is_placeholder(value) or stands_in(value))):
        return refusal("password", first, max(first, end), "reads like words", onward)
    span = SecretSpan("password", first, end, f"{statement.name!r} states it", FindingRank.NAMED, statement.name)
    return PlaceReading(end, (span,))


def _measure_quoted(line: str, quote: str, statement: PasswordStatement) -> int:
    """The length of the value that stands in quotes at the beginning of ``line``; 0 for none."""
    mark = quote.strip(_AROUND_QUOTES)
    closing = _CLOSING.get(mark, mark)
    end = next((place for place, char in enumerate(line) if char in closing and _closes(line, place)), -1)
    value = line[:end].rstrip(_AROUND_QUOTES) if end > 0 else ""
    if not QUOTED_MIN <= len(value) <= QUOTED_MAX or not _PHRASE.fullmatch(value):
        return 0
    lexicon, tokens, parts = statement.lexicon, value.lower().split(), _PARTS.findall(value.lower())
    if len(tokens) == 1:
        fits = is_compound(value, lexicon) if len(parts) > 1 else lexicon.is_content(value.lower())
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


def _measure_bare(line: str, statement: PasswordStatement) -> int:
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
            return size if is_compound(content[0], lexicon) else 0
        least = PHRASE_MIN if statement.name.lower() in _PHRASES else WORDS_MIN
        if least <= len(content) <= WORDS_MAX and _is_phrase(content, lexicon):
            return size
    alone = len(tokens) == 1 and len(content) == 1 and _ALONE.match(line, run.end())
    labelled = statement.is_mine and alone and size >= LABELLED_MIN and not statement.verb
    return size if labelled and lexicon.is_content(content[0].lower()) else 0


def _is_phrase(tokens: list[str], lexicon: PasswordLexicon) -> bool:
    """Whether words are a passphrase: they link nothing, and but for the first one say nothing of passwords."""
    parts = [part for token in tokens for part in _PARTS.findall(token.lower())]
    others = lexicon.links | lexicon.predicates
    if not lexicon.is_listed or min(map(len, parts)) < 3 or not others.isdisjoint(parts[1:]):
        return False
    return not lexicon.has_ending(parts[0]) and sum(map(lexicon.has_ending, parts)) < 2


def is_compound(token: str, lexicon: PasswordLexicon) -> bool:
    """Return whether words with hyphens between them are a password, and no adjective and no name of something."""
    parts = token.lower().split("-")
    if token.lower() in COMPOUNDS or len(token) < COMPOUND_MIN or not _COMPOUND.fullmatch(token):
        return False
    if parts[0] in PREFIXES or parts[0] in lexicon.links or lexicon.is_predicate(parts[-1]):
        return False
    least = 2 if len(parts) > 2 else len(parts)
    content = [part for part in parts if part not in lexicon.links]
    return len(content) >= least and lexicon.predicates.isdisjoint(parts) and min(map(len, parts)) > 1
