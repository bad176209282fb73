"""Readers of passwords that a sentence or a label states: "the password is ...", "my password: ...".

Sentences about passwords look the same: "the password is 'too short'", "the password is hashed on the server",
"the password is SHA256 hashed". Lists of each language's words tell them apart. There are two kinds of such passwords:

- Made of words (``read_passphrase``): it has no articles, prepositions and the like, and no words that describe
  passwords. Without quotes it has four words, hyphens between its words, or "my password:" before it.
- Chosen (``read_stated``): one word with a digit, an underscore, a hyphen or a capital inside. Names of code, standards
  and versions look the same ("the password is user_input"), so none of its parts may be the name of a thing or describe
  passwords.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from tokenmizer_mw.safety.redact.findings import FindingRank, PlaceReading, SecretSpan, begins_word, refusal
from tokenmizer_mw.safety.redact.judge import is_placeholder, stands_in, words
from tokenmizer_mw.safety.redact.pattern import compile_pattern
from tokenmizer_mw.safety.redact.rules.password_words import COMPOUNDS, PREFIXES, STATED, TECHNICAL
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

_STATED: Final = compile_pattern(STATED)

QUOTED_MIN: Final = 5
QUOTED_MAX: Final = 60
"""Least and largest number of characters of a password in quotes."""

WORDS_MIN: Final = 4
PHRASE_MIN: Final = 3
"""Least number of words of a password without quotes; if it is called a passphrase, ``PHRASE_MIN``."""

WORDS_MAX: Final = 8
LABELLED_MIN: Final = 6
"""Least number of letters of a single word behind "my password:"."""

COMPOUND_MIN: Final = 7
"""Least number of characters of a password of words with hyphens."""

_CLOSING: Final = {"“": "”“", "„": "“”", "‘": "’", "‹": "›", "«": "»", "「": "」"}
_AROUND_QUOTES: Final = "\\ \xa0\u202f"
_WORD: Final = r"[^\W\d_]+"
_HYPHENATED: Final = rf"{_WORD}(?:-{_WORD})*"
_RUN: Final = re.compile(rf"{_HYPHENATED}(?: {_HYPHENATED}){{0,11}}")
_COMPOUND: Final = re.compile(rf"{_WORD}(?:-{_WORD}){{1,5}}")
_LETTERS: Final = re.compile(_WORD)
_PHRASE: Final = re.compile(r"[^\W_][^{}<>$%=/\\_|@#]*")
_ENDS: Final = re.compile(r"[ \t]*(?:[,;:!?)\]}\"'`*»”“’|]|\\|$)|[.!](?:\s|$|[)\]\"'`*»”“’\\])")
_ALONE: Final = re.compile(r"[.!]?[ \t]*(?:\\|$)")
_PHRASES: Final = ("passphrase", "pass phrase", "phrase secrète", "phrase de passe", "wachtzin", "parola d'ordine")


def read_passphrase(text: bytes, start: int) -> PlaceReading:
    """Judge whether a password of words is stated. ``start``: position of the word for a password ("password",
    "Kennwort") before it."""
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
    return _accept(first, end, statement.name, f"{statement.name!r} states it")


def _measure_quoted(line: str, quote: str, statement: PasswordStatement) -> int:
    """Return the length of the password in quotes at the beginning of ``line``; 0 if there is none."""
    mark = quote.strip(_AROUND_QUOTES)
    closing = _CLOSING.get(mark, mark)
    end = next((place for place, char in enumerate(line) if char in closing and _closes(line, place)), -1)
    value = line[:end].rstrip(_AROUND_QUOTES) if end > 0 else ""
    if not QUOTED_MIN <= len(value) <= QUOTED_MAX or not _PHRASE.fullmatch(value):
        return 0
    lexicon, tokens, parts = statement.lexicon, value.lower().split(), _LETTERS.findall(value.lower())
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
    """Whether the quotation mark at ``place`` ends a quotation: an apostrophe inside of a word does not."""
    return not line[place + 1 : place + 2].isalpha()


def _measure_bare(line: str, statement: PasswordStatement) -> int:
    """Return the length of the password without quotes at the beginning of ``line``; 0 if there is none."""
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


def _is_phrase(tokens: list[str], lexicon: PasswordLexicon) -> bool:
    """Whether words are a passphrase: none is a function word, and none but the first describes passwords."""
    parts = [part for token in tokens for part in _LETTERS.findall(token.lower())]
    others = lexicon.links | lexicon.predicates
    if not lexicon.is_listed or min(map(len, parts)) < 3 or not others.isdisjoint(parts[1:]):
        return False
    return not lexicon.has_ending(parts[0]) and sum(map(lexicon.has_ending, parts)) < 2


def _is_compound(token: str, lexicon: PasswordLexicon) -> bool:
    """Whether words with hyphens between them are a password, and not an adjective or the name of something."""
    parts = token.lower().split("-")
    if token.lower() in COMPOUNDS or len(token) < COMPOUND_MIN or not _COMPOUND.fullmatch(token):
        return False
    if parts[0] in PREFIXES or parts[0] in lexicon.links or lexicon.is_predicate(parts[-1]):
        return False
    least = 2 if len(parts) > 2 else len(parts)
    content = [part for part in parts if part not in lexicon.links]
    return len(content) >= least and lexicon.predicates.isdisjoint(parts) and min(map(len, parts)) > 1


CHOSEN_MIN: Final = 6
"""Least number of characters of a chosen password."""

WORD_MIN: Final = 4
"""Least number of letters of the longest part of a chosen password."""

PASS_MIN: Final = 8
"""Least number of characters of a password behind "pass", which is more often a verb."""

_TOKEN: Final = re.compile(r"[\w-]+[!?]*")
_PARTS: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[^\W\d_](?:(?![A-Z])[^\W\d_])*")
"""The words of a name: split at digits, signs and humps."""

_GOES_ON: Final = re.compile(r"[([{=<$%\\@/#&+]|\.\w|:[/\w]|['’]\w|[*`\"'”’»]*[ \t]*[=(]")
"""What follows a name in code, in an address or in a path."""

_NEXT: Final = re.compile(r"[ \t]([^\W\d_]+)")
_CONSTANT: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_MEASURE: Final = re.compile(r"\d+[-_]?[a-z]{1,12}(?:[-_][a-z]+)*")
_ORDINALS: Final = words(
    "first second third fourth last next final each every one single forward backward compiler optimizer another"
    " previous this that boarding test tests"
)
"""Words before "pass" with which it does not mean a password ("first pass")."""

_PASS: Final = re.compile(r"[Pp]ass:?[ \t]+([A-Za-z][A-Za-z0-9_-]*)")
_PASS_BEFORE: Final = re.compile(
    r"(?:^|[\n,;:/|(–—]|\\n|\b(?:user(?:name)?|login|account|as|name)\b[ :=]*\S{1,40}"
    r"|\b(?:and|with|using|use|the|my|our|is))[ \t]*$"
)
_PASS_BEHIND: Final = re.compile(
    r"[*`\"']*(?:[.,;:!?)\]|]+(?:\s|\\|$)|\s*(?:\\n|$)|\s+(?:and|und|y|et|e|btw|for|but|then|to (?:log|sign|get))\b)"
)
"""What may follow a password behind "pass": the end of a sentence, or a word that continues it."""

_NUMBER: Final = re.compile(r"\d{2}|\d[A-Za-z]{2}")
_BEFORE: Final = 80
_HANDED: Final = words(
    "argument arguments option options parameter parameters param value values variable string text object token"
    " tokens key keys user users account message request response context index number column field file data"
)
"""Words for what is passed to functions: "pass userId2"."""


def read_stated(text: bytes, start: int) -> PlaceReading:
    """Judge whether a password of one word that a person made up ("Blue_horse7") is stated. ``start``: position of the
    word for a password before it."""
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
    return _accept(first, end, statement.name, f"{statement.name!r} states it")


def _measure_value(line: str, is_quoted: bool, statement: PasswordStatement) -> str:
    """Return the password at the beginning of ``line``; "" if there is none."""
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
    """Whether "pass" and the like name a password here: the stated text has a digit, and the word before does not count
    passes ("first pass")."""
    return any(map(str.isdigit, value)) and _ORDINALS.isdisjoint(statement.near[:1])


def _is_described(behind: str, statement: PasswordStatement) -> bool:
    """Whether the word behind a stated text describes something, as in "SHA-256 hashed"."""
    following = _NEXT.match(behind)
    if following is None or statement.moves or statement.verb.endswith(" auf"):
        return False
    word, lexicon = following[1].lower(), statement.lexicon
    return word not in lexicon.links and lexicon.is_predicate(word) and not word.endswith("ly")


def is_chosen(value: str, lexicon: PasswordLexicon) -> bool:
    """Return whether ``value`` is a word that a person made up for a password, and not the name of something.

    It has at least ``CHOSEN_MIN`` characters, a digit, an underscore or a capital inside, and a part of at least
    ``WORD_MIN`` letters, and none of its parts is a technical term. ``lexicon``: the words of the sentence's language.
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
    """Whether words with a digit are a password: at most half of them describe passwords or are function words, and a
    last one behind a hyphen does not."""
    if lexicon.is_predicate(parts[-1]) and (len(parts) == 1 or "-" in core):
        return False
    return 2 * sum(part in lexicon.predicates or part in lexicon.links for part in parts) <= len(parts)


def _is_joined(core: str, parts: list[str], lexicon: PasswordLexicon) -> bool:
    """Whether words without a digit, joined by signs or capitals, are a password."""
    if "_" in core:
        return _is_compound("-".join(parts), lexicon)
    if not lexicon.predicates.isdisjoint(parts):
        return False
    return "-" not in core and len(parts) > 1 and min(map(len, parts)) >= WORD_MIN and not lexicon.has_ending(parts[-1])


def read_pass(text: bytes, start: int) -> PlaceReading:
    """Judge whether the word behind "pass" at ``start`` is a password with a number in it. Refused if "pass" is a verb
    there, or the word a version or a variable."""
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
    return _accept(first, end, "pass", "'pass' names it")


def _accept(first: int, end: int, name: str, reason: str) -> PlaceReading:
    return PlaceReading(end, (SecretSpan("password", first, end, reason, FindingRank.NAMED, name),))


def _is_numbered(value: str) -> bool:
    """Whether ``value`` is a word with a number, but not a version or a variable."""
    parts = {part.lower() for part in _PARTS.findall(value)}
    known = not parts.isdisjoint(TECHNICAL) or not parts.isdisjoint(_HANDED)
    if known or len(value) < PASS_MIN or is_placeholder(value) or stands_in(value):
        return False
    return max(map(len, parts)) >= WORD_MIN and _NUMBER.search(value) is not None
