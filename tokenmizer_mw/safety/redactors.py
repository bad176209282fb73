"""Builds the redactor that the settings describe."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.settings import Settings


def redactor_of(settings: Settings, secret: bytes) -> Redactor:
    """Return the redactor of an installation.

    ``secret``: the store's secret; placeholders stay the same as long as it does. Raises ``ConfigError`` for invalid
    rules.
    """
    key = hashlib.blake2b(b"redaction", key=secret, digest_size=32).digest()
    if settings.redact_rules is None:
        return Redactor(pii=settings.redact_pii, key=key)
    from tokenmizer_mw.safety.redact.config import load  # YAML is only for those who have rules of their own

    try:
        told = load(Path(settings.redact_rules).read_text(encoding="utf-8"))
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{settings.redact_rules}: {getattr(error, 'strerror', None) or error}") from None
    return Redactor(told.rules, allow=told.allow, pii=told.pii or settings.redact_pii, key=key)
