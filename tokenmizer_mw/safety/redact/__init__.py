"""Redaction: replaces secrets by placeholders before other code sees the text. Pure: no clock, no files, no network."""

from __future__ import annotations

from .allow import Allow
from .redact import Explained, Redactor, SecretFinding
from .table import DEFAULT, Custom, Rules

__all__ = ["DEFAULT", "Allow", "Custom", "Explained", "Redactor", "Rules", "SecretFinding"]
