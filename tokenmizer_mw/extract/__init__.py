"""Extraction: reads messages, makes findings of them (facts as a message states them), and events of the session's log
of the findings. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import Final

CONTEXT_MESSAGES: Final = 16
"""Number of messages before a new one that are read together with it, because it may answer one of them, or be the
result of a tool call in one of them."""
