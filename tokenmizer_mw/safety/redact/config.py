"""User-defined redaction rules and exemptions, read from YAML such as this.

pii: false
without: [telephone]
rules:
  - name: acme-key
    pattern: 'acme_([a-z0-9]{24})'     # the first group is the secret; without a group all of it
    keywords: [acme]                   # optional: only texts with one of these words are looked at
    entropy: 3.0                       # optional: bits per character
allow:
  - name: test server
    exact: [some value]
  - name: fixtures
    pattern: '^test-'
    keys: [DEMO_TOKEN]
    kinds: [password]

Builds the redactor that the settings describe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import re2

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.lazy import re2_options
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.findings import Allow
from tokenmizer_mw.safety.redact.keys import NameKind, vendor
from tokenmizer_mw.safety.redact.pattern import compile_pattern
from tokenmizer_mw.safety.redact.scan import DEFAULT, Custom, Rules
from tokenmizer_mw.settings import Settings

ROWS_MAX: Final = 500
"""Most rules, and most exemptions, in one file."""

PATTERN_MAX: Final = 2000
"""Most characters of a pattern."""

_TOP: Final = frozenset({"pii", "without", "rules", "allow"})
_RULE: Final = frozenset({"name", "pattern", "keywords", "entropy"})
_ALLOW: Final = frozenset({"name", "exact", "pattern", "keys", "kinds"})
_BLOCKS: Final = frozenset({"private-key", "pgp-private-key", "kubernetes-secret", "web-key", "cookie"})
"""Kinds of secrets that are found without a row in the tables."""

_KIND: Final = compile_pattern(r"^[a-z0-9][a-z0-9-]{0,47}$")


@dataclass(frozen=True)
class Redaction:
    """The user's redaction settings, to make a redactor:
    ``Redactor(settings.rules, allow=settings.allow, pii=settings.pii, key=...)``."""

    rules: Rules = DEFAULT
    allow: tuple[Allow, ...] = ()
    pii: bool = False


def load(text: str) -> Redaction:
    """Parse the user's redaction settings from YAML (see the module for the format); an empty text gives the defaults.
    Raises ``ConfigError`` for invalid YAML or settings; its message names the line or the row."""
    import yaml  # only where a file of rules is named

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        raise ConfigError(f"redaction: no YAML{f' in line {place.line + 1}' if place else ''}") from None
    return settings({} if data is None else data)


def settings(data: Any) -> Redaction:
    """Make the user's redaction settings from ``data``, parsed YAML or JSON with the members that the module shows.
    Raises ``ConfigError`` for anything else; its message names the row."""
    top = _mapping(data, _TOP, "redaction")
    pii = top.get("pii", False)
    if not isinstance(pii, bool):
        raise ConfigError("redaction: 'pii' is neither true nor false")
    custom = tuple(_custom(row, f"rules[{place}]") for place, row in enumerate(_rows(top, "rules")))
    own = frozenset(rule.kind for rule in custom)
    without = _kinds(top, "without", "redaction", own)
    allow = tuple(_allow(row, f"allow[{place}]", own) for place, row in enumerate(_rows(top, "allow")))
    return Redaction(replace(DEFAULT, custom=custom, without=without), allow, pii)


def _custom(row: Any, place: str) -> Custom:
    fields = _mapping(row, _RULE, place)
    name = _name(fields, place)
    if not _KIND.search(name.encode()):
        raise ConfigError(f"redaction {place}: the name {name!r} is not of small letters, digits and hyphens")
    entropy = fields.get("entropy", 0.0)
    if isinstance(entropy, bool) or not isinstance(entropy, int | float) or not 0 <= entropy <= 8:
        raise ConfigError(f"redaction {place} ({name}): 'entropy' is no number from 0 to 8")
    words = tuple(word.lower().encode() for word in _texts(fields, "keywords", f"{place} ({name})"))
    if "pattern" not in fields:
        raise ConfigError(f"redaction {place} ({name}): no 'pattern'")
    return Custom(name, _pattern(fields["pattern"], f"{place} ({name})"), words, float(entropy))


def _allow(row: Any, place: str, own: frozenset[str]) -> Allow:
    fields = _mapping(row, _ALLOW, place)
    name = _name(fields, place)
    where = f"{place} ({name})"
    if not _ALLOW.intersection(fields) - {"name"}:
        raise ConfigError(f"redaction {where}: nothing says what is let through")
    return Allow(
        name,
        exact=frozenset(_texts(fields, "exact", where)),
        pattern=_pattern(fields["pattern"], where) if "pattern" in fields else None,
        names=frozenset(key.lower() for key in _texts(fields, "keys", where)),
        kinds=_kinds(fields, "kinds", f"redaction {where}", own),
    )


def _pattern(pattern: Any, where: str) -> Any:
    """Compile a user's pattern. It matches UTF-8 text, so that it may contain letters of any script."""
    if not isinstance(pattern, str) or not 0 < len(pattern) <= PATTERN_MAX:
        raise ConfigError(f"redaction {where}: 'pattern' is no text of 1 to {PATTERN_MAX} characters")
    try:
        made = re2.compile(pattern.encode(), re2_options())
    except re2.error as error:
        reason = str(error.args[0], "utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ConfigError(f"redaction {where}: the pattern is not RE2: {reason}") from None
    if made.search(b"") is not None:
        raise ConfigError(f"redaction {where}: the pattern fits an empty text")
    return made


def _mapping(data: Any, known: frozenset[str], place: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ConfigError(f"redaction {place}: no mapping of names to values")
    if unknown := [name for name in data if name not in known]:
        raise ConfigError(f"redaction {place}: unknown setting {unknown[0]!r}")
    return data


def _rows(top: Mapping[str, Any], name: str) -> list[Any]:
    rows = top.get(name) or []
    if not isinstance(rows, list) or len(rows) > ROWS_MAX:
        raise ConfigError(f"redaction: {name!r} is no list of at most {ROWS_MAX} rows")
    return rows


def _name(fields: Mapping[str, Any], place: str) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"redaction {place}: no 'name'")
    return name


def _kinds(fields: Mapping[str, Any], name: str, where: str, own: frozenset[str]) -> frozenset[str]:
    """Return the kinds of secrets that a field lists. ``own``: the kinds of the user's own rules."""
    kinds = frozenset(_texts(fields, name, where.removeprefix("redaction ")))
    if unknown := [kind for kind in sorted(kinds - own - DEFAULT.kinds() - _BLOCKS) if not _is_named(kind)]:
        raise ConfigError(f"{where}: {name!r} names an unknown kind: {unknown[0]!r}")
    return kinds


def _is_named(kind: str) -> bool:
    """Whether ``kind`` is a possible kind of a value that is secret by its name: "password" or "secret" (``NameKind``),
    alone or behind a service, as in "openai-secret"."""
    services = [kind.removesuffix(sort.value) for sort in NameKind if kind.endswith(sort.value)]
    return any(not service or vendor(service) + "-" == service for service in services)


def _texts(fields: Mapping[str, Any], name: str, place: str) -> list[str]:
    texts = fields.get(name) or []
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ConfigError(f"redaction {place}: {name!r} is no list of texts")
    return texts


def redactor_of(settings: Settings, secret: bytes) -> Redactor:
    """Return the redactor of an installation, with the rules in the file that ``settings.redact_rules`` names
    (``None``: only this package's own). Personal data is redacted if ``settings`` or that file asks for it.

    ``secret``: the store's secret; placeholders stay the same as long as it does. Raises ``ConfigError`` for a file
    that cannot be read, and for invalid rules.
    """
    key = hashlib.blake2b(b"redaction", key=secret, digest_size=32).digest()
    if settings.redact_rules is None:
        return Redactor(pii=settings.redact_pii, key=key)

    try:
        rules = load(Path(settings.redact_rules).read_text(encoding="utf-8"))
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{settings.redact_rules}: {getattr(error, 'strerror', None) or error}") from None
    return Redactor(rules.rules, allow=rules.allow, pii=rules.pii or settings.redact_pii, key=key)
