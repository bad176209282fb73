"""Stricter redaction for the texts of facts: labels, quotations, and sentences in a resume block.

A transcript keeps what no rule takes for a secret, such as placeholders in documentation, the beginning of a key, and
random strings without a name. The texts of facts are shown repeatedly and lose nothing without these. So four things
are masked in them: whatever begins like a vendor's key, however short; the beginning of a JSON web token; placeholders
for keys; and runs of 20 characters that look random. UUIDs and names made of words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from tokenmizer_mw.safety.redact.judge import is_identifier, is_placeholder, is_uuid, words
from tokenmizer_mw.safety.redact.pattern import BytePattern, compile_outline
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.shape import leads

MASK: Final = "[redacted]"
"""Text that replaces a masked string."""

OPAQUE_MIN: Final = 20
"""Fewest characters of a run that is masked because it looks random."""

DRAWN_MIN: Final = 14
"""Fewest characters of a run that belong neither to words nor to numbers, for the run to look random."""

PREFIX_MIN: Final = 3
SURE_MIN: Final = 5
"""Least number of characters of a vendor's prefix that needs no further evidence of a key, unless it is listed
below."""

REST_MIN: Final = 6
SHORT_MIN: Final = 4
"""Least number of characters behind a prefix with which names begin as well (``SHORT_MIN``: if digits stand next to
letters)."""

_PLAIN: Final = words(
    "test_ live_ token- secret- secret_ key- key_ app- api- sdk- mob- dev: prod: preview: dataset- oauth: ver: pat key"
    " KEY sandbox_ act. cal_ organizations/ 1000. v1. v1.0- t1. st. sl. pat. sat. rft. clt. na1. dose"
    " public-sandbox- public-production- public-development- access-sandbox- access-production- access-development-"
    " link-sandbox- link-production- link-development-"
)
"""Prefixes of keys with which so many names begin that they are not used."""


def _prefixes() -> Iterator[str]:
    """Yield the prefixes of vendors' keys."""
    for token in TOKENS:
        for shape in () if token.around else token.shapes:
            yield from (one for one in leads(shape) if len(one) >= PREFIX_MIN and one not in _PLAIN)


_SURE: Final = words("ghp_ gho_ ghu_ ghs_ ghr_ gsk_ AKIA ASIA AIza glc_ hvs. hvb. hvr. ya29.")
"""Short prefixes with which no name begins."""

_NAMED_ALIKE: Final = words(
    "xai- pplx- jina_ pypi- fastgpt- expo_ rubygems_ censys_ goog_ appl_ unkey_ TEST- snyk_ bedrock-api-key-"
    " secret-live- secret-test- access_token$production$ access_token$sandbox$ Mid-server- skey_live_ skey_test_"
    " napi_ spat_ pina_ strp_ bb_test_ bb_live_ tr_dev_ tr_prod_ tr_stg_ tr_pat_ tr_preview_ tk-us-"
)
"""Long prefixes of keys with which names begin as well."""

_SEPARATORS: Final = tuple("-_.~+")
_LIKELY: Final = re.compile(
    rf"[A-Za-z0-9][-_.~+$/][A-Za-z0-9]|[^\s.,:;]{{{PREFIX_MIN + REST_MIN}}}|eyJ|A[KS]IA|AIza|(?i:changeme)"
)
_RUN: Final = re.compile(rf"[A-Za-z0-9_+/=~-]{{{OPAQUE_MIN},}}")
_PART: Final = re.compile(r"[A-Za-z0-9]+")
_STAMP: Final = re.compile(r"[0-9]+(?:T[0-9]+Z?)?")
"""A number or a time."""

_REST: Final = r"[A-Za-z0-9_+/=.~-]*[A-Za-z0-9_+/=~-]"
_BESIDE_DIGIT: Final = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]")
_SECRET_KEY: Final = re.compile(r"(?<![A-Za-z0-9])[psr]k[-_](?!learn)(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{4,}")
"""A key of a model provider or of a payment service ("sk-...", "pk_..."), of any length, with a digit."""

_WEB_TOKEN: Final = re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]+)*")
_PLACEHOLDER: Final = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:your[-_](?:[a-z0-9]{1,20}[-_]){0,5}(?:key|token|secret|password|passphrase|pass|credentials?)"
    r"(?:[-_][a-z0-9]{1,20}){0,3}"
    r"|(?:[a-z0-9]{1,20}[-_]){0,5}(?:key|token|secret|password)[-_](?:[a-z0-9]{1,20}[-_]){0,2}here"
    r"|(?:change|replace)[-_]?me[0-9]*)(?![A-Za-z0-9])"
)
"""Placeholders for a key: "your-api-key", "key-goes-here", "changeme"."""


def _is_sure(prefix: str) -> bool:
    """Whether no name begins with a vendor's prefix."""
    long = len(prefix) >= SURE_MIN and prefix.endswith(_SEPARATORS)
    return prefix in _SURE or (long and prefix not in _NAMED_ALIKE)


def _alternatives(prefixes: set[str]) -> str:
    return "|".join(re.escape(one) for one in sorted(prefixes, key=len, reverse=True))


@cache
def _keys() -> tuple[BytePattern, re.Pattern[str], re.Pattern[str]]:
    """Return a pattern that matches in every text with a key or a placeholder for one, and two patterns for a vendor's
    prefix and the text behind it: for prefixes with which no name begins, and for the others.

    They are compiled at the first call.
    """
    prefixes = set(_prefixes())
    sure = {one for one in prefixes if _is_sure(one)}
    return (
        compile_outline(
            rf"(?:^|[^A-Za-z0-9])(?:{_alternatives(prefixes)}|[psr]k[-_]|eyJ)"
            r"|(?i:your[-_]|[-_]here|(?:change|replace)[-_]?me)"
        ),
        re.compile(rf"(?<![A-Za-z0-9])(?:{_alternatives(sure)})(?:[.+/=~_-]{{0,2}}[A-Za-z0-9](?:{_REST})?|\.{{3}})"),
        re.compile(rf"(?<![A-Za-z0-9])(?:{_alternatives(prefixes - sure)})({_REST})"),
    )


def mask_opaque(text: str) -> str:
    """Return ``text`` with "[redacted]" in place of everything that begins like a key, is a placeholder for one, or is
    a run of ``OPAQUE_MIN`` or more characters that looks random; unchanged if there is none."""
    masked = mask_keys(text)
    return _RUN.sub(lambda found: MASK if _is_opaque(found[0]) else found[0], masked)


def mask_keys(text: str) -> str:
    """Return ``text`` with "[redacted]" in place of everything that begins like a key or is a placeholder for one;
    unchanged if there is no such string."""
    hint, sure, possible = _keys()
    raw = text.encode("utf-8", "surrogatepass")
    if hint.first(raw, 0, len(raw)) < 0 or _LIKELY.search(text) is None:
        return text
    masked = sure.sub(MASK, text)
    masked = possible.sub(lambda found: MASK if _is_key(found[1]) else found[0], masked)
    for pattern in (_SECRET_KEY, _WEB_TOKEN, _PLACEHOLDER):
        masked = pattern.sub(MASK, masked)
    return masked


def _is_key(rest: str) -> bool:
    """Whether ``rest``, which stands behind a vendor's prefix, belongs to a key or to a placeholder for one, and not to
    a name."""
    if len(rest) < REST_MIN:
        return len(rest) >= SHORT_MIN and _BESIDE_DIGIT.search(rest) is not None and not is_identifier(rest)
    return is_placeholder(rest) or not is_identifier(rest)


def _is_opaque(run: str) -> bool:
    if is_uuid(run) or run.isdigit():
        return False
    drawn = [part for part in _PART.findall(run) if not _STAMP.fullmatch(part) and not _is_readable(part)]
    return sum(map(len, drawn)) >= DRAWN_MIN


def _is_readable(part: str) -> bool:
    """Whether a part is a word or a name of few words."""
    return len(part) < 4 or is_identifier(part)
