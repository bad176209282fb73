"""Turns messages into findings, and findings into events. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import Final

CONTEXT_MESSAGES: Final = 16
"""Messages before a new one that are looked back at: the exchange at hand, or a call and all results beside its
own."""
