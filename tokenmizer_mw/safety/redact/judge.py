"""Judge a text by its content alone: its entropy, whether it is a placeholder, whether its checksum is valid, and
whether it reads like a name that people made (an identifier, a path, a version)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import log2
from operator import sub
from typing import Final

from tokenmizer_mw.safety.redact.pattern import compile_pattern


def words(text: str) -> frozenset[str]:
    """Return the words of ``text``, separated by white space."""
    return frozenset(text.split())


_USUAL: Final = frozenset(
    first + second
    for pair in words(
        "a:bcdgilmnprstuy b:aeilorsu c:acehiklorstu d:adeilorsu e:abcdefgilmnprstvx f:aefiloru g:aehinrs h:aeiot"
        " i:abcdefglmnoprstvxz k:ei l:adeilostuy m:aeimopsu n:acdefgiostu o:abcdgklmnoprstuvw p:aehiloprstuy q:u"
        " r:acdegilmnorstuy s:acehilopstuy t:acehilorstuy u:abceilmnprst v:aei w:aei x:pt y:p z:e"
    )
    for first, second in ((pair[0], letter) for letter in pair[2:])
)
"""The usual pairs of neighbouring letters: they make up nine tenths of the pairs in English words and identifiers, but
only a third of all possible pairs."""

_USUAL_SHARE: Final = 0.62
_PART_LENGTH: Final = 2.7
_DIGITS_MAX: Final = 8
_GLUED_MAX: Final = 1
_READ_MAX: Final = 96

_SORTS: Final = bytes(
    ord("a") if 97 <= code <= 122 else ord("A") if 65 <= code <= 90 else ord("0") if 48 <= code <= 57 else ord(" ")
    for code in range(256)
)
"""Table for ``bytes.translate`` that maps each byte to its kind: "a" for small letters, "A" for capitals, "0" for
digits, " " for anything else."""

_KINDS: Final = _SORTS.replace(b"A", b"a")
"""As ``_SORTS``, with "a" for all letters."""

_CUTS: Final = ((b"AAa", b"A|Aa"), (b"aA", b"a|A"), (b"a0", b"a|0"), (b"0a", b"0|a"), (b"A0", b"A|0"), (b"0A", b"0|A"))


def is_identifier(text: str) -> bool:
    """Return whether ``text`` reads like an identifier: words, abbreviations and short numbers ("user_name2"), not
    random characters. True also for a text without letters. Only the first 96 characters are judged."""
    raw = text[:_READ_MAX].encode("latin-1", "replace")
    kinds = raw.translate(_KINDS)
    if min(kinds.count(b"a0"), kinds.count(b"0a")) > _GLUED_MAX:  # numbers between letters, nothing between them
        return False
    words, numbers = _parts(raw)
    if not words:
        return True
    if len(numbers) > 1 + len(words) or max(map(len, numbers), default=0) > _DIGITS_MAX:
        return False
    return sum(map(len, words)) >= _PART_LENGTH * len(words) and _has_usual_words(words)


def _parts(raw: bytes) -> tuple[list[str], list[bytes]]:
    """The words and the numbers of a name."""
    sorts = raw.translate(_SORTS)
    for before, after in _CUTS:
        sorts = sorts.replace(before, after)
    parts = sorts.replace(b" ", b"| |").split(b"|")
    value, words, numbers, place = raw.decode("latin-1").lower(), [], [], 0
    for part in parts:
        end = place + len(part)
        if part[:1] == b"0":
            numbers.append(part)
        elif part[:1] in (b"a", b"A"):
            words.append(value[place:end])
        place = end
    return words, numbers


def _has_usual_words(words: list[str]) -> bool:
    pairs = [word[place : place + 2] for word in words for place in range(len(word) - 1)]
    if len(pairs) < 3:
        return True
    return sum(map(_USUAL.__contains__, pairs)) >= _USUAL_SHARE * len(pairs)


LOOK_MAX: Final = 512
"""Characters at the start of a value that are judged; the rest is assumed to be like them."""

JUDGED_MAX: Final = 1024
"""Number of results that each of the caches of ``is_placeholder`` and ``is_opaque`` holds."""

_PLACEHOLDER: Final = compile_pattern(
    r"(?i)example|placeholder|change[-_ ]?(?:me|this|it)|replace|insert[-_ ]|x{4}|\*{3}|\.\.\.|\xe2\x80\xa6"
    r"|dummy|redacted|fill[-_ ]?in|sample|foobar|lorem|not[-_ ]?(?:a[-_ ]?)?real"
    r"|notasecret|goes[-_ ]here"
    r"|[-_ ]here\b|abc-?123|abcd?1234|deadbeef|1234567890|0123456789|super[-_]?secret|secret[-_]?(?:key|here|value)"
    r"|^my[-_ ]?(?:secret|pass|token|api|key|app)|test[-_ ]?(?:key|token|secret|pass)|^<.*>$|^_+$|-{4}|#{3}|0{8}"
    r"|(?-i:your|Your|YOUR|todo|TODO|fake|Fake|FAKE|mock|Mock|MOCK)"
)
_WEAK_WORDS: Final = words(
    "password passwd pass pwd secret token test testing user username admin root guest postgres mysql foo bar baz demo"
    " default none null undefined true false string value hidden required empty changeme key apikey pw hunter"
    " letmein swordfish qwerty login my the your private public"
)
"""Words that documentation and tests use instead of a password, alone or with up to four digits."""

NUMBERED_MIN: Final = 10
"""Fewest characters of a word with a number that counts as a password (``is_numbered_name``); shorter ones may be
versions."""

_NUMBERED: Final = compile_pattern(r"^[A-Za-z][A-Za-z0-9]{2,}[._-][0-9]{3,}[A-Za-z]{2,}[A-Za-z0-9!?]*$")
_WORDED: Final = compile_pattern(r"^[A-Za-z]{4,}(?:-[A-Za-z]{4,}){1,5}-?[0-9]{2,4}[!?]?$|^[A-Za-z]{8,}[0-9]{2,4}[!?]?$")
_TERMS: Final = (0.0, *(count * log2(count) for count in range(1, LOOK_MAX + 1)))
"""How much less entropy a text has if a character occurs so many times: the summand for each count."""

_STEPS: Final = frozenset((0, 1))
_STEPS_MAX: Final = 64
_UUID: Final = compile_pattern(r"(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$")
_HEX: Final = compile_pattern(r"(?i)^(?:0x)?[0-9a-f]{8,}$")
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_IBAN_LENGTHS: Final = {
    country: int(length)
    for country, length in (
        pair.split(":")
        for pair in words(
            "AD:24 AE:23"
            " AT:20 BE:16 BG:22 BR:29 CH:21 CY:28 CZ:24 DE:22 DK:18 EE:20 ES:24 FI:18 FR:27 GB:22"
            " GE:22 GI:23"
            " GR:27 HR:21 HU:28 IE:22 IL:23 IS:26 IT:27 KW:30 KZ:20 LI:21 LT:20 LU:20 LV:21 MC:27 MD:24 ME:22"
            " MK:19 MT:31 NL:18 NO:15 PL:28 PT:25 QA:29 RO:24 RS:22 SA:24 SE:24 SI:19 SK:24 SM:27 TR:26 UA:29"
        )
    )
}


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of ``text``, in bits per character; 0 for ""."""
    size = len(text)
    if not size:
        return 0.0
    if size <= LOOK_MAX:  # counting each character anew is faster than a Counter for so few
        return log2(size) - sum(map(_TERMS.__getitem__, map(text.count, set(text)))) / size
    return log2(size) - sum(count * log2(count) for count in Counter(text).values()) / size


@lru_cache(JUDGED_MAX)
def is_placeholder(text: str) -> bool:
    """Return whether ``text`` contains a word for a placeholder ("changeme", "your-key-here", "xxxx"), or consists
    mostly of one repeated character or of a sequence ("abcdef")."""
    raw = text[:LOOK_MAX].encode("latin-1", "replace")
    return _PLACEHOLDER.first(raw, 0, len(raw)) >= 0 or _is_monotonous(raw[:_STEPS_MAX])


def _is_monotonous(codes: bytes) -> bool:
    """Whether most characters are the same as the one before, or its successor ("aaaa", "abcd")."""
    if len(codes) < 6:
        return False
    steps = sum(map(_STEPS.__contains__, map(sub, codes[1:], codes)))
    return steps > 0.6 * len(codes)


def stands_in(text: str) -> bool:
    """Return whether ``text`` is a word that documentation uses as an example password, alone or with up to four
    digits."""
    word = text.lower().strip("<>[]{}()*'\"`.,:;!?_-")
    core = word.rstrip("0123456789")
    return core in _WEAK_WORDS and len(word) - len(core) <= 4


def is_uuid(text: str) -> bool:
    """Whether ``text`` is a UUID with hyphens."""
    return _UUID.search(text.encode("latin-1", "replace")) is not None


def is_hex(text: str) -> bool:
    """Whether ``text`` is nothing but eight or more hexadecimal digits."""
    return _HEX.search(text.encode("latin-1", "replace")) is not None


def is_mixed(text: str) -> bool:
    """Return whether ``text`` has upper-case letters, lower-case letters and digits."""
    return any(map(str.isdigit, text)) and any(map(str.isupper, text)) and any(map(str.islower, text))


def is_numbered_name(text: str) -> bool:
    """Return whether ``text`` is a password like "Meadow-4821qk": a word, one of ``.``, ``_`` and ``-``, three or more
    digits followed by letters, with capitals and small letters, and at least ``NUMBERED_MIN`` characters.

    No identifier in code has this form.
    """
    raw = text[:LOOK_MAX].encode("latin-1", "replace")
    return len(text) >= NUMBERED_MIN and is_mixed(text) and _NUMBERED.search(raw) is not None


def is_worded(text: str) -> bool:
    """Return whether ``text`` is made like a passphrase: words of four or more letters joined by hyphens, or one word
    of eight or more letters, with two to four digits at the end ("blue-horse-42")."""
    return _WORDED.search(text[:LOOK_MAX].encode("latin-1", "replace")) is not None


def has_lettered_digits(text: str) -> bool:
    """Whether ``text`` has at least two digits and two letters."""
    return sum(map(str.isdigit, text)) >= 2 and sum(map(str.isalpha, text)) >= 2


def passes_luhn(text: str) -> bool:
    """Return whether ``text`` has 13 to 19 digits, not all equal, of which the last is the check digit of payment
    cards. Other characters are ignored."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Return whether ``text`` is a bank account number (IBAN): a country that is known, the length of that country's
    numbers, and a valid checksum. White space is ignored."""
    plain = "".join(text.split()).upper()
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain) or not plain.isalnum():
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def is_base58check(text: str) -> bool:
    """Return whether ``text`` is base58 with a valid checksum, as a private key of Bitcoin is."""
    number = 0
    for char in text:
        place = _BASE58.find(char)
        if place < 0:
            return False
        number = 58 * number + place
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def is_stellar_key(text: str) -> bool:
    """Return whether ``text`` is a Stellar seed: base32 with a valid CRC-16."""
    try:
        raw = base64.b32decode(text)
    except (ValueError, binascii.Error):
        return False
    return binascii.crc_hqx(raw[:-2], 0).to_bytes(2, "little") == raw[-2:]


def is_basic_pair(text: str) -> bool:
    """Return whether ``text`` is base64 of printable ASCII with a colon and at least three characters behind it: user
    name and password, as in HTTP Basic authentication."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False
    _, colon, word = raw.partition(b":")
    return bool(colon) and len(word) >= 3 and all(32 <= byte < 127 for byte in raw[:LOOK_MAX])


def is_opaque(text: str, least: int) -> bool:
    """Return whether ``text`` looks like a random secret: it has at least ``least`` characters, a letter among them,
    enough entropy, and is neither a name nor a placeholder."""
    return len(text) >= least and _is_random(text)


@lru_cache(JUDGED_MAX)
def _is_random(text: str) -> bool:
    if entropy(text[:LOOK_MAX]) < 2.5 + 0.01 * min(len(text), 40) or not any(map(str.isalpha, text)):
        return False
    return not is_placeholder(text) and not is_identifier(text)


def forget() -> None:
    """Clear the caches of judgements, because they may contain secrets."""
    is_placeholder.cache_clear()
    _is_random.cache_clear()


CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "mixed": is_mixed,
    "digits": has_lettered_digits,
    "base58check": is_base58check,
    "stellar": is_stellar_key,
    "luhn": passes_luhn,
    "iban": is_iban,
    "basic": is_basic_pair,
}
"""Checks that a credential must pass, by name. Rows of the tables have the name of one in ``Token.check``."""

WHOLE: Final = frozenset({"base58check", "stellar"})
"""Names of checks that get the whole credential; the others get it without its literal prefix."""
