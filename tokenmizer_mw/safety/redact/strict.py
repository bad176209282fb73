"""Stricter redaction for quoted text: labels, evidence and the sentences of a resume block.

A transcript keeps what no rule takes for a secret, such as placeholders in documentation and unnamed random strings.
Labels are shown repeatedly and lose nothing without such strings, so whatever begins like a vendor's key or looks
random is masked in them. UUIDs and names made of words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from tokenmizer_mw.safety.redact.judge import is_identifier, is_placeholder, is_uuid, words
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.shape import leads

MASK: Final = "[redacted]"
"""What a label shows in place of such a run."""

OPAQUE_MIN: Final = 20
"""Characters of a run from which on it may be opaque."""

DRAWN_MIN: Final = 16
"""Characters that the parts of a run have together that are no words or numbers, for the run to be opaque."""

PREFIX_MIN: Final = 3
REST_MIN: Final = 6
"""Characters of a key behind a vendor's prefix."""

_PLAIN: Final = words(
    "test_ live_ token- secret- secret_ key- key_ app- api- sdk- mob- dev: prod: preview: dataset- oauth: ver: pat key"
    " KEY sandbox_ act. cal_ organizations/ 1000. v1. v1.0- t1. st. sl. pat. sat. rft. clt. na1. dose"
    " public-sandbox- public-production- public-development- access-sandbox- access-production- access-development-"
    " link-sandbox- link-production- link-development-"
)
"""Beginnings of keys with which names begin as well."""


def _prefixes() -> Iterator[str]:
    """What the keys of vendors begin with."""
    for token in TOKENS:
        for shape in () if token.around else token.shapes:
            yield from (one for one in leads(shape) if len(one) >= PREFIX_MIN and one not in _PLAIN)


_RUN: Final = re.compile(rf"[A-Za-z0-9_+/=~-]{{{OPAQUE_MIN},}}")
_PART: Final = re.compile(r"[A-Za-z0-9]+")
_LONG: Final = re.compile(rf"[^\s.,:;]{{{PREFIX_MIN + REST_MIN}}}")


@cache
def _keys() -> re.Pattern[str]:
    """A vendor's prefix and what stands behind it; compiled when a text first asks for it."""
    begins = "|".join(re.escape(one) for one in sorted(set(_prefixes()), key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{begins})([A-Za-z0-9_+/=.~-]{{{REST_MIN},}})")


def mask_opaque(text: str) -> str:
    """Return ``text`` with possible keys masked; unchanged if it contains no such string."""
    if _LONG.search(text) is None:
        return text
    masked = _keys().sub(lambda found: MASK if _is_key(found[1]) else found[0], text)
    return _RUN.sub(lambda found: MASK if _is_opaque(found[0]) else found[0], masked)


def _is_key(rest: str) -> bool:
    """Whether what stands behind a vendor's prefix is a key or stands in for one, and is not the rest of a name."""
    return is_placeholder(rest) or not is_identifier(rest)


def _is_opaque(run: str) -> bool:
    if is_uuid(run) or run.isdigit():
        return False
    drawn = [part for part in _PART.findall(run) if not part.isdigit() and not _is_readable(part)]
    return sum(map(len, drawn)) >= DRAWN_MIN


def _is_readable(part: str) -> bool:
    """Whether a part is a word or a name of few words."""
    return len(part) < 4 or is_identifier(part)
