"""Redaction: replace secrets by placeholders before other code sees the text. Pure: no clock, no files, no network."""

from __future__ import annotations

from tokenmizer_mw.safety.redact.findings import Allow
from tokenmizer_mw.safety.redact.redact import Explained, Redactor, SecretFinding
from tokenmizer_mw.safety.redact.scan import DEFAULT, Custom, Rules

__all__ = ["DEFAULT", "Allow", "Custom", "Explained", "Redactor", "Rules", "SecretFinding"]
