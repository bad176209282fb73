"""Turns messages into findings (facts as a message states them), and findings into events of the session's log. Pure:
no I/O, no clock."""

from __future__ import annotations

from typing import Final

CONTEXT_MESSAGES: Final = 16
"""How many messages before a new one are read with it: those that it answers, or the tool call whose result it is, with
the results of the other calls of the same message."""
